"""How far a hit shows what stands around the chunk that was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.records import Chunk, WorkId
from retrieval.search.passages import MAX_CHARACTERS, MAX_LINES, extent, joined

FILE = [(1, 10), (12, 20), (21, 60), (63, 70)]


def chunk(first: int, last: int, characters: int = 10, path: str = "a.py") -> Chunk:
    text = "\n".join(f"line {number}" for number in range(first, last + 1))
    start, end = first * characters, last * characters
    return Chunk(f"c_{first}", WorkId("local:0"), path, "code", "method", text, path, start, end, first, last, f"f{first}")


def grow(chunks: Sequence[Chunk], row: int, worth: Sequence[float] = (0.0,) * 9, shown: Sequence[Chunk] = ()) -> Chunk:
    rows = extent(row, lambda at: chunks[at] if 0 <= at < len(chunks) else None, worth.__getitem__, shown)
    return joined(chunks[row], [chunks[at] for at in rows])


def lines(found: Chunk) -> tuple[int, int]:
    return found.start_line, found.end_line


def test_a_hit_grows_towards_the_better_neighbour_while_all_fits():
    chunks = [chunk(*some) for some in FILE]
    assert lines(grow(chunks, 1, [3.0, 2.0, 1.0, 0.0])) == (1, 60)
    assert lines(grow(chunks, 1, [0.0, 2.0, 1.0, 3.0])) == (12, 70)


def test_what_was_found_keeps_its_name_and_gets_the_lines_between():
    found = grow([chunk(1, 2), chunk(5, 6)], 1)
    assert (found.id, found.symbol, found.start, found.end) == ("c_5", "f5", 10, 60)
    assert found.text == "line 1\nline 2\n\n\nline 5\nline 6"


def test_no_more_is_shown_than_a_hit_may_show():
    assert lines(grow([chunk(1, 1), chunk(2, MAX_LINES)], 0)) == (1, MAX_LINES)
    assert lines(grow([chunk(1, 1), chunk(2, MAX_LINES + 1)], 0)) == (1, 1)
    assert lines(grow([chunk(1, 3, MAX_CHARACTERS // 3), chunk(4, 5, MAX_CHARACTERS // 3)], 0)) == (1, 3)


def test_lines_that_a_better_hit_shows_are_left_to_it():
    chunks = [chunk(*some) for some in FILE]
    assert lines(grow(chunks, 1, shown=[chunks[0]])) == (12, 70)


def test_another_file_and_overlapping_chunks_are_never_joined():
    assert lines(grow([chunk(1, 5), chunk(4, 9)], 0)) == (1, 5)
    assert lines(grow([chunk(1, 5), chunk(6, 9, path="b.py")], 0)) == (1, 5)


def test_of_two_equal_neighbours_the_one_below_is_taken_first():
    chunks = [chunk(1, 20), chunk(21, 40), chunk(41, 60)]
    assert lines(grow(chunks, 1)) == (1, 60)
    assert lines(grow([chunk(1, 30), chunk(31, 40), chunk(41, 70)], 1)) == (31, 70)


def test_what_is_exactly_as_much_as_a_hit_may_show_is_shown():
    assert lines(grow([chunk(1, 1, MAX_CHARACTERS), chunk(2, 2, MAX_CHARACTERS)], 0)) == (1, 2)
    assert lines(grow([chunk(1, 1, MAX_CHARACTERS + 1), chunk(2, 2, MAX_CHARACTERS + 1)], 0)) == (1, 1)


def test_chunks_of_one_line_or_of_the_same_characters_are_no_neighbours():
    one, other = chunk(1, 5), chunk(6, 9)
    assert lines(grow([one, replace(other, start_line=5)], 0)) == (1, 5)
    assert lines(grow([one, replace(other, start=one.end - 1)], 0)) == (1, 5)
    assert lines(grow([one, replace(other, start=one.end)], 0)) == (1, 9)


def test_only_what_overlaps_with_what_is_shown_is_left_to_it():
    chunks = [chunk(*some) for some in FILE]
    beside = replace(chunks[0], end=chunks[0].start)
    assert lines(grow(chunks[:2], 1, shown=[beside])) == (1, 20)
    assert lines(grow(chunks[:2], 1, shown=[replace(chunks[0], start=chunks[0].end - 1)])) == (12, 20)


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 4)), min_size=1, max_size=8), st.data())
@settings(max_examples=25, deadline=None)
def test_what_is_shown_is_whole_chunks_with_every_line_of_the_file_in_its_place(sizes, data):
    chunks, at = [], 1
    for size, gap in sizes:
        chunks.append(chunk(at, at + size - 1))
        at += size + gap
    row = data.draw(st.integers(0, len(chunks) - 1))
    worth = data.draw(st.lists(st.floats(-2, 2), min_size=9, max_size=9))
    found = grow(chunks, row, worth)
    assert found.start_line in {one.start_line for one in chunks}
    assert found.end_line in {one.end_line for one in chunks}
    assert found.start_line <= chunks[row].start_line <= chunks[row].end_line <= found.end_line
    assert found.end_line - found.start_line < MAX_LINES
    held = {number for one in chunks for number in range(one.start_line, one.end_line + 1)}
    assert found.text.split("\n") == [f"line {n}" if n in held else "" for n in range(found.start_line, found.end_line + 1)]
