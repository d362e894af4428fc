"""Write a new generation's catalog: one transaction, one process, all or nothing."""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from lineage.catalog import records, schema
from lineage.catalog.places import Indexed
from lineage.errors import LineageError
from lineage.records import Chunk, CodeLink, Document, Fact, FileProfile, LedgerRow, LedgerSubject, Reference, Scalar, Setting, Work
from lineage.text.tokens import VERSION as TOKENS
from lineage.text.tokens import tokens

if TYPE_CHECKING:
    from lineage.catalog.reader import Catalog


class CatalogWriter:
    """A catalogue in the making; leave the `with` block by an error, or without `finish`, and it holds nothing.

    Every method raises `DiskFull`, `SettingsError` or `StoreError` when the disk does not take it, and
    `ValueError` for a second document under a name that is taken (a bug of the caller: its chunks would
    point into the other one).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = schema.create(path)
        self._row = 0
        self._words = Indexed()
        self._tokens = TOKENS
        self._before: dict[str, tuple[int, str]] = {}
        self._subjects: Counter[tuple[str, str, str]] = Counter()

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

    def add_document(self, document: Document) -> None:
        """A document's text (compressed, with its SHA-256) and where it came from; its spans live on as chunks."""
        text = records.clean(document.text).encode()
        place = (document.work, records.clean(document.path), document.blob, document.parser, document.kind, document.language)
        document_fields = (records.clean(document.title), document.pages, document.status.value, records.clean(document.detail))
        stored = (len(text), zlib.compress(text, 3), hashlib.sha256(text).hexdigest())
        self._insert("documents", [(*place, *document_fields, *stored)])

    def extend(self, before: Catalog) -> None:
        """Read the words of a finished catalog: chunks of it that are added are indexed as they stand there. Raises `StoreDamaged`."""
        if before.meta().get("tokens") == TOKENS:
            self._before = dict(before.digests())
            before.words_into(self._words)

    def add_chunks(self, chunks: Sequence[Chunk], unread: Collection[int] = ()) -> list[int]:
        """Chunks, in the order of the rows of `vectors.npy`, and their words; gives the row of each in the catalog of `extend`, -1 for none.

        Of the chunks at the positions `unread` only the place is indexed: what stands as their text is not the source's.
        """
        values = [records.chunk_values(chunk) for chunk in chunks]
        digests = [records.digest(value) for value in values]
        known = [self._before.pop(digest, (-1, "")) for digest in digests]
        same = (before or records.same_text(chunk.text) for (_, before), chunk in zip(known, chunks, strict=True))
        self._insert("chunks", ((row, *value, *more) for row, (value, *more) in enumerate(zip(values, same, digests, strict=True), self._row)))
        for n, ((row, _), chunk) in enumerate(zip(known, chunks, strict=True)):
            if row >= 0:
                self._words.again(row)
            else:
                self._words.add(lexical_fields(replace(chunk, text="") if n in unread else chunk))
        self._row += len(chunks)
        self._tokens = "" if unread else self._tokens
        return [row for row, _ in known]

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
            self._insert("vocabulary", self._words.vocabulary())
            self._insert("lengths", [(self._words.lengths(),)])
            self.set_meta("tokens", self._tokens)
            for statement in schema.INDEXES.split(";"):
                self._db.execute(statement)
            self._db.execute("COMMIT")
            counts = {table: self._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in schema.COUNTED}  # noqa: S608
            self._db.close()
        return counts

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
