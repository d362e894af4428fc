"""Open decisions as lines of a pack (pure): one each, with the places of the lineage's code that settle it, nearest work first.

A line names the decision, then cites place by place what settles it, with what stands at the first; at which commit a work is, and what it is
to the target, is told once. A place costs what it adds, and those are taken first that add most for it.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from lineage.citation import name, owner
from lineage.records import Hit, WorkId
from lineage.results import FactOccurrence, Gap
from retrieval.context.markdown import code, inline, inline_path, kinship
from retrieval.context.token_budget import Tokens

HEAD = "Open, settled by code of the lineage, most important first, nearest work first; `lineage read CITATION` shows the code. Works:"
_OFFER, _PLACE, _AGAIN = 0.6, 0.85, 0.8
"""What the next offer of a decision, the next place of an offer, and each further place that is told are worth of what is before them."""
_TITLE, _STATEMENT, _VALUE = 48, 40, 12
"""Letters of a title, of what stands at the first place, and of the values of others."""
_WIDE = 30
"""Lines of one place."""


@dataclass(frozen=True)
class OpenPlace:
    """A place that settles the decision of a row, the `nth` that is known: its citation, and what it says."""

    row: int
    nth: int
    title: str
    hit: Hit
    cited: str
    said: str
    worth: float


@dataclass
class _Row:
    """The places of a decision that were not taken yet, and what was told of it."""

    left: list[OpenPlace]
    told: list[OpenPlace] = field(default_factory=list)

    def parts(self, place: OpenPlace) -> Iterator[str]:
        """What a place would add to the line."""
        yield f", {place.cited}" if self.told else f"\n- {place.title}: {place.cited}"
        if place.said:
            yield f" {place.said}"


def chosen(gaps: Sequence[Gap], beside: Callable[[Gap, FactOccurrence], bool], tokens: Tokens) -> Iterator[tuple[OpenPlace, int]]:
    """The places with what each costs after those before it, the most for their cost first; `beside` says what stands elsewhere already."""
    count = cache(tokens.count)
    rows = [_Row(places) for places in _places(gaps, beside) if places]
    works: set[WorkId] = set()

    def cost(row: _Row, place: OpenPlace) -> int:
        head = () if place.hit.work.id in works else (f", {_whose(place)}", "" if works else HEAD)
        return sum(map(count, filter(None, (*row.parts(place), *head))))

    def best(row: _Row) -> tuple[float, OpenPlace]:
        left = _AGAIN ** len(row.told)
        return max(((left * place.worth / cost(row, place), place) for place in row.left), key=lambda scored: scored[0])

    queue = [(-best(row)[0], number) for number, row in enumerate(rows)]
    heapq.heapify(queue)
    while queue:
        row = rows[number := heapq.heappop(queue)[1]]
        place = best(row)[1]
        yield place, cost(row, place)
        row.left.remove(place)
        row.told.append(place)
        works.add(place.hit.work.id)
        if row.left:
            heapq.heappush(queue, (-best(row)[0], number))


def _places(gaps: Sequence[Gap], beside: Callable[[Gap, FactOccurrence], bool]) -> Iterator[list[OpenPlace]]:
    """The places of each decision, those of the first offer first, each line once."""
    held = [[[one for one in offer.held if one.fact.line and one.evidence.work.kind == "code"] for offer in gap.suggestions] for gap in gaps]
    titles = Counter(map(_title, gaps))
    for number, gap in enumerate(gaps):
        title = _title(gap) if titles[_title(gap)] == 1 else inline(gap.detail.title, _TITLE)
        places: dict[str, OpenPlace] = {}
        for nth, some in enumerate(held[number]):
            for at, one in enumerate(one for one in some if not beside(gap, one)):
                said = "" if at else _said(one, _VALUE if places else _STATEMENT)
                worth = gap.detail.weight**2 * _OFFER**nth * _PLACE**at
                places.setdefault(cited := _cited(one), OpenPlace(number, len(places), title, one.evidence, cited, said, worth))
        yield list(places.values())


def _title(gap: Gap) -> str:
    return inline(gap.detail.title.partition(":")[0], _TITLE)


def _cited(occurrence: FactOccurrence) -> str:
    first, hit = occurrence.fact.line, occurrence.evidence
    last = min(max(first, occurrence.fact.end_line), first + _WIDE)
    return inline_path(f"{name(hit.work)}/{hit.chunk.path}#L{first}" + (f"-L{last}" if last > first else ""))


def _said(occurrence: FactOccurrence, longest: int) -> str:
    """The value that stands there, or as much of the statement as tells what it is; of others no statement."""
    text = occurrence.fact.value
    if len(text) > longest:
        text = text[: longest - 1] + "…" if longest > _VALUE else ""
    return code(text) if text else ""


def _whose(place: OpenPlace) -> str:
    """A repository with its commit, and what it is to the target."""
    return f"{owner(place.hit.work)} ({kinship(place.hit) or 'added by hand'})"


def text(places: Iterable[OpenPlace]) -> str:
    """The lines of the places, decisions in their order, under a line that names the works."""
    rows: dict[int, list[OpenPlace]] = {}
    works: dict[str, None] = {}
    for place in sorted(places, key=lambda place: (place.row, place.nth)):
        rows.setdefault(place.row, []).append(place)
        works.setdefault(_whose(place))
    return "\n".join((f"{HEAD} {', '.join(works)}.", *map(_line, rows.values()))) if rows else ""


def _line(places: Sequence[OpenPlace]) -> str:
    """One decision: its places, and what stands at the first of each offer."""
    return f"- {places[0].title}: " + ", ".join(" ".join(filter(None, (place.cited, place.said))) for place in places)
