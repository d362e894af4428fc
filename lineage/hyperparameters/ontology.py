"""What the details of an experiment are called, and what their values may be: one table for code, configuration and prose.

`lr`, `base_lr`, `optimizer.lr` and "step size" are one detail; `1e-4` and "1 × 10⁻⁴" one value of it. The table is data
(`data/ontology.json`, with its provenance); a user's own file of the same form extends it. Names are compared without
case and separators. Some mean a detail only in a context: `eps` is one thing in an optimiser and another in a norm.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lineage.errors import NotFound
from lineage.hyperparameters.normalize import LONGEST, agree, close, fitted
from lineage.hyperparameters.terms import CallPattern, Term, TermTable, american, extended, fold, of_json, packaged
from lineage.hyperparameters.values import Expression, Plain, read
from lineage.text.tokens import parts

_SEGMENTS = re.compile(r"[./\[\]()'\" :]+")
_NAME = re.compile(r"[./\[\]()'\":]+")
_MOST_CONTEXT = 12
_LONGEST_HEAD = 3
_MOST_QUALIFIERS = 3
_GENERIC = {"type", "name", "class", "target", "path", "algorithm", "policy"}
"""Keys that say what the thing right around them is, and nothing of what is further out."""


class NormalizedValue(NamedTuple):
    """A normalised value: `literal` is false for an expression, which is then kept as written."""

    value: str
    unit: str
    literal: bool


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


class Heading(NamedTuple):
    """What a name in a list of settings may mean by its last words: the detail, what the words before say, which values are plausible."""

    name: str
    scope: str
    low: float
    high: float


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
        self._heads: dict[str, list[Term]] = {}
        for term in self.terms.values():
            self._index(term)
        self._known: dict[tuple[str, str], NameMatch | None] = {}

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
        for noun in term.heads:
            self._heads.setdefault(noun, []).append(term)

    # -- names

    def name_of(self, written: str, context: str = "") -> str | None:
        """The detail that a name of code, configuration or prose means, None if it is none; `context` is what it stands in."""
        if " " in written and (spoken := self._spoken.get(fold(written))):
            return spoken  # "language model" is more than a model
        name_match = self.naming(written, context)
        return name_match.name if name_match else self._spoken.get(fold(written))

    def naming(self, written: str, context: str = "") -> NameMatch | None:
        """The same for identifiers alone, with what the name says of its scope; dotted names bring their own context."""
        key = (written, context)
        if key not in self._known:
            if len(self._known) > 50_000:
                self._known.clear()
            self._known[key] = self._naming(written[:LONGEST], context)
        return self._known[key]

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

    def headed(self, written: str) -> list[Heading]:
        """What the last words of a name in a list of settings may mean ("Schedule-Free LR"), the longest of them; the words before are the scope."""
        words = written.split()
        for at in range(max(0, len(words) - _LONGEST_HEAD), len(words)):
            noun, before = fold("".join(words[at:])), words[:at]
            heading_words = {fold(part) for word in before for part in (word, *parts(word))}
            terms = [term for term in self._heads.get(noun, ()) if heading_words.isdisjoint(term.unlike)]
            if noun in self._heads:
                return [Heading(term.name, " ".join(before), *term.heads[noun]) for term in terms]
        return []

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

    def normalise(self, name: str, text: str, *, code: bool = False, own: bool = False) -> NormalizedValue | None:
        """The normalised value of a detail; None for what cannot be one (wrong type, not plausible, nothing).

        Under the detail's `own` name any value is plausible. With `code` a bare word is a name, so its value is an expression,
        kept as written with `literal` false.
        """
        term = self.terms.get(name)
        if term is None:
            return None
        try:
            return self.accepted(name, read(text, code=code), own)
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
        """Whether a normalised value is one of a detail's choices; true for details that have none."""
        term = self.terms[name]
        return term.type != "choice" or value in term.values or value[:1] == "["

    def same(self, name: str, one: str, other: str) -> bool:
        """Whether two values of a detail are one."""
        first, second = (self.normalise(name, text) or NormalizedValue(text, "", True) for text in (one, other))
        if first.literal != second.literal:
            return False
        if name in self.terms and self.terms[name].type == "schedule":
            return agree(first.value, second.value)
        return first.value == second.value or close(first.value, second.value) or fold(first.value) == fold(second.value) != ""


def _is_own(identifier: str, name: str) -> bool:
    """Whether an identifier is the name of a detail, in whatever order; one word alone is too common for that."""
    return "_" in name and sorted(parts(identifier)) == sorted(parts(name))


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
    return Ontology(of_json(packaged()))


@cache
def _extended(path: Path, _: int) -> Ontology:
    return Ontology(extended(path))


# -- the packaged ontology in short, for those that need no other


def normalise(name: str, text: str) -> NormalizedValue | None:
    """`Ontology.normalise` of the packaged ontology."""
    return _packaged().normalise(name, text)


def same(name: str, one: str, other: str) -> bool:
    """`Ontology.same` of the packaged ontology."""
    return _packaged().same(name, one, other)
