"""A part of a PDF's page as a picture, with a box around what is cited. Runs in the sandbox's child, as the reading does."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence

from indexer.parsers.pdf.page import Box
from lineage.errors import ParseError
from lineage.records import Document, Status, WorkId

WIDTH, HEIGHT, SHARPEST = 1000.0, 1400.0, 3.0
"""Pixels of a picture at most, and pixels a point at most."""
_MARGIN, _AROUND = 40.0, 3.0
"""Points that are shown above and below what is cited, and between it and its box."""
_INK = (0.84, 0.37, 0.0)


def prepare(names: Sequence[str]) -> None:
    """Load MuPDF while files may still be read."""
    import pymupdf  # noqa: F401


def place(page: int, box: Box) -> str:
    """The name that a PDF is given in `parse`: its page, counted from 1, and the box in points from the top left."""
    return " ".join(f"{number:g}" for number in (page, *box))


def parse(files: Mapping[str, bytes], work: WorkId, blob: str) -> Document:
    """A document whose text is the picture: PNG in base64. `files` holds one PDF, named by `place`; raises `ParseError`."""
    ((name, data),) = files.items()
    page, *box = map(float, name.split())
    return Document(work, name, b64encode(_drawn(data, int(page) - 1, box)).decode(), (), "crop@1", "paper", blob=blob)


def _drawn(data: bytes, index: int, box: Sequence[float]) -> bytes:
    import pymupdf

    with pymupdf.open(stream=data, filetype="pdf") as pdf:
        if pdf.needs_pass or not 0 <= index < pdf.page_count:
            raise ParseError(Status.PARSE_ERROR, "the file has no such page that can be drawn")
        page = pdf[index]
        marked = pymupdf.Rect(box) & page.rect
        shown = pymupdf.Rect(page.rect.x0, marked.y0 - _MARGIN, page.rect.x1, marked.y1 + _MARGIN) & page.rect
        if marked.is_empty or shown.is_empty:
            raise ParseError(Status.PARSE_ERROR, "the box is not on the page")
        frame = pymupdf.Rect(marked.x0 - _AROUND, marked.y0 - _AROUND, marked.x1 + _AROUND, marked.y1 + _AROUND)
        page.draw_rect(frame * page.derotation_matrix, color=_INK, width=1.2)
        scale = min(WIDTH / shown.width, HEIGHT / shown.height, SHARPEST)
        picture: bytes = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), clip=shown, alpha=False).tobytes("png")
        return picture
