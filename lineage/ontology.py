"""What the details of an experiment are called, and what their values may be: one table for code, configuration and prose.

`lr`, `base_lr`, `optimizer.lr` and "step size" are one detail; `1e-4` and "1 × 10⁻⁴" one value of it. The table is data
(`data/ontology.json`, with its provenance); a user's own file of the same form extends it. Names are compared without
case and separators. Some mean a detail only in a context: `eps` is one thing in an optimiser and another in a norm.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from lineage.errors import NotFound, SettingsError
from lineage.tokens import parts
from lineage.values import Expression, Plain, read, shown

MAX_BYTES = 4 * 1024 * 1024
ValueType = Literal["number", "integer", "fraction", "choice", "list", "schedule", "boolean", "text"]
_SEGMENTS = re.compile(r"[./\[\]()'\" :]+")
_NAME = re.compile(r"[./\[\]()'\":]+")
_MOST_CONTEXT = 12
_WORDS = 120
_GENERIC = {"type", "name", "class", "target", "path", "algorithm", "policy"}
"""Keys that say what the thing right around them is, and nothing of what is further out."""


class Value(NamedTuple):
    """A normalised value: `literal` is false for an expression, which is then kept as written."""

    value: str
    unit: str
    literal: bool


@dataclass(frozen=True)
class Naming:
    """What a name of a source means: the detail, what it holds for (`encoder` of `encoder_lr`), the value that "true" stands for."""

    name: str
    scope: str = ""
    meant: str = ""


@dataclass(frozen=True)
class Term:
    """One detail: its names in code (`identifiers`, `within` a context only) and in prose, the type and range of its values.

    `counted` nouns follow its number ("300 epochs"); `kinds`, where given, are the only kinds of facts it can be;
    `values` are its choices with their spellings; `flags` are
    identifiers whose truth is a choice (`fp16: true`); `cues` must stand in a sentence for a choice to be meant.
    """

    name: str
    title: str
    topic: str
    type: ValueType
    unit: str = ""
    range: tuple[float, float] | None = None
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

    @cached_property
    def choices(self) -> Mapping[str, str]:
        """Choice by its folded spelling."""
        return {fold(spelling): choice for choice, spellings in self.values.items() for spelling in (choice, *spellings)}


@dataclass(frozen=True)
class Call:
    """A well-known callable: names of its positional arguments, and what calling it states (`optimizer` is `adamw`)."""

    positional: tuple[str, ...] = ()
    states: Mapping[str, str] = field(default_factory=dict)


class Ontology:
    """All details, looked up by any of their names."""

    def __init__(
        self,
        terms: Iterable[Term],
        contexts: Mapping[str, frozenset[str]],
        qualifiers: frozenset[str],
        calls: Mapping[str, Call],
        digest: str = "",
    ) -> None:
        self.terms = {term.name: term for term in terms}
        self.digest = digest
        self.calls = calls
        self._contexts, self._qualifiers = contexts, qualifiers
        self._exact: dict[str, Naming] = {}
        self._partial: set[str] = set()
        self._within: dict[str, list[tuple[str, str]]] = {}
        self._spoken: dict[str, str] = {}
        for term in self.terms.values():
            self._index(term)
        self._known: dict[tuple[str, str], Naming | None] = {}

    def _index(self, term: Term) -> None:
        for identifier in term.identifiers:
            self._exact.setdefault(fold(identifier), Naming(term.name))
            if identifier[:1] != "=":
                self._partial.add(fold(identifier))
        for identifier, choice in term.flags.items():
            self._exact.setdefault(fold(identifier), Naming(term.name, meant=choice))
            self._partial.add(fold(identifier))
        for group, identifiers in term.within.items():
            for identifier in identifiers:
                self._within.setdefault(fold(identifier), []).append((group, term.name))
        for phrase in (term.title, *term.prose):
            self._spoken.setdefault(fold(phrase), term.name)

    # -- names

    def name_of(self, written: str, context: str = "") -> str | None:
        """The detail that a name of code, configuration or prose means, None if it is none; `context` is what it stands in."""
        found = self.naming(written, context)
        return found.name if found else self._spoken.get(fold(written))

    def naming(self, written: str, context: str = "") -> Naming | None:
        """The same for identifiers alone, with what the name says of its scope; dotted names bring their own context."""
        key = (written, context)
        if key not in self._known:
            if len(self._known) > 50_000:
                self._known.clear()
            self._known[key] = self._naming(written[:_WORDS], context)
        return self._known[key]

    def _naming(self, written: str, context: str) -> Naming | None:
        *before, last = [part for part in _NAME.split(written.strip().lstrip("-")) if part] or [""]
        word = fold(last)
        if not word:
            return None
        around = [*_SEGMENTS.split(context)[-_MOST_CONTEXT:], *before]
        return self._in_context(word, around) or self._exact.get(word) or self._qualified(last)

    def _in_context(self, word: str, around: Sequence[str]) -> Naming | None:
        """The innermost context that gives the word a meaning."""
        meanings = self._within.get(word, ())
        near = around[-1:] if word in _GENERIC else around
        for segment in reversed(near) if meanings else ():
            words = {fold(segment), *(fold(part) for part in parts(segment))}
            found = next((name for group, name in meanings if not words.isdisjoint(self._contexts.get(group, frozenset()))), None)
            if found:
                return Naming(found)
        return None

    def _qualified(self, written: str) -> Naming | None:
        """`encoder_lr`: the longest run of parts that is a name, if all the rest only says of what."""
        pieces = parts(written)
        if not 2 <= len(pieces) <= 6:
            return None
        for size in range(len(pieces) - 1, 0, -1):
            for at in range(len(pieces) - size + 1):
                rest = [*pieces[:at], *pieces[at + size :]]
                word = "".join(pieces[at : at + size])
                found = self._exact[word] if word in self._partial else None
                if found and all(piece in self._qualifiers or piece.isdigit() for piece in rest):
                    return Naming(found.name, "_".join(rest), found.meant)
        return None

    def find(self, name: str) -> Term:
        """The detail that a person means by any of its names; raises `NotFound` with the nearest ones."""
        found = self.name_of(name) or self.name_of(name.replace(" ", "_"))
        if found:
            return self.terms[found]
        known = {**{fold(term.title): term for term in self.terms.values()}, **{fold(term.name): term for term in self.terms.values()}}
        near = [known[key] for key in difflib.get_close_matches(fold(name)[:_WORDS], known, 5, 0.5)]
        near += [self.terms[self._spoken[key]] for key in difflib.get_close_matches(fold(name)[:_WORDS], self._spoken, 3, 0.6)]
        titles = list(dict.fromkeys(term.name for term in near))[:5]
        raise NotFound(
            f"no detail is called {name!r}", hint="nearest: " + ", ".join(titles) if titles else "`lineage facts` lists those that have values"
        )

    def title(self, name: str) -> str:
        """The name in words; the name itself for what the table lacks."""
        return self.terms[name].title if name in self.terms else name.replace("_", " ")

    def topic(self, name: str) -> str:
        """What the detail belongs to (`optimiser`, `data` ...), "" for what the table lacks."""
        return self.terms[name].topic if name in self.terms else ""

    # -- values

    def normalise(self, name: str, text: str, *, code: bool = False) -> Value | None:
        """The normalised value of a detail; None for what cannot be one (wrong type, not plausible, nothing).

        With `code` a bare word is a name, so its value is an expression, kept as written with `literal` false.
        """
        term = self.terms.get(name)
        if term is None:
            return None
        try:
            return self.accepted(name, read(text, code=code))
        except Expression:
            return Value(" ".join(text.split())[:_WORDS], term.unit, False)

    def accepted(self, name: str, value: Plain) -> Value | None:
        """The same for a value that has been read already."""
        term = self.terms[name]
        fitted = _fitted(term, value)
        return None if fitted is None else Value(fitted, term.unit, True)

    def refined(self, name: str, value: str) -> str:
        """The more exact detail that a value gives away: a `model` called gpt-4o is a language model."""
        low = value.lower()
        low = low.rpartition("/")[2] if "/" in low else low
        for term in self.terms.values():
            if name in term.renames and low.startswith(term.values_like):
                return term.name
        return name

    def same(self, name: str, one: str, other: str) -> bool:
        """Whether two values of a detail are one."""
        first, second = (self.normalise(name, text) or Value(text, "", True) for text in (one, other))
        if first.literal != second.literal:
            return False
        if _is(self.terms.get(name), "schedule"):
            return _agree(first.value, second.value)
        return first.value == second.value or _close(first.value, second.value) or fold(first.value) == fold(second.value) != ""


def fold(text: str) -> str:
    """Letters and digits in lower case: how names and choices are compared."""
    return "".join(c for c in text.lower() if c.isalnum())


def schedule(kind: str, **parameters: int | float) -> str:
    """A schedule as the text that stands for it: JSON with `kind` and what is known of it (`warmup_steps` ...)."""
    return json.dumps({"kind": kind, **dict(sorted(parameters.items()))})


def _is(term: Term | None, type_: str) -> bool:
    return term is not None and term.type == type_


def _fitted(term: Term, value: Plain) -> str | None:
    """The text of a value that fits a detail's type and range."""
    if value is None or value == []:
        return None
    if isinstance(value, list):
        return _fitted_list(term, value)
    if term.type == "boolean":
        return shown(bool(value)) if isinstance(value, bool) or value in {0, 1} else None
    if term.type in {"choice", "schedule"}:
        return _choice(term, value)
    if term.type == "text":
        return " ".join(value.split())[:_WORDS] or None if isinstance(value, str) and _is_name(value) else None
    return _quantity(term, value)


