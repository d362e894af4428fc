"""The composition root: the only place that picks plugins and joins the write side with the read side."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lineage import registry
from lineage.errors import UsageError
from lineage.generation import FIRST_TIER, INDEX, REPORT, REPORT_WITHOUT, SETTLED, SETTLED_WITHOUT, open_generation
from lineage.progress import Waiting, Watch, unwatched
from lineage.records import WorkId

if TYPE_CHECKING:
    from indexer.against_source import Afresh
    from indexer.build_context import BuildContext
    from indexer.chat import MeteredChat, PromptFolder
    from indexer.lock.record import LockReplay, Tape
    from indexer.transport.client import Transport
    from lineage.generation import Generation
    from lineage.ports import Embedder, ReferenceSource, Reranker, VectorIndex, WordEmbedder
    from lineage.references.signals import Ancestor
    from lineage.results import Gaps
    from lineage.settings import Settings
    from retrieval.context.token_budget import Tokens
    from retrieval.decisions.fact_index import FactIndex
    from retrieval.decisions.mechanism_places import MechanismPlaces
    from retrieval.gaps.report import ReportInputs
    from retrieval.search.engine import Engine
    from retrieval.search.work_relations import WorkRelations


_MANY = 10_000
"""Vectors from which on FAISS is worth its import."""
_CLAIMS, _CHOICES = "gaps-by-model", "vectors-of-choices"
_MADE_NOW = "computed now, since this lineage keeps no report; `lineage build` stores one"


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
        from retrieval.context.token_budget import FileTokens, TokenEstimator, tokenizer_of

        named = self.settings.tokenizer
        if named == "estimate":
            return TokenEstimator()
        if named != "packaged":
            return FileTokens(partial(tokenizer_of, Path(named)), Path(named).parent.name + "/" + Path(named).name)
        return FileTokens(registry.load_object("indexer.embedders.packaged:tokenizer", "packaged"), "granite-embedding-30m tokenizer")

    @cached_property
    def first(self) -> WordEmbedder:
        """The static embedder of the fast index."""
        made: WordEmbedder = registry.load("embedders", "static")("", self.settings)
        return made

    def _reader(self, embedder: str) -> Embedder:
        """The query embedder for a generation, chosen by the id of the embedder that computed its vectors."""
        return self.first if embedder.startswith(FIRST_TIER) else self.embedder

    @cached_property
    def writer(self) -> MeteredChat | PromptFolder | None:
        """The configured chat model, whose answers are kept and counted, or None. Raises `SettingsError`."""
        if not self.settings.llm_model:
            return None
        from indexer.chat import Chat, MeteredChat, PromptFolder
        from indexer.transport.client import client_for_packages

        if folder := PromptFolder.of(self.settings, self.tokens.count):
            return folder
        chat, (read, written) = Chat.of(self.settings, client_for_packages(self.settings)), (self.settings.llm_price or "0/0").split("/")
        return MeteredChat(chat, self.settings.home, self.tokens.count, self.settings.llm_budget, (float(read), float(written))) if chat else None

    @property
    def chat_model(self) -> MeteredChat | PromptFolder:
        """The configured chat model; raises `UsageError` where there is none."""
        if not (writer := self.writer):
            raise UsageError(
                "no chat model is configured", hint="set LINEAGE_LLM_MODEL and, but for the public endpoint, LINEAGE_LLM_BASE_URL (docs/recipes.md)"
            )
        return writer

    @contextmanager
    def rehearsing(self) -> Iterator[MeteredChat | PromptFolder]:
        """For the block the chat model only counts what it would be asked. Raises `UsageError` where none is configured."""
        writer = self.chat_model
        with writer.rehearsing() as rehearsed:
            self.__dict__["writer"] = rehearsed
            try:
                yield rehearsed
            finally:
                self.__dict__["writer"] = writer

    @cached_property
    def reranker(self) -> Reranker | None:
        """The configured reranker, or None. Raises `SettingsError`."""
        if not self.settings.reranker:
            return None
        name, _, model = self.settings.reranker.partition(":")
        made: Reranker = registry.load("rerankers", name)(model, self.settings)
        return made

    def _client(self) -> Any:
        """An HTTP client bound to the mirror, for packages that send their own requests; None without a mirror."""
        if not self.settings.mirror:
            return None
        from indexer.transport.client import client_for_packages

        return client_for_packages(self.settings)

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
        return self.engine_of(open_generation(self.settings.lineages, lineage))

    def engine_of(self, generation: Generation, index: VectorIndex | None = None) -> Engine:
        """The search engine of an open generation, which it closes; `index` if its vectors have been indexed already."""
        from lineage.hyperparameters.ontology import ontology
        from retrieval.search.chosen import Chooser
        from retrieval.search.engine import Engine
        from retrieval.search.query import vocabulary

        index = index or self._index(generation)
        words = vocabulary(self.settings.vocabulary)
        embedder = (lambda: self._reader(generation.manifest.embedder)) if index else None
        known = ontology(self.settings.ontology)
        chosen = Chooser(partial(self._claims, generation, stage=_CHOICES), lambda: self.embedder)
        return Engine(generation, embedder, index, words=words, reranker=self.reranker, table=lambda: self.first, known=known, chosen=chosen)

    def _index(self, generation: Generation) -> Any:
        """What finds the neighbours of a question among the vectors of a generation, None if it has none."""
        vectors = generation.vectors
        if isinstance(vectors, np.ndarray) and len(vectors) >= _MANY:
            kept = generation.file(INDEX)
            return registry.load("vectors", "faiss")(vectors, json.loads(kept)["recall"] if kept else None)
        return None if vectors is None else registry.load("vectors", "flat" if isinstance(vectors, np.ndarray) else "pgvector")(vectors)

    def gaps_material(self, engine: Engine, facts: FactIndex | None = None, places: MechanismPlaces | None = None) -> ReportInputs:
        """The inputs of a gap report: the configured checklist and ontology, and the facts of the generation, read unless they are given."""
        from lineage.hyperparameters.checklist import checklist
        from lineage.hyperparameters.ontology import ontology
        from retrieval.gaps.report import ReportInputs

        return ReportInputs(engine, checklist(self.settings.details), ontology(self.settings.ontology), (facts or holders_of(engine)).held, places)

    def gaps(self, engine: Engine) -> Gaps:
        """The gap report of a generation: the one that it keeps, else one made now, with a note."""
        if kept := self._kept_report(engine.generation, engine.relations, bool(engine.excluded)):
            return kept
        report = self.report(engine)
        return replace(report, notes=(*report.notes, _MADE_NOW))

    def kept_gaps(self, lineage: str, no_target_code: bool) -> Gaps | None:
        """The gap report that a lineage's current generation keeps, None if it keeps none that fits. Opens nothing else."""
        from lineage.catalog.partial import without_target_code
        from retrieval.search.work_relations import WorkRelations

        with open_generation(self.settings.lineages, lineage) as generation:
            partial = without_target_code(generation.catalog) if no_target_code else None
            seen = replace(generation, catalog=partial) if partial else generation
            return self._kept_report(seen, WorkRelations.read(seen.catalog, WorkId(generation.manifest.target)), partial is not None)

    def ancestors_read(self, lineage: str) -> tuple[Ancestor, ...]:
        """The ancestors that a chat model read (`gaps --model`), what gives most first."""
        reports = (Parts.kept_gaps(self, lineage, excluded) for excluded in (False, True))
        return next((kept.ancestors for kept in reports if kept and kept.ancestors), ())

    def gaps_by_rules(self, engine: Engine) -> Gaps:
        """The gap report without what a chat model read."""
        return self._kept_report(engine.generation, engine.relations, bool(engine.excluded), claims=False) or self.report(engine)

    def keep_claims(self, engine: Engine, report: Gaps) -> None:
        """Keep a report that a chat model read, unless it only rehearsed: every operation gives it from then on, with a model or without."""
        if not self.chat_model.sends:
            return
        from indexer.store.computed_cache import DerivedCache
        from retrieval.gaps.stored_report import dumped
        from retrieval.search import chosen

        key = _claims_key(engine.generation, bool(engine.excluded))
        kept = dumped(report, self.report_digest, engine.generation.catalog, engine.relations)
        with closing(DerivedCache(self.settings.home)) as cache:
            cache.put(key, _CLAIMS, self.report_digest, kept)
            cache.put(key, _CHOICES, self.report_digest, chosen.dumped(report.gaps, self.embedder))

    def _claims(self, generation: Generation, excluded: bool, stage: str = _CLAIMS) -> bytes | None:
        from indexer.store.computed_cache import looked_up

        return looked_up(self.settings.home, _claims_key(generation, excluded), stage, self.report_digest)

    def _kept_report(self, generation: Generation, relations: WorkRelations, excluded: bool, claims: bool = True) -> Gaps | None:
        from retrieval.gaps.stored_report import loaded

        read = self._claims(generation, excluded) if claims else None
        kept = read or generation.file(REPORT_WITHOUT if excluded else REPORT)
        report = loaded(kept, self.report_digest, generation.catalog, relations) if kept else None
        return replace(report, provenance=generation.manifest.origin) if report else None

    def report(self, engine: Engine, facts: FactIndex | None = None, places: MechanismPlaces | None = None) -> Gaps:
        """The gap report of a generation, made now."""
        from retrieval.gaps.report import report

        return report(self.gaps_material(engine, facts, places))

    @property
    def report_digest(self) -> str:
        """What a report of gaps depends on besides its generation."""
        from retrieval.gaps.stored_report import digest

        return digest((self.settings.details, self.settings.ontology, self.settings.vocabulary))

    @property
    def digest(self) -> str:
        """As `indexer.build_context.Reports.digest`."""
        from lineage.hyperparameters.ontology import ontology
        from retrieval.decisions.settled import mark

        return f"{self.report_digest} {mark(ontology(self.settings.ontology))}"

    def made(self, generation: Generation, *, whole: bool = True) -> Mapping[str, bytes]:
        """As `indexer.build_context.Reports.made`."""
        index = self._index(generation)
        engine = self.engine_of(generation, index)
        files = {INDEX: json.dumps({"recall": index.recall}).encode()} if hasattr(index, "recall") else {}
        files |= self._concluded(engine, SETTLED, REPORT if whole else "")
        partial = engine.without_target_code()
        if partial is not engine:
            files |= self._concluded(partial, SETTLED_WITHOUT, REPORT_WITHOUT if whole else "")
        elif whole:
            files[REPORT_WITHOUT] = files[REPORT]
        return files

    def _concluded(self, engine: Engine, settled: str, report: str) -> Mapping[str, bytes]:
        """What the works of a generation hold of each detail and mechanism, and the report."""
        from lineage.hyperparameters.mechanisms import kinds
        from retrieval.decisions.settled import Making, dumped, mark
        from retrieval.gaps import stored_report

        facts = holders_of(engine)
        details = [name for name in facts.held if name in engine.ontology.terms]
        making = Making.of(engine.generation, engine.relations, engine.ontology, facts)
        files = {settled: dumped(making, details, kinds(), mark(engine.ontology))}
        if report:
            made = self.report(engine, facts, making.mechanisms)
            files[report] = stored_report.dumped(made, self.report_digest, engine.generation.catalog, engine.relations)
        return files

    @contextmanager
    def workbench(self, watch: Watch = unwatched, kit: Tape | LockReplay | Afresh | None = None) -> Iterator[BuildContext]:
        """The build context of one operation, with progress sent to `watch`. A `kit` records what is read, replays a lock file or asks afresh."""
        from indexer.build_context import BuildContext, Clock
        from indexer.cluster import connected
        from indexer.sandbox.pool import MIB, Limits, Sandbox
        from indexer.sources.arxiv import Arxiv
        from indexer.sources.github import GitHub
        from indexer.sources.huggingface import HuggingFace
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
            limits = Limits(memory=self.settings.parser_megabytes * MIB)
            cluster = stack.enter_context(connected(self.settings)) if self.settings.dask else None
            yield BuildContext(
                settings=self.settings,
                transport=transport,
                blobs=blobs,
                scholar=SemanticScholar(transport),
                witnesses=_witnesses(self.settings, transport),
                arxiv=Arxiv(transport),
                github=GitHub(transport),
                hub=HuggingFace(transport),
                sandbox=stack.enter_context(cluster.sandbox(limits) if cluster else Sandbox(limits=limits)),
                derived=derived,
                vectors=stack.enter_context(closing(VectorCache(home))),
                store=Store(home, None if isinstance(self.settings.lineages, Path) else self.settings.lineages),
                embedder=lambda: cluster.embedder(self.embedder, self.settings) if cluster else self.embedder,
                clock=Clock(),
                watch=watch,
                work=budget_of(self.settings, "build"),
                first=lambda: self.first,
                reports=self,
            )


def _claims_key(generation: Generation, excluded: bool) -> str:
    return f"{generation.manifest.content_hash} {excluded}"


def holders_of(engine: Engine) -> FactIndex:
    """Index the facts of an open engine's generation, with their evidence."""
    from retrieval.decisions.fact_index import holders

    manifest = engine.generation.manifest
    return holders(engine.generation.catalog, engine.relations, manifest.lineage, manifest.id, WorkId(manifest.target))


def _witnesses(settings: Settings, transport: Transport) -> tuple[ReferenceSource, ...]:
    """The additional reference sources that the settings enable; a source of another package brings the hosts that it asks."""
    from importlib import import_module

    from indexer.transport.upstreams import admit

    made: list[ReferenceSource] = []
    for name in dict.fromkeys(filter(None, map(str.strip, settings.sources.split(",")))):
        if name in registry.installed("sources"):
            admit(getattr(import_module(registry.module_of("sources", name)), "UPSTREAMS", {}))
        made.append(registry.load("sources", name)(transport))
    return tuple(made)
