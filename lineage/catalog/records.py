"""Records to rows and back (pure): what a column holds, in one place.

Tuples and mappings become JSON with sorted keys, so that equal records give equal bytes and equal hashes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from lineage.records import (
    Chunk,
    CodeLink,
    Fact,
    FileProfile,
    FileRole,
    LedgerRow,
    Mention,
    Reference,
    Role,
    RoleVerdict,
    Setting,
    Status,
    Tier,
    Work,
    WorkId,
)

Row = tuple[Any, ...]
_CHUNK = tuple(field.name for field in fields(Chunk))
_LISTS = frozenset(("section", "box", "copies"))
"""Fields of a chunk that are kept as JSON."""
_USUAL: Mapping[str, tuple[str, ...] | None] = {"[]": (), "null": None}
_EMPTY = vars(Chunk("", WorkId(""), "", "code", "", "", "", 0, 0, 0, 0))


dump = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
"""JSON with sorted keys and no spaces."""


def digest(*values: Any) -> str:
    """SHA-256 (hex) over the values' JSON."""
    return hashlib.sha256(dump(values).encode("utf-8", "surrogatepass")).hexdigest()


def clean(text: str) -> str:
    """The text without lone surrogates, which UTF-8 cannot hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def work_row(work: Work) -> Row:
    """Columns of `works`."""
    lists = (dump(work.authors), dump(work.said_by), dump(dict(work.meta)), dump(work.aliases))
    return (work.id, work.kind, clean(work.title), work.year, work.venue, work.license, clean(work.abstract), *map(clean, lists))


def work_of(row: Row) -> Work:
    """The `Work` of a row of `works`."""
    id_, kind, title, year, venue, license_, abstract, *lists = row
    authors, said_by, meta, aliases = map(json.loads, lists)
    return Work(WorkId(id_), kind, title, tuple(authors), year, venue, abstract, tuple(aliases), license_, tuple(said_by), meta)


def edge_row(edge: Reference) -> Row:
    """Columns of `edges`."""
    evidence = {
        "mentions": [asdict(mention) for mention in edge.mentions],
        "roles": [asdict(role) for role in edge.roles],
        "why": edge.why,
        "known_by": edge.known_by,
        "merged": edge.merged,
    }
    plain = (edge.citing, edge.cited, clean(edge.key), edge.number, edge.distance, edge.score, int(edge.influential))
    return (*plain, clean(edge.raw), clean(dump(evidence)))


def _mention(value: dict[str, Any]) -> Mention:
    tuples = {name: tuple(value[name]) for name in ("section", "together", "intents")}
    return Mention(**{**value, **tuples})


def _verdict(value: dict[str, Any]) -> RoleVerdict:
    return RoleVerdict(**{**value, "role": Role(value["role"]), "section": tuple(value["section"]), "cues": tuple(value["cues"])})


def edge_of(row: Row) -> Reference:
    """The `Reference` of a row of `edges`."""
    citing, cited, key, number, distance, score, influential, raw, evidence = row
    evidence_json = json.loads(evidence)
    return Reference(
        citing=WorkId(citing),
        cited=WorkId(cited),
        key=key,
        raw=raw,
        mentions=tuple(_mention(stored_mention) for stored_mention in evidence_json["mentions"]),
        roles=tuple(_verdict(stored_mention) for stored_mention in evidence_json["roles"]),
        score=score,
        why=tuple(evidence_json["why"]),
        known_by=tuple(evidence_json["known_by"]),
        merged=tuple(evidence_json["merged"]),
        influential=bool(influential),
        distance=distance,
        number=number,
    )


def link_row(link: CodeLink) -> Row:
    """Columns of `code_links`."""
    return (link.paper, link.repo, link.tier.value, clean(dump(link.said_by)), clean(dump(link.evidence)))


def link_of(row: Row) -> CodeLink:
    """The `CodeLink` of a row of `code_links`."""
    paper, repo, tier, said_by, evidence = row
    return CodeLink(WorkId(paper), WorkId(repo), Tier(tier), tuple(json.loads(said_by)), tuple(json.loads(evidence)))


def ledger_row(row: LedgerRow) -> Row:
    """Columns of `ledger`."""
    return (row.kind, row.work, clean(row.subject), row.stage, row.status.value, clean(row.detail))


def ledger_of(row: Row) -> LedgerRow:
    """The `LedgerRow` of a row of `ledger`; raises `ValueError` for a status that is not on the list."""
    kind, work, subject, stage, status, detail = row
    return LedgerRow(kind, WorkId(work), subject, stage, Status(status), detail)


def fact_row(fact: Fact) -> Row:
    """Columns of `facts`."""
    words = (clean(fact.written), clean(fact.said), clean(fact.scope), int(fact.literal), fact.end_line)
    return (clean(fact.name), clean(fact.value), fact.unit, fact.work, fact.chunk, fact.kind, fact.line, *words)


def fact_of(row: Row) -> Fact:
    """The `Fact` of a row of `facts`."""
    name, value, unit, work, chunk, kind, line, written, said, scope, literal, end_line = row
    return Fact(name, value, unit, WorkId(work), chunk, kind, line, written, said, scope, bool(literal), end_line)


def setting_row(setting: Setting) -> Row:
    """Columns of `settings`."""
    place = (setting.work, clean(setting.path), setting.chunk, setting.line)
    return (clean(setting.name), clean(setting.value), setting.kind, *place, clean(setting.scope))


def file_row(file: FileProfile) -> Row:
    """Columns of `files`."""
    return (file.work, clean(file.path), " ".join(sorted(file.roles)), clean(file.experiment))


def file_of(row: Row) -> FileProfile:
    """The `FileProfile` of a row of `files`; raises `ValueError` for a role that is not on the list."""
    work, path, roles, experiment = row
    return FileProfile(WorkId(work), path, frozenset(map(FileRole, roles.split())), experiment)


def chunk_values(chunk: Chunk) -> Row:
    """Columns of `chunks` from `id` to `copies`: the fields in their order."""
    return tuple(clean(dump(value)) if name in _LISTS else clean(value) if isinstance(value, str) else value for name, value in vars(chunk).items())


def chunk_of(values: Sequence[Any]) -> Chunk:
    """The `Chunk` of the columns from `id` to `copies`."""
    row: dict[str, Any] = dict(zip(_CHUNK, values, strict=True))
    for name in _LISTS:
        stored = row[name]
        row[name] = _USUAL[stored] if stored in _USUAL else tuple(json.loads(stored))
    return _made(row)


def outline_of(id_: str, work: str, path: str, kind: str, role: str, start: int, end: int, start_line: int, end_line: int, symbol: str) -> Chunk:
    """A chunk without its text, header and section."""
    place = {"id": id_, "work": work, "path": path, "kind": kind, "role": role}
    return _made(_EMPTY | place | {"start": start, "end": end, "start_line": start_line, "end_line": end_line, "symbol": symbol})


def _made(values: Mapping[str, Any]) -> Chunk:
    """The chunk of all its fields: a frozen record that assigns them one by one takes five times as long, and a question reads hundreds."""
    chunk = object.__new__(Chunk)
    vars(chunk).update(values)
    return chunk


def same_text(text: str) -> str:
    """What two chunks share that say the same: a hash of the text without its indentation."""
    lines = "\n".join(" ".join(line.split()) for line in text.splitlines())
    return hashlib.sha256(lines.strip().encode("utf-8", "replace")).hexdigest()[:32]
