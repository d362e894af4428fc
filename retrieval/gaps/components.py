"""What the target's own code does beyond what its method says: passages of the paper beside the functions that carry them out.

A method section leaves out the constants, guards and orders of steps without which nobody gets the same numbers. For each
passage the function of the target's code that retrieval puts first is held against it: which of its operations and
numbers the passage never names. Words decide, no code is run, so this is a place to look, not a finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineage.citation import pinpoint
from lineage.errors import UsageError
from lineage.records import Answer, Chunk, FileRole, Hit, Query, Reason, ReasonKind
from lineage.results import METHOD, Detail, Gap, GapReason, Specification, Suggestion
from lineage.tables import packaged
from lineage.text.tokens import parts, stem, tokens

if TYPE_CHECKING:
    from retrieval.decisions.target_text import TargetSentence, TargetText
    from retrieval.search.engine import Engine

MOST_PASSAGES, MOST_ROWS, FUNCTIONS = 12, 10, 3
_WIDE = 30
_SHORTEST = 80
_ASKED = 900
_METHOD = re.compile(
    r"method|approach|model|algorithm|architecture|framework|loss|objective|propos|our |procedure|pipeline|scor|training", re.IGNORECASE
)
_NUMBER = re.compile(r"(?<![\w.])(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|[3-9]|\d{2,})(?![\w.])")
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_FORMULA = re.compile(r"\$([^$]{1,2000})\$")
_LETTERS = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,40}")
_NAMES = """
    model models method methods forward init main get set make build run compute update train training step data loss algorithm approach network
    our the for and with from function framework procedure pipeline architecture base test
"""
_PLAIN = frozenset(map(stem, _NAMES.split()))
"""Words that the names of half of all functions have."""
_TOLD = 6
_DEFINITIONS = frozenset(("function", "method", "class"))
_ROLES = frozenset(("paragraph", "equation", "algorithm", "list", "text"))


@dataclass(frozen=True)
class MethodComponent:
    """A passage of the method with the functions that carry it out, best first."""

    passage: Chunk
    functions: tuple[Hit, ...]

    @property
    def first(self) -> Hit:
        """The best function."""
        return self.functions[0]

    @property
    def name(self) -> str:
        """The name of the best function, "" if it has none."""
        return self.first.chunk.symbol.split(",")[0]

    @property
    def tied(self) -> bool:
        """Whether the function is named as its passage is."""
        return tied(self.passage, self.first.chunk)


def components(engine: Engine, target_text: TargetText) -> tuple[list[MethodComponent], int]:
    """The passages of the method for which the target's own code has a function, and how many could not be looked up.

    None without text or code.
    """
    if not target_text.own or not any(engine.kinship.of(work).from_target for work in engine.kinship.kin if work != target_text.work.id):
        return [], 0
    passages = list(_passages(target_text.sentences))[:MOST_PASSAGES]
    answers, late = asked(engine, [Query(passage.text[:_ASKED], _WIDE, frozenset({"code"})) for passage in passages])
    method_components = (MethodComponent(passage, tuple(_functions(hits))) for passage, hits in zip(passages, answers, strict=True))
    return _once([method_component for method_component in method_components if method_component.functions]), late


def _functions(hits: Iterable[Hit]) -> list[Hit]:
    """The first functions of the target's own code."""
    return [hit for hit in hits if hit.from_target and hit.chunk.role in _DEFINITIONS and FileRole.TEST not in hit.roles][:FUNCTIONS]


def _passages(sentences: Sequence[TargetSentence]) -> Iterator[Chunk]:
    """Passages of the method's sections, in order, each once."""
    seen = set()
    for sentence in sentences:
        chunk = sentence.chunk
        method = sentence.weight > 0.5 and bool(_METHOD.search(" ".join(chunk.section)))
        if method and chunk.id not in seen and chunk.role in _ROLES and len(chunk.text) >= _SHORTEST:
            seen.add(chunk.id)
            yield chunk


