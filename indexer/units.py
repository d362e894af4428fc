"""What is made of a document where it was parsed: its chunks and what it states, as they leave the child process.

Both take reading a stranger's text, so both are made in the child (`indexer.sandbox`), under its limits. What comes back holds places
only; the process of the build puts chunks and facts together from them and from the document's text.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from indexer.chunking import chunker
from indexer.extraction import extract
from indexer.parsers.select import versions
from indexer.read_document import ReadDocument, Wanted
from lineage.code_reuse import reuse
from lineage.errors import ParseError
from lineage.hyperparameters.ontology import ontology, ontology_of
from lineage.records import Document, Status, WorkId

if TYPE_CHECKING:
    from lineage.settings import Settings


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
