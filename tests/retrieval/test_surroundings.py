"""How far a hit shows what stands around the chunk that was found."""

from __future__ import annotations

from collections.abc import Sequence

from lineage.model import Chunk, WorkId
from retrieval.surroundings import MAX_CHARACTERS, MAX_LINES, grown

FILE = [(1, 10), (12, 20), (21, 60), (63, 70)]


def chunk(first: int, last: int, characters: int = 10, path: str = "a.py") -> Chunk:
    text = "\n".join(f"line {number}" for number in range(first, last + 1))
    start, end = first * characters, last * characters
    return Chunk(f"c_{first}", WorkId("local:0"), path, "code", "method", text, path, start, end, first, last, f"f{first}")


def grow(chunks: Sequence[Chunk], row: int, worth: Sequence[float] = (0.0,) * 9, shown: Sequence[Chunk] = ()) -> Chunk:
    return grown(chunks[row], row, lambda at: chunks[at] if 0 <= at < len(chunks) else None, worth.__getitem__, shown)


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
