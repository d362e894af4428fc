"""Tables, connections and error translation of the catalogue.

SQLite's own errors never leave this package: each becomes the one of `lineage.errors` that says what to do.
The format carries its number in `user_version`; a number out of `READ` is refused, never guessed at.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from lineage.errors import DiskFull, LineageError, SettingsError, StoreBusy, StoreDamaged, StoreError, UsageError, failures

VERSION = 6
READ = range(5, VERSION + 1)
"""Formats that are read; in 6 a mention may say how it is printed."""
T = TypeVar("T")
COUNTED = ("works", "edges", "code_links", "documents", "chunks", "facts", "ledger", "settings", "files")

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE works (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, title TEXT NOT NULL, year INTEGER, venue TEXT NOT NULL, license TEXT,
    abstract TEXT NOT NULL, authors TEXT NOT NULL, said_by TEXT NOT NULL, meta TEXT NOT NULL, aliases TEXT NOT NULL);
CREATE TABLE aliases (alias TEXT NOT NULL, work TEXT NOT NULL, PRIMARY KEY (alias, work)) WITHOUT ROWID;
CREATE TABLE edges (
    citing TEXT NOT NULL, cited TEXT NOT NULL, key TEXT NOT NULL, number INTEGER, distance INTEGER NOT NULL,
    score REAL NOT NULL, influential INTEGER NOT NULL, raw TEXT NOT NULL, evidence TEXT NOT NULL,
    PRIMARY KEY (citing, cited, key));
CREATE TABLE code_links (
    paper TEXT NOT NULL, repo TEXT NOT NULL, tier TEXT NOT NULL, said_by TEXT NOT NULL, evidence TEXT NOT NULL,
    PRIMARY KEY (paper, repo));
CREATE TABLE documents (
    work TEXT NOT NULL, path TEXT NOT NULL, blob TEXT NOT NULL, parser TEXT NOT NULL, kind TEXT NOT NULL, language TEXT NOT NULL,
    title TEXT NOT NULL, pages INTEGER NOT NULL, status TEXT NOT NULL, detail TEXT NOT NULL,
    length INTEGER NOT NULL, packed BLOB NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (work, path));
CREATE TABLE chunks (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL, work TEXT NOT NULL, path TEXT NOT NULL, kind TEXT NOT NULL, role TEXT NOT NULL,
    text TEXT NOT NULL, header TEXT NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL,
    start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, symbol TEXT NOT NULL, section TEXT NOT NULL,
    page INTEGER, box TEXT NOT NULL, label TEXT NOT NULL, language TEXT NOT NULL, copies TEXT NOT NULL,
    same TEXT NOT NULL, sha256 TEXT NOT NULL);
CREATE TABLE ledger (
    kind TEXT NOT NULL, work TEXT NOT NULL, subject TEXT NOT NULL, stage TEXT NOT NULL, status TEXT NOT NULL, detail TEXT NOT NULL,
    PRIMARY KEY (kind, work, subject));
CREATE TABLE facts (
    name TEXT NOT NULL, value TEXT NOT NULL, unit TEXT NOT NULL, work TEXT NOT NULL, chunk TEXT NOT NULL,
    kind TEXT NOT NULL, line INTEGER NOT NULL, written TEXT NOT NULL, said TEXT NOT NULL, scope TEXT NOT NULL, literal INTEGER NOT NULL,
    end_line INTEGER NOT NULL);
CREATE TABLE settings (
    name TEXT NOT NULL, value TEXT NOT NULL, kind TEXT NOT NULL, work TEXT NOT NULL, path TEXT NOT NULL, chunk TEXT NOT NULL,
    line INTEGER NOT NULL, scope TEXT NOT NULL);
CREATE TABLE files (work TEXT NOT NULL, path TEXT NOT NULL, roles TEXT NOT NULL, experiment TEXT NOT NULL, PRIMARY KEY (work, path)) WITHOUT ROWID;
CREATE TABLE vocabulary (term TEXT PRIMARY KEY, doc INTEGER NOT NULL, bag BLOB NOT NULL, places BLOB NOT NULL);
CREATE TABLE lengths (lengths BLOB NOT NULL);
"""
INDEXES = """
CREATE INDEX IF NOT EXISTS chunks_id ON chunks (id);
CREATE INDEX IF NOT EXISTS chunks_same ON chunks (same);
CREATE INDEX IF NOT EXISTS chunks_place ON chunks (work, path);
CREATE INDEX IF NOT EXISTS chunks_outline ON chunks (row, id, work, path, kind, role, start, "end", start_line, end_line, symbol, same);
CREATE INDEX IF NOT EXISTS facts_name ON facts (name, chunk);
CREATE INDEX IF NOT EXISTS settings_work ON settings (work, name);
"""
"""Made when all rows are there, which takes a third of the time."""

