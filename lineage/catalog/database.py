"""A store's lineages in PostgreSQL with pgvector: generations that are copied there in one transaction and never change.

    lineage.generations      number, lineage, id, format, current, manifest: one row a generation, at most one current a lineage
    gen_<number>.*           the tables of its catalogue (`schema.TABLES`), vectors, kept_files

A build makes its generation in files, as ever, and `hold(...).publish` copies them: the commit that also moves `current` is
the only commit point. Writers hold an advisory lock of the lineage, readers a shared one of their generation, so that what is
read is not swept; both end with their connections.
"""

from __future__ import annotations

import hashlib
import io
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lineage import generation as layout
from lineage.catalog import schema
from lineage.catalog.postgres import LOOKED_AT, PostgresCatalog, Session, StoredRows, create_vectors, tables, vectors_shape
from lineage.catalog.records import Row
from lineage.errors import EmbedderMismatch, NotFound, StoreBusy, StoreDamaged
from lineage.generation import Generation, Manifest
from lineage.ids import check_name

if TYPE_CHECKING:
    from psycopg import Connection

    from lineage.generation import Manifest

_TABLES = ("meta", "works", "aliases", "edges", "code_links", "documents", "chunks", "ledger", "facts", "settings", "files", "vocabulary", "lengths")
_BATCH = 2_000


def into_database(connection: Connection[Any], folder: Path, manifest: Manifest) -> None:
    """Copy a finished generation into the schema that is first on the search path."""
    connection.execute(tables())
    with schema.translated(folder / layout.CATALOG), closing(schema.open_finished(folder / layout.CATALOG)) as db:
        for table in _TABLES:
            with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:
                for row in db.execute(f"SELECT * FROM {table}"):  # noqa: S608 - a fixed list
                    copy.write_row(row)
    if layout.VECTORS in manifest.files:
        create_vectors(connection, layout.npy_rows((folder / layout.VECTORS).read_bytes()))
    for name in manifest.files.keys() - {layout.CATALOG, layout.VECTORS}:
        connection.execute("INSERT INTO kept_files VALUES (%s, %s)", (name, (folder / name).read_bytes()))


def catalog_into(session: Session, path: Path) -> None:
    """Write the catalogue of a session's generation as a file; raises errors of `lineage.errors`."""
    with schema.translated(path), closing(schema.create(path)) as db:
        for table in _TABLES:
            for rows in _read(session, f"SELECT * FROM {table} ORDER BY ctid"):  # noqa: S608 - a fixed list
                db.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(rows[0]))})", rows)  # noqa: S608
        db.execute("COMMIT")


def _read(session: Session, statement: str) -> Iterator[list[tuple[Any, ...]]]:
    """The rows of a statement in batches, by a cursor of the server."""
    with session.transaction() as connection, connection.cursor("read", binary=True) as cursor:
        cursor.execute(statement)
        while rows := cursor.fetchmany(_BATCH):
            yield rows


def vectors_file(session: Session, dim: int) -> bytes:
    """The vectors as the bytes of a `.npy` file."""
    stream = io.BytesIO()
    np.save(stream, StoredRows(session, 0, dim).every(), allow_pickle=False)
    return stream.getvalue()


def kept_file(session: Session, name: str) -> bytes:
    """A report; raises `StoreDamaged` for one that is missing."""
    rows = session.rows("SELECT data FROM kept_files WHERE name = %s", (name,))
    if not rows:
        raise StoreDamaged(f"{name} is missing in the database", hint=layout.REBUILD)
    return bytes(rows[0][0])


_LAYOUT = """
SELECT pg_advisory_xact_lock(hashtextextended('lineage', 0));
CREATE EXTENSION IF NOT EXISTS vector;
CREATE SCHEMA IF NOT EXISTS lineage;
CREATE TABLE IF NOT EXISTS lineage.generations (
    number INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY, lineage TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL,
    format INTEGER NOT NULL, current BOOLEAN NOT NULL, manifest BYTEA NOT NULL, UNIQUE (lineage, id));
CREATE UNIQUE INDEX IF NOT EXISTS generations_current ON lineage.generations (lineage) WHERE current;
"""
_PIN = 1_818_848_869
"""Class of the advisory locks that readers hold of the numbers of generations."""


