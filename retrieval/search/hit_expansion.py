"""What a hit shows around the chunk that was found: neighbors of the same file, while all of it can be shown.

Small chunks are found best, and larger ones answer best: a class's first lines match what it is about, and its methods
say how it is done. A hit therefore grows by whole neighboring chunks, always the one of the two that the question
ranks higher, up to what a hit may show. `Hit.focus` still points to the lines that answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from lineage.records import Chunk

MAX_LINES = 60
MAX_CHARACTERS = 2_400
"""What a hit may show (CONTRACTS: a hit)."""


def extent(row: int, at: Callable[[int], Chunk | None], worth: Callable[[int], float], shown: Sequence[Chunk] = ()) -> range:
    """The rows to show for the chunk of a row: it and as many of its neighbors as fit.

    `at` gives the chunk of any row (its text is not looked at), None where there is none; rows of one document follow one another
    in reading order. `worth` gives a row's score; what is `shown` already is not taken in again.
    """
    found = at(row)
    chunks = [found] if found else []
    first = last = row
    while chunks:
        before, after = at(first - 1), at(last + 1)
        beside = [(worth(first - 1), 0, [before, *chunks])] if before and _fits([before, *chunks], before, shown) else []
        beside += [(worth(last + 1), 1, [*chunks, after])] if after and _fits([*chunks, after], after, shown) else []
        if not beside:
            break
        _, side, chunks = max(beside, key=lambda option: option[:2])
        first, last = (first, last + 1) if side else (first - 1, last)
    return range(first, last + 1)


def _fits(chunks: Sequence[Chunk], new: Chunk, shown: Sequence[Chunk]) -> bool:
    one_file = len({(chunk.work, chunk.path) for chunk in chunks}) == 1
    ordered = all(previous.end <= other.start and previous.end_line < other.start_line for previous, other in pairwise(chunks))
    small = chunks[-1].end_line - chunks[0].start_line < MAX_LINES and chunks[-1].end - chunks[0].start <= MAX_CHARACTERS
    return one_file and ordered and small and not any(new.start < other.end and other.start < new.end for other in shown)


def joined(chunk: Chunk, chunks: Sequence[Chunk]) -> Chunk:
    """A chunk with the text and lines of all chunks that are shown for it; identifier, header and symbol stay its own.

    Between two chunks nothing but blank lines lies.
    """
    if len(chunks) == 1:
        return chunk
    text = chunks[0].text + "".join("\n" * (other.start_line - previous.end_line) + other.text for previous, other in pairwise(chunks))
    return replace(chunk, text=text, start=chunks[0].start, end=chunks[-1].end, start_line=chunks[0].start_line, end_line=chunks[-1].end_line)