_FILE = re.compile(r"\.(?:jsonl?|csv|tsv|txt|pkl|pickle|parquet|npy|npz|h5|zip|gz|tar|py|sh|md|ya?ml|db|pth?|ckpt|bin)\Z", re.IGNORECASE)
_TYPES = {"string", "str", "object", "array", "integer", "int", "number", "float", "boolean", "bool", "list", "dict", "tuple", "any", "auto"}


def _is_name(text: str) -> bool:
    """Whether a text may name a model or data set: short, with a letter, neither a sentence nor a pattern."""
    named = 0 < len(text) <= _WORDS and len(text.split()) <= 5 and any(c.isalpha() for c in text)
    path = text[:1] in "/.~" or _FILE.search(text) is not None or "PATH" in text or "your" in text.lower()
    return named and not path and text.lower() not in _TYPES and not set("{}()$%<>\n=") & set(text)


def _fitted_list(term: Term, value: Sequence[Any]) -> str | None:
    if term.type in {"boolean", "schedule", "text"} or len(value) > 16:
        return None
    fitted = [_fitted_one(term, one) for one in value]
    if any(one is None for one in fitted):
        return None
    numeric = term.type not in {"choice"}
    return "[" + ", ".join(str(one) if numeric and not isinstance(value[n], str) else json.dumps(one) for n, one in enumerate(fitted)) + "]"