@lru_cache(maxsize=8)
def database(address: str) -> Database:
    """The database of an address, the same for all who ask."""
    return Database(address)


class Database:
    """The lineages of a database. Making one touches nothing; every method raises `StoreUnreachable` and `SettingsError`."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._session = Session(address)

    def __str__(self) -> str:
        """The address without a password."""
        scheme, _, rest = self.address.partition("://")
        return f"{scheme}://{rest.rpartition('@')[2]}"

    def names(self) -> tuple[str, ...]:
        """Lineages that have a generation, sorted."""
        return tuple(name for (name,) in self._rows("SELECT lineage FROM lineage.generations WHERE current ORDER BY lineage"))

    def current(self, slug: str) -> str:
        """The generation that readers open; raises `NotFound`."""
        rows = self._rows("SELECT id FROM lineage.generations WHERE current AND lineage = %s", (check_name(slug),))
        if rows:
            return str(rows[0][0])
        known = ", ".join(self.names())
        raise NotFound(f"there is no lineage {slug!r} in {self}", hint=f"known: {known}" if known else "build one: lineage build TARGET")

    def _rows(self, statement: str, values: tuple[str, ...] = ()) -> list[Row]:
        there = self._session.rows("SELECT to_regclass('lineage.generations') IS NOT NULL")
        return self._session.rows(statement, values) if there[0][0] else []

    def open(self, slug: str, generation: str = "") -> Generation:
        """A generation, by default the current one; raises `NotFound`, `StoreDamaged` and `EmbedderMismatch`."""
        while True:
            name = generation or self.current(slug)
            rows = self._rows("SELECT number, format, manifest FROM lineage.generations WHERE lineage = %s AND id = %s", (slug, name))
            if not rows and generation:
                raise NotFound(f"lineage {slug!r} has no generation {generation}")
            if rows and (opened := self._opened(slug, *rows[0])):
                return opened

    def _opened(self, slug: str, number: int, form: int, manifest: bytes) -> Generation | None:
        """The generation, open and pinned; None if it was removed meanwhile."""
        place, pin = f"SET search_path = gen_{number}, public", f"SELECT pg_advisory_lock_shared({_PIN}, {number})"
        session = Session(self.address, (place, pin, f"SET hnsw.ef_search = {LOOKED_AT}"))
        with ExitStack() as unless_opened:
            unless_opened.callback(session.close)
            if not session.rows(f"SELECT 1 FROM lineage.generations WHERE number = {number}"):  # noqa: S608 - a number of ours
                return None
            if form not in schema.READ:
                raise StoreDamaged(f"{self}: {slug} has format {form}, this program reads {schema.READ[0]} to {schema.VERSION}", hint=layout.REBUILD)
            stored = layout.manifest_of(manifest, f"{self}: {slug}")
            _check(session, stored, str(self))
            unless_opened.pop_all()
            return DatabaseGeneration(stored, Path(f"gen_{number}"), PostgresCatalog(session, f"{self}: {slug}"), session)

    @contextmanager
    def hold(self, slug: str) -> Iterator[Hold]:
        """The right to write a lineage, as long as the block lasts; raises `StoreBusy` naming who has it."""
        lock = f"hashtextextended('lineage:{check_name(slug)}', 0)"
        session = Session(self.address)
        try:
            with session.transaction() as connection:
                connection.execute(_LAYOUT)
            if not session.rows(f"SELECT pg_try_advisory_lock({lock})")[0][0]:
                holders = "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND granted"
                holder = session.rows(f"{holders} AND classid::bigint << 32 | objid::bigint = {lock} AND objsubid = 1")
                raise StoreBusy(f"lineage {slug!r} is being written by {holder[0][0] if holder else 'another process'}", hint="wait for it to end")
            yield Hold(session, slug)
        finally:
            session.close()


def _check(session: Session, manifest: Manifest, name: str) -> None:
    """Raise unless there are as many chunks and vectors as were written, of the dimension that was written."""
    chunks = session.rows("SELECT count(*) FROM chunks")[0][0]
    if chunks != manifest.counts["chunks"]:
        raise StoreDamaged(f"{name}: {manifest.lineage} has {chunks} chunks, {manifest.counts['chunks']} were written", hint=layout.REBUILD)
    if not manifest.embedder:
        return
    vectors, dim = vectors_shape(session)
    if vectors != chunks:
        raise StoreDamaged(f"{name}: {manifest.lineage} has {vectors} vectors for {chunks} chunks", hint=layout.REBUILD)
    if dim != manifest.dim:
        words = f"{name}: the vectors of {manifest.lineage} have {dim} dimensions, those of {manifest.embedder} have {manifest.dim}"
        raise EmbedderMismatch(words, hint=layout.REBUILD)


@dataclass(frozen=True)
class DatabaseGeneration(Generation):
    """An open generation of a database; `folder` only names it."""

    session: Session

    @property
    def vectors(self) -> StoredRows | None:
        """The vectors where they are, None in a lexical generation."""
        return StoredRows(self.session, self.manifest.counts["chunks"], self.manifest.dim) if self.manifest.embedder else None

    def file(self, name: str) -> bytes | None:
        """A report or the vectors, as they were written; raises `StoreDamaged`."""
        record = self.manifest.files.get(name)
        if record is None or name == layout.CATALOG:
            return None
        data = vectors_file(self.session, self.manifest.dim) if name == layout.VECTORS else kept_file(self.session, name)
        if hashlib.sha256(data).hexdigest() != record.sha256:
            raise StoreDamaged(f"{name} of {self.catalog.path} is not what was written", hint=layout.REBUILD)
        return data

    @contextmanager
    def files(self) -> Iterator[Path]:
        """A folder with the catalogue and the vectors as files, gone when the block ends."""
        with tempfile.TemporaryDirectory(prefix="lineage-") as folder:
            catalog_into(self.session, Path(folder) / layout.CATALOG)
            if vectors := self.file(layout.VECTORS):
                (Path(folder) / layout.VECTORS).write_bytes(vectors)
            yield Path(folder)


@dataclass(frozen=True)
class Hold:
    """A lineage held for writing."""

    session: Session
    slug: str

    def newest(self) -> int:
        """The number at the start of the newest generation's id, 0 if there is none."""
        rows = self.session.rows("SELECT coalesce(max(left(id, 6)::int), 0) FROM lineage.generations WHERE lineage = %s", (self.slug,))
        return int(rows[0][0])

    def publish(self, manifest: Manifest, folder: Path) -> None:
        """Make the finished files in a folder the current generation, in one transaction that ends by comparing the content hash."""
        with self.session.transaction() as connection:
            row = (self.slug, manifest.id, schema.VERSION, manifest.to_json())
            statement = "INSERT INTO lineage.generations (lineage, id, format, current, manifest) VALUES (%s, %s, %s, false, %s) RETURNING number"
            number = connection.execute(statement, row).fetchone()[0]
            connection.execute(f"CREATE SCHEMA gen_{number}; SET LOCAL search_path = gen_{number}, public")
            into_database(connection, folder, manifest)
            if PostgresCatalog(self.session, self.slug).content_hash() != manifest.content_hash:
                raise StoreDamaged(f"{self.slug} did not arrive in the database as it was sent", hint="run the same command again")
            connection.execute("UPDATE lineage.generations SET current = false WHERE lineage = %s AND current", (self.slug,))
            connection.execute(f"UPDATE lineage.generations SET current = true WHERE number = {number}")  # noqa: S608
        self.session.rows(f"ANALYZE gen_{number}.chunks")

    def sweep(self, keep: int = 2) -> tuple[str, ...]:
        """Remove all generations but the current, the newest `keep` and those that are being read; gives the ids removed."""
        statement = "SELECT number, id, current FROM lineage.generations WHERE lineage = %s ORDER BY number DESC"
        gone = []
        for number, name, current in self.session.rows(statement, (self.slug,))[keep:]:
            with self.session.transaction() as connection:
                free = connection.execute(f"SELECT pg_try_advisory_xact_lock({_PIN}, {number})").fetchone()
                if current or not free or not free[0]:
                    continue
                connection.execute(f"DROP SCHEMA gen_{number} CASCADE; DELETE FROM lineage.generations WHERE number = {number}")  # noqa: S608
                gone.append(str(name))
        return tuple(gone)
