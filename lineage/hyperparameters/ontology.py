"""What the details of an experiment are called, and what their values may be: one table for code, configuration and prose.

`lr`, `base_lr`, `optimizer.lr` and "step size" are one detail; `1e-4` and "1 × 10⁻⁴" one value of it. The table is data
(`data/ontology.json`, with its provenance); a user's own file of the same form extends it. Names are compared without
case and separators. Some mean a detail only in a context: `eps` is one thing in an optimiser and another in a norm.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from lineage.errors import NotFound
from lineage.hyperparameters.terms import CallPattern, Term, TermTable, american, extended, fold, joined, of_json
from lineage.hyperparameters.values import Expression, Plain, read, shown
from lineage.tables import packaged
from lineage.text.tokens import parts

_SEGMENTS = re.compile(r"[./\[\]()'\" :]+")
_NAME = re.compile(r"[./\[\]()'\":]+")
_MOST_CONTEXT = 12
_MOST_QUALIFIERS = 3
_GENERIC = {"type", "name", "class", "target", "path", "algorithm", "policy"}
"""Keys that say what the thing right around them is, and nothing of what is further out."""
LONGEST = 120
MAX_KNOWN = 8_192
_MOST_ITEMS = 16
_FILE = re.compile(r"\.(?:jsonl?|csv|tsv|txt|pkl|pickle|parquet|npy|npz|h5|zip|gz|tar|py|sh|md|ya?ml|db|pth?|ckpt|bin)\Z", re.IGNORECASE)
_TYPES = {"string", "str", "object", "array", "integer", "int", "number", "float", "boolean", "bool", "list", "dict", "tuple", "any", "auto"}
_DURATION = re.compile(r"(?:about|around|~|≈)?\s*(\d{1,6}(?:\.\d+)?)\s*-?\s*(second|sec|minute|min|hour|hr|h|day|week|month)s?\b", re.IGNORECASE)
_HOURS = {
    "second": 1 / 3600,
    "sec": 1 / 3600,
    "minute": 1 / 60,
    "min": 1 / 60,
    "hour": 1.0,
    "hr": 1.0,
    "h": 1.0,
    "day": 24.0,
    "week": 168.0,
    "month": 720.0,
}
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
Same = Callable[[str, str, str], bool]
"""Whether two values of the detail of a name are the same; `Ontology.same` is one."""


class NormalizedValue(NamedTuple):
    """A normalized value: `literal` is false for an expression, which is then kept as written."""

    value: str
    unit: str
    literal: bool


class _Comparable(NamedTuple):
    """A value normalized, and as what it is compared with others."""

    value: str
    literal: bool
    folded: str
    numbers: tuple[int | float, ...] | None


@dataclass(frozen=True)
class NameMatch:
    """What a name of a source means: the detail, what it holds for (`encoder` of `encoder_lr`), the value that "true" stands for.

    With `known` only a value that the detail knows counts: `recon_loss` is "l1", or something else than a loss function.
    A name made of the detail's `own` words (`beta_dpo`) means nothing else, whatever its value.
    """

    name: str
    scope: str = ""
    meant: str = ""
    known: bool = False
    own: bool = False


class Ontology:
    """All details, looked up by any of their names."""

    def __init__(self, table: TermTable) -> None:
        self.terms: Mapping[str, Term] = {term.name: term for term in table.terms}
        self.calls: Mapping[str, CallPattern] = table.calls
        self.digest = table.digest
        self._contexts, self._qualifiers, self._parts = table.contexts, table.qualifiers, table.parts
        self._exact: dict[str, NameMatch] = {}
        self._partial: set[str] = set()
        self._within: dict[str, list[tuple[str, str]]] = {}
        self._spoken: dict[str, str] = {}
        self._tails: dict[str, str] = {}
        for term in self.terms.values():
            self._index(term)
        self._known = lru_cache(MAX_KNOWN)(self._naming)
        self._compared = lru_cache(MAX_KNOWN)(self._comparable)

    def _index(self, term: Term) -> None:
        for identifier in term.identifiers:
            if identifier[:1] == "*":
                self._tails[fold(identifier)] = term.name
                continue
            self._exact.setdefault(fold(identifier), NameMatch(term.name, own=_is_own(identifier, term.name)))
            if identifier[:1] != "=":
                self._partial.add(fold(identifier))
        for identifier, choice in term.flags.items():
            self._exact.setdefault(fold(identifier), NameMatch(term.name, meant=choice))
            self._partial.add(fold(identifier))
        for group, identifiers in term.within.items():
            for identifier in identifiers:
                self._within.setdefault("*" * (identifier[:1] == "*") + fold(identifier), []).append((group, term.name))
        for phrase in (term.title, *term.prose):
            self._spoken.setdefault(fold(phrase), term.name)

    # -- names

    def name_of(self, written: str) -> str | None:
        """The detail that a name of code, configuration or prose means, None if it is none."""
        if " " in written and (spoken := self._spoken.get(fold(written))):
            return spoken  # "language model" is more than a model
        name_match = self.naming(written)
        return name_match.name if name_match else self._spoken.get(fold(written))

    def naming(self, written: str, context: str = "") -> NameMatch | None:
        """The same for identifiers alone, with what the name says of its scope; `context` is what it stands in, dotted names bring their own."""
        return self._known(written[:LONGEST], context)

    def _naming(self, written: str, context: str) -> NameMatch | None:
        *before, last = [part for part in _NAME.split(written.strip().lstrip("-")) if part] or [""]
        word = fold(last)
        if not word:
            return None
        around = [*_SEGMENTS.split(context)[-_MOST_CONTEXT:], *before]
        return self._in_context(word, around) or self._exact.get(word) or self._qualified(last) or self._tailed(last, around)

    def _tailed(self, written: str, around: Sequence[str]) -> NameMatch | None:
        """`perceptual_weight` among losses, `recon_loss` that is a known one: the last part is the detail, the rest its scope."""
        *before, tail = parts(written) or [""]
        if not before or len(before) > _MOST_QUALIFIERS:
            return None
        scope = "_".join(before)
        if name_match := self._in_context(f"*{tail}", around):
            return NameMatch(name_match.name, scope)
        return NameMatch(self._tails[tail], scope, known=True) if tail in self._tails else None

    def _in_context(self, word: str, around: Sequence[str]) -> NameMatch | None:
        """The innermost context that gives the word a meaning."""
        meanings = self._within.get(word, ())
        near = around[-1:] if word in _GENERIC else around
        for segment in reversed(near) if meanings else ():
            words = {fold(segment), *(fold(part) for part in parts(segment))}
            meaning = next((name for group, name in meanings if not words.isdisjoint(self._contexts.get(group, frozenset()))), None)
            if meaning:
                return NameMatch(meaning)
        return None

    def _qualified(self, written: str) -> NameMatch | None:
        """`encoder_lr`: the longest run of parts that is a name, if all the rest only says of what."""
        pieces = parts(written)
        if not 2 <= len(pieces) <= 6:
            return None
        for size in range(len(pieces) - 1, 0, -1):
            for at in range(len(pieces) - size + 1):
                other_pieces = [*pieces[:at], *pieces[at + size :]]
                word = "".join(pieces[at : at + size])
                name_match = self._exact.get(word)
                allowed = self._qualifiers if word in self._partial else self._parts
                if name_match and all(piece in allowed or piece.isdigit() for piece in other_pieces):
                    return NameMatch(name_match.name, "_".join(other_pieces), name_match.meant)
        return None

    def find(self, name: str) -> Term:
        """The detail that a person means by any of its names; raises `NotFound` with the nearest ones."""
        term_name = self.name_of(name) or self.name_of(name.replace(" ", "_"))
        if term_name:
            return self.terms[term_name]
        terms_by_title = {fold(american(getattr(term, key))): term for key in ("title", "name") for term in self.terms.values()}
        if same := terms_by_title.get(fold(american(name))):
            return same
        near = [terms_by_title[key] for key in difflib.get_close_matches(fold(name)[:LONGEST], terms_by_title, 5, 0.5)]
        near += [self.terms[self._spoken[key]] for key in difflib.get_close_matches(fold(name)[:LONGEST], self._spoken, 3, 0.6)]
        titles = list(dict.fromkeys(term.name for term in near))[:5]
        raise NotFound(
            f"no detail is called {name!r}", hint="nearest: " + ", ".join(titles) if titles else "`lineage facts` lists those that have values"
        )

    def title(self, name: str) -> str:
        """The name in words; the name itself for what the table lacks."""
        return american(self.terms[name].title) if name in self.terms else name.replace("_", " ")

    def topic(self, name: str) -> str:
        """What the detail belongs to (`optimizer`, `data` ...), "" for what the table lacks."""
        return self.terms[name].topic if name in self.terms else ""

    # -- values

    def normalize(self, name: str, text: str, *, own: bool = False) -> NormalizedValue | None:
        """The normalized value of a detail; None for what cannot be one (wrong type, not plausible, nothing).

        Under the detail's `own` name any value is plausible. An expression is kept as written, with `literal` false.
        """
        term = self.terms.get(name)
        if term is None:
            return None
        try:
            return self.accepted(name, read(text), own)
        except Expression:
            return NormalizedValue(" ".join(text.split())[:LONGEST], term.unit, False)

    def accepted(self, name: str, value: Plain, own: bool = False) -> NormalizedValue | None:
        """The same for a value that has been read already."""
        term = self.terms[name]
        normalized = fitted(term, value, own)
        return None if normalized is None else NormalizedValue(normalized, term.unit, True)

    def refined(self, name: str, value: str) -> str:
        """The more exact detail that a value gives away: a `model` called gpt-4o is a language model, `layers` of [512, 256] are widths."""
        low = value.lower()
        low = low.rpartition("/")[2] if "/" in low else low
        for term in self.terms.values():
            if name in term.renames and (low.startswith(term.values_like or ("\0",)) or _highest(value) > term.lists_above):
                return term.name
        return name

    def knows(self, name: str, value: str) -> bool:
        """Whether a normalized value is one of a detail's choices; true for details that have none."""
        term = self.terms[name]
        return term.type != "choice" or value in term.values or value[:1] == "["

    def same(self, name: str, value: str, other: str) -> bool:
        """Whether two values of a detail are one."""
        first, second = self._compared(name, value), self._compared(name, other)
        if first.literal != second.literal:
            return False
        if name in self.terms and self.terms[name].type == "schedule":
            return agree(first.value, second.value)
        return first.value == second.value or first.folded == second.folded != "" or close(first.numbers, second.numbers)

    def _comparable(self, name: str, text: str) -> _Comparable:
        normalized = self.normalize(name, text) or NormalizedValue(text, "", True)
        return _Comparable(normalized.value, normalized.literal, fold(normalized.value), numbers(normalized.value))


