"""Place the nodes of a lineage: x is the year, y the role, no label covers another.

Labels stand to the left of their marks, lines leave to the right, a repository stands under its paper. Each year is a column of
one or more lanes; a lane moves as near to the older ones as the labels at the same height allow. Heights follow the role: what is
built upon, and what weighs much without a role, in the middle, at the height of the target; the other roles above and below it, the
heaviest nearest, and background at the edges. Of several heights for the whole, the one that a screen shows largest is taken. Works
without a year stand in a column of their own behind the last year and a gap, because a place on the axis would claim a year. No
randomness.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import log

import networkx as nx

from lineage.graph.legend import label, label_width, radius

ROW = 25.0
ABOVE, BELOW = ("method", "baseline"), ("setup", "data", "metric")
"""Roles above and below what is built upon, the nearest first."""
UNKNOWN = "year unknown"
_SCREEN = (900.0, 660.0)
_ENOUGH = 1.2
_ASPECT = 1.5
_TRIALS = 14
_HEAVY = 0.5
_GAP = 12.0
_APART = 30.0
_STEP = 46.0
_EDGE = 20.0
_CELL = 5.0


@dataclass(frozen=True)
class Column:
    """A year (None: not known) and the stretch of x that it takes; `skipped` says that years are left out before it."""

    year: int | None
    left: float
    right: float
    skipped: bool = False

    @property
    def name(self) -> str:
        """What stands on the axis."""
        return UNKNOWN if self.year is None else str(self.year)


@dataclass(frozen=True)
class Layout:
    """Positions in pixels at scale 1 (y downwards), the columns left to right, and the box that holds all, labels included."""

    positions: Mapping[str, tuple[float, float]]
    columns: tuple[Column, ...]
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True)
class _Block:
    """A paper with its repositories under it: the height of each, how far labels and marks reach to both sides, and where in a lane it belongs."""

    members: tuple[str, ...]
    heights: tuple[float, ...]
    reach: float
    right: float
    role: str
    order: tuple[float, str]
    year: int | None
    target: bool

    @property
    def height(self) -> float:
        return sum(self.heights)


Lane = list[tuple[float, _Block]]
"""Blocks, each with its top."""


def place(graph: nx.DiGraph) -> Layout:
    """Positions of all nodes; works without a year stand in a column of their own, behind a gap at the right."""
    ordered, middle = _ordered(_blocks(graph))
    years: dict[int | None, list[_Block]] = defaultdict(list)
    for block in ordered:
        years[block.year].append(block)
    years = dict(sorted(years.items(), key=lambda item: (item[0] is None, item[0] or 0)))
    total = sum(block.height for block in ordered)
    least = max([8 * ROW, *(block.height for block in ordered)])
    heights = (least * (max(16 * ROW, total) / least) ** (i / (_TRIALS - 1)) for i in range(_TRIALS))
    return max((_layout(_lanes(years, ordered, middle, height)) for height in heights), key=_shown)


def _shown(layout: Layout) -> tuple[float, float]:
    """How large a screen shows it; where that is large enough, how well it fills it."""
    width, height = layout.right - layout.left, layout.bottom - layout.top
    return round(min(_ENOUGH, _SCREEN[0] / width, _SCREEN[1] / height), 2), -abs(log(width / height / _ASPECT))


def _blocks(graph: nx.DiGraph) -> list[_Block]:
    """The blocks, the heaviest first."""
    homes = _homes(graph)
    under: dict[str, list[str]] = defaultdict(list)
    for repository, paper in homes.items():
        under[paper].append(repository)
    heaviest = sorted((node for node in graph if node not in homes), key=lambda node: (-graph.nodes[node]["score"], node))
    return [_block(graph, (node, *under[node])) for node in heaviest]


def _homes(graph: nx.DiGraph) -> dict[str, str]:
    """Repository -> the paper that it stands under: the heaviest that links to it."""
    homes = {}
    for node, attributes in graph.nodes(data=True):
        papers = [p for p, _, kind in graph.in_edges(node, data="kind") if kind == "code" and graph.nodes[p]["kind"] == "paper"]
        if attributes["kind"] == "code" and papers and not attributes["target"]:
            homes[node] = min(papers, key=lambda p: (not graph.nodes[p]["target"], -graph.nodes[p]["score"], p))
    return homes


def _block(graph: nx.DiGraph, members: tuple[str, ...]) -> _Block:
    nodes = [graph.nodes[member] for member in members]
    heights = [max(ROW, 2 * radius(node) + 8) if i == 0 else ROW - 5 for i, node in enumerate(nodes)]
    reach = max(label_width(label(node)) + radius(node) + 6 for node in nodes)
    role = str(nodes[0]["role"])
    if nodes[0]["target"]:
        # Its label stands above, where the lines that end in it do not run.
        heights[0], reach, role = heights[0] + 2 * ROW, max(reach - 3 * radius(nodes[0]), 3 * _STEP), "base"
    elif role not in {"base", *ABOVE, *BELOW}:
        role = "base" if nodes[0]["score"] >= _HEAVY else ""
    return _Block(
        members,
        tuple(heights),
        reach,
        max(map(radius, nodes)) + _GAP,
        role,
        (nodes[0]["order"], members[0]),
        nodes[0].get("year"),
        nodes[0]["target"],
    )


def _ordered(blocks: Sequence[_Block]) -> tuple[list[_Block], float]:
    """Blocks from top to bottom, the heaviest of each role nearest to what is built upon; and the height at which that stands."""
    of = {role: [block for block in blocks if block.role == role] for role in ("", "base", *ABOVE, *BELOW)}
    background = sorted(of[""], key=lambda block: block.order)
    above = [*background[::2], *(block for role in reversed(ABOVE) for block in reversed(of[role]))]
    central = [*of["base"][1::2][::-1], *of["base"][::2]]
    below = [*(block for role in BELOW for block in of[role]), *background[1::2]]
    middle = sum(block.height for block in above) + sum(block.height for block in central) / 2
    return [*above, *central, *below], middle


def _lanes(years: Mapping[int | None, Sequence[_Block]], ordered: Sequence[_Block], middle: float, height: float) -> list[tuple[int | None, Lane]]:
    """The blocks of each year dealt out to as few lanes of about a height as hold them, the target alone in its last."""
    ends = list(accumulate(block.height for block in ordered))
    wished = {block.members[0]: (end - block.height - middle) / ends[-1] * height for block, end in zip(ordered, ends, strict=True)}
    lanes: list[tuple[int | None, Lane]] = []
    for year, blocks in years.items():
        others = [block for block in blocks if not block.target]
        parts: list[list[_Block]] = [[] for _ in range(-int(-sum(block.height for block in others) // height))]
        for block in others:
            min(parts, key=lambda part: sum(b.height for b in part)).append(block)
        lanes += [(year, _stacked(part, wished)) for part in (*parts, [block for block in blocks if block.target]) if part]
    return lanes


def _stacked(blocks: Sequence[_Block], wished: Mapping[str, float]) -> Lane:
    """Blocks where they would stand, pushed down where they would overlap, and all moved back by what that is on average."""
    lane: Lane = []
    bottom = pushed = 0.0
    for block in blocks:
        wish = -block.height / 2 if block.target else wished[block.members[0]]
        top = max(wish, bottom) if lane else wish
        pushed, bottom = pushed + top - wish, top + block.height
        lane.append((top, block))
    return [(top - pushed / len(lane), block) for top, block in lane]


def _layout(lanes: Sequence[tuple[int | None, Lane]]) -> Layout:
    positions: dict[str, tuple[float, float]] = {}
    columns: list[Column] = []
    reached: dict[int, float] = defaultdict(float)
    edge = 0.0
    for year, lane in lanes:
        last = columns[-1] if columns else None
        begins = last is not None and year != last.year
        skipped = begins and year is not None and year > (columns[-1].year or year) + 1
        left = edge + (_APART if begins and year is None else 0.0)
        least = label_width(UNKNOWN) + _EDGE - _STEP if year is None else _STEP + _GAP * skipped
        x = max([left + least, *(reached[cell] + block.reach for top, block in lane for cell in _cells(top, block.height))])
        edge = x + _EDGE
        for top, block in lane:
            reached |= dict.fromkeys(_cells(top, block.height), x + block.right)
            for member, height in zip(block.members, block.heights, strict=True):
                positions[member] = (round(x, 2), round(top + height / 2, 2))
                top += height
        if last and not begins:
            columns[-1] = Column(year, last.left, edge, last.skipped)
        else:
            columns.append(Column(year, left, edge, skipped))
    half = max([ROW, *(max(-top, top + block.height) for _, lane in lanes for top, block in lane)]) + 8
    return Layout(positions, tuple(columns), 0.0, -half, edge, half)


def _cells(top: float, height: float) -> range:
    """The stretches of height that a block takes: labels may stand beside what is lower or higher in the lane before."""
    return range(int(top // _CELL), int((top + height) // _CELL) + 1)
