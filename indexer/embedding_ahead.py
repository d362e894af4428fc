"""Embed what has been read while the rest of a build is fetched and nothing is parsed: the cores are idle then.

Vectors are kept under the hash of their text, so that the stage that needs them finds these; what a build leaves out in the end was embedded
for nothing, and is there for others. Nothing waits for this: what there is no room or time for is embedded afterwards, as is what fails here.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from indexer.chunking.chunker import chunks_at
from indexer.documents import embed
from lineage.errors import LineageError
from lineage.progress import unwatched

if TYPE_CHECKING:
    from indexer.build_context import BuildContext
    from indexer.read_document import ReadDocument
    from lineage.ports import Embedder
    from lineage.records import Chunk

_ROOM, _BATCH = 500, 32
"""Documents that may wait, and chunks embedded at a time: the build waits for so many at its end."""
_LOOK = 0.1


@contextmanager
def embedding_ahead(bench: BuildContext, embedder: Embedder) -> Iterator[BuildContext]:
    """The same tools, whose documents are embedded as they are read, as long as the block lasts."""
    ahead = _Ahead(replace(bench, watch=unwatched), embedder)
    thread = threading.Thread(target=ahead.run, name="embedding ahead")
    thread.start()
    try:
        yield replace(bench, heard=ahead.hear)
    finally:
        ahead.ended.set()
        thread.join()


class _Ahead:
    """The documents that wait to be embedded."""

    def __init__(self, bench: BuildContext, embedder: Embedder) -> None:
        self.ended = threading.Event()
        self._bench, self._embedder = bench, embedder
        self._documents: queue.Queue[ReadDocument] = queue.Queue(_ROOM)

    def hear(self, document: ReadDocument) -> None:
        """Take a document, if there is room."""
        with suppress(queue.Full):
            self._documents.put_nowait(document)

    def run(self) -> None:
        """Embed until the end is told, or until it fails."""
        with suppress(LineageError):
            for chunks in self._batches():
                with self._bench.clock.timed("embed"):
                    embed(self._bench, self._embedder, chunks)

    def _batches(self) -> Iterator[Sequence[Chunk]]:
        waiting: list[Chunk] = []
        while not self.ended.is_set():
            if len(waiting) < _BATCH:
                with suppress(queue.Empty):
                    document = self._documents.get(timeout=_LOOK)
                    waiting += chunks_at(document, document.cuts)
            elif self._bench.sandbox.is_idle():
                yield waiting[:_BATCH]
                del waiting[:_BATCH]
            else:
                self.ended.wait(_LOOK)