def _fitted_one(term: Term, value: Any) -> str | None:
    if value is None or isinstance(value, list):
        return None
    if term.type == "list" and isinstance(value, str):
        return value if _is_name(value) and term.range is None else None
    return _choice(term, value) if term.type == "choice" else _quantity(term, value)


def _quantity(term: Term, value: Any) -> str | None:
    if isinstance(value, str) and term.durations:
        value = _hours(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if term.type == "integer" and value != int(value):
        return None
    low, high = term.range or (float("-inf"), float("inf"))
    return shown(int(value) if value == int(value) else value) if low <= value <= high else None


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


def _hours(text: str) -> float | None:
    found = _DURATION.match(text.strip())
    return float(format(float(found[1]) * _HOURS[found[2].lower()], ".6g")) if found else None


def _choice(term: Term, value: Any) -> str | None:
    """The choice that a text names; an unknown single word stands for itself."""
    if isinstance(value, bool) or (isinstance(value, int | float) and fold(str(value)) not in term.choices):
        return None
    text = str(value).strip()
    if term.type == "schedule" and text[:1] == "{":
        return _structure(term, text)
    found = next((term.choices[word] for word in (fold(text), fold(text.rpartition(".")[2])) if word in term.choices), None)
    if found is None:
        known = 2 <= len(text) <= 40 and re.fullmatch(r"[A-Za-z][\w./@+-]*", text) and not text.endswith((".py", ".json", ".txt", ".yaml"))
        found = text.rpartition(".")[2].lower() if known else None
    return schedule(found) if found and term.type == "schedule" else found


def _structure(term: Term, text: str) -> str | None:
    try:
        value = json.loads(text)
        kind = str(value.pop("kind", "") or value.pop("type", "") or value.pop("name", ""))
        numbers = {str(key): one for key, one in value.items() if isinstance(one, int | float) and not isinstance(one, bool)}
    except (ValueError, AttributeError, RecursionError):
        return None
    return schedule(term.choices.get(fold(kind), kind.lower()), **numbers) if kind else None


def _close(one: str, other: str) -> bool:
    try:
        a, b = json.loads(one), json.loads(other)
    except ValueError:
        return False
    rows = ([a] if not isinstance(a, list) else a, [b] if not isinstance(b, list) else b)
    if len(rows[0]) != len(rows[1]):
        return False
    return all(
        isinstance(x, int | float) and isinstance(y, int | float) and abs(x - y) <= 1e-9 * max(abs(x), abs(y)) for x, y in zip(*rows, strict=True)
    )


def _agree(one: str, other: str) -> bool:
    """Whether two schedules are of one kind and differ in nothing that both state."""
    try:
        a, b = json.loads(one), json.loads(other)
    except ValueError:
        return one == other
    return bool(a.get("kind") == b.get("kind")) and all(a[key] == b[key] for key in a.keys() & b.keys())


# -- the table


def ontology(more: Path | None = None) -> Ontology:
    """The packaged ontology, extended by a user's file; raises `SettingsError` where that is not of the form."""
    return _extended(more, more.stat().st_mtime_ns) if more and more.is_file() else (_packaged() if more is None else _extended(more, 0))


@cache
def _packaged() -> Ontology:
    return of_table(_table())


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(files("lineage").joinpath("data/ontology.json").read_text("utf-8"))
    return table


@cache
def _extended(path: Path, _: int) -> Ontology:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ValueError(f"more than {MAX_BYTES:,} bytes")
        return of_table(_joined(_table(), json.loads(data)))
    except (OSError, ValueError, RecursionError) as error:
        hint = '{"details": [{"name": "learning_rate", "identifiers": ["eta0"]}, {"name": ..., "title": ..., "topic": ..., "type": ...}]}'
        raise SettingsError(f"setting ontology: {path} cannot be read: {error}", hint=hint) from error


def _joined(table: Mapping[str, Any], more: Any) -> dict[str, Any]:
    """The table with a user's rows: those of a known name add to its lists, others are new details."""
    try:
        rows = {row["name"]: row for row in table["details"]}
        for row in more["details"]:
            rows[row["name"]] = _merged(rows.get(row["name"], {}), row)
        contexts = {**table["contexts"], **{name: [*table["contexts"].get(name, []), *words] for name, words in more.get("contexts", {}).items()}}
        calls = {**table["calls"], **more.get("calls", {})}
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a table of details: {error!r}") from error
    return {"details": list(rows.values()), "contexts": contexts, "calls": calls, "qualifiers": [*table["qualifiers"], *more.get("qualifiers", [])]}


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


def of_table(table: Mapping[str, Any]) -> Ontology:
    """The ontology of `{"details": [...], "contexts": ..., "qualifiers": ..., "calls": ...}`; raises ValueError for another form."""
    try:
        terms = [_term(row) for row in table["details"]]
        contexts = {str(name): frozenset(fold(word) for word in words) for name, words in table["contexts"].items()}
        calls = {str(name): Call(tuple(row.get("positional", ())), dict(row.get("states", {}))) for name, row in table["calls"].items()}
        digest = hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()[:16]
        return Ontology(terms, contexts, frozenset(map(str, table["qualifiers"])), calls, digest)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"not a table of details: {error!r}") from error


