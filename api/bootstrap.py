"""The composition root: the only place that picks plugins and joins the write side with the read side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lineage import registry
from lineage.generation import FIRST_TIER, REPORT, REPORT_WITHOUT, open_generation
from lineage.progress import Waiting, Watch, unwatched
from lineage.records import WorkId

if TYPE_CHECKING:
    from indexer.against_source import Afresh
    from indexer.build_context import BuildContext
    from indexer.chat import Chat
    from indexer.lock.record import Tape
    from indexer.lock.replay import LockReplay
    from indexer.transport.client import Transport
    from lineage.catalog.reader import Derivation
    from lineage.generation import Generation
    from lineage.ports import Embedder, ReferenceSource, Reranker, WordEmbedder
    from lineage.results import Gaps
    from lineage.settings import Settings
    from retrieval.context.token_budget import Tokens
    from retrieval.gaps.report import ReportInputs
    from retrieval.search.engine import Engine
    from retrieval.search.work_relations import WorkRelations


_MADE_NOW = "this report was made just now, the generation keeps none that fits: `lineage build` makes one that is kept"


class Parts:
    """The components of the operations. Nothing is opened, imported or sent until an operation needs it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def changed(self, **settings: Any) -> Parts:
        """A copy with other settings; a loaded embedder is reused."""
        made = copy(self)
        made.settings = self.settings.model_copy(update=settings)
        return made

    @cached_property
    def embedder(self) -> Embedder:
        """The configured embedder. Raises `SettingsError`."""
        name, _, model = self.settings.embedder.partition(":")
        made: Embedder = registry.load("embedders", name)(model, self.settings, self._client())
        return made

    @cached_property
    def tokens(self) -> Tokens:
        """The token counter of context packs. Raises `SettingsError` at its first use if the tokenizer file is not valid."""
        from importlib.resources import files

        from retrieval.context.token_budget import FileTokens, TokenEstimator

        named = self.settings.tokenizer
        if named == "estimate":
            return TokenEstimator()
        if named != "packaged":
            return FileTokens(Path(named), Path(named).parent.name + "/" + Path(named).name)
        return FileTokens(Path(str(files("indexer"))) / "embedders" / "granite30m" / "tokenizer.json", "granite-embedding-30m tokenizer")

    @cached_property
    def first(self) -> WordEmbedder:
        """The static embedder of the fast index."""
        made: WordEmbedder = registry.load("embedders", "static")("", self.settings)
        return made

    def _reader(self, embedder: str) -> Embedder:
        """The query embedder for a generation, chosen by the id of the embedder that computed its vectors."""
        return self.first if embedder.startswith(FIRST_TIER) else self.embedder

    @cached_property
    def writer(self) -> Chat | None:
        """The configured chat model, or None. Raises `SettingsError`."""
        if not self.settings.llm_model:
            return None
        from indexer.chat import Chat

        return Chat.of(self.settings, self._client())

    @cached_property
    def reranker(self) -> Reranker | None:
        """The configured reranker, or None. Raises `SettingsError`."""
        if not self.settings.reranker:
            return None
        name, _, model = self.settings.reranker.partition(":")
        made: Reranker = registry.load("rerankers", name)(model, self.settings, self.writer if name == "llm" else None)
        return made

    def _client(self) -> Any:
        """An HTTP client bound to the mirror, for packages that send their own requests; None without a mirror."""
        if not self.settings.mirror:
            return None
        from indexer.transport.client import mirrored_client

        return mirrored_client(self.settings)

    def engine(self, lineage: str) -> AbstractContextManager[Engine]:
        """The search engine of a lineage's current generation, as a context manager."""
        return self.opened(lineage)

    @contextmanager
    def asked(self, lineage: str, no_target_code: bool) -> Iterator[Engine]:
        """The same, with the target's own code excluded if `no_target_code`."""
        with self.engine(lineage) as engine:
            yield engine.without_target_code() if no_target_code else engine

    def opened(self, lineage: str) -> Engine:
        """The same engine; the caller closes it."""
        return self.engine_of(open_generation(self.settings.home, lineage, derivation=_older))

    def engine_of(self, generation: Generation) -> Engine:
        """The search engine of an open generation, which it closes."""
        from lineage.hyperparameters.ontology import ontology
        from retrieval.search.engine import Engine
        from retrieval.search.expansion import vocabulary

        vectors = generation.vectors
        index = registry.load("vectors", "faiss")(vectors) if vectors is not None else None
        words = vocabulary(self.settings.vocabulary)
        embedder = (lambda: self._reader(generation.manifest.embedder)) if index else None
        known = ontology(self.settings.ontology)
        return Engine(generation, embedder, index, words=words, reranker=self.reranker, table=lambda: self.first, known=known)

    def gaps_material(self, engine: Engine) -> ReportInputs:
        """The inputs of a gap report: the configured checklist and ontology, and the facts of the generation."""
        from lineage.hyperparameters.checklist import checklist
        from lineage.hyperparameters.ontology import ontology
        from retrieval.decisions.fact_index import holders
        from retrieval.gaps.report import ReportInputs

        manifest = engine.generation.manifest
        occurrences_by_key = holders(engine.generation.catalog, engine.kinship, manifest.lineage, manifest.id, WorkId(manifest.target)).held
        return ReportInputs(engine, checklist(self.settings.details), ontology(self.settings.ontology), occurrences_by_key)

    def gaps(self, engine: Engine) -> Gaps:
        """The gap report of a generation: the one that it keeps, else one made now, with a note."""
        if kept := self._kept_report(engine.generation, engine.kinship, bool(engine.excluded)):
            return kept
        report = self.report(engine)
        return replace(report, notes=(*report.notes, _MADE_NOW))

    def kept_gaps(self, lineage: str, no_target_code: bool) -> Gaps | None:
        """The gap report that a lineage's current generation keeps, None if it keeps none that fits. Opens nothing else."""
        from lineage.catalog.partial import without_target_code
        from retrieval.search.work_relations import WorkRelations

        with open_generation(self.settings.home, lineage) as generation:
            partial = without_target_code(generation.catalog) if no_target_code and REPORT_WITHOUT in generation.manifest.files else None
            seen = replace(generation, catalog=partial) if partial else generation
            return self._kept_report(seen, WorkRelations.read(seen.catalog, WorkId(generation.manifest.target)), partial is not None)

    def _kept_report(self, generation: Generation, kinship: WorkRelations, excluded: bool) -> Gaps | None:
        from retrieval.gaps.stored_report import loaded

        kept = generation.file(REPORT_WITHOUT if excluded else REPORT)
        report = loaded(kept, self.digest, generation.catalog, kinship) if kept else None
        return replace(report, provenance=generation.manifest.origin) if report else None

    def report(self, engine: Engine) -> Gaps:
        """The gap report of a generation, made now."""
        from retrieval.gaps.report import report

        return report(self.gaps_material(engine))

    @property
    def digest(self) -> str:
        """What a report of gaps depends on besides its generation (`indexer.build_context.Reports`)."""
        from retrieval.gaps.stored_report import digest

        return digest((self.settings.details, self.settings.ontology, self.settings.vocabulary))

    def made(self, generation: Generation) -> Mapping[str, bytes]:
        """The reports that a finished generation keeps, with and without the target's code (`indexer.build_context.Reports`)."""
        from retrieval.gaps.stored_report import dumped

        engine = self.engine_of(generation)
        engines = {REPORT: engine, REPORT_WITHOUT: engine.without_target_code()}
        reports = {name: (one, self.report(one)) for name, one in engines.items()}
        return {
            name: dumped(report, self.digest, one.generation.catalog, one.kinship) for name, (one, report) in reports.items() if not report.unanswered
        }

    @contextmanager
    def workbench(self, watch: Watch = unwatched, kit: Tape | LockReplay | Afresh | None = None) -> Iterator[BuildContext]:
        """The build context of one operation, with progress sent to `watch`. A `kit` records what is read, replays a lock file or asks afresh."""
        from indexer.build_context import BuildContext, Clock
        from indexer.references.role_refinement import Refiner
        from indexer.sandbox.pool import MIB, Limits, Sandbox
        from indexer.sources.arxiv import Arxiv
        from indexer.sources.github import GitHub
        from indexer.sources.huggingface import HuggingFace
        from indexer.sources.papers_with_code import PapersWithCode
        from indexer.sources.semantic_scholar import SemanticScholar
        from indexer.store.atomic_files import private
        from indexer.store.blobs import Blobs
        from indexer.store.computed_cache import DerivedCache, VectorCache
        from indexer.store.generations import Store
        from indexer.transport.client import Transport
        from indexer.work_budget import budget_of

        home = self.settings.home
        with ExitStack() as stack:
            stack.enter_context(private(home))
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
                sandbox=stack.enter_context(Sandbox(limits=Limits(memory=self.settings.parser_megabytes * MIB))),
                derived=derived,
                vectors=stack.enter_context(closing(VectorCache(home))),
                store=Store(home),
                embedder=lambda: self.embedder,
                clock=Clock(),
                watch=watch,
                work=budget_of(self.settings, "build"),
                links_archive=PapersWithCode(self.settings.links_archive) if self.settings.links_archive else None,
                first=lambda: self.first,
                refiner=Refiner.of(self.settings, derived, self._client()),
                reports=self,
            )


def _older() -> Derivation:
    """What makes the rows that a generation of an older format lacks."""
    from indexer.derived import Stored

    return Stored()


def _witnesses(settings: Settings, transport: Transport) -> tuple[ReferenceSource, ...]:
    """The additional reference sources that the settings enable; a source of another package brings the hosts that it asks."""
    from importlib import import_module

    from indexer.transport.upstreams import admit

    enabled = ("openalex" if settings.openalex else "", "crossref" if settings.crossref else "", *settings.sources.split(","))
    made: list[ReferenceSource] = []
    for name in dict.fromkeys(filter(None, map(str.strip, enabled))):
        if name in registry.installed("sources"):
            admit(getattr(import_module(registry.module_of("sources", name)), "UPSTREAMS", {}))
        made.append(registry.load("sources", name)(transport))
    return tuple(made)