def tied(passage: Chunk, function: Chunk) -> bool:
    """Whether a function is named as a passage is: by a telling word of its section's title or of a formula's symbol."""
    symbol = {stem(word) for word in parts(function.symbol.split(",")[0].rpartition(".")[2] or function.symbol) if len(word) > 2}
    titled = {stem(word) for title in passage.section[-1:] for word in _NAME.findall(title) for word in parts(word)}
    written = {stem(word) for formula in _FORMULA.findall(passage.text) for name in _LETTERS.findall(formula) for word in parts(name)}
    return bool((symbol - _PLAIN) & (titled | written))


def _once(method_components: Sequence[MethodComponent]) -> list[MethodComponent]:
    """Each first function once, with the passage that it suits best; those that are named as their passage is come first."""
    best: dict[str, MethodComponent] = {}
    for method_component in method_components:
        place = method_component.first.chunk.id
        if place not in best or method_component.first.score > best[place].first.score:
            best[place] = method_component
    return sorted(best.values(), key=lambda component: (not component.tied, -component.first.score))


def unsaid(passage: str, code: str) -> Iterator[str]:
    """Operations and numbers of the code that the passage does not name, in the code's order."""
    numbers, operations = {*tokens(passage), *_NUMBER.findall(passage)}, packaged("operations", "retrieval")["operations"]
    names: dict[str, None] = {}
    for line in code.split("\n"):
        if line.lstrip().startswith(("#", '"""', "'''", "def ", "class ", "import ", "from ")):
            continue
        for name in _NAME.findall(line):
            words = operations.get(name.lower())
            if words is not None and not any(stem(word) in numbers for word in words):
                names.setdefault(name)
        for number in _NUMBER.findall(line):
            if number not in numbers:
                names.setdefault(number)
    yield from list(names)[:_TOLD]


def rows(method_components: Sequence[MethodComponent], target_text: TargetText) -> Iterator[Gap]:
    """The components as gaps: the passage, and the functions as what the lineage offers."""
    for method_component in method_components[:MOST_ROWS]:
        first, text = method_component.first, method_component.passage.text
        where = method_component.passage.section[-1] if method_component.passage.section else method_component.passage.label or "a passage"
        name, names = method_component.name or first.chunk.path, ", ".join(unsaid(text, first.chunk.text))
        detail = Detail(f"method:{name}", f"{where}: what {name} does besides", METHOD, text[:200], weight=0.4)
        passage = Hit(
            1,
            first.score,
            method_component.passage,
            target_text.work,
            from_target=True,
            why=(Reason(ReasonKind.SAYS, of=(" ".join(text.split())[:300],)),),
        )
        has = f"{pinpoint(first)} answers the passage" + (f"; it has {names}, which the passage does not name" if names else "")
        offer = Suggestion(
            "", "", "fair", "the target's own code for the passage", evidence=method_component.functions, chain=("the target's own code", has)
        )
        reason = GapReason.CODE_HAS if names else GapReason.CODE_ALONE
        yield Gap(detail, Specification.PARTIALLY_SPECIFIED, (passage,), suggestions=(offer,), reason=reason, of=names)


def asked(engine: Engine, questions: Sequence[Query]) -> tuple[list[tuple[Hit, ...]], int]:
    """The hits of each question, () for one that could not be looked up in time, and how many those are."""
    answers = answered(engine, questions)
    return [answer.hits if answer else () for answer in answers], answers.count(None)


def answered(engine: Engine, questions: Sequence[Query]) -> list[Answer | None]:
    """The answer to each question, None for one that could not be looked up in time."""
    try:
        return list(engine.ask_many(questions)) if questions else []
    except UsageError:
        return [_one(engine, question) for question in questions]


def _one(engine: Engine, question: Query) -> Answer | None:
    try:
        return engine.ask(question)
    except UsageError:
        return None
