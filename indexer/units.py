"""What is made of a document where it was parsed: its chunks and what it states, as they leave the child process.

Both take reading a stranger's text, so both are made in the child (`indexer.sandbox`), under its limits. What comes back holds places
only; the process of the build puts chunks and facts together from them and from the document's text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from indexer.chunking import chunker
from indexer.chunking.chunker import Cut
from indexer.extraction import collector, extract, mechanisms
from indexer.extraction.extract import Extracted, Stated
from indexer.parsers.select import versions
from lineage.code_reuse import reuse
from lineage.errors import ParseError
from lineage.hyperparameters.mechanisms import kinds
from lineage.hyperparameters.ontology import ontology, ontology_of
from lineage.records import Chunk, Document, Status, WorkId

if TYPE_CHECKING:
    from lineage.settings import Settings


MOST_CHUNKS = 1_000_000
"""Of a document that no budget bounds."""


NOTHING = Stated()


@dataclass(frozen=True)
class ReadDocument(Document):
    """A document with its `cuts`, and what it states."""

    cuts: tuple[Cut, ...] = ()
    stated: Stated = NOTHING

    def units(self) -> tuple[list[Chunk], Extracted]:
        """Its chunks, and the facts and settings in them."""
        own = [chunker.chunk(self, cut) for cut in self.cuts]
        return own, extract.placed(self, own, self.stated)


@dataclass(frozen=True)
class Wanted:
    """What a child is to make: at most so many chunks of a document (None: none at all), facts by the ontology with a user's rows."""

    chunks: int | None
    ontology: str = ""


def version(settings: Settings) -> str:
    """What a read document depends on besides the bytes."""
    return f"{versions()} {chunker.VERSION} {extract.VERSION} {ontology(settings.ontology).digest}"


def read(document: Document, wanted: Wanted) -> ReadDocument:
    """A document with its units; of a repository's without the spans that nobody needs any more. Raises `ParseError` for too many chunks."""
    cuts = () if wanted.chunks is None else tuple(islice(chunker.cuts(document), wanted.chunks + 1))
    if wanted.chunks is not None and len(cuts) > wanted.chunks:
        raise ParseError(Status.TOO_LARGE, f"more than {wanted.chunks:,} chunks (repo_chunks)")
    spans = document.spans if document.kind == "paper" else reuse.compared(document)
    return ReadDocument(**{**vars(document), "spans": spans, "cuts": cuts, "stated": extract.state(document, ontology_of(wanted.ontology))})


def check(document: ReadDocument) -> None:
    """Raise `ParseError` unless cuts lie inside the text and there are no more facts than a document may state."""
    size, stated = len(document.text), document.stated
    if any(not 0 <= cut.start < cut.end <= size or not 0 < cut.start_line <= cut.end_line <= size + 1 for cut in document.cuts):
        raise ParseError(Status.PARSE_ERROR, f"{document.path}: a chunk leaves the text")
    if max(len(stated.facts), len(stated.settings)) > collector.MOST or len(stated.mechanisms) > mechanisms.MOST * len(kinds()):
        raise ParseError(Status.PARSE_ERROR, f"{document.path}: more facts than one document may state")


_SAMPLES = (
    ("code", "python", "lr = 1e-4\n"),
    ("config", "yaml", "lr: 1e-4\n"),
    ("docs", "", "# T\n\nTraining neural networks with a learning rate of 0.1.\n"),
)


@lru_cache(maxsize=2)
def prepare(more: str) -> None:
    """Load what reading needs once, before a process forks for each job."""
    for kind, language, text in _SAMPLES:
        read(Document(WorkId(""), "a", text, (), "", kind, language), Wanted(10, more))  # type: ignore[arg-type]
