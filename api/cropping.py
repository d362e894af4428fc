"""The page of a PDF around a cited passage, as a picture."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error
from struct import unpack

from api.bootstrap import Parts
from indexer.parsers.pdf.crop import place
from indexer.sandbox.pool import MIB, Limits, Sandbox
from indexer.store.blobs import Blobs
from lineage.errors import NotFound, ParseError
from lineage.generation import Generation, open_generation
from lineage.records import Chunk, Status
from lineage.results import Crop

_LARGEST = 64 * MIB
"""Bytes of a PDF that is drawn."""
_PNG = b"\x89PNG\r\n\x1a\n"
_READ = "`lineage read` and /evidence give its text"


def crop(parts: Parts, lineage: str, chunk: str) -> Crop:
    """Draw the page of a chunk in the sandbox, with a box around the chunk; keeps nothing. Raises `NotFound` where there is no such page."""
    with open_generation(parts.settings.lineages, lineage) as generation:
        passage = generation.catalog.chunk(chunk)
        if not passage:
            raise NotFound(f"there is no chunk {chunk[:80]!r}", hint="take chunk ids from the hits of a search")
        blob = _pdf(generation, passage)
    if passage.page is None or passage.box is None or not blob:
        raise NotFound("this passage was not read from a PDF", hint=_READ)
    blobs = Blobs(parts.settings.home)
    if not blobs.has(blob) or blobs.path(blob).stat().st_size > _LARGEST:
        raise NotFound("the PDF is not stored here, or too large to draw", hint=_READ)
    limits = Limits(wall=10.0, cpu=8, memory=parts.settings.parser_megabytes * MIB, result=8 * MIB)
    with Sandbox(1, limits) as sandbox:
        try:
            drawn = sandbox.paper("indexer.parsers.pdf.crop", {place(passage.page, passage.box): blobs.get(blob)}, passage.work, blob)
            width, height = _size(b64decode(drawn.text, validate=True))
        except (ParseError, Error) as error:
            raise NotFound(f"the page cannot be drawn: {error}", hint=_READ) from error
    return Crop(lineage, generation.manifest.id, chunk, passage.page, width, height, drawn.text)


def _pdf(generation: Generation, chunk: Chunk) -> str:
    """The hash of the PDF that a chunk was read from; empty if it was none."""
    documents = generation.catalog.documents(chunk.work)
    return next((document.blob for document in documents if document.path == chunk.path and document.parser.startswith("pdf@")), "")


def _size(png: bytes) -> tuple[int, int]:
    """Width and height of a PNG; raises `ParseError` for other bytes."""
    if not png.startswith(_PNG) or len(png) < 24:
        raise ParseError(Status.WRONG_TYPE, "the parser returned no picture")
    width, height = unpack(">II", png[16:24])
    return width, height
