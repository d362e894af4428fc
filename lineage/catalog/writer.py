"""Write a new generation's catalog: one transaction, one process, all or nothing.

It begins empty, or as a copy of the former generation's, in which the chunks of a document that both have keep their rows, words, facts and
settings. Rows stay without gaps: new chunks take those of chunks that went, then the last chunks do.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from lineage.catalog import records, schema
from lineage.catalog.places import Indexed
from lineage.errors import LineageError, StoreDamaged
from lineage.records import Chunk, CodeLink, Document, Fact, FileProfile, LedgerRow, LedgerSubject, Reference, Scalar, Setting, Work
from lineage.text.tokens import VERSION as TOKENS
from lineage.text.tokens import tokens

_SO = "parser, kind, language, title, pages, status, detail, sha256"
_BY_TEXT = ("code@", "config@", "plain@")
"""Parsers that read nothing but the text that is kept."""


class CatalogWriter:
    """A catalogue in the making; leave the `with` block by an error, or without `finish`, and it holds nothing.

    Every method raises `DiskFull`, `SettingsError` or `StoreError` when the disk does not take it, and
    `ValueError` for a second document under a name that is taken (a bug of the caller: its chunks would
    point into the other one).
    """

    def __init__(self, path: Path, former: Path | None = None, read_by: str = "") -> None:
        """`read_by` names what documents were read by: only what was read by the same is taken from `former`."""
        self.path = path
        self.rows: list[int] = []
        """Of each chunk its row in `former`, -1 for none; as it is when `finish` ends."""
        self._made = {"tokens": TOKENS, "read_by": read_by}
        self._db = schema.create(path, former)
        self._words = Indexed()
        self._free: list[int] = []
        self._before: dict[tuple[str, str], records.Row] = {}
        self._subjects: Counter[tuple[str, str, str]] = Counter()
        if former:
            self._take_over()

    def _take_over(self) -> None:
        """Keep of a copy what documents and chunks are, if they were made as they are made now, else begin anew."""
        with schema.translated(self.path):
            meta = {key: json.loads(value) for key, value in self._db.execute("SELECT key, value FROM meta WHERE key IN ('tokens', 'read_by')")}
            if self._made != meta or self._db.execute("PRAGMA user_version").fetchone() != (schema.VERSION,):
                self._db.close()
                self.path.unlink()
                self._db = schema.create(self.path)
                return
            self._index()
            for table in ("meta", "works", "aliases", "edges", "code_links", "ledger", "files"):
                self._db.execute(f"DELETE FROM {table}")  # noqa: S608 - a fixed list
            chunks = {(work, path): count for work, path, count in self._db.execute("SELECT work, path, count(*) FROM chunks GROUP BY work, path")}
            for work, path, blob, *is_so in self._db.execute(f"SELECT work, path, blob, {_SO} FROM documents"):  # noqa: S608 - a fixed list
                self._before[work, path] = (blob, *is_so, chunks.get((work, path), 0))
            self.rows = list(range(sum(chunks.values())))
            self._db.execute("CREATE TEMP TABLE gone (id TEXT PRIMARY KEY) WITHOUT ROWID")

    def __enter__(self) -> CatalogWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._db.close()

    def _insert(self, table: str, rows: Iterable[records.Row], conflict: str = "") -> None:
        rows = iter(rows)
        first = next(rows, None)
        if first is None:
            return
        marks = ",".join("?" * len(first))
        statement = f"INSERT {conflict} INTO {table} VALUES ({marks})"  # noqa: S608 - names from this module only
        with schema.translated(self.path):
            try:
                self._db.executemany(statement, _chain(first, rows))
            except sqlite3.IntegrityError as error:
                raise ValueError(f"{table}: {error}") from error

    def add_works(self, works: Iterable[Work]) -> None:
        """Works with their aliases; a work that is there already is replaced."""
        works = tuple(works)
        self._insert("works", map(records.work_row, works), "OR REPLACE")
        self._insert("aliases", ((alias, work.id) for work in works for alias in work.aliases), "OR IGNORE")

    def add_references(self, references: Iterable[Reference]) -> None:
        """Edges with mentions, roles and reasons; (citing, cited, key) is unique, a later edge replaces."""
        self._insert("edges", map(records.edge_row, references), "OR REPLACE")

    def add_links(self, links: Iterable[CodeLink]) -> None:
        """Papers and their repositories; (paper, repo) is unique, a later link replaces."""
        self._insert("code_links", map(records.link_row, links), "OR REPLACE")

    def add_document(self, document: Document, chunks: int = 0) -> bool:
        """A document's text (compressed, with its SHA-256) and where it came from; its spans live on as so many `chunks`.

        Whether those are to be added, and what it states: what `former` has as well is there. All documents come before the first chunk.
        """
        text = records.clean(document.text).encode()
        place, kind = (document.work, records.clean(document.path)), (document.parser, document.kind, document.language)
        document_fields = (records.clean(document.title), document.pages, document.status.value, records.clean(document.detail))
        is_so = (*kind, *document_fields, hashlib.sha256(text).hexdigest(), chunks)
        blob, *was_so = self._before.get(place, ("",))
        if is_so == tuple(was_so) and (blob == document.blob or document.parser.startswith(_BY_TEXT)):
            del self._before[place]
            if blob != document.blob:
                with schema.translated(self.path):
                    self._db.execute("UPDATE documents SET blob = ? WHERE work = ? AND path = ?", (document.blob, *place))
            return False
        if was_so:
            self._remove(place)
        self._insert("documents", [(*place, document.blob, *kind, *document_fields, len(text), zlib.compress(text, 3), is_so[-2])])
        return True

    def _remove(self, place: tuple[str, str]) -> None:
        """Take out a document of `former` with its chunks and what it states."""
        del self._before[place]
        with schema.translated(self.path):
            for row, *values in self._db.execute(f"SELECT row, {schema.CHUNK} FROM chunks WHERE work = ? AND path = ?", place):  # noqa: S608
                chunk = records.chunk_of(values)
                self._words.remove(row, lexical_fields(chunk))
                self._free.append(row)
                self._db.execute("INSERT OR IGNORE INTO gone VALUES (?)", (chunk.id,))
            for table in ("chunks", "settings", "documents"):
                self._db.execute(f"DELETE FROM {table} WHERE work = ? AND path = ?", place)  # noqa: S608 - a fixed list

    def _remove_others(self) -> None:
        """Take out the documents of `former` that were not added, and the facts of all that went."""
        for place in list(self._before):
            self._remove(place)
        if self._free:
            with schema.translated(self.path):
                self._db.execute("DELETE FROM facts WHERE chunk IN (SELECT id FROM gone)")
        self._free.sort()

    def add_chunks(self, chunks: Sequence[Chunk], unread: Collection[int] = ()) -> None:
        """Chunks and their words, in the order of the rows of `vectors.npy` that are new.

        Of the chunks at the positions `unread` only the place is indexed: what stands as their text is not the source's.
        """
        self._remove_others()
        rows = [*self._free[: len(chunks)], *range(len(self.rows), len(self.rows) + len(chunks) - len(self._free))]
        self.rows += [-1] * (len(chunks) - len(self._free))
        del self._free[: len(chunks)]
        values = [records.chunk_values(chunk) for chunk in chunks]
        more = ((records.same_text(chunk.text), records.digest(value)) for value, chunk in zip(values, chunks, strict=True))
        self._insert("chunks", ((row, *value, *hashes) for row, value, hashes in zip(rows, values, more, strict=True)))
        for n, (row, chunk) in enumerate(zip(rows, chunks, strict=True)):
            self.rows[row] = -1
            self._words.add(row, lexical_fields(replace(chunk, text="") if n in unread else chunk))
        if unread:
            self._made["tokens"] = ""

    def _close_gaps(self) -> None:
        """Give the rows that are free to the last chunks."""
        self._remove_others()
        while self._free:
            if self._free[-1] == (last := len(self.rows) - 1):
                self._free.pop()
            else:
                values = self._db.execute(f"SELECT {schema.CHUNK} FROM chunks WHERE row = ?", (last,)).fetchone()  # noqa: S608
                row, fields = self._free.pop(0), lexical_fields(records.chunk_of(values))
                self._db.execute("UPDATE chunks SET row = ? WHERE row = ?", (row, last))
                self._words.remove(last, fields)
                self._words.add(row, fields)
                self.rows[row] = self.rows[last]
            self.rows.pop()

    def add_facts(self, facts: Iterable[Fact]) -> None:
        """Hyper-parameters and choices with their places."""
        self._insert("facts", map(records.fact_row, facts))

    def add_settings(self, settings: Iterable[Setting]) -> None:
        """Settings as they are written, whatever they are called."""
        self._insert("settings", map(records.setting_row, settings))

    def add_files(self, files: Iterable[FileProfile]) -> None:
        """What each file of a repository is for."""
        self._insert("files", map(records.file_row, files))

    def add_ledger(self, rows: Iterable[LedgerRow]) -> None:
        """Terminal rows; a second subject of the same name (archives hold such) becomes `name (2)`, so that none is lost."""
        self._insert("ledger", (records.ledger_row(self._numbered(row)) for row in rows))

    def _numbered(self, row: LedgerRow) -> LedgerRow:
        self._subjects[row.kind, row.work, row.subject] += 1
        count = self._subjects[row.kind, row.work, row.subject]
        return row if count == 1 else self._numbered(replace(row, subject=f"{row.subject} ({count})"))

    def expect(self, kind: LedgerSubject, count: int) -> None:
        """How many subjects of a kind went in; `finish` asserts that as many rows came out."""
        self.set_meta(f"ledger_in.{kind}", count)

    def set_meta(self, key: str, value: Scalar | Mapping[str, Any] | Sequence[Any]) -> None:
        """A JSON value under a name (target, settings, seconds by stage ...). Not part of the content hash."""
        self._insert("meta", [(key, records.dump(value))], "OR REPLACE")

    def finish(self) -> dict[str, int]:
        """Check the ledger equation, write the lexical index, commit and close; gives the number of rows per table."""
        with schema.translated(self.path):
            self._check_ledger()
            self._close_gaps()
            self._write_words()
            for key, value in self._made.items():
                self.set_meta(key, value)
            self._index()
            self._db.execute("COMMIT")
            counts = {table: self._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in schema.COUNTED}  # noqa: S608
            self._db.close()
        return counts

    def _index(self) -> None:
        for statement in schema.INDEXES.split(";"):
            self._db.execute(statement)

    def _write_words(self) -> None:
        """The words of the chunks that were added or went, and how long chunks are."""
        (stored,) = self._db.execute("SELECT lengths FROM lengths").fetchone() or (b"",)
        before, rows, vocabulary = np.frombuffer(stored, "<i4"), np.array(self.rows, np.int64), list[tuple[str, bytes]]()
        for batch in schema.batches(self._words.words if stored else ()):
            where = f"FROM vocabulary WHERE term IN ({schema.marks(batch)})"
            vocabulary += self._db.execute(f"SELECT term, places {where}", batch)
            self._db.execute(f"DELETE {where}", batch)
        try:
            self._words.before(vocabulary)
        except ValueError as error:
            raise StoreDamaged(f"the lexical index of the former generation is damaged: {error}") from error
        self._insert("vocabulary", self._words.vocabulary())
        self._db.execute("DELETE FROM lengths")
        self._insert("lengths", [(self._words.lengths(np.append(before, 0)[rows]),)])

    def _check_ledger(self) -> None:
        for key, value in self._db.execute("SELECT key, value FROM meta WHERE key GLOB 'ledger_in.*'").fetchall():
            kind = key.removeprefix("ledger_in.")
            rows = self._db.execute("SELECT count(*) FROM ledger WHERE kind = ?", (kind,)).fetchone()[0]
            if rows != int(value):
                raise LineageError(f"the ledger does not add up: {value} {kind} rows went in, {rows} came out")


def _chain(first: records.Row, rest: Iterator[records.Row]) -> Iterator[records.Row]:
    yield first
    yield from rest


def lexical_fields(chunk: Chunk) -> tuple[list[str], list[str], list[str], list[str]]:
    """The four indexed columns of a chunk, as tokens: symbol, path, header, body."""
    where = " ".join((chunk.symbol, *chunk.section, chunk.label))
    return (tokens(where), tokens(chunk.path), tokens(chunk.header), tokens(chunk.text))
