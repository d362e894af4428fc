"""Read a finished catalog: records out, never SQL, never a half-written state."""

from __future__ import annotations

import hashlib
import json
import threading
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lineage.catalog import places, records, schema
from lineage.catalog.schema import batches, marks
from lineage.errors import StoreDamaged
from lineage.records import (
    MECHANISM,
    Chunk,
    ChunkKind,
    CodeLink,
    Fact,
    FileProfile,
    LedgerRow,
    LedgerSubject,
    Reference,
    Setting,
    Status,
    Work,
    WorkId,
)

DEADLINE = 10.0
_OUTLINE = 'row, id, work, path, kind, role, start, "end", start_line, end_line, symbol, same'
_HOMES, _ROWS_KEPT = 200, 64
_REBUILD = "build the lineage again; what was fetched is kept"
_FILE = "#"
"""Between a work and the path of a file in it: no identifier of a work has it."""


@dataclass(frozen=True)
class StoredDocument:
    """A document of the generation without its text: `length` in bytes of UTF-8, `sha256` of them."""

    work: WorkId
    path: str
    blob: str
    parser: str
    kind: ChunkKind
    language: str
    title: str
    pages: int
    status: Status
    detail: str
    length: int
    sha256: str


class Outline(NamedTuple):
    """A chunk without its text, header and section, and the key that chunks of the same text share."""

    chunk: Chunk
    same: str


