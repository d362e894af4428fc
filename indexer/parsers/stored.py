"""Documents as they were read <-> JSON, and the parser of documents that were read before or come from no file (an abstract, a bundle).

What a parser found crosses two borders as JSON: out of the sandboxed child, which may have been taken over by the
file it was reading, and out of the parse cache. Both read it here, so both get the same checks; nothing is pickled.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from indexer.read_document import ReadDocument, check_units
from lineage.errors import ParseError
from lineage.records import Document, Span, Status, WorkId
from lineage.sealed import adapter


def prepare(names: Sequence[str] = ()) -> None:
    """Build what reading and writing need (tens of milliseconds), for a process that is going to fork."""
    adapter(ReadDocument)


def document_to_json(document: Document) -> bytes:
    """UTF-8 JSON of a document; raises `ParseError` for text that is not Unicode (lone surrogates)."""
    try:
        return adapter(type(document)).dump_json(document, exclude_defaults=True)
    except (PydanticSerializationError, UnicodeError) as error:
        raise ParseError(Status.PARSE_ERROR, f"{document.path}: the text is not Unicode") from error


def document_from_json(data: bytes) -> ReadDocument:
    """The document that `document_to_json` wrote; raises `ParseError` for anything else.

    Every field has its type, every span and chunk lies inside the text, and spans stand in the order (start, -end).
    """
    try:
        document = adapter(ReadDocument).validate_json(data)
    except (ValidationError, ValueError, RecursionError) as error:
        raise ParseError(Status.PARSE_ERROR, f"no document: {str(error).splitlines()[0][:200]}") from error
    check(document)
    check_units(document)
    return document


def check(document: Document) -> None:
    """Raise `ParseError` unless the spans are ordered and inside the text."""
    size = len(document.text)
    if any(not 0 <= span.start <= span.end <= size for span in document.spans):
        raise ParseError(Status.PARSE_ERROR, f"{document.path}: a span leaves the text")
    if any(_key(left_span) > _key(other) for left_span, other in pairwise(document.spans)):
        raise ParseError(Status.PARSE_ERROR, f"{document.path}: spans are out of order")


def _key(span: Span) -> tuple[int, int]:
    return span.start, -span.end


def parse(path: str, data: bytes, work: WorkId, blob: str) -> Document:
    """The document whose JSON `data` is."""
    return document_from_json(data)
