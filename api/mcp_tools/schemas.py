"""JSON Schemas of what the tools give back, kept short: a client reads all of them before it asks anything."""

from __future__ import annotations

from typing import Any

from api.wire import TRUST

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
BOOLEAN: Schema = {"type": "boolean"}
MAYBE: Schema = {"type": ["string", "null"]}
ANY: Schema = {"type": "object"}


def many(of: Schema) -> Schema:
    """A list of it."""
    return {"type": "array", "items": of}


def record(optional: dict[str, Schema] | None = None, **required: Schema) -> Schema:
    """An object with these fields; further fields may come with later versions."""
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required)}


PAGED: dict[str, Schema] = {"limit": INTEGER, "offset": INTEGER, "has_more": BOOLEAN}
READ_FROM: dict[str, Schema] = {"lineage": STRING, "generation": STRING, "notes": many(STRING), "notice": STRING}

HIT = record(
    rank=INTEGER,
    score=NUMBER,
    chunk=STRING,
    kind=STRING,
    text=STRING,
    citation=STRING,
    source=record(work=STRING, title=STRING, url=STRING, path=STRING),
    focus=record(start_line=INTEGER, end_line=INTEGER),
    lineage=record(distance={"type": ["integer", "null"]}, role=MAYBE, of=STRING, why=STRING),
    license=MAYBE,
    from_target=BOOLEAN,
    trust={"const": TRUST},
    flags=many(STRING),
)
READ = record(
    lineage=STRING,
    generation=STRING,
    hit=record(chunk=STRING, text=STRING, citation=STRING, source=ANY, focus=ANY, license=MAYBE, trust={"const": TRUST}),
    start_line=INTEGER,
    end_line=INTEGER,
    before=INTEGER,
    after=INTEGER,
    previous=STRING,
    next=STRING,
    notice=STRING,
)
