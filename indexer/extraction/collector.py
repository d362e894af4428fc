"""Collect what the readers of all formats find: names resolved, values normalized, counts bounded.

A reader says what is written where; whether that is a detail of the ontology, and which value it has, is decided here
once for all of them. A name that is given a literal where settings are given (a line of a configuration, an option of a program,
a parameter of a constructor, a flag of a command) is also kept as it is written, whatever it is called: a paper's own code has
settings that nobody else has.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace

from indexer.read_document import MOST_FACTS, ExtractedFact, RawSetting
from lineage.hyperparameters.ontology import NameMatch, NormalizedValue, Ontology, schedule
from lineage.hyperparameters.values import Expression, Plain, literal, shown
from lineage.records import FactKind

_SAID = 160
_LONGEST_VALUE = 120
_NAME = re.compile(r"[A-Za-z][\w.-]{0,80}\Z")
_PLACEHOLDER = re.compile(
    r"[xX]{2,9}|\.{3}|\?{2,9}|<[^<>\n]{0,60}>|(?:your|my)[-_ ][^\n]{0,60}|/?path/to/[^\n]{0,200}|TODO|FIXME|\[\"[A-Z_]{3,60}\"\]",
    re.IGNORECASE,
)
"""What somebody is to fill in."""
_SUFFIX = re.compile(r"_(?:list|thresh)\Z")
"""Endings that leave a name what it is: `num_heads_list`, `grad_clip_thresh`."""


class Sink:
    """Collects what one document states; `kind` is what a reader finds unless it says otherwise."""

    def __init__(self, ontology: Ontology, kind: FactKind) -> None:
        self.ontology = ontology
        self.kind: FactKind = kind
        self.found: dict[ExtractedFact, None] = {}
        self.settings: dict[RawSetting, None] = {}
        self.cut = False
        self.first = 0
        """Lines that stand before what is read now."""

    def setting(self, line: int, name: str, value: Plain, kind: FactKind, scope: str = "") -> None:
        """A setting as it is written; nothing for what is empty, long, or there to be filled in."""
        text = "" if value is None else shown(value)
        says = text == "[]" or (any(map(str.isalnum, text)) and not _PLACEHOLDER.fullmatch(text))
        if says and _NAME.match(name) and len(text) <= _LONGEST_VALUE and len(self.settings) < MOST_FACTS:
            self.settings.setdefault(RawSetting(line + self.first, name, text, kind, scope[:80]))

    def text(self, line: int, written: str, text: str, *, context: str = "", scope: str = "", kind: FactKind | None = None) -> bool:
        """A name and the text of its value; whether that is a fact."""

        def value(naming: NameMatch) -> NormalizedValue | None:
            return self.ontology.normalize(naming.name, text, own=naming.own)

        return self._put(line, written, text, context, scope, kind, value)

    def node(self, line: int, written: str, tree: ast.expr, text: str, *, context: str = "", scope: str = "", kind: FactKind | None = None) -> bool:
        """A name and an expression of Python: a literal's value, or the expression as written where it computes."""

        def value(naming: NameMatch) -> NormalizedValue | None:
            name = naming.name
            try:
                return self.ontology.accepted(name, literal(tree), naming.own)
            except Expression:
                if name == "adam_betas" and isinstance(tree, ast.Tuple | ast.List) and len(tree.elts) == 2:
                    for part, element in zip(("adam_beta1", "adam_beta2"), tree.elts, strict=True):
                        self.node(line, part, element, text, scope=scope, kind=kind)
                return NormalizedValue(" ".join(text.split())[:_SAID], self.ontology.terms[name].unit, False) if _tells(tree) else None

        return self._put(line, written, text, context, scope, kind, value)

    def state(
        self,
        line: int,
        name: str,
        value: str,
        said: str,
        *,
        written: str = "",
        scope: str = "",
        kind: FactKind | None = None,
        unit: str = "",
        literal: bool = True,
    ) -> None:
        """A detail by its own name with a value that is normalized already, or (not `literal`) an expression as written."""
        if name not in self.ontology.terms:
            return
        if self.ontology.terms[name].type == "schedule" and value[:1] != "{":
            value = schedule(value)
        unit = unit or self.ontology.terms[name].unit
        extracted_fact = ExtractedFact(line + self.first, name, value, unit, kind or self.kind, written or said, said[:_SAID], scope, literal)
        self._add(extracted_fact)
        self._betas(extracted_fact)

    def _put(
        self, line: int, written: str, text: str, context: str, scope: str, kind: FactKind | None, read: Callable[[NameMatch], NormalizedValue | None]
    ) -> bool:
        naming = self.ontology.naming(written, context) or self.ontology.naming(_SUFFIX.sub("", written), context)
        value = read(naming) if naming and not naming.meant else self._flag(naming, text)
        if not naming or not value:
            return False
        name = self.ontology.refined(naming.name, value.value)
        if name == "llm_model" and not value.literal:
            return False
        narrow = naming.known or self.ontology.terms[name].closed
        if name == naming.name and narrow and value.literal and not self.ontology.knows(name, value.value):
            return False
        if self.ontology.terms[name].kinds and (kind or self.kind) not in self.ontology.terms[name].kinds:
            return False
        within = ".".join(part for part in (scope, naming.scope) if part)
        extracted_fact = ExtractedFact(
            line + self.first,
            name,
            value.value,
            value.unit,
            kind or self.kind,
            written[:80],
            " ".join(text.split())[:_SAID],
            within[:80],
            value.literal,
        )
        self._add(extracted_fact)
        self._betas(extracted_fact)
        return True

    def _flag(self, naming: NameMatch | None, text: str) -> NormalizedValue | None:
        """What a switch says: `fp16: true` is a precision, `fp16: false` says nothing."""
        on = text.strip().lower().strip("'\"") in {"true", "1", "yes", "on"}
        return NormalizedValue(naming.meant, "", True) if naming and on else None

    def _betas(self, extracted_fact: ExtractedFact) -> None:
        """Both of Adam's betas by their own names, so that a pair meets a text that states one."""
        if extracted_fact.name != "adam_betas" or not extracted_fact.literal:
            return
        values = extracted_fact.value.strip("[]").split(", ")
        if len(values) == 2:
            for name, value in zip(("adam_beta1", "adam_beta2"), values, strict=True):
                self._add(replace(extracted_fact, name=name, value=value))

    def _add(self, extracted_fact: ExtractedFact) -> None:
        if len(self.found) >= MOST_FACTS:
            self.cut = True
        else:
            self.found.setdefault(extracted_fact)


def _tells(tree: ast.expr) -> bool:
    """Whether an expression that computes says more than a name passed on: arithmetic or a choice with a number in it."""
    if not isinstance(tree, ast.BinOp | ast.IfExp | ast.UnaryOp):
        return False
    seen, stack = 0, list[ast.expr]([tree])
    while stack and seen < 60:
        node = stack.pop()
        seen += 1
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return True
        stack.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))
    return False
