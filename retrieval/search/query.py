"""A question: its limits, the text that each retriever gets, and the vocabulary that joins prose to identifiers.

Questions come from agents and from people who paste: LaTeX passages, tracebacks, operators. Nothing in them is
syntax here; what cannot be a question (nothing, a flood, control characters) is refused in words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, get_args

from lineage.errors import UsageError
from lineage.records import ChunkKind, Query
from lineage.tables import own, packaged
from lineage.text.tokens import STOP, tokens

MAX_BYTES = 4096
MAX_HITS = 100
_KINDS: tuple[ChunkKind, ...] = get_args(ChunkKind)
_WHITE = frozenset("\t\n\r")
_HIDDEN = frozenset({"Cc", "Cs", "Co", "Cn"})
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*\{[^{}]{0,40}\}(?:\[[^\[\]]{0,40}\])?")
_REFERENCE = re.compile(
    r"\\(?:[Cc]ite[a-zA-Z]*|[a-zA-Z]*ref|label|vspace|hspace|includegraphics|bibliography[a-z]*)\*?\s*(?:\[[^\[\]]{0,80}\])?\{[^{}]{0,200}\}"
)
_STYLE = re.compile(
    r"\\(?:text(?:bf|it|tt|sc|sf|rm|up|normal)?|emph|math(?:cal|bf|bb|rm|it|sf|tt|frak|scr)|boldsymbol|bm|mbox|operatorname|paragraph|"
    r"(?:sub)*section|left|right|big|Big|bigg|Bigg|quad|qquad|noindent|footnote|url|item|displaystyle|limits|centering|hat|tilde|bar|vec|"
    r"widehat|widetilde|overline|underline|small|xspace)\*?(?![a-zA-Z])"
)


def make_query(text: str, *, k: int = 10, kinds: Collection[str] = (), no_target_code: bool = False, work: str = "", explain: bool = False) -> Query:
    """The `Query` of a question; raises `UsageError` that says what is wrong and what is allowed."""
    wrong = _wrong(text) or ("" if 1 <= k <= MAX_HITS else f"{k} hits were asked for; 1 to {MAX_HITS} can be")
    if wrong:
        raise UsageError(wrong)
    unknown = sorted(set(kinds) - set(_KINDS))
    if unknown:
        raise UsageError(f"there is no kind {unknown[0]!r}", hint="kinds: " + ", ".join(_KINDS))
    return Query(
        text.strip(), k, frozenset(kind for kind in _KINDS if kind in kinds), no_target_code, around=True, work=work.strip(), explain=explain
    )


def beginning(text: str) -> tuple[str, tuple[str, ...]]:
    """As much of a text as a question may hold, cut at a word, and a note if anything was cut."""
    data = text.strip().encode("utf-8", "surrogatepass")
    if len(data) <= MAX_BYTES:
        return text.strip(), ()
    kept = "".join(data[:MAX_BYTES].decode("utf-8", "ignore").rsplit(None, 1)[:1])
    return kept, (f"only the first {len(kept):,} of {len(text):,} characters were asked",)


def _wrong(text: str) -> str:
    if not text.strip():
        return "the question is empty"
    if (size := len(text.encode("utf-8", "surrogatepass"))) > MAX_BYTES:
        return f"the question has {size:,} bytes; at most {MAX_BYTES:,} are taken"
    control = next((c for c in text if c not in _WHITE and unicodedata.category(c) in _HIDDEN), "")
    return f"the question holds the control character U+{ord(control):04X}" if control else ""


def plain(text: str) -> str:
    """The question without LaTeX's scaffolding; its symbols' names (`\\alpha`, `\\arg\\min`) stay as words."""
    if "\\" not in text:
        return text
    bare = text
    for pattern in (_COMMENT, _ENVIRONMENT, _REFERENCE, _STYLE):
        bare = pattern.sub(" ", bare)
    return re.sub(r"\s{2,}", " ", bare.replace("\\", " ")).strip() or text


Phrase = tuple[str, ...]
_FORM = '{"aspects": {NAME: [{"asked": [...], "code": [...]}]}}'


@dataclass(frozen=True)
class QueryExpansion:
    """Phrases of prose as they are written, and the `names` of the whole identifiers they go by in code."""

    aspect: str
    phrases: tuple[str, ...]
    names: tuple[str, ...]

    @cached_property
    def asked(self) -> tuple[Phrase, ...]:
        """The phrases as stems."""
        return tuple(phrase for phrase in dict.fromkeys(tuple(tokens(text)) for text in self.phrases) if phrase)

    @cached_property
    def code(self) -> Mapping[str, str]:
        """The identifiers by the index's token of each."""
        spelled: dict[str, str] = {}
        for name in self.names:
            spelled.setdefault(whole(name), name)
        return {token: name for token, name in spelled.items() if token}