def _is_own(identifier: str, name: str) -> bool:
    """Whether an identifier is the name of a detail, in whatever order; one word alone is too common for that."""
    return "_" in name and len(fold(identifier)) == len(fold(name)) and sorted(parts(identifier)) == sorted(parts(name))


def _highest(value: str) -> float:
    """The highest number of a list, minus infinity for what is none."""
    try:
        return max(float(number_text) for number_text in value[1:-1].split(",")) if value[:1] == "[" else float("-inf")
    except ValueError:
        return float("-inf")


def ontology(more: Path | None = None) -> Ontology:
    """The packaged ontology, extended by a user's file; raises `SettingsError` where that is not of the form."""
    if more is None:
        return _packaged()
    return _extended(more, more.stat().st_mtime_ns if more.is_file() else 0)


@cache
def _packaged() -> Ontology:
    return Ontology(of_json(packaged("ontology")))


@cache
def _extended(path: Path, _: int) -> Ontology:
    return Ontology(extended(path))


@lru_cache(maxsize=2)
def ontology_of(more: str) -> Ontology:
    """The same for the text of a user's file ("": none), which `ontology` found good."""
    return Ontology(of_json(joined(packaged("ontology"), json.loads(more)))) if more else _packaged()


# -- the packaged ontology in short, for those that need no other


