"""The tools a build works with, made by the composition root and handed down whole."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from indexer.read_document import MOST_CHUNKS, Wanted
from lineage.errors import LineageError
from lineage.progress import Note, Stage

if TYPE_CHECKING:
    from indexer.read_document import ReadDocument
    from indexer.sandbox.pool import Sandbox
    from indexer.sources.arxiv import Arxiv
    from indexer.sources.github import GitHub
    from indexer.sources.huggingface import HuggingFace
    from indexer.sources.semantic_scholar import SemanticScholar
    from indexer.store.blobs import Blobs
    from indexer.store.computed_cache import DerivedCache, VectorCache
    from indexer.store.generations import Store
    from indexer.transport.client import Transport
    from indexer.work_budget import WorkBudget
    from lineage.generation import Generation
    from lineage.ports import Embedder, ReferenceSource
    from lineage.progress import Watch
    from lineage.settings import Settings


T = TypeVar("T")
R = TypeVar("R")


class Reports(Protocol):
    """Makes what a generation keeps of its conclusions; `digest` names all that they depend on besides the generation."""

    @property
    def digest(self) -> str:
        """Versions and lists that a report is made with."""

    def made(self, generation: Generation, *, whole: bool = True) -> Mapping[str, bytes]:
        """The files to keep, by name: what search wants, and of a `whole` generation the report of gaps."""


@dataclass(frozen=True)
class BuildContext:
    """Sources, sandbox, caches and store of one process; `watch` hears of progress."""

    settings: Settings
    transport: Transport
    blobs: Blobs
    scholar: SemanticScholar
    witnesses: tuple[ReferenceSource, ...]
    arxiv: Arxiv
    github: GitHub
    hub: HuggingFace
    sandbox: Sandbox
    derived: DerivedCache
    vectors: VectorCache
    store: Store
    embedder: Callable[[], Embedder]
    clock: Clock
    watch: Watch
    work: WorkBudget
    first: Callable[[], Embedder] | None = None
    """The embedder of the first tier, whose vectors answer until the other's are there; None means that words alone do."""
    reports: Reports | None = None
    """What makes the reports that a finished generation keeps."""
    heard: Callable[[ReadDocument], None] = lambda document: None
    """Told of each document when it is read for the first time."""

    def wanted(self, chunks: int = 0) -> Wanted:
        """What the sandbox is to make of a document besides it: at most so many chunks (0: any number), facts by the ontology of the settings."""
        more = self.settings.ontology
        return Wanted(chunks or MOST_CHUNKS, more.read_text("utf-8") if more else "")

    def each(self, stage: str, items: Sequence[T], work: Callable[[T], R], name: Callable[[T], str] = lambda _: "", at_once: int = 4) -> list[R]:
        """`work` over all items, some at once, in their order, with progress."""
        results: list[R] = []
        with ThreadPoolExecutor(at_once) as pool:
            for item, result in zip(items, pool.map(work, items), strict=True):
                results.append(result)
                self.watch(Stage(stage, len(results), len(items), name(item)))
        return results

    def report_maker(self, *, whole: bool = True) -> Callable[[Generation], Mapping[str, bytes]] | None:
        """The function that makes a generation's reports, of a first tier those for search only; a failure is noted and does not end the build."""
        if not self.reports:
            return None
        made = self.reports.made

        def make(generation: Generation) -> Mapping[str, bytes]:
            self.watch(Stage("gaps", note="comparing the paper with its lineage" if whole else "gathering what its works settle"))
            try:
                return made(generation, whole=whole)
            except LineageError as error:
                self.watch(Note(f"the report of gaps was not made: {error}", "warning"))
                return {}

        return make


class Clock:
    """Adds up what `timed` blocks took, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._start = time.monotonic()

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Count the block towards `stage`."""
        start = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._seconds[stage] += time.monotonic() - start

    def seconds(self) -> dict[str, float]:
        """Seconds of `fetch`, `parse`, `embed`, `write`, `report` and `wall`, to the millisecond."""
        stages = {stage: round(self._seconds[stage], 3) for stage in ("fetch", "parse", "embed", "write", "report")}
        return {**stages, "wall": round(time.monotonic() - self._start, 3)}
