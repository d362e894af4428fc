"""JSON Schemas of the tools' results, kept short because clients read all of them first."""

from __future__ import annotations

from typing import Any

from api.wire.hits import TRUST

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
BOOLEAN: Schema = {"type": "boolean"}
MAYBE: Schema = {"type": ["string", "null"]}
ANY: Schema = {"type": "object"}


def many(of: Schema) -> Schema:
    """Schema of a list."""
    return {"type": "array", "items": of}


def record(optional: dict[str, Schema] | None = None, **required: Schema) -> Schema:
    """Schema of an object with these fields; later versions may add some."""
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
    lineage=record(role=MAYBE, of=STRING, why=STRING),
    license=MAYBE,
    from_target=BOOLEAN,
    trust={"const": TRUST},
    flags=many(STRING),
)
READ = record(
    lineage=STRING,
    generation=STRING,
    hit=record(text=STRING, citation=STRING, source=ANY, license=MAYBE, trust={"const": TRUST}),
    start_line=INTEGER,
    end_line=INTEGER,
    before=INTEGER,
    after=INTEGER,
    previous=STRING,
    next=STRING,
    notice=STRING,
)
GAP = record(
    name=STRING,
    title=STRING,
    topic=STRING,
    question=STRING,
    state={"enum": ["UNSPECIFIED", "PARTIALLY_SPECIFIED", "SPECIFIED"]},
    why=STRING,
    stated=many(ANY),
    values=many(ANY),
    offers=many(record(value=STRING, unit=STRING, grade=STRING, reason=STRING, chain=many(STRING), held=many(ANY))),
)
CONFLICT = record(title=STRING, severity=NUMBER, why=STRING, sides=many(ANY))
VALUE = record(value=STRING, inherited=BOOLEAN, works=INTEGER, held=many(ANY))
GAPS = record(
    {"target": STRING, "domains": many(STRING), "gaps": many(GAP), "conflicts": many(CONFLICT), "values": many(VALUE), "why": many(STRING)},
    total=INTEGER,
    **PAGED,
    **READ_FROM,
)
CONTEXT = record(
    text=STRING,
    used=INTEGER,
    allowed=INTEGER,
    tokenizer=STRING,
    items=many(record(kind=STRING, tokens=INTEGER, citations=many(STRING))),
    left_out=many(STRING),
    **READ_FROM,
)
