"""A key-value table for what can be computed again: entries may be lost, never wrong.

Values carry a digest that is checked when they are read; one that fails counts as absent. A file that SQLite
cannot read is moved aside and begun anew, since nothing in it is the only copy. A seal beside the file, made when
it is closed, has the hash of all of it, for what SQLite itself does not check.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

from lineage.catalog import schema
from lineage.errors import StoreDamaged, StoreError, failures
from lineage.sealed import keep, unsealed

VERSION = 1
_WAIT, _PEEK = 30.0, 1.0
"""Seconds to wait for another process that writes: to use the file, and to look into it."""


def peeked(path: Path, key: str) -> bytes | None:
    """The value of a key, read without making or changing anything; None where none is, or where the file cannot be read now."""
    if not path.is_file():
        return None
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_PEEK)) as db:
        row = db.execute("SELECT value, digest FROM kept WHERE key = ?", (key,)).fetchone()
        return row[0] if row and _is_sound(key, *row) else None
    return None


class Keyed:
    """Values (bytes) by key (str), in one SQLite file; safe across threads and processes. Opened when first used."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._open: sqlite3.Connection | None = None
        self._is_written = False

    def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The values of those keys that are there and whole; raises `StoreError` and `SettingsError`."""
        with self._lock, schema.translated(self.path):
            values_by_key: dict[str, bytes] = {}
            for batch in schema.batches(keys):
                rows = self._db().execute(f"SELECT key, value, digest FROM kept WHERE key IN ({schema.marks(batch)})", batch)  # noqa: S608
                values_by_key.update({key: value for key, value, digest in rows if _is_sound(key, value, digest)})
            return values_by_key

    def put(self, items: Iterable[tuple[str, bytes]]) -> None:
        """Keep values, in one transaction; a later value replaces. Raises `DiskFull`, `StoreError` and `SettingsError`."""
        with self._lock, schema.translated(self.path):
            db = self._db()
            self._is_written = True
            db.execute("BEGIN IMMEDIATE")
            try:
                db.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", ((key, value, _digest(key, value)) for key, value in items))
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")

    def damage(self) -> Iterator[str]:
        """Describe the damage inside the file; empty if the file is missing or sound."""
        if not self.path.is_file():
            return
        try:
            uri = f"{self.path.absolute().as_uri()}?mode=rw"  # SQLite undoes what a killed process left half written, which takes writing
            with self._lock, schema.translated(self.path), closing(sqlite3.connect(uri, uri=True)) as db:
                version = db.execute("PRAGMA user_version").fetchone()[0]
                answers = [str(answer) for (answer,) in db.execute("PRAGMA integrity_check(3)")]
                rows = sum(not _is_sound(key, value, digest) for key, value, digest in db.execute("SELECT key, value, digest FROM kept"))
        except StoreError as error:
            yield f"SQLite: {error}"
            return
        if version != VERSION:
            yield f"SQLite: it has format {version}"
        yield from (f"SQLite: {answer}" for answer in answers if answer != "ok")
        if rows:
            yield f"{rows} rows are not what was written"
        elif not self._is_as_sealed():
            yield "the file is not what was written"

    def forget_damaged(self) -> None:
        """Take out what is damaged; a file that SQLite cannot mend is moved aside. Nothing here is the only copy."""
        damage = list(self.damage())
        self.close()
        if any(words.startswith("SQLite") for words in damage):
            self.path.replace(self.path.with_suffix(".damaged"))
        elif damage:
            with self._lock, schema.translated(self.path):
                rows = self._db().execute("SELECT key, value, digest FROM kept").fetchall()
                self._db().executemany("DELETE FROM kept WHERE key = ?", [(key,) for key, value, digest in rows if not _is_sound(key, value, digest)])
                self._db().execute("VACUUM")
                self._is_written = True

    def close(self) -> None:
        """Close the file; it opens again when used."""
        with self._lock:
            if self._open:
                with schema.translated(self.path), failures(self.path):
                    if self._is_written:
                        self._seal(self._open)
                self._open.close()
                self._open, self._is_written = None, False

    def _seal(self, db: sqlite3.Connection) -> None:
        """Record the hash of the whole file; nothing writes to it meanwhile."""
        db.execute("BEGIN IMMEDIATE")
        try:
            keep(_seal_of(self.path), _state(self.path))
        finally:
            db.execute("ROLLBACK")

    def _is_as_sealed(self) -> bool:
        """Whether the file is as it was when it was closed; one that was written to since, or never closed, has no seal."""
        try:
            seal, state = unsealed(_seal_of(self.path).read_bytes()), _state(self.path)
        except FileNotFoundError:
            return True
        except ValueError:
            return False
        return state["sha256"] == seal["sha256"] or (state["changes"] != seal["changes"] and state["changes"] == state["again"])

    def _db(self) -> sqlite3.Connection:
        if self._open is None:
            with failures(self.path.parent):
                self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with schema.translated(self.path):
                    self._open = _connect(self.path)
            except StoreDamaged:
                self.path.replace(self.path.with_suffix(".damaged"))
                self._open = _connect(self.path)
        return self._open


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=_WAIT, isolation_level=None, check_same_thread=False)
    try:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version not in {0, VERSION}:
            raise StoreDamaged(f"{path} has format {version}")
        db.execute("PRAGMA journal_mode=DELETE")
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute("CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, value BLOB NOT NULL, digest BLOB NOT NULL)")
        db.execute(f"PRAGMA user_version={VERSION}")
    except (sqlite3.Error, StoreDamaged):
        db.close()
        raise
    return db


def _seal_of(path: Path) -> Path:
    return path.with_suffix(".seal")


def _state(path: Path) -> dict[str, str]:
    """The hash of a file, and the count of its changes, which SQLite writes in two places (file format, 1.3)."""
    with path.open("rb") as file:
        head = file.read(100)
        file.seek(0)
        return {"changes": head[24:28].hex(), "again": head[92:96].hex(), "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def _is_sound(key: object, value: object, digest: object) -> bool:
    """Whether a row is what was written, its types too."""
    return isinstance(key, str) and isinstance(value, bytes) and digest == _digest(key, value)


def _digest(key: str, value: bytes) -> bytes:
    """Of the value under its key."""
    return hashlib.blake2b(key.encode() + b"\0" + value, digest_size=16).digest()
