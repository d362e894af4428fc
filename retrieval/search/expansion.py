"""What prose calls it and what code calls it: the bridge between the two, and the aspect that a question is about.

"How is the encoder initialised?" shares no word with `trunc_normal_`. The table that joins them is data
(`data/vocabulary.json`, with its provenance); a user's own file of the same form adds to it. A bridge is crossed where
one of its phrases stands in the question, whatever the inflection.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from lineage.errors import SettingsError
from lineage.text.tokens import STOP, tokens

MAX_BYTES = 4 * 1024 * 1024
Phrase = tuple[str, ...]


@dataclass(frozen=True)
class QueryExpansion:
    """Phrases of prose, as stems, and the `names` of the whole identifiers they go by in code."""

    aspect: str
    asked: tuple[Phrase, ...]
    names: tuple[str, ...]

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


@dataclass(frozen=True)
class Vocabulary:
    """All bridges, and which of them may start with a token."""

    bridges: tuple[QueryExpansion, ...]
    starts: Mapping[str, tuple[tuple[Phrase, int], ...]]

    def crossed(self, question: str) -> tuple[Crossing, ...]:
        """The bridges whose phrases stand in a question, each by its longest phrase, in the question's order."""
        stems = tokens(question)
        matches: dict[int, Phrase] = {}
        for at, stem in enumerate(stems):
            for phrase, number in self.starts.get(stem, ()):
                if tuple(stems[at : at + len(phrase)]) == phrase and len(phrase) > len(matches.get(number, ())):
                    matches[number] = phrase
        return tuple(Crossing(self.bridges[number], by) for number, by in matches.items())


def vocabulary(more: Path | None = None) -> Vocabulary:
    """The packaged vocabulary, with the entries of a user's file; raises `SettingsError` where that is not of the form."""
    return _joined(_packaged() + (_read(more) if more else ()))


@cache
def _packaged() -> tuple[QueryExpansion, ...]:
    return bridges_of(json.loads(files("retrieval").joinpath("data/vocabulary.json").read_text("utf-8")))


def bridges_of(table: Mapping[str, Any]) -> tuple[QueryExpansion, ...]:
    """The bridges of `{"aspects": {NAME: [{"asked": [...], "code": [...]}]}}`; raises ValueError for another form."""
    try:
        return tuple(_bridge(aspect, row) for aspect, rows in table["aspects"].items() for row in rows)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a table of aspects: {error!r}") from error


def _bridge(aspect: str, row: Mapping[str, Sequence[str]]) -> QueryExpansion:
    if isinstance(row["asked"], str) or not isinstance(row["code"], list) or not all(isinstance(name, str) for name in row["code"]):
        raise TypeError(f"`asked` and `code` are lists of texts (in {aspect})")
    phrases = dict.fromkeys(tuple(tokens(phrase)) for phrase in row["asked"])
    return QueryExpansion(str(aspect), tuple(phrase for phrase in phrases if phrase), tuple(row["code"]))


def whole(identifier: str) -> str:
    """The one token under which the index holds an identifier: all of its parts joined, or its stem; "" for a stop word."""
    words = tokens(identifier)
    return words[-1] if words and words[-1] not in STOP else ""


def _joined(bridges: tuple[QueryExpansion, ...]) -> Vocabulary:
    starts: dict[str, list[tuple[Phrase, int]]] = {}
    for number, bridge in enumerate(bridges):
        for phrase in bridge.asked:
            starts.setdefault(phrase[0], []).append((phrase, number))
    return Vocabulary(bridges, {stem: tuple(numbers) for stem, numbers in starts.items()})


def _read(path: Path) -> tuple[QueryExpansion, ...]:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ValueError(f"more than {MAX_BYTES:,} bytes")
        return bridges_of(json.loads(data))
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(
            f"setting vocabulary: {path} cannot be read: {error}", hint='{"aspects": {NAME: [{"asked": [...], "code": [...]}]}}'
        ) from error
