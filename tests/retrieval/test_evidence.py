"""A chunk with what stands around it: whole lines on both sides, never more than a reader can bear."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.records import Chunk, Focus, Work, WorkId
from retrieval.search.passages import WINDOW_CHARACTERS, WINDOW_LINES, neighbours, widened
from retrieval.search.work_relations import WorkRelation
from tests.fakes import small_lineage as small

KIN = WorkRelation(Work(small.REPO, "code", "tent"), Work(small.CITED), small.reference(), True)


class Shelf:
    """A catalogue of one document, and of the chunks cut from it."""

    def __init__(self, text: str, *chunks: Chunk) -> None:
        self.text, self.held = text, chunks

    def document_text(self, work: WorkId, path: str) -> str:
        return self.text

    def neighbours(self, work: WorkId, path: str) -> list[int]:
        return list(range(len(self.held)))

    def chunks(self, rows: list[int]) -> list[Chunk]:
        return [self.held[row] for row in rows]


def document(lines: int, width: int = 6) -> str:
    return "\n".join(f"{number:0{width}}" for number in range(1, lines + 1))


def piece(first: int, last: int, text: str = "") -> Chunk:
    return Chunk(f"c_{first}", small.REPO, "a.py", "code", "function", text or document(last)[7 * (first - 1) :], "", 0, 1, first, last, symbol="f")


def shown(text: str, first: int, last: int, before: int, after: int) -> tuple[int, int, int, int]:
    """Lines of the window, and how many lie beyond it on either side; its text is those lines of the document."""
    own = "\n".join(text.split("\n")[first - 1 : last])
    hit, above, below = widened(Shelf(text), piece(first, last, own), KIN, before, after)  # type: ignore[arg-type]
    assert hit.chunk.text == "\n".join(text.split("\n")[hit.chunk.start_line - 1 : hit.chunk.end_line])
    assert hit.focus == Focus(first, last)
    return hit.chunk.start_line, hit.chunk.end_line, above, below


@pytest.mark.parametrize(
    ("around", "window"),
    [
        ((0, 0), (10, 12, 9, 18)),
        ((3, 2), (7, 14, 6, 16)),
        ((3, 0), (7, 12, 6, 18)),
        ((0, 3), (10, 15, 9, 15)),
        ((99, 1), (1, 13, 0, 17)),
        ((1, 99), (9, 30, 8, 0)),
        ((400, 400), (1, 30, 0, 0)),
    ],
)
def test_a_window_has_as_many_lines_as_are_asked_for_and_as_there_are(around, window):
    assert shown(document(30), 10, 12, *around) == window


def test_a_window_grows_on_both_sides_alike_until_it_is_full():
    top, bottom, above, below = shown(document(1_000), 500, 500, 400, 400)
    assert (bottom - top + 1, 500 - top, bottom - 500) == (WINDOW_LINES, 200, 199)
    assert (above, below) == (top - 1, 1_000 - bottom)


def test_a_window_that_reaches_one_end_grows_on_towards_the_other():
    assert shown(document(1_000), 3, 3, 400, 400)[:2] == (1, WINDOW_LINES)
    assert shown(document(1_000), 998, 998, 400, 400)[:2] == (1_000 - WINDOW_LINES + 1, 1_000)


def test_a_window_of_long_lines_ends_before_it_has_too_many_characters():
    text = document(100, 999)
    top, bottom, _, _ = shown(text, 50, 50, 400, 400)
    assert bottom - top + 1 == WINDOW_CHARACTERS // 1_000
    assert shown(text.replace("\n" + "0" * 997 + "51", "\n" + "0" * WINDOW_CHARACTERS), 50, 50, 0, 9)[:2] == (50, 50)


def test_a_chunk_that_is_longer_than_any_window_is_shown_as_it_is():
    assert shown(document(2_000), 100, 900, 400, 400)[:2] == (100, 900)


@given(st.integers(1, 60), st.data(), st.integers(0, 90), st.integers(0, 90))
@settings(max_examples=25, deadline=None)
def test_every_line_is_shown_or_counted(lines, data, before, after):
    first = data.draw(st.integers(1, lines))
    last = data.draw(st.integers(first, lines))
    top, bottom, above, below = shown(document(lines), first, last, before, after)
    assert above + (bottom - top + 1) + below == lines
    assert max(1, first - before) == top
    assert min(lines, last + after) == bottom


@pytest.mark.parametrize("text", ["", "only one line"], ids=["not kept", "shorter than its chunk says"])
def test_without_its_document_a_chunk_is_all_there_is_and_keeps_its_lines(text):
    hit, above, below = widened(Shelf(text), piece(41, 43, "a\nb\nc"), KIN, 9, 9)  # type: ignore[arg-type]
    assert (hit.chunk.text, hit.chunk.start_line, hit.chunk.end_line) == ("a\nb\nc", 41, 43)
    assert (hit.focus, above, below) == (Focus(41, 43), 0, 0)


def test_evidence_says_whose_it_is():
    hit, _, _ = widened(Shelf(document(9)), piece(2, 3), KIN, 1, 1)  # type: ignore[arg-type]
    assert (hit.work, hit.paper, hit.reference, hit.from_target) == (KIN.work, KIN.paper, KIN.reference, True)
    assert (hit.chunk.id, hit.chunk.symbol, hit.rank, hit.score) == ("c_2", "f", 1, 1.0)


def test_a_chunk_names_its_neighbours_and_none_at_the_ends():
    chunks = [piece(1, 2), piece(3, 4), piece(5, 6)]
    found = [neighbours(Shelf("", *chunks), one) for one in chunks]  # type: ignore[arg-type]
    assert found == [("", "c_3"), ("c_1", "c_5"), ("c_3", "")]
