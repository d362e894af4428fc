"""The composition root: the only place that picks plugins and joins the write side with the read side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lineage import registry
from lineage.generation import open_generation
from lineage.progress import Waiting, Watch, unwatched

if TYPE_CHECKING:
    from indexer.fetch import Transport
    from indexer.workbench import Workbench
    from lineage.ports import Embedder, ReferenceSource
    from lineage.settings import Settings
    from retrieval.budget import Tokens
    from retrieval.engine import Engine


class Parts:
    """What operations are made from. Nothing is opened, imported or sent until an operation needs it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

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

        from retrieval.budget import Estimate, FileTokens

        named = self.settings.tokenizer
        if named == "estimate":
            return Estimate()
        if named != "packaged":
            return FileTokens(Path(named), Path(named).parent.name + "/" + Path(named).name)
        return FileTokens(Path(str(files("indexer"))) / "embedders" / "granite30m" / "tokenizer.json", "granite-embedding-30m tokenizer")

    def _client(self) -> Any:
        """An HTTP client that keeps to the mirror, for packages that make requests of their own; None where there is no mirror."""
        if not self.settings.mirror:
            return None
        from indexer.fetch import mirrored_client

        return mirrored_client(self.settings)

    def engine(self, lineage: str) -> AbstractContextManager[Engine]:
        """The read side over the current generation of a lineage, for the length of a `with` block."""
        return self.opened(lineage)

    def opened(self, lineage: str) -> Engine:
        """The same, for whoever closes it."""
        from retrieval.engine import Engine
        from retrieval.vocabulary import vocabulary

        generation = open_generation(self.settings.home, lineage)
        index = registry.load("vectors", "faiss")(generation.vectors) if generation.vectors is not None else None
        words = vocabulary(self.settings.vocabulary)
        return Engine(generation, (lambda: self.embedder) if index else None, index, words=words)

    @contextmanager
    def workbench(self, watch: Watch = unwatched) -> Iterator[Workbench]:
        """The write side, for the length of one operation that `watch` hears of."""
        from indexer.blobs import Blobs
        from indexer.cache import DerivedCache, VectorCache
        from indexer.clock import Clock
        from indexer.fetch import Transport
        from indexer.refine import Refiner
        from indexer.sandbox import Sandbox
        from indexer.sources.arxiv import Arxiv
        from indexer.sources.github import GitHub
        from indexer.sources.huggingface import HuggingFace
        from indexer.sources.papers_with_code import PapersWithCode
        from indexer.sources.semantic_scholar import SemanticScholar
        from indexer.store import Store
        from indexer.workbench import Workbench

        home = self.settings.home
        with ExitStack() as stack:
            blobs, derived = Blobs(home), stack.enter_context(closing(DerivedCache(home)))
            transport = stack.enter_context(Transport(self.settings, blobs, watch=lambda text: watch(Waiting(text))))
            yield Workbench(
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
                refiner=Refiner.of(self.settings, derived, self._client()),
            )


def _witnesses(settings: Settings, transport: Transport) -> tuple[ReferenceSource, ...]:
    """The further witnesses for references that the settings ask for."""
    from indexer.sources.crossref import Crossref
    from indexer.sources.openalex import OpenAlex

    asked = ((settings.openalex, OpenAlex), (settings.crossref, Crossref))
    return tuple(source(transport) for wanted, source in asked if wanted)
