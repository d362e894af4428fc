"""Which rows stand: a chat model checks each against the whole text of the target.

A row is confirmed with words of the text that speak of the part to which the decision belongs. Nothing is dropped: what is not confirmed stands
in a group of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lineage.citation import pinpoint
from lineage.hyperparameters.values import worded
from lineage.records import Chunk
from lineage.results import Gap
from lineage.text.hidden_text import inline, visible
from retrieval.decisions.provenance import evidence, is_own_code
from retrieval.gaps.model_reader import SET, Claim, Reader, asking, fitting, is_open, is_verbatim, lines_of, window_text, windows

AT_ONCE = 75
"""Rows of one call."""
_TEXT, _FURTHER, _LINES, _BEGINS = 60_000, 40_000, 320, 40
"""Characters of the target's text, of its rest that comes nearest to the rows, and of the lines of a row, that are shown; of a value by which it is
known to be these lines."""
_REVIEW = """A first reader listed decisions that a reproduction of the machine-learning paper below has to take and that its text leaves open,
each with lines of works that it cites. The text comes first, then the rows. About half of the rows are wrong. Check each as a strict reviewer who
knows the text. A row stands if all of this holds:
(1) What it decides is a part of what the paper's authors built or ran, baselines and evaluation included, or something that such a run cannot do
without even where the text is silent (which optimizer and with which constants, how weights start, the order of the data, the hop of a transform
that it computes). It is not theirs if it presupposes a mechanism of which the text does not speak (a warm-up, a projection head, masked tokens,
images), or that they do in another way.
(2) The text does not settle it: no sentence, equation, table or algorithm of it gives the value or the way it is done.
(3) The lines answer the very question by themselves: they have the value, formula or mechanism, be it a name with where it is `set`. They do not
if they only pass an option on, call something whose content is not shown, are a switch whose position is not shown, say nothing of a part of the
question, or are of another task, a test or a demonstration.
A row whose lines are the paper's own stands if they answer it.
Give the rows that stand, those that change results most first, each with a quote of the paper's text, of at most fifteen words, that speaks of
the part to which the decision belongs (it need not hold a value), and whether you are sure: false where one of the three is only likely."""


class Standing(Claim):
    """A row that stands, and words of the text on the part that it belongs to."""

    row: int
    quote: str
    sure: bool


class StandingRows(Claim):
    """The rows that stand."""

    stand: tuple[Standing, ...]


def reviewed(reader: Reader, rows: Sequence[Gap]) -> list[Gap]:
    """The rows, what the model does not confirm behind all others; nothing is said of what the own code answers, and where no answer came."""
    text = list(windows(reader.engine, reader.context.target.id))
    begins = [chunk for window in fitting(text, _TEXT, window_text) for chunk in window]
    rest = [chunk for window in text for chunk in window if chunk not in begins]
    unsettled = list(filter(is_open, rows))
    waiting = list(filter(_is_of_others, unsettled)) or ([] if reader.chat.sends else unsettled)
    size = -(-len(waiting) // max(1, -(-len(waiting) // AT_ONCE)))
    judged: dict[int, Gap] = {}
    for start in range(0, len(waiting), size or 1):
        some = waiting[start : start + size]
        own = [*begins, *_nearest(reader, some, rest)]
        shown = (f"Row {n}: {_shown(gap)}" for n, gap in enumerate(some, 1))
        answer = reader.ask(_REVIEW, "\n".join((window_text(own), "\nThe rows:", *shown)), StandingRows)
        if answer:
            proved = _proved(reader, answer, own)
            judged |= {id(gap): _confirmed(reader, gap, proved.get(n)) for n, gap in enumerate(some, 1)}
    return sorted((judged.get(id(gap), gap) for gap in rows), key=lambda gap: gap.confirmed is False)


def _nearest(reader: Reader, rows: Sequence[Gap], rest: Sequence[Chunk]) -> list[Chunk]:
    """Of the passages of a long text that are not shown anyway those that come nearest to any row, in their order."""
    texts = [chunk.text for chunk in rest]
    near = [max(values) for values in zip(*(reader.engine.similarities(asking(gap.detail), texts) for gap in rows), strict=True)]
    chosen = fitting(sorted(range(len(rest)), key=lambda n: -near[n]), _FURTHER, texts.__getitem__)
    return [rest[n] for n in sorted(chosen)]


def _is_of_others(gap: Gap) -> bool:
    """Whether a row has an answer, and not from the target's own code."""
    return bool(gap.suggestions and gap.suggestions[0].held) and not is_own_code(gap.suggestions[0].held[0])


def _shown(gap: Gap) -> str:
    """A row as it is shown: what is asked, and the lines of its first answer with the values of what they hand on."""
    if not gap.suggestions or not gap.suggestions[0].held:
        return f"{asking(gap.detail)}\n{'-' * _LINES}"  # where it is only counted what would be asked
    offer, first = gap.suggestions[0], gap.suggestions[0].held[0]
    said = inline(first.fact.said)
    value = "" if first.fact.value[:_BEGINS] in said else f"{first.fact.name} = {worded(first.fact.value, first.fact.unit)}: "
    lines = [f"{pinpoint(first.evidence)}: {value}{said[:_LINES]}", *(link for link in offer.chain if link.startswith(SET))]
    return "\n  ".join((asking(gap.detail), *lines))


def _proved(reader: Reader, answer: StandingRows, own: Sequence[Chunk]) -> Mapping[int, tuple[str, Chunk]]:
    """The quotes by row of which the model is sure, with the passages that they stand in."""
    proved: dict[int, tuple[str, Chunk]] = {}
    for claim in (claim for claim in answer.stand if claim.sure):
        chunk = next((chunk for chunk in own if is_verbatim(claim.quote, visible(chunk.text)[0])), None)
        if reader.is_kept(chunk is not None) and chunk:
            proved[claim.row] = (claim.quote, chunk)
    return proved


def _confirmed(reader: Reader, gap: Gap, proof: tuple[str, Chunk] | None) -> Gap:
    """A row with whether it is confirmed, and what the text says of the part where nothing else of it is shown."""
    if not proof:
        return replace(gap, confirmed=False)
    quote, chunk = proof
    hit = replace(evidence(chunk, reader.engine.relations), focus=lines_of(quote, chunk))
    return replace(gap, confirmed=True, stated=gap.stated or (hit,))