CHUNK = 'id, work, path, kind, role, text, header, start, "end", start_line, end_line, symbol, section, page, box, label, language, copies'
"""Columns of a chunk's fields, in their order."""
_BATCH = 500
"""Values of one statement."""


def batches(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """The values in parts that one statement takes."""
    return (values[start : start + _BATCH] for start in range(0, len(values), _BATCH))


def marks(values: Collection[object]) -> str:
    """A mark for each value, for an `IN (...)`."""
    return ",".join("?" * len(values))


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Errors of SQLite inside the block leave as ours, naming the file."""
    try:
        yield
    except sqlite3.Error as error:
        raise _ours(path, error) from error


def _ours(path: Path, error: sqlite3.Error) -> LineageError:
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return DiskFull(f"no room left to write {path}", hint="free some space and run the same command again")
    if code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}:
        return SettingsError(f"{path} cannot be opened: {error}", hint="check that the folder exists and may be written (LINEAGE_HOME)")
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return StoreBusy(f"{path} is in use by another process")
    if code == sqlite3.SQLITE_INTERRUPT:
        return UsageError("the question takes too long to look up", hint="ask with fewer and rarer words")
    if code == sqlite3.SQLITE_IOERR:
        return StoreError(f"the disk failed while {path} was used: {error}")
    return StoreDamaged(f"{path} is damaged: {error}", hint="`lineage check` says what else is; a new build replaces it")


def create(path: Path, former: Path | None = None) -> sqlite3.Connection:
    """A new catalogue, empty or a copy of a finished one, open for writing by one process; the file must not exist yet."""
    if path.exists():
        raise StoreError(f"{path} exists already")
    if former:
        with failures(path):
            shutil.copyfile(former, path)
    with translated(path):
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode=DELETE")
            connection.execute("PRAGMA synchronous=FULL")
            if not former:
                connection.execute(f"PRAGMA user_version={VERSION}")
                connection.executescript(TABLES)
            connection.execute("BEGIN")
        except sqlite3.Error:
            connection.close()
            raise
    return connection


def open_finished(path: Path) -> sqlite3.Connection:
    """A finished catalogue, for reading only, from any thread; raises `StoreDamaged` for what is none or of an unknown version."""
    if not path.is_file():
        raise StoreDamaged(f"{path} is missing", hint="build the lineage again; what was fetched is kept")
    with translated(path):
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA trusted_schema=OFF")
            connection.execute("PRAGMA mmap_size=0")  # a mapped file that is cut short kills the process; read, it is an error
            connection.execute("PRAGMA cache_size=-8192")  # fills within minutes; as fast as 64 MB
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            connection.execute("PRAGMA query_only=ON")
        except sqlite3.Error:
            connection.close()
            raise
    if version not in READ:
        connection.close()
        raise StoreDamaged(
            f"{path} has format {version}, this program reads {READ[0]} to {VERSION}",
            hint="build the lineage again with this version, or use the one that made it",
        )
    return connection
