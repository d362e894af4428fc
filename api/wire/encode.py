"""Convert records and views to JSON, and wrap the output of `--json`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

from lineage import licenses
from lineage.errors import LineageError
from lineage.records import Work
from lineage.text.hidden_text import visible

T = TypeVar("T")

SCHEMA_VERSION = "1"
MOST_CHARACTERS = 2400
"""Of the text of a hit and of an error's message."""
MIN_TOKENS, MAX_TOKENS = 200, 1000
"""Of a concise answer: the smallest budget, and that of one question or pattern where none is given."""
QUESTION_TOKENS, PATTERN_TOKENS, CITATION_TOKENS = 300, 300, 1500
"""Of each of several questions, of several patterns, and of citations; those of one call are one budget."""


def envelope(data: Any) -> str:
    """The output of every `--json`: the data with its schema version, as one line of JSON."""
    return dumps({"schema_version": SCHEMA_VERSION, "data": data})


def error_envelope(error: LineageError) -> str:
    """The output of `--json` for an error."""
    data = {"type": type(error).__name__, "message": str(error)[:MOST_CHARACTERS], "hint": error.hint[:MOST_CHARACTERS], "exit_code": error.exit_code}
    return dumps({"schema_version": SCHEMA_VERSION, "error": data})


def dumps(value: Any) -> str:
    """JSON on one line; lone surrogates, which cannot be encoded, become question marks."""
    return json.dumps(value, ensure_ascii=False, default=to_json).encode("utf-8", "replace").decode()


def view(record: Any, kind: type[T], /, **given: Any) -> T:
    """A record as readers outside see it: of the fields of `kind` those that are not `given` come from its own, each as the type that is declared.

    Texts lose invisible characters. A type with a method `from_record` is made by that; a field `Annotated[T, make]` names another maker.
    """
    makers = _makers(cast("Any", kind))
    return kind(**{name: make(getattr(record, name)) for name, make in makers.items() if name not in given and hasattr(record, name)}, **given)


@cache
def _makers(kind: Any) -> Mapping[str, Callable[[Any], Any]]:
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: maker(hints[field.name]) for field in fields(kind)}


def maker(hint: Any) -> Callable[[Any], Any]:
    """The function that converts a record's value to a declared type."""
    named = next(filter(callable, getattr(hint, "__metadata__", ())), None) or getattr(hint, "from_record", None)
    if named:
        return cast("Callable[[Any], Any]", named)
    options = [option for option in get_args(hint) if option not in {type(None), Ellipsis}]
    if len(options) == 1:
        item = maker(options[0])
        return (lambda values: tuple(map(item, values))) if get_origin(hint) is tuple else lambda value: None if value is None else item(value)
    return (lambda record: view(record, cast("Any", hint))) if is_dataclass(hint) else visible_in


def visible_in(value: Any) -> Any:
    """A text, or texts, without invisible characters; other values unchanged."""
    if type(value) is tuple:
        return tuple(map(visible_in, value))
    return visible(value)[0] if type(value) is str else value


def to_json(value: Any) -> Any:
    """A record as JSON values: fields by name (but for those it calls `absent`), sets sorted, enumerations by value."""
    if isinstance(value, Work):
        value = replace(value, license=licenses.shown(value.license))
    if is_dataclass(value) and not isinstance(value, type):
        absent = getattr(value, "absent", ())
        return {f.name: to_json(getattr(value, f.name)) for f in fields(value) if not f.name.startswith("_") and f.name not in absent}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(to_json(item) for item in value)
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
