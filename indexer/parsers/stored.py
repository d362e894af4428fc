"""Documents that were read before or come from elsewhere than a file (an abstract, a bundle), for what is made of them in the sandbox."""

from __future__ import annotations

from indexer.store.document_json import document_from_json
from lineage.records import Document, WorkId


def parse(path: str, data: bytes, work: WorkId, blob: str) -> Document:
    """The document whose JSON `data` is."""
    return document_from_json(data)
