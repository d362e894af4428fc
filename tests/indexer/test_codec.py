"""Documents through JSON and back, and what is refused on the way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from indexer.parsers.stored import document_from_json, document_to_json
from indexer.read_document import Bounds, ExtractedFact, ReadDocument, Stated
from lineage.errors import ParseError
from lineage.records import BibEntry, Mention, Span, Status, WorkId

DOCUMENT = ReadDocument(
    WorkId("arxiv:2504.17192"),
    "main.tex",
    "Änderung: a text.\nAnd more.",
    (Span(0, 17, "section", ("1 Intro",)), Span(3, 9, "paragraph", ("1 Intro",), 2, (0.0, 1.5, 2.0, 3.0), "eq:1", "head")),
    "latex@1",
    "paper",
    bibliography=(BibEntry("a", "A. Title", authors=("A", "B"), year=2020),),
    mentions=(Mention("a", "see [1]", start=3, end=9, together=("b",)),),
    links=(("https://github.com/a/b", "code at"),),
    status=Status.PARTIAL,
    lost=(("page 3", Status.NO_TEXT, "scanned"),),
    cuts=(Bounds(3, 9, 1, 1, "paragraph", "1 Intro", section=("1 Intro",), page=2, box=(0.0, 1.5, 2.0, 3.0)),),
    stated=Stated((ExtractedFact(1, "learning_rate", "0.1", "", "prose", "lr", "0.1"),), notes=("a note",)),
)


def test_a_document_comes_back_equal() -> None:
    assert document_from_json(document_to_json(DOCUMENT)) == DOCUMENT


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"\xff\xfe",
        b"[" * 100_000,
        document_to_json(DOCUMENT)[:-20],
        document_to_json(DOCUMENT).replace(b'"partial"', b'"invented"'),
        document_to_json(DOCUMENT).replace(b'"start":0', b'"start":"zero"', 1),
    ],
)
def test_anything_else_is_a_parse_error(data: bytes) -> None:
    with pytest.raises(ParseError) as caught:
        document_from_json(data)
    assert caught.value.status is Status.PARSE_ERROR


@pytest.mark.parametrize("spans", [(Span(0, 99, "text"),), (Span(-1, 3, "text"),), (Span(5, 4, "text"),), (Span(4, 5, "text"), Span(0, 2, "text"))])
def test_spans_that_leave_the_text_or_their_order_are_refused(spans: tuple[Span, ...]) -> None:
    with pytest.raises(ParseError):
        document_from_json(document_to_json(replace(DOCUMENT, spans=spans)))


def test_text_that_is_no_unicode_is_a_parse_error() -> None:
    with pytest.raises(ParseError):
        document_to_json(replace(DOCUMENT, text="\ud800"))