@dataclass(frozen=True)
class Crossing:
    """A bridge that a question crosses, and the question's own tokens that led there."""

    bridge: QueryExpansion
    by: Phrase


class Vocabulary:
    """All bridges. Which may start with a token is told by its first letters, which stems keep, so that few phrases are cut for a question."""

    def __init__(self, bridges: tuple[QueryExpansion, ...]) -> None:
        self.bridges = bridges
        self._begin: dict[str, dict[int, None]] = {}
        self._starts: dict[str, list[tuple[Phrase, int]]] = {}
        for number, bridge in enumerate(bridges):
            for text in bridge.phrases:
                self._begin.setdefault(_beginning(text), {})[number] = None

    def crossed(self, question: str) -> tuple[Crossing, ...]:
        """The bridges whose phrases stand in a question, each by its longest phrase, in the question's order."""
        stems = tokens(question)
        matches: dict[int, Phrase] = {}
        for at, stem in enumerate(stems):
            for phrase, number in self._starting(stem):
                if tuple(stems[at : at + len(phrase)]) == phrase and len(phrase) > len(matches.get(number, ())):
                    matches[number] = phrase
        return tuple(Crossing(self.bridges[number], by) for number, by in matches.items())

    def _starting(self, stem: str) -> Sequence[tuple[Phrase, int]]:
        """The phrases that start with a stem, each with the number of its bridge."""
        if stem in self._starts:
            return self._starts[stem]
        near = self._begin.get(stem[:_LETTERS], ())
        starting = [(phrase, number) for number in near for phrase in self.bridges[number].asked if phrase[0] == stem]
        if starting:  # of words that start nothing there is no end
            self._starts[stem] = starting
        return starting


_LETTERS = 3
"""Letters of a word that every stem of it has."""


def _beginning(text: str) -> str:
    """The first letters of a phrase's first token."""
    word = text.split(maxsplit=1)[0] if text.strip() else ""
    if not (word.isascii() and word.isalpha() and word.islower()):
        word = next(iter(tokens(text)), "")
    return word[:_LETTERS]


def vocabulary(more: Path | None = None) -> Vocabulary:
    """The packaged vocabulary, with the entries of a user's file; raises `SettingsError` where that is not of the form."""
    return Vocabulary(_packaged() + own("vocabulary", more, bridges_of, _FORM)) if more else _packaged_alone()


@cache
def _packaged_alone() -> Vocabulary:
    return Vocabulary(_packaged())


@cache
def _packaged() -> tuple[QueryExpansion, ...]:
    return bridges_of(packaged("vocabulary", "retrieval"))


def bridges_of(table: Mapping[str, Any]) -> tuple[QueryExpansion, ...]:
    """The bridges of `{"aspects": {NAME: [{"asked": [...], "code": [...]}]}}`; raises ValueError for another form."""
    try:
        return tuple(_bridge(aspect, row) for aspect, rows in table["aspects"].items() for row in rows)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a table of aspects: {error!r}") from error


def _bridge(aspect: str, row: Mapping[str, Sequence[str]]) -> QueryExpansion:
    if isinstance(row["asked"], str) or not isinstance(row["code"], list) or not all(isinstance(name, str) for name in row["code"]):
        raise TypeError(f"`asked` and `code` are lists of texts (in {aspect})")
    if not all(isinstance(phrase, str) for phrase in row["asked"]):
        raise TypeError(f"`asked` is a list of texts (in {aspect})")
    return QueryExpansion(str(aspect), tuple(row["asked"]), tuple(row["code"]))


def whole(identifier: str) -> str:
    """The one token under which the index holds an identifier: all of its parts joined, or its stem; "" for a stop word."""
    words = tokens(identifier)
    return words[-1] if words and words[-1] not in STOP else ""
