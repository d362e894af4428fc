"""The table of details as data: what each is called, what its values may be, which calls say what; read from JSON.

The packaged file (`data/ontology.json`) says where it comes from; a user's own file of the same form adds to its rows or
brings new ones. `lineage.hyperparameters.ontology` looks things up in it, `lineage.hyperparameters.ontology` holds values against it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from lineage.tables import own, packaged

ValueType = Literal["number", "integer", "fraction", "choice", "list", "schedule", "boolean", "text"]
"""Of a user's own table."""
T = TypeVar("T")
_LISTS = ("identifiers", "prose", "counted", "cues", "prose_cues", "values_like", "renames", "kinds")


def fold(text: str) -> str:
    """Letters and digits in lower case: how names and choices are compared."""
    return text if text.isascii() and text.isdecimal() else _folded(text)


@lru_cache(1 << 13)
def _folded(text: str) -> str:
    """The same for what is no number: of numbers there is no end."""
    return "".join(filter(str.isalnum, text.lower()))


@dataclass(frozen=True)
class Term:
    """One detail: its names in code (`identifiers`, `within` a context only) and in prose, the type and range of its values.

    `counted` nouns follow its number ("300 epochs"); `kinds`, where given, are the only kinds of facts it can be;
    `values` are its choices with their spellings; `flags` are
    identifiers whose truth is a choice (`fp16: true`); `cues` must stand in a sentence for a choice to be meant.
    A `closed` detail has no choices but the known ones, and a list for one that it `renames` with an item above `lists_above` is its.
    """

    name: str
    title: str
    topic: str
    type: ValueType
    unit: str = ""
    range: tuple[float, float] = (float("-inf"), float("inf"))
    identifiers: tuple[str, ...] = ()
    within: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    prose: tuple[str, ...] = ()
    counted: tuple[str, ...] = ()
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    flags: Mapping[str, str] = field(default_factory=dict)
    cues: tuple[str, ...] = ()
    prose_cues: tuple[str, ...] = ()
    values_like: tuple[str, ...] = ()
    renames: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    durations: bool = False
    closed: bool = False
    lists_above: float = float("inf")

    @cached_property
    def choices(self) -> Mapping[str, str]:
        """Choice by its folded spelling."""
        return {fold(spelling): choice for choice, spellings in self.values.items() for spelling in (choice, *spellings)}


@dataclass(frozen=True)
class CallPattern:
    """A well-known callable: names of its positional arguments, and what calling it states (`optimizer` is `adamw`)."""

    positional: tuple[str, ...] = ()
    states: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TermTable:
    """All details; words of each context, words that only qualify a name (`parts` of a model qualify any), well-known calls."""

    terms: tuple[Term, ...]
    contexts: Mapping[str, frozenset[str]]
    qualifiers: frozenset[str]
    calls: Mapping[str, CallPattern]
    digest: str = ""
    parts: frozenset[str] = frozenset()


def extended(path: Path) -> TermTable:
    """The packaged table with the rows of a user's file; raises `SettingsError` where that is not of the form."""
    form = '{"details": [{"name": "learning_rate", "identifiers": ["eta0"]}, {"name": ..., "title": ..., "topic": ..., "type": ...}]}'
    return own("ontology", path, lambda table: of_json(joined(packaged("ontology"), table)), form)


def joined(table: Mapping[str, Any], more: Any) -> dict[str, Any]:
    """The table with a user's rows: those of a known name add to its lists, others are new details."""
    try:
        rows = {row["name"]: row for row in table["details"]}
        for row in more["details"]:
            rows[row["name"]] = _merged(rows.get(row["name"], {}), row)
        added = {name: [*table["contexts"].get(name, []), *_words(words)] for name, words in more.get("contexts", {}).items()}
        contexts = {**table["contexts"], **added}
        calls = {**table["calls"], **more.get("calls", {})}
        qualifiers = [*table["qualifiers"], *_words(more.get("qualifiers", ()))]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a table of details: {error!r}") from error
    return {
        "details": list(rows.values()),
        "contexts": contexts,
        "calls": calls,
        "parts": table["parts"],
        "qualifiers": qualifiers,
    }


def _merged(row: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(row)
    for key, value in more.items():
        before = row.get(key)
        if isinstance(before, list) and isinstance(value, list) and key != "range":
            merged[key] = [*before, *value]
        elif isinstance(before, dict) and isinstance(value, dict):
            merged[key] = {name: [*before.get(name, []), *words] if isinstance(words, list) else words for name, words in (before | value).items()}
        else:
            merged[key] = value
    return merged


def of_json(table: Mapping[str, Any]) -> TermTable:
    """The table of `{"details": [...], "contexts": ..., "qualifiers": ..., "calls": ...}`; raises ValueError for another form."""
    try:
        terms = tuple(_term(row) for row in table["details"])
        contexts = {str(name): frozenset(fold(word) for word in words) for name, words in table["contexts"].items()}
        calls = {str(name): CallPattern(tuple(row.get("positional", ())), dict(row.get("states", {}))) for name, row in table["calls"].items()}
        digest = hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()[:16]
        return TermTable(terms, contexts, frozenset(map(str, table["qualifiers"])), calls, digest, frozenset(map(str, table["parts"])))
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"not a table of details: {error!r}") from error


def _term(row: Mapping[str, Any]) -> Term:
    if row["type"] not in get_args(ValueType):
        raise ValueError(f"{row['name']}: there is no type {row['type']!r}")
    words: dict[str, Any] = {key: _words(row.get(key, ())) for key in _LISTS}
    words |= {key: {str(name): _words(spellings) for name, spellings in row.get(key, {}).items()} for key in ("within", "values")}
    words["flags"] = {str(key): str(value) for key, value in row.get("flags", {}).items()}
    words |= {"name": str(row["name"]), "title": str(row["title"]), "topic": american(str(row["topic"]))}
    low, high = row.get("range") or (float("-inf"), float("inf"))
    words |= {key: bool(row.get(key)) for key in ("durations", "closed")}
    words["lists_above"] = float(row.get("lists_above", "inf"))
    return Term(type=row["type"], unit=str(row.get("unit", "")), range=(float(low), float(high)), **words)


def _words(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        raise TypeError(f"a list of words is wanted, not {value!r}")
    return tuple(str(word) for word in value)


_STEMS = "final|general|initial|local|normal|penal|real|regular|vector|factor|categor|memor|author|optim|minim|maxim|random|token"
_STEMS += "|quant|discret|stabil|util|binar|summar|character|parametr|standard|visual|synchron|organ|orthogonal|equal"
_ISE = re.compile(rf"\b((?:re|de|un|pre)?-?(?:{_STEMS}))is(ations?|ers?|ed|es?|ing)\b", re.IGNORECASE)
_OTHERS = {"colour": "color", "behaviour": "behavior", "licence": "license", "centre": "center", "neighbour": "neighbor"}
_OTHER = re.compile(rf"\b({'|'.join(_OTHERS)})(?=s?\b)", re.IGNORECASE)


def american(text: str) -> str:
    """The text with `-ize`, `-ization`, `-izer` and `color` for their British forms; everything else as it is."""
    text = _ISE.sub(r"\1iz\2", text.replace("_", " \0"))
    return _OTHER.sub(lambda m: _cased(m[1]), text).replace(" \0", "_")


def _cased(word: str) -> str:
    other = _OTHERS[word.lower()]
    return other.capitalize() if word[0].isupper() else other
