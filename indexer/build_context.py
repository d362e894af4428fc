"""The tools a build works with, made by the composition root and handed down whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indexer.references.role_refinement import Refiner
    from indexer.sandbox.pool import Sandbox
    from indexer.sources.arxiv import Arxiv
    from indexer.sources.github import GitHub
    from indexer.sources.huggingface import HuggingFace
    from indexer.sources.papers_with_code import PapersWithCode
    from indexer.sources.semantic_scholar import SemanticScholar
    from indexer.stage_clock import Clock
    from indexer.store.blobs import Blobs
    from indexer.store.computed_cache import DerivedCache, VectorCache
    from indexer.store.generations import Store
    from indexer.transport.client import Transport
    from indexer.work_budget import WorkBudget
    from lineage.ports import Embedder, ReferenceSource
    from lineage.progress import Watch
    from lineage.settings import Settings


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
    links_archive: PapersWithCode | None = None
    refiner: Refiner | None = None
    first: Callable[[], Embedder] | None = None
    """The embedder of the first tier, whose vectors answer until the other's are there; None means that words alone do."""
