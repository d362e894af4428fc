"""The composition root: the only place that picks plugins and joins the write side with the read side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lineage import registry
from lineage.generation import FIRST_TIER, open_generation
from lineage.progress import Waiting, Watch, unwatched
from lineage.records import WorkId

if TYPE_CHECKING:
    from indexer.build_context import BuildContext
    from indexer.chat import Chat
    from indexer.lock.record import Tape
    from indexer.lock.replay import LockReplay
    from indexer.transport.client import Transport
    from lineage.ports import Embedder, ReferenceSource, Reranker
    from lineage.results import Gaps
    from lineage.settings import Settings
    from retrieval.context.token_budget import Tokens
    from retrieval.gaps.report import ReportInputs
    from retrieval.search.engine import Engine


class Parts:
    """What operations are made from. Nothing is opened, imported or sent until an operation needs it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def changed(self, **settings: Any) -> Parts:
        """The same with other settings; an embedder that is loaded stays."""
        made = copy(self)
        made.settings = self.settings.model_copy(update=settings)
        return made

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder that the settings name; raises `SettingsError`."""
        name, _, model = self.settings.embedder.partition(":")
        made: Embedder = registry.load("embedders", name)(model, self.settings, self._client())
        return made

    @cached_property
    def tokens(self) -> Tokens:
        """What counts the tokens of a pack; raises `SettingsError` when it is first asked, if its file is none."""
        from importlib.resources import files

        from retrieval.context.token_budget import FileTokens, TokenEstimator

        named = self.settings.tokenizer
        if named == "estimate":
            return TokenEstimator()
        if named != "packaged":
            return FileTokens(Path(named), Path(named).parent.name + "/" + Path(named).name)
        return FileTokens(Path(str(files("indexer"))) / "embedders" / "granite30m" / "tokenizer.json", "granite-embedding-30m tokenizer")

    @cached_property
    def first(self) -> Embedder:
        """The embedder of the first tier."""
        made: Embedder = registry.load("embedders", "static")("", self.settings)
        return made

    def _reader(self, embedder: str) -> Embedder:
        """The embedder for questions to a generation whose vectors the one of that id made."""
        return self.first if embedder.startswith(FIRST_TIER) else self.embedder

    @cached_property
    def writer(self) -> Chat | None:
        """The chat model that the settings name, None where they name none; raises `SettingsError`."""
        if not self.settings.llm_model:
            return None
        from indexer.chat import Chat

        return Chat.of(self.settings, self._client())

    @cached_property
    def reranker(self) -> Reranker | None:
        """The reranker that the settings name, None where they name none; raises `SettingsError`."""
        if not self.settings.reranker:
            return None
        name, _, model = self.settings.reranker.partition(":")
        made: Reranker = registry.load("rerankers", name)(model, self.settings, self.writer if name == "llm" else None)
        return made

    def _client(self) -> Any:
        """An HTTP client that keeps to the mirror, for packages that make requests of their own; None where there is no mirror."""
        if not self.settings.mirror:
            return None
        from indexer.transport.client import mirrored_client

        return mirrored_client(self.settings)

    def engine(self, lineage: str) -> AbstractContextManager[Engine]:
        """The read side over the current generation of a lineage, for the length of a `with` block."""
        return self.opened(lineage)

    @contextmanager
    def asked(self, lineage: str, no_target_code: bool) -> Iterator[Engine]:
        """The same, without the target's own code if that is to be left out."""
        with self.engine(lineage) as engine:
            yield engine.without_target_code() if no_target_code else engine

    def opened(self, lineage: str) -> Engine:
        """The same, for whoever closes it."""
        from lineage.hyperparameters.ontology import ontology
        from retrieval.search.engine import Engine
        from retrieval.search.expansion import vocabulary

        generation = open_generation(self.settings.home, lineage)
        index = registry.load("vectors", "faiss")(generation.vectors) if generation.vectors is not None else None
        words = vocabulary(self.settings.vocabulary)
        embedder = (lambda: self._reader(generation.manifest.embedder)) if index else None
        known = ontology(self.settings.ontology)
        return Engine(generation, embedder, index, words=words, reranker=self.reranker, table=lambda: self.first, known=known)

    def gaps_material(self, engine: Engine) -> ReportInputs:
        """What a report of gaps is made from: the lists that the settings name, and the facts of the generation."""
        from lineage.hyperparameters.checklist import checklist
        from lineage.hyperparameters.ontology import ontology
        from retrieval.decisions.fact_index import holders
        from retrieval.gaps.report import ReportInputs

        manifest = engine.generation.manifest
        occurrences_by_key = holders(engine.generation.catalog, engine.kinship, manifest.lineage, manifest.id, WorkId(manifest.target)).held
        return ReportInputs(engine, checklist(self.settings.details), ontology(self.settings.ontology), occurrences_by_key)

    def gaps(self, engine: Engine) -> Gaps:
        """The report of gaps of a generation."""
        from retrieval.gaps.report import report

        return report(self.gaps_material(engine))

    @contextmanager
    def workbench(self, watch: Watch = unwatched, kit: Tape | LockReplay | None = None) -> Iterator[BuildContext]:
        """The write side, for the length of one operation that `watch` hears of; a `kit` notes what is read, or keeps to a lock file."""
        from indexer.build_context import BuildContext
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

        home = self.settings.home
        with ExitStack() as stack:
            blobs, derived = Blobs(home), stack.enter_context(closing(kit.derived(home) if kit else DerivedCache(home)))
            plain = (
                Transport(self.settings, blobs, watch=lambda text: watch(Waiting(text))) if not kit else kit.transport(self.settings, blobs, watch)
            )
            transport = stack.enter_context(plain)
            yield BuildContext(
                settings=self.settings,
                transport=transport,
                blobs=blobs,
                scholar=SemanticScholar(transport),
                witnesses=_witnesses(self.settings, transport),
                arxiv=Arxiv(transport),
                github=GitHub(transport),
                hub=HuggingFace(transport),
                sandbox=stack.enter_context(Sandbox()),
                derived=derived,
                vectors=stack.enter_context(closing(VectorCache(home))),
                store=Store(home),
                embedder=lambda: self.embedder,
                clock=Clock(),
                watch=watch,
                links_archive=PapersWithCode(self.settings.links_archive) if self.settings.links_archive else None,
                first=lambda: self.first,
                refiner=Refiner.of(self.settings, derived, self._client()),
            )


def _witnesses(settings: Settings, transport: Transport) -> tuple[ReferenceSource, ...]:
    """The further witnesses for references that the settings ask for."""
    from indexer.sources.crossref import Crossref
    from indexer.sources.openalex import OpenAlex

    asked = ((settings.openalex, OpenAlex), (settings.crossref, Crossref))
    return tuple(source(transport) for wanted, source in asked if wanted)