def _term(row: Mapping[str, Any]) -> Term:
    if row["type"] not in get_args(ValueType):
        raise ValueError(f"{row['name']}: there is no type {row['type']!r}")
    lists = {key: _words(row.get(key, ())) for key in ("identifiers", "prose", "counted", "cues", "prose_cues", "values_like", "renames", "kinds")}
    tables = {key: {str(name): _words(words) for name, words in row.get(key, {}).items()} for key in ("within", "values")}
    low, high = row.get("range") or (None, None)
    return Term(
        name=str(row["name"]), title=str(row["title"]), topic=str(row["topic"]), type=row["type"], unit=str(row.get("unit", "")),
        range=(float(low), float(high)) if low is not None and high is not None else None,
        flags={str(key): str(value) for key, value in row.get("flags", {}).items()},
        durations=bool(row.get("durations")), **lists, **tables,
    )  # fmt: skip


def _words(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        raise TypeError(f"a list of words is wanted, not {value!r}")
    return tuple(str(word) for word in value)


# -- the packaged ontology in short, for those that need no other


def normalise(name: str, text: str) -> Value | None:
    """`Ontology.normalise` of the packaged ontology."""
    return _packaged().normalise(name, text)


def same(name: str, one: str, other: str) -> bool:
    """`Ontology.same` of the packaged ontology."""
    return _packaged().same(name, one, other)
