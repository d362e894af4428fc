"""A catalogue in PostgreSQL: the statements of `reader.Catalog` in the other dialect, over a connection that comes back.

Each generation has a schema of its own with the tables of `schema.TABLES`, so the statements stay as they are. Errors of the
driver leave as ours, as those of SQLite do.
"""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lineage.catalog import records, schema
from lineage.catalog.reader import Catalog
from lineage.errors import DiskFull, LineageError, SettingsError, StoreDamaged, StoreError, StoreUnreachable, UsageError

if TYPE_CHECKING:
    from psycopg import Connection, Error

    from lineage.ports import Vectors


SLOWEST = 60.0
_WAITS = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
"""Seconds between attempts to reach the database again."""
_PASSING = ("starting up", "shutting down", "recovery", "too many", "terminating")
"""Of a refused connection, what passes: the others are wrong addresses and rights, which the driver gives no code."""
_REBUILD = "build the lineage again; what was fetched is kept"


def ours(error: Error) -> LineageError:
    """The error of `lineage.errors` that an error of the driver stands for."""
    code, words = error.sqlstate or "", " ".join(str(error).split())
    if code == "57014":
        return UsageError("the question takes too long to look up", hint="ask with fewer and rarer words")
    if code == "53100":
        return DiskFull("the database has no room left", hint="free some space there and run the same command again")
    refused = not code and "FATAL" in words and not any(passing in words for passing in _PASSING)
    if refused or code.startswith(("28", "3D")) or code in {"42501", "0A000"}:
        return SettingsError(f"the database refuses: {words}", hint="check LINEAGE_STORE, the rights of its user and the extension `vector`")
    if code in {"42P01", "3F000", "42703", "XX001", "XX002"}:
        return StoreDamaged(f"the database is damaged: {words}", hint=_REBUILD)
    if code.startswith("22"):
        return UsageError(f"the database cannot hold that text: {words}")
    if code.startswith(("08", "57P", "533")) or (not code and isinstance(error, driver().OperationalError)):
        return StoreUnreachable(f"the database cannot be reached: {words}", hint="check that it is running and retry; nothing is lost")
    return StoreError(f"the database failed ({code}): {words}")


@contextmanager
def translated() -> Iterator[None]:
    """Errors of the driver inside the block leave as ours."""
    psycopg = driver()
    try:
        yield
    except psycopg.Error as error:
        raise ours(error) from error


def driver() -> Any:
    """The package `psycopg`; raises `SettingsError` where it is not installed."""
    try:
        import psycopg
    except ImportError as error:
        raise SettingsError("a store in PostgreSQL needs psycopg", hint="pip install 'paper-lineage[postgres]'") from error
    return psycopg


class Session:
    """One connection to a database, opened when first used and again when it was lost; `setup` is sent each time."""

    def __init__(self, address: str, setup: Sequence[str] = ()) -> None:
        self.address = address
        self._setup = tuple(setup)
        self._lock = threading.RLock()
        self._connection: Connection[Any] | None = None
        self._writes = False

    def rows(self, statement: str, values: Any = (), seconds: float = SLOWEST) -> list[records.Row]:
        """What a reading statement gives, asked again over a new connection where the old one was lost; raises errors of `lineage.errors`."""
        with self._lock:
            for wait in () if self._writes else _WAITS:
                try:
                    return self._ask(statement, values, seconds)
                except StoreUnreachable:
                    self.close()
                    time.sleep(wait)
            return self._ask(statement, values, seconds)

    def _ask(self, statement: str, values: Any, seconds: float) -> list[records.Row]:
        with translated():
            connection = self.connection()
            timed = seconds < SLOWEST
            if timed:
                connection.execute(f"SET statement_timeout = {int(seconds * 1000)}")
            try:
                cursor = connection.execute(statement, values or None, binary=True)
                return cursor.fetchall() if cursor.description else []
            finally:
                if timed and not connection.closed:
                    connection.execute(f"SET statement_timeout = {int(SLOWEST * 1000)}")

    @contextmanager
    def transaction(self) -> Iterator[Connection[Any]]:
        """All or nothing, in its own time; raises errors of `lineage.errors`."""
        with self._lock, translated(), self.connection().transaction():
            self.connection().execute("SET LOCAL statement_timeout = 0")
            self._writes = True
            try:
                yield self.connection()
            finally:
                self._writes = False

    def connection(self) -> Connection[Any]:
        """The open connection, in autocommit; raises errors of the driver."""
        if self._connection is None or self._connection.closed:
            self._connection = driver().connect(
                self.address,
                autocommit=True,
                prepare_threshold=None,
                connect_timeout=5,
                application_name=f"lineage {socket.gethostname()} {os.getpid()}",
            )
            for statement in (f"SET statement_timeout = {int(SLOWEST * 1000)}", *self._setup):
                self._connection.execute(statement)
        return self._connection

    def close(self) -> None:
        """Close the connection; it opens again when used."""
        with self._lock:
            if self._connection:
                with suppress(driver().Error):  # else the server frees them some time after, and a sweep that follows sees what it left pinned
                    self._connection.execute("SELECT pg_advisory_unlock_all()")
                self._connection.close()
            self._connection = None


