"""A generation's files into a database and out of it again: rows as they are."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lineage import generation as layout
from lineage.catalog import schema
from lineage.catalog.postgres import Session, StoredRows, create_vectors, tables
from lineage.errors import StoreDamaged

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