def schedule(kind: str, **parameters: int | float) -> str:
    """A schedule as the text that stands for it: JSON with `kind` and what is known of it (`warmup_steps` ...)."""
    return json.dumps({"kind": kind, **dict(sorted(parameters.items()))})


def fitted(term: Term, value: Plain, own: bool = False) -> str | None:
    """The text of a value that fits a detail's type and range; under its `own` name no number is too high for it.

    What is below the range stands for "unset" there (-1, 0), and a share above 1 is none.
    """
    if value is None or value == []:
        return None
    if isinstance(value, list):
        return _fitted_list(term, value)
    if term.type == "boolean":
        return shown(bool(value)) if isinstance(value, bool) or value in {0, 1} else None
    if term.type in {"choice", "schedule"}:
        return _choice(term, value)
    if term.type == "text":
        # a program's model with spaces in its name is the title of a run ("VarNet DDP x4")
        named = isinstance(value, str) and _is_name(value) and (term.topic == "data" or " " not in value.strip())
        return " ".join(str(value).split())[:LONGEST] or None if named else None
    return _quantity(term, value, own and term.type != "fraction")


def _is_name(text: str) -> bool:
    """Whether a text may name a model or data set: short, with a letter, neither a sentence nor a pattern."""
    named = 0 < len(text) <= LONGEST and len(text.split()) <= 5 and any(c.isalpha() for c in text)
    path = text[:1] in "/.~" or _FILE.search(text) is not None or "PATH" in text or "your" in text.lower()
    return named and not path and text.lower() not in _TYPES and not set("{}()$%<>\n=") & set(text)