_TYPES = ((r"\bTEXT\b", 'TEXT COLLATE "C"'), (r"\bREAL\b", "DOUBLE PRECISION"), (r"\bBLOB\b", "BYTEA"), (r" WITHOUT ROWID", ""))
_OWN = (
    "ALTER TABLE vocabulary ALTER bag SET STORAGE EXTERNAL; ALTER TABLE vocabulary ALTER places SET STORAGE EXTERNAL;"
    " CREATE TABLE kept_files (name TEXT PRIMARY KEY, data BYTEA NOT NULL);"
)


def tables() -> str:
    """The statements that make the tables of a generation."""
    made = re.sub(r"CREATE INDEX chunks_outline .*\n", "", schema.TABLES + schema.INDEXES)
    for pattern, words in _TYPES:
        made = re.sub(pattern, words, made)
    return made + _OWN


@lru_cache(maxsize=256)
def dialect(statement: str) -> str:
    """A statement of the reader as PostgreSQL and its driver take it; rows that were written in order are read by `ctid`."""
    for ours_, theirs in (("%", "%%"), ("instr(", "strpos("), ("IN ()", "IN (NULL)"), ("rowid", "ctid")):
        statement = statement.replace(ours_, theirs)
    statement = re.sub(r"lower\((\?\d?)\)", r'lower(\1 COLLATE "C")', statement)  # as SQLite: letters of ASCII only
    return re.sub(r"\?(\d?)", lambda mark: f"%(p{mark[1]})s::text" if mark[1] else "%s", statement)


class PostgresCatalog(Catalog):
    """The catalogue of the generation that a session's search path names; `name` is said in errors."""

    _narrow = "chunks"

    def __init__(self, session: Session, name: str) -> None:
        self.path = Path(name)
        self._session = session
        self._profiles = {}
        self._outlines = {}
        self._rows = {}

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def _all(self, statement: str, values: Sequence[Any] = (), seconds: float = SLOWEST) -> list[records.Row]:
        given: Any = {f"p{number}": value for number, value in enumerate(values, 1)} if "?1" in statement else tuple(values)
        return self._session.rows(dialect(statement), given, seconds)

    def _file_damage(self) -> Iterator[str]:
        return iter(())


INDEXED_FROM = 200_000
"""Rows from which on an index is made; exact search over as many takes a fifth of a second on one core."""
LOOKED_AT = 600
"""Rows that the index looks at for a question: twice what a search asks for."""
_PLAIN = 1_900
"""Numbers that fit into a row without being moved out of line."""
_BATCH = 20_000
_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)


def create_vectors(connection: Connection[Any], vectors: Vectors, indexed_from: int = INDEXED_FROM) -> None:
    """The table of some vectors (n, dim), in the schema that is first on the search path."""
    count, dim = vectors.shape
    connection.execute(f"CREATE TABLE vectors (row INTEGER PRIMARY KEY, embedding vector({int(dim)}) NOT NULL)")
    if dim <= _PLAIN:
        connection.execute("ALTER TABLE vectors ALTER embedding SET STORAGE PLAIN")
    with connection.cursor() as cursor, cursor.copy("COPY vectors FROM STDIN WITH (FORMAT BINARY)") as copy:
        for part in _copied(vectors):
            copy.write(part)
    if count >= indexed_from:
        connection.execute("CREATE INDEX vectors_near ON vectors USING hnsw (embedding vector_ip_ops) WITH (m = 16, ef_construction = 100)")


