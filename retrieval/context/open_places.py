"""The code that settles open decisions, as stretches of files, each with the decisions that are made in it (pure).

Decisions are made close together: a training script has its optimizer, loader and clipping within a page. So a place is cited once for
all that it settles, the stretches that add most for their length first, and a decision that was told already counts half each time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lineage.records import Focus, Hit
from lineage.results import FactOccurrence, Gap
from retrieval.context.markdown import code, inline, place

MOST = 160
"""Stretches of one pack."""
_WIDE = 30
"""Lines of one stretch."""
_NEXT = 0.7
"""What the next repository, and the next place of one, says of what the one before says."""
_TITLE, _CODE, _BEFORE = 32, 32, 8
"""Letters of a decision, of a statement that settles it, and of what stands before the name by which it was recognized."""
_OFTEN = 4
"""Times that a decision is told."""


@dataclass(frozen=True)
class Statement:
    """A statement of code that settles a decision, called `title`: what it is worth, and its lines."""

    title: str
    occurrence: FactOccurrence
    worth: float
    first: int
    last: int


@dataclass(frozen=True)
class Stretch:
    """Statements that stand close together in one file."""

    statements: tuple[Statement, ...]

    @property
    def hit(self) -> Hit:
        """The stretch as evidence."""
        first, last = self.statements[0].first, max(statement.last for statement in self.statements)
        return replace(self.statements[0].occurrence.evidence, focus=Focus(first, last))

    def line(self, told: Counter[str]) -> str:
        """The place, and each decision, the first time with the statement where it is short; none that was told often."""
        rows = []
        for statement in self.statements:
            if told[statement.title] < _OFTEN:
                at = f"L{statement.first} " if len(self.statements) > 1 else ""
                shown = "" if told[statement.title] else _telling(statement.occurrence)
                rows.append(f"{at}{statement.title}" + (f" {code(shown)}" if shown else ""))
        return f"- {place(self.hit)}: {'; '.join(rows)}"


def stretches(gaps: Sequence[Gap], beside: Callable[[Gap, FactOccurrence], bool]) -> list[tuple[Stretch, str]]:
    """The stretches that settle decisions, each with its line; `beside` says what stands elsewhere already."""
    waiting = _all(_statements(gaps, beside))
    chosen: list[tuple[Stretch, str]] = []
    told: Counter[str] = Counter()

    def gain(stretch: Stretch) -> float:
        return sum(statement.worth * 0.5 ** told[statement.title] for statement in stretch.statements if told[statement.title] < _OFTEN)

    while waiting and len(chosen) < MOST:
        best = max(waiting, key=gain)
        if not gain(best):
            break
        chosen.append((best, best.line(told)))
        told.update(statement.title for statement in best.statements)
        gone = {id(statement.occurrence) for statement in best.statements}
        waiting = [stretch for stretch in waiting if gone.isdisjoint(id(statement.occurrence) for statement in stretch.statements)]
    return chosen


def _statements(gaps: Sequence[Gap], beside: Callable[[Gap, FactOccurrence], bool]) -> dict[tuple[str, str], list[Statement]]:
    """The statements of code by file, in the order of their lines."""
    titles = Counter(_short(gap) for gap in gaps)
    by_file: dict[tuple[str, str], list[Statement]] = defaultdict(list)
    for gap in gaps:
        title = _short(gap) if titles[_short(gap)] == 1 else inline(gap.detail.title, _TITLE)
        for nth, suggestion in enumerate(gap.suggestions):
            held = [occurrence for occurrence in suggestion.held if occurrence.fact.line and occurrence.evidence.work.kind == "code"]
            for at, occurrence in enumerate(occurrence for occurrence in held if not beside(gap, occurrence)):
                first = occurrence.fact.line
                last = min(max(first, occurrence.fact.end_line), first + _WIDE)
                statement = Statement(title, occurrence, gap.detail.weight**2 * _NEXT ** (nth + at), first, last)
                by_file[occurrence.fact.work, occurrence.evidence.chunk.path].append(statement)
    return {file: sorted(some, key=lambda statement: (statement.first, statement.last)) for file, some in by_file.items()}


def _all(by_file: dict[tuple[str, str], list[Statement]]) -> list[Stretch]:
    """From each statement on, those that a stretch has room for, each decision once."""
    return [_from(start, some[at + 1 :]) for some in by_file.values() for at, start in enumerate(some)]


def _from(start: Statement, rest: Sequence[Statement]) -> Stretch:
    best: dict[str, Statement] = {}
    for other in (statement for statement in rest if statement.last <= start.first + _WIDE and statement.title != start.title):
        if other.title not in best or best[other.title].worth < other.worth:
            best[other.title] = other
    return Stretch((start, *sorted(best.values(), key=lambda statement: statement.first)))


def _short(gap: Gap) -> str:
    return inline(gap.detail.title.partition(":")[0], _TITLE)


def _telling(occurrence: FactOccurrence) -> str:
    """The statement from shortly before the name by which it was recognized, if one line has room for all of it."""
    value, written = occurrence.fact.value, occurrence.fact.written
    at = value.find(written)
    start = at if at > _BEFORE else 0
    return value[start:] if at >= 0 and len(value) <= start + _CODE else ""
