"""What a content hash depends on beside the answers."""

from __future__ import annotations

from indexer.build_context import BuildContext
from indexer.chunking.chunker import VERSION as CHUNKER
from indexer.parsers.select import versions
from lineage.hyperparameters.ontology import ontology


def tools(bench: BuildContext) -> dict[str, str]:
    """Versions of parsers and of chunking, and the digest of the vocabulary."""
    return {"parsers": versions(), "chunks": CHUNKER, "ontology": ontology(bench.settings.ontology).digest}