def _copied(vectors: Vectors) -> Iterable[bytes]:
    """The rows as COPY takes them in binary."""
    dim = vectors.shape[1]
    fields = [("fields", ">i2"), ("four", ">i4"), ("row", ">i4"), ("size", ">i4"), ("dim", ">i2"), ("none", ">i2"), ("numbers", ">f4", (dim,))]
    yield _HEAD
    for start in range(0, len(vectors), _BATCH):
        part = vectors[start : start + _BATCH]
        rows = np.zeros(len(part), fields)
        rows["fields"], rows["four"], rows["size"], rows["dim"] = 2, 4, 4 + 4 * dim, dim
        rows["row"], rows["numbers"] = np.arange(start, start + len(part)), part
        yield rows.tobytes()
    yield b"\xff\xff"


def vectors_shape(session: Session) -> tuple[int, int]:
    """Rows and dimension of the table."""
    dim = session.rows("SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass('vectors') AND attname = 'embedding'")
    return (int(session.rows("SELECT count(*) FROM vectors")[0][0]), int(dim[0][0])) if dim else (0, 0)


def _numbers(stored: Iterable[bytes], dim: int) -> Vectors:
    """What the extension sends in binary, as an array (n, dim)."""
    joined = np.frombuffer(b"".join(stored), np.uint8).reshape(-1, 4 + 4 * dim)
    return np.ascontiguousarray(joined[:, 4:]).view(">f4").astype(np.float32)


class StoredRows:
    """The vectors of a generation (count, dim), where they are."""

    def __init__(self, session: Session, count: int, dim: int) -> None:
        self.shape = (count, dim)
        self._session = session
        self._indexed: bool | None = None

    def __getitem__(self, rows: NDArray[np.int64]) -> Vectors:
        """The vectors of some rows, in that order; raises `StoreDamaged` where one is missing."""
        wanted = np.asarray(rows, np.int64)
        embeddings: dict[int, bytes] = dict(self._session.rows("SELECT row, embedding FROM vectors WHERE row = ANY(%s)", (wanted.tolist(),)))
        if missing := [row for row in wanted.tolist() if row not in embeddings]:
            raise StoreDamaged(f"the vector of row {missing[0]} is missing", hint="`lineage check` says what else is damaged")
        return _numbers((embeddings[row] for row in wanted.tolist()), self.shape[1])

    def nearest(self, query: Vectors, k: int, allowed: NDArray[np.int64] | None = None) -> list[tuple[int, float]]:
        """(row, inner product) of the `k` best rows for a vector (dim,), best first, among those that are `allowed`."""
        asked = "[" + ",".join(map(repr, query.tolist())) + "]"
        if allowed is None and self._is_indexed():
            statement = "SELECT row, -(embedding <#> %s::vector) FROM vectors ORDER BY embedding <#> %s::vector LIMIT %s"
            return self._session.rows(statement, (asked, asked, k))
        # Sorted by a column of a subquery, which no index gives: every row is compared.
        where, values = ("", ()) if allowed is None else ("WHERE row = ANY(%s)", (allowed.tolist(),))
        every = f"SELECT row, -(embedding <#> %s::vector) AS score FROM vectors {where} OFFSET 0"  # noqa: S608
        return self._session.rows(f"SELECT * FROM ({every}) AS compared ORDER BY score DESC, row LIMIT %s", (asked, *values, k))  # noqa: S608

    def _is_indexed(self) -> bool:
        if self._indexed is None:
            self._indexed = bool(self._session.rows("SELECT to_regclass('vectors_near') IS NOT NULL")[0][0])
        return self._indexed

    def every(self) -> Vectors:
        """All vectors, in the order of their rows."""
        with translated():
            cursor = self._session.connection().cursor()
            with cursor.copy("COPY (SELECT embedding FROM vectors ORDER BY row) TO STDOUT WITH (FORMAT BINARY)") as copy:
                stored = b"".join(copy)
        count = (len(stored) - len(_HEAD) - 2) // (2 + 4 + 4 + 4 * self.shape[1])
        body = np.frombuffer(stored, np.uint8, count=count * (10 + 4 * self.shape[1]), offset=len(_HEAD)).reshape(count, -1)
        return np.ascontiguousarray(body[:, 10:]).view(">f4").astype(np.float32)