class Catalog:
    """A finished catalogue, safe to share between threads. What is read is checked against its hash."""

    _narrow = "chunks INDEXED BY chunks_outline"
    """Chunks read without passing their texts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._profiles: dict[WorkId, Mapping[str, FileProfile]] = {}
        self._db = schema.open_finished(path)
        self._lock = threading.RLock()
        self._until = float("inf")
        self._outlines: dict[int, Outline] = {}
        self._rows: dict[tuple[frozenset[str], frozenset[str]], NDArray[np.int64]] = {}
        self._db.set_progress_handler(self._late, 10_000)

    def _late(self) -> int:
        return int(time.monotonic() > self._until)

    def close(self) -> None:
        """Close the file; nothing can be read afterwards."""
        self._db.close()

    def __enter__(self) -> Catalog:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _all(self, statement: str, values: Sequence[Any] = (), seconds: float = 60.0) -> list[records.Row]:
        with self._lock, schema.translated(self.path):
            self._until = time.monotonic() + seconds
            try:
                return self._db.execute(statement, values).fetchall()
            finally:
                self._until = float("inf")

    # -- what the generation says of itself

    def meta(self) -> dict[str, Any]:
        """Everything that was set with `set_meta`."""
        return {key: json.loads(value) for key, value in self._all("SELECT key, value FROM meta ORDER BY key")}

    def counts(self) -> dict[str, int]:
        """Rows per table, and `lexical`: rows of the lexical index."""
        counts = {table: self._all(f"SELECT count(*) FROM {table}")[0][0] for table in schema.COUNTED}  # noqa: S608 - a fixed list
        return {**counts, "lexical": self._indexed()}

    def _indexed(self) -> int:
        return len(self._lexicon.lengths)

    def works(self) -> tuple[Work, ...]:
        """Every work, by identifier."""
        return tuple(records.work_of(row) for row in self._all(f"SELECT {_WORK} FROM works ORDER BY id"))  # noqa: S608

    def work(self, id_: str) -> Work | None:
        """The work of an identifier or of one of its aliases."""
        work_rows = self._all(f"SELECT {_WORK} FROM works WHERE id = ?", (id_,)) or self._all(  # noqa: S608
            f"SELECT {_WORK} FROM works WHERE id = (SELECT min(work) FROM aliases WHERE alias = ?)",  # noqa: S608
            (id_,),
        )
        return records.work_of(work_rows[0]) if work_rows else None

    def references(self, citing: str | None = None) -> tuple[Reference, ...]:
        """Edges, heaviest first; `citing` restricts them to one work's own."""
        where, values = ("WHERE citing = ?", (citing,)) if citing else ("", ())
        rows = self._all(f"SELECT * FROM edges {where} ORDER BY score DESC, citing, number NULLS FIRST, cited, key", values)  # noqa: S608
        return tuple(records.edge_of(row) for row in rows)

    def links(self) -> tuple[CodeLink, ...]:
        """Papers and their repositories."""
        return tuple(records.link_of(row) for row in self._all("SELECT * FROM code_links ORDER BY paper, repo"))

    def ledger(self, kind: LedgerSubject | None = None) -> tuple[LedgerRow, ...]:
        """Terminal rows, of one kind where it is given."""
        rows = self._all("SELECT * FROM ledger WHERE ?1 IS NULL OR kind = ?1 ORDER BY kind, work, subject", (kind,))
        return tuple(records.ledger_of(row) for row in rows)

    def sums(self, kind: LedgerSubject | None = None) -> dict[str, int]:
        """`in`, `ok`, `degraded`, `failed`, `excluded`: rows of the ledger by outcome; `in` is what the build said went in."""
        outcomes = {"ok": 0, "degraded": 0, "failed": 0, "excluded": 0}
        for status, count in self._all("SELECT status, count(*) FROM ledger WHERE (?1 IS NULL OR kind = ?1) GROUP BY status", (kind,)):
            outcomes[Status(status).outcome] += count
        return {"in": self._went_in(kind), **outcomes}

    def _went_in(self, kind: LedgerSubject | None) -> int:
        expected = {key.removeprefix("ledger_in."): value for key, value in self.meta().items() if key.startswith("ledger_in.")}
        rows = self._all("SELECT kind, count(*) FROM ledger WHERE (?1 IS NULL OR kind = ?1) GROUP BY kind", (kind,))
        counted: dict[str, int] = {name: count for name, count in rows}  # noqa: C416 - rows are tuples of unknown types
        kinds: set[str] = {kind} if kind else {*expected, *counted}
        return sum(int(expected.get(name, counted.get(name, 0))) for name in kinds)

    def statuses(self, kind: LedgerSubject) -> dict[Status, int]:
        """How many subjects of a kind ended in which status."""
        rows = self._all("SELECT status, count(*) FROM ledger WHERE kind = ? GROUP BY status ORDER BY 2 DESC, 1", (kind,))
        return {Status(status): count for status, count in rows}

    def facts(self, name: str | None = None) -> tuple[Fact, ...]:
        """Facts of one name (any case), or all but mechanisms."""
        wanted = f"(?1 IS NULL AND name NOT LIKE '{MECHANISM}%') OR lower(name) = lower(?1)"
        rows = self._all(f"SELECT * FROM facts WHERE {wanted} ORDER BY name, work, chunk, line, value, written, said", (name,))  # noqa: S608 - a fixed prefix
        return tuple(records.fact_of(row) for row in rows)

    def mechanisms(self, kind: str = "") -> tuple[Fact, ...]:
        """Facts that are mechanisms: statements of code by kind (`lineage.hyperparameters.mechanisms`), of all kinds or of one."""
        which, name = ("name = ?", MECHANISM + kind) if kind else ("name LIKE ?", f"{MECHANISM}%")
        rows = self._all(f"SELECT * FROM facts WHERE {which} ORDER BY name, work, chunk, line, value, written, said", (name,))  # noqa: S608 - one of two
        return tuple(records.fact_of(row) for row in rows)

    def deciding(self) -> Mapping[str, int]:
        """How many kinds of mechanisms each chunk has that has any."""
        return dict(self._all(f"SELECT chunk, count(DISTINCT name) FROM facts WHERE name LIKE '{MECHANISM}%' GROUP BY chunk"))  # noqa: S608 - a fixed prefix

    def decisions(self, kinds: Sequence[str], chunks: Sequence[str]) -> Sequence[tuple[str, str, int, int]]:
        """Of the statements of some kinds of mechanisms in some chunks: kind, chunk, first and last line."""
        where = f"name IN ({marks(kinds)}) AND chunk IN ({marks(chunks)})"
        rows = self._all(f"SELECT name, chunk, line, end_line FROM facts WHERE {where}", (*(MECHANISM + kind for kind in kinds), *chunks))  # noqa: S608
        return [(name.removeprefix(MECHANISM), chunk, line, max(line, end_line)) for name, chunk, line, end_line in rows]

    def stating(self, names: Sequence[str], chunks: Sequence[str]) -> dict[str, frozenset[str]]:
        """Which of the chunks state a value of one of the names, or compute it, each with those that it states."""
        where = f"name IN ({marks(names)}) AND chunk IN ({marks(chunks)})"
        rows = self._all(f"SELECT DISTINCT chunk, name FROM facts WHERE {where}", (*names, *chunks))  # noqa: S608
        stated: dict[str, set[str]] = {}
        for chunk, name in rows:
            stated.setdefault(chunk, set()).add(name)
        return {chunk: frozenset(fact_names) for chunk, fact_names in stated.items()}

    def settings(self, work: WorkId, names: Sequence[str] = ()) -> Sequence[Setting]:
        """The settings of a repository as they are written, file by file; only those of some names where any are given."""
        where = f"work = ? AND name IN ({marks(names)})" if names else "work = ?"
        return tuple(Setting(*row) for row in self._all(f"SELECT * FROM settings WHERE {where} ORDER BY path, rowid", (work, *names)))  # noqa: S608

    def files(self, work: WorkId) -> Mapping[str, FileProfile]:
        """What the files of a repository are for, by path."""
        if work not in self._profiles:
            self._profiles[work] = {file.path: file for file in self._profile(work)}
        return self._profiles[work]

    def _profile(self, work: WorkId) -> Iterable[FileProfile]:
        return map(records.file_of, self._all("SELECT * FROM files WHERE work = ? ORDER BY path", (work,)))

    # -- documents

    def works_read(self) -> frozenset[WorkId]:
        """Works of which there are documents."""
        return frozenset(WorkId(work) for (work,) in self._all("SELECT DISTINCT work FROM documents"))

    def documents(self, work: str | None = None) -> tuple[StoredDocument, ...]:
        """Documents without their texts, of one work or of all."""
        rows = self._all(
            "SELECT work, path, blob, parser, kind, language, title, pages, status, detail, length, sha256 FROM documents"
            " WHERE ?1 IS NULL OR work = ?1 ORDER BY work, path",
            (work,),
        )
        return tuple(_document_of(row) for row in rows)

    def document_text(self, work: str, path: str) -> str | None:
        """The whole text of a document, None if there is none of that name; raises `StoreDamaged`."""
        document_rows = self._all("SELECT packed, length, sha256 FROM documents WHERE work = ? AND path = ?", (work, path))
        return _unpacked(document_rows[0], f"{work}#{path} in {self.path}") if document_rows else None

    def window(self, work: str, path: str, start: int, end: int) -> str:
        """Characters [start, end) of a document, fewer where it ends before; "" if there is no such document."""
        text = self.document_text(work, path) or ""
        return text[max(0, start) : max(0, end)]

    # -- chunks

    def chunk(self, id_: str) -> Chunk | None:
        """The chunk of an identifier, None if there is none."""
        rows = self._all("SELECT row FROM chunks WHERE id = ? ORDER BY row LIMIT 1", (id_,))
        return self.chunks([rows[0][0]])[0] if rows else None

    def chunks_of(self, ids: Iterable[str]) -> dict[str, Chunk]:
        """The chunks of those identifiers that there are."""
        wanted, rows = list(dict.fromkeys(ids)), dict[str, int]()
        for batch in batches(wanted):
            rows.update(self._all(f"SELECT id, min(row) FROM chunks WHERE id IN ({marks(batch)}) GROUP BY id ORDER BY id", batch))  # noqa: S608
        return {chunk.id: chunk for chunk in self.chunks(list(rows.values()))}

    def rows_of(self, ids: Iterable[str], kinds: Collection[ChunkKind] = ()) -> list[int]:
        """The first row of each chunk of those identifiers that there is, of these kinds (none given: every kind)."""
        wanted, where = sorted(set(ids)), f"kind IN ({marks(kinds)}) AND" if kinds else ""
        rows: list[int] = []
        for batch in batches(wanted):
            statement = f"SELECT min(row) FROM chunks WHERE {where} id IN ({marks(batch)}) GROUP BY id ORDER BY id"  # noqa: S608
            rows += [row for (row,) in self._all(statement, (*kinds, *batch))]
        return rows

    def chunks(self, rows: Sequence[int]) -> list[Chunk]:
        """Chunks of the given rows, in that order; raises `StoreDamaged` for a row that is missing or altered."""
        chunks_by_key: dict[int, Chunk] = {}
        for wanted in batches([int(row) for row in rows]):
            for row, sha256, *values in self._all(f"SELECT row, sha256, {schema.CHUNK} FROM chunks WHERE row IN ({marks(wanted)})", wanted):  # noqa: S608
                if records.digest(values) != sha256:
                    raise StoreDamaged(f"chunk {values[0]} in {self.path} is not what was written", hint="`lineage check` says what else is damaged")
                chunks_by_key[row] = records.chunk_of(values)
        missing = [row for row in rows if int(row) not in chunks_by_key]
        if missing:
            raise StoreDamaged(f"chunk row {missing[0]} is missing in {self.path}", hint="`lineage check` says what else is damaged")
        return [chunks_by_key[int(row)] for row in rows]

    def outlines(self, rows: Sequence[int]) -> dict[int, Outline]:
        """Outlines by row, without the rows that do not exist; what was read once is kept."""
        kept = self._outlines
        missing = [int(row) for row in dict.fromkeys(rows) if row not in kept]
        for batch in batches(missing):
            statement = f"SELECT {_OUTLINE} FROM {self._narrow} WHERE row IN ({marks(batch)})"  # noqa: S608
            for row, *outline, same in self._all(statement, batch):
                kept[row] = Outline(records.outline_of(*outline), same)
        return {row: kept[row] for row in rows if row in kept}

    def homes(self, rows: Sequence[int]) -> dict[int, list[tuple[int, WorkId, str, int, int]]]:
        """By row (row, work, path, start_line, end_line) of every chunk with the same text, itself included; at most 200 each."""
        same = {row: outline.same for row, outline in self.outlines(rows).items()}
        keys = list(dict.fromkeys(same.values()))
        homes_by_key: dict[str, list[tuple[int, WorkId, str, int, int]]] = {key: [] for key in keys}
        statement = f"SELECT same, row, work, path, start_line, end_line FROM chunks WHERE same IN ({marks(keys)}) ORDER BY row"  # noqa: S608
        for key, row, work, path, first, last in self._all(statement, keys):
            if len(homes_by_key[key]) < _HOMES:
                homes_by_key[key].append((int(row), WorkId(work), str(path), int(first), int(last)))
        return {row: homes_by_key[key] for row, key in same.items()}

    def neighbours(self, work: str, path: str) -> list[int]:
        """Rows of all chunks of one document, in reading order."""
        return [row for (row,) in self._all("SELECT row FROM chunks WHERE work = ? AND path = ? ORDER BY start, row", (work, path))]

    def rows(self, kinds: Collection[ChunkKind] = (), without: Collection[str] = ()) -> NDArray[np.int64]:
        """Rows of all chunks of these kinds (none given: every kind) that are not of the works or files (`document_key`) in `without`, ascending."""
        key = (frozenset[str](kinds), frozenset(without))
        if key not in self._rows:
            if len(self._rows) >= _ROWS_KEPT:
                self._rows.clear()
            where, values = _filter(kinds, without)
            self._rows[key] = np.array([row for (row,) in self._all(f"SELECT row FROM chunks c WHERE {where} ORDER BY row", values)], np.int64)  # noqa: S608
        return self._rows[key]

    def lexical(
        self, asked: Sequence[tuple[str, float]], k: int, *, kinds: Collection[ChunkKind] = (), without: Collection[str] = ()
    ) -> list[tuple[int, float]]:
        """(row, score) of the best `k` chunks, best first; higher is better.

        `asked` are expressions of `lineage.text.tokens.fts_any` with the weight of their BM25 scores, which are added up;
        `kinds` and `without` restrict as in `rows`.
        """
        asked = [(expression, weight) for expression, weight in asked if expression]
        if not asked:
            return []
        with self._readable_words():
            rows, scores = self._lexicon.scores(asked)
        if kinds or without:
            allowed = np.zeros(len(self._lexicon.lengths), bool)
            allowed[self.rows(kinds, without)] = True
            rows, scores = rows[allowed[rows]], scores[allowed[rows]]
        return places.best(rows, scores, k)

    def held(self, terms: Collection[str], rows: Sequence[int]) -> Mapping[int, frozenset[str]]:
        """Which of the terms each of some chunks holds, in its text or in what is said of it."""
        with self._readable_words():
            return self._lexicon.held(terms, rows)

    @contextmanager
    def _readable_words(self) -> Iterator[None]:
        try:
            yield
        except ValueError as error:
            raise StoreDamaged(f"the lexical index of {self.path} is damaged: {error}", hint=_REBUILD) from error

    @cached_property
    def _lexicon(self) -> places.Lexicon:
        stored = self._all("SELECT lengths FROM lengths")
        if not stored:
            raise StoreDamaged(f"{self.path} has no lexical index", hint=_REBUILD)
        return places.Lexicon(self._stored_words, np.frombuffer(stored[0][0], "<i4"))

    def _stored_words(self, column: Literal["bag", "places"], terms: Sequence[str]) -> Iterable[tuple[str, bytes]]:
        for batch in batches(terms):
            yield from self._all(f"SELECT term, {column} FROM vocabulary WHERE term IN ({marks(batch)})", batch)  # noqa: S608

    def texts(
        self, literal: str = "", any_case: bool = False, words: Sequence[str] = (), kinds: Collection[ChunkKind] = (), without: Collection[str] = ()
    ) -> list[tuple[int, str]]:
        """(row, text) of every chunk that holds `literal` and each token of `words`, by row; `kinds` and `without` restrict as in `rows`."""
        where, values = _filter(kinds, without)
        if literal:
            where += " AND instr(lower(c.text), lower(?)) > 0" if any_case else " AND instr(c.text, ?) > 0"
            values.append(literal)
        statement = f"SELECT c.row, c.text FROM chunks c WHERE {where}"  # noqa: S608
        words = [word for word in words if word.isalnum()]
        if not words:
            return [(int(row), str(text)) for row, text in self._all(f"{statement} ORDER BY c.row", values, DEADLINE)]
        with self._readable_words():
            rows = self._lexicon.all_of(words).tolist()
        matches: list[tuple[int, str]] = []
        for batch in batches(rows):
            matches += self._all(f"{statement} AND c.row IN ({marks(batch)}) ORDER BY c.row", (*values, *batch), DEADLINE)
        return matches

    def frequencies(self, terms: Collection[str]) -> dict[str, int]:
        """In how many chunks each term stands (0 for one that stands in none)."""
        counts_by_term = dict.fromkeys(sorted(set(terms)), 0)
        for batch in batches(list(counts_by_term)):
            rows = self._all(f"SELECT term, doc FROM vocabulary WHERE term IN ({marks(batch)})", batch)  # noqa: S608
            counts_by_term.update({str(term): int(count) for term, count in rows})
        return counts_by_term

    # -- proof

    def content_hash(self) -> str:
        """SHA-256 of what the generation holds, whatever the time and order it was built in.

        Covers works, edges, code links, documents, chunks, facts and the ledger; not vectors (arithmetic differs
        between processors) and not `meta` (durations, dates).
        """
        total = hashlib.sha256()
        for table, columns in _HASHED:
            lines = sorted(records.dump(row) for row in self._all(f"SELECT {columns} FROM {table}"))  # noqa: S608 - a fixed list
            total.update(f"{table} {len(lines)}\n".encode())
            for line in lines:
                total.update(line.encode() + b"\n")
        return total.hexdigest()

    def damage(self) -> Iterator[str]:
        """What is wrong inside the file, in words: rows that are not what their hash says, and tables that do not fit together."""
        yield from self._file_damage()
        for row, sha256, *values in self._all(f"SELECT row, sha256, {schema.CHUNK} FROM chunks"):  # noqa: S608
            if records.digest(values) != sha256:
                yield f"chunk row {row} ({values[0]}) is not what was written"
        for work, path, *stored in self._all("SELECT work, path, packed, length, sha256 FROM documents"):
            try:
                _unpacked(stored, f"document {work}#{path}")
            except StoreDamaged as error:
                yield str(error)
        yield from self._misfits()

    def _file_damage(self) -> Iterator[str]:
        return (f"SQLite: {answer}" for (answer,) in self._all("PRAGMA quick_check(5)") if answer != "ok")

    def _misfits(self) -> Iterator[str]:
        counts = self.counts()
        if counts["lexical"] != counts["chunks"]:
            yield f"the lexical index has {counts['lexical']} rows for {counts['chunks']} chunks"
        rows = self._all("SELECT coalesce(min(row), 0), coalesce(max(row), -1) FROM chunks")[0]
        if rows != (0, counts["chunks"] - 1):
            yield f"chunk rows run from {rows[0]} to {rows[1]}, {counts['chunks']} were counted"
        for work in self._all("SELECT DISTINCT work FROM chunks WHERE work NOT IN (SELECT id FROM works)"):
            yield f"chunks of {work[0]}, which is not among the works"
        sums = self.sums()
        if sums["in"] != sums["ok"] + sums["degraded"] + sums["failed"] + sums["excluded"]:
            yield f"the ledger does not add up: {sums}"