def _fitted_list(term: Term, value: Sequence[Any]) -> str | None:
    if term.type in {"boolean", "schedule", "text"} or len(value) > _MOST_ITEMS:
        return None
    fitted_items = [_fitted_one(term, item) for item in value]
    if any(item is None for item in fitted_items):
        return None
    numeric = term.type not in {"choice"}
    return "[" + ", ".join(str(item) if numeric and not isinstance(value[n], str) else json.dumps(item) for n, item in enumerate(fitted_items)) + "]"


def _fitted_one(term: Term, value: Any) -> str | None:
    if value is None or isinstance(value, list):
        return None
    if term.type == "list" and isinstance(value, str):
        return value if _is_name(value) and term.range[0] == float("-inf") else None
    return _choice(term, value) if term.type == "choice" else _quantity(term, value)


def _quantity(term: Term, value: Any, own: bool = False) -> str | None:
    if isinstance(value, str) and term.durations:
        value = _hours(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if term.type == "integer" and value != int(value):
        return None
    low, high = term.range
    return shown(int(value) if value == int(value) else value) if low <= value and (own or value <= high) else None


def _hours(text: str) -> float | None:
    match = _DURATION.match(text.strip())
    return float(format(float(match[1]) * _HOURS[match[2].lower()], ".6g")) if match else None


def _choice(term: Term, value: Any) -> str | None:
    """The choice that a text names; an unknown single word stands for itself."""
    if isinstance(value, bool) or (isinstance(value, int | float) and fold(str(value)) not in term.choices):
        return None
    text = str(value).strip()
    if term.type == "schedule" and text[:1] == "{":
        return _structure(term, text)
    last = text.rpartition(".")[2] if _DOTTED.fullmatch(text) else text
    choice = next((term.choices[word] for word in (fold(text), fold(last)) if word in term.choices), None)
    if choice is None and text.lower() not in _TYPES:
        is_plain_word = 2 <= len(text) <= 40 and re.fullmatch(r"[A-Za-z][\w./@+-]*", text) and not text.endswith((".py", ".json", ".txt", ".yaml"))
        choice = last.lower() if is_plain_word else None
    return schedule(choice) if choice and term.type == "schedule" else choice


def _structure(term: Term, text: str) -> str | None:
    try:
        value = json.loads(text)
        kind = str(value.pop("kind", "") or value.pop("type", "") or value.pop("name", ""))
        numbers = {str(key): item for key, item in value.items() if isinstance(item, int | float) and not isinstance(item, bool)}
    except (ValueError, AttributeError, RecursionError):
        return None
    return schedule(term.choices.get(fold(kind), kind.lower()), **numbers) if kind else None


def numbers(value: str) -> tuple[int | float, ...] | None:
    """The number that a value is, or those of a list; None for anything else."""
    try:
        read_value = json.loads(value)
    except ValueError:
        return None
    row = read_value if isinstance(read_value, list) else [read_value]
    return tuple(row) if all(isinstance(number, int | float) for number in row) else None


def close(left: tuple[int | float, ...] | None, right: tuple[int | float, ...] | None) -> bool:
    """Whether two values are the same number, or lists of the same numbers."""
    if left is None or right is None or len(left) != len(right):
        return False
    try:
        return all(map(math.isclose, left, right))
    except OverflowError:  # a whole number beyond every float
        return False


def agree(left: str, right: str) -> bool:
    """Whether two schedules are of one kind and differ in nothing that both state."""
    try:
        a, b = json.loads(left), json.loads(right)
    except ValueError:
        return left == right
    if not (isinstance(a, dict) and isinstance(b, dict)):
        return left == right
    return bool(a.get("kind") == b.get("kind")) and all(a[key] == b[key] for key in a.keys() & b.keys())
