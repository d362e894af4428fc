"""Values held against what a detail's values may be: the one text of a value that fits, None for one that does not (pure)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from lineage.hyperparameters.terms import Term, fold
from lineage.hyperparameters.values import Plain, shown

LONGEST = 120
_MOST_ITEMS = 16


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


_FILE = re.compile(r"\.(?:jsonl?|csv|tsv|txt|pkl|pickle|parquet|npy|npz|h5|zip|gz|tar|py|sh|md|ya?ml|db|pth?|ckpt|bin)\Z", re.IGNORECASE)
_TYPES = {"string", "str", "object", "array", "integer", "int", "number", "float", "boolean", "bool", "list", "dict", "tuple", "any", "auto"}


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
    match = _DURATION.match(text.strip())
    return float(format(float(match[1]) * _HOURS[match[2].lower()], ".6g")) if match else None


_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")


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


def close(one: str, other: str) -> bool:
    """Whether two values are the same number, or lists of the same numbers."""
    try:
        a, b = json.loads(one), json.loads(other)
    except ValueError:
        return False
    rows = ([a] if not isinstance(a, list) else a, [b] if not isinstance(b, list) else b)
    if len(rows[0]) != len(rows[1]):
        return False
    try:
        return all(isinstance(x, int | float) and isinstance(y, int | float) and math.isclose(x, y) for x, y in zip(*rows, strict=True))
    except OverflowError:  # a whole number beyond every float
        return False


def agree(one: str, other: str) -> bool:
    """Whether two schedules are of one kind and differ in nothing that both state."""
    try:
        a, b = json.loads(one), json.loads(other)
    except ValueError:
        return one == other
    if not (isinstance(a, dict) and isinstance(b, dict)):
        return one == other
    return bool(a.get("kind") == b.get("kind")) and all(a[key] == b[key] for key in a.keys() & b.keys())
