"""A table of values by key, for what can be made again: it may forget, it never lies.

Values carry a digest that is checked when they are read; one that fails counts as absent. A file that SQLite
cannot read is moved aside and begun anew, since nothing in it is the only copy.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

from lineage.catalog import schema
from lineage.disk_errors import failures
from lineage.errors import StoreDamaged

VERSION = 1
_BATCH = 900
_WAIT = 30.0


class Keyed:
    """Values (bytes) by key (str), in one SQLite file; safe across threads and processes. Opened when first used."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._open: sqlite3.Connection | None = None

    def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The values of those keys that are there and whole; raises `StoreError` and `SettingsError`."""
        with self._lock, schema.translated(self.path):
            values_by_key: dict[str, bytes] = {}
            for start in range(0, len(keys), _BATCH):
                batch_keys = list(keys[start : start + _BATCH])
                rows = self._db().execute(f"SELECT key, value, digest FROM kept WHERE key IN ({','.join('?' * len(batch_keys))})", batch_keys)  # noqa: S608
                values_by_key.update({key: value for key, value, digest in rows if digest == _digest(value)})
            return values_by_key

    def put(self, items: Iterable[tuple[str, bytes]]) -> None:
        """Keep values, in one transaction; a later value replaces. Raises `DiskFull`, `StoreError` and `SettingsError`."""
        with self._lock, schema.translated(self.path):
            db = self._db()
            db.execute("BEGIN IMMEDIATE")
            try:
                db.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", ((key, value, _digest(value)) for key, value in items))
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")

    def close(self) -> None:
        """Close the file; it opens again when used."""
        with self._lock:
            if self._open:
                self._open.close()
                self._open = None

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


def _digest(value: bytes) -> bytes:
    return hashlib.blake2b(value, digest_size=16).digest()