_WORK = "id, kind, title, year, venue, license, abstract, authors, said_by, meta, aliases"
_HASHED = (
    ("works", _WORK),
    ("edges", "citing, cited, key, number, distance, score, influential, raw, evidence"),
    ("code_links", "paper, repo, tier, said_by, evidence"),
    ("documents", "work, path, blob, parser, kind, status, detail, sha256"),
    ("chunks", "id, work, path, sha256"),
    ("facts", "*"),
    ("ledger", "kind, work, subject, stage, status, detail"),
)


def document_key(work: str, path: str) -> str:
    """How a single document is named in `without`."""
    return f"{work}{_FILE}{path}"


def _filter(kinds: Collection[ChunkKind], without: Collection[str]) -> tuple[str, list[str]]:
    clauses, values = ["TRUE"], list[str]()
    if kinds:
        clauses.append(f"c.kind IN ({marks(kinds)})")
        values.extend(sorted(kinds))
    works, files = sorted(name for name in without if _FILE not in name), sorted(name for name in without if _FILE in name)
    for column, names in (("c.work", works), (f"c.work || '{_FILE}' || c.path", files)):
        if names:
            clauses.append(f"{column} NOT IN ({marks(names)})")
            values.extend(names)
    return " AND ".join(clauses), values


def _document_of(row: records.Row) -> StoredDocument:
    work, path, blob, parser, kind, language, title, pages, status, detail, length, sha256 = row
    return StoredDocument(WorkId(work), path, blob, parser, kind, language, title, pages, Status(status), detail, length, sha256)


def _unpacked(stored: Sequence[Any], name: str) -> str:
    """The text of (packed, length, sha256), never more than the stated length."""
    packed, length, sha256 = stored
    try:
        text = zlib.decompressobj().decompress(packed, length + 1)
    except zlib.error as error:
        raise StoreDamaged(f"{name} is damaged: {error}") from error
    if len(text) != length or hashlib.sha256(text).hexdigest() != sha256:
        raise StoreDamaged(f"{name} is not what was written", hint="`lineage check` says what else is damaged")
    return text.decode()
