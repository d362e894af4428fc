"""Place the nodes of a lineage: x is the year, y groups similar works, no label covers another.

Labels stand to the left of their marks, lines leave to the right, a repository stands under its paper. Each year is a
column of one or more lanes; a lane moves as near to the older ones as the labels at the same height allow. Heights
start from the role: what is built upon, and what weighs much without a role, in the middle, at the height of the
target; background at the edges, in the order of mention, because neighbours in the text are neighbours in topic. They
are pulled towards neighbours in the graph and then made free of overlap: the least squares fit under separation (pool
adjacent violators; Barlow et al., "Statistical Inference under Order Restrictions", 1972). Of several heights for the
whole, the one that a screen shows largest is taken. Works without a year stand in a column of their own behind the last
year and a gap, because a place on the axis would claim a year. No randomness.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

import networkx as nx

from lineage.graph.legend import label, label_width, radius

ROW = 25.0
LEVELS = ("baseline", "method", "base", "setup", "data", "metric")
UNKNOWN = "year unknown"
_SCREEN = (900.0, 660.0)
_ENOUGH = 1.2
_ASPECT = 1.5
_TRIALS = 14
_HEAVY = 0.5
_SWEEPS = 4
_PULL = 0.6
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


@dataclass
class _Block:
    """A paper with its repositories under it, moved as one."""

    members: list[str]
    heights: list[float]
    lefts: list[float]
    rights: list[float]
    year: int | None
    wish: float = 0.0
    y: float = 0.0

    @property
    def height(self) -> float:
        return sum(self.heights)


def place(graph: nx.DiGraph) -> Layout:
    """Positions of all nodes; works without a year stand in a column of their own, behind a gap at the right."""
    blocks = _blocks(graph)
    target = next((b for b in blocks if graph.nodes[b.members[0]]["target"]), None)
    years = _by_year(blocks, target)
    levels = _levels(graph, blocks)
    return max((_arrange(graph, years, levels, target, height) for height in _heights(years)), key=_shown)


def _shown(layout: Layout) -> tuple[float, float]:
    """How large a screen shows it; where that is large enough, how well it fills it."""
    width, height = layout.right - layout.left, layout.bottom - layout.top
    return round(min(_ENOUGH, _SCREEN[0] / width, _SCREEN[1] / height), 2), -abs(log(width / height / _ASPECT))


def _heights(years: Mapping[int | None, Sequence[_Block]]) -> list[float]:
    """Heights to try, from what the highest block needs to where every year is one lane."""
    least = max([8 * ROW, *(b.height for blocks in years.values() for b in blocks)])
    most = max([16 * ROW, *(sum(b.height for b in blocks) for blocks in years.values())])
    return [least * (most / least) ** (i / (_TRIALS - 1)) for i in range(_TRIALS)]


def _arrange(
    graph: nx.DiGraph, years: Mapping[int | None, Sequence[_Block]], levels: Sequence[Sequence[_Block]], target: _Block | None, height: float
) -> Layout:
    blocks = [block for level in levels for block in level]
    _wish(levels, height)
    lanes = _lanes(years, height, target)
    owner = {member: block for block in blocks for member in block.members}
    for sweep in range(_SWEEPS):
        for lane in lanes:
            _separate(lane, height)
        if sweep < _SWEEPS - 1:
            _pull(graph, blocks, owner, target)
    return _layout(lanes)


def _blocks(graph: nx.DiGraph) -> list[_Block]:
    homes = _homes(graph)
    under: dict[str, list[str]] = defaultdict(list)
    for repository, paper in homes.items():
        under[paper].append(repository)
    return [_block(graph, [node, *under[node]]) for node in graph if node not in homes]


def _homes(graph: nx.DiGraph) -> dict[str, str]:
    """Repository -> the paper that it stands under: the heaviest that links to it."""
    homes = {}
    for node, attributes in graph.nodes(data=True):
        papers = [p for p, _, kind in graph.in_edges(node, data="kind") if kind == "code" and graph.nodes[p]["kind"] == "paper"]
        if attributes["kind"] == "code" and papers and not attributes["target"]:
            homes[node] = min(papers, key=lambda p: (not graph.nodes[p]["target"], -graph.nodes[p]["score"], p))
    return homes


def _block(graph: nx.DiGraph, members: list[str]) -> _Block:
    nodes = [graph.nodes[m] for m in members]
    heights = [max(ROW, 2 * radius(n) + 8) if i == 0 else ROW - 5 for i, n in enumerate(nodes)]
    lefts = [label_width(label(n)) + radius(n) + 6 for n in nodes]
    rights = [radius(n) + _GAP for n in nodes]
    if nodes[0]["target"]:
        # Its label stands above, where the lines that end in it do not run.
        heights[0], lefts[0] = heights[0] + 2 * ROW, max(lefts[0] - 3 * radius(nodes[0]), 3 * _STEP)
    return _Block(members, heights, lefts, rights, nodes[0].get("year"))


def _by_year(blocks: Sequence[_Block], target: _Block | None) -> dict[int | None, list[_Block]]:
    years: dict[int | None, list[_Block]] = defaultdict(list)
    for block in blocks:
        if block is not target:
            years[block.year].append(block)
    if target:
        years[target.year].append(target)
    return dict(sorted(years.items(), key=lambda item: (item[0] is None, item[0] or 0)))


def _splits(blocks: Sequence[_Block], height: float) -> int:
    return max(1, -int(-sum(b.height for b in blocks) // height))


def _wish(ordered: Sequence[Sequence[_Block]], height: float) -> None:
    """Heights by role, over about `height` in all, what is built upon around 0."""
    total = sum(b.height for level in ordered for b in level) or 1.0
    middle = 1 + LEVELS.index("base")
    start = -sum(b.height for level in ordered[:middle] for b in level) - sum(b.height for b in ordered[middle]) / 2
    for level in ordered:
        for block in level:
            block.wish = block.y = (start + block.height / 2) / total * height
            start += block.height


def _levels(graph: nx.DiGraph, blocks: Sequence[_Block]) -> list[list[_Block]]:
    """Blocks from top to bottom by level; outside the background the heaviest stand nearest to the middle."""
    blocks_by_key: dict[str, list[_Block]] = {level: [] for level in LEVELS}
    remaining_blocks: list[_Block] = []
    for block in blocks:
        node = graph.nodes[block.members[0]]
        central = node["target"] or (node["score"] >= _HEAVY and node["role"] not in blocks_by_key)
        blocks_by_key.get("base" if central else str(node["role"]), remaining_blocks).append(block)
    remaining_blocks.sort(key=lambda b: (graph.nodes[b.members[0]]["order"], b.members[0]))
    inner = [blocks_by_key[level] for level in LEVELS]
    for i, level in enumerate(inner):
        level.sort(key=lambda b: (graph.nodes[b.members[0]]["score"], b.members[0]), reverse=i > LEVELS.index("base"))
    inner[LEVELS.index("base")] = _outward(inner[LEVELS.index("base")])
    above, below = _balanced(inner, remaining_blocks)
    return [above, *inner, below]


def _outward(level: list[_Block]) -> list[_Block]:
    """The heaviest in the middle (the input is lightest first)."""
    heavy = level[::-1]
    return heavy[1::2][::-1] + heavy[::2]


def _balanced(inner: Sequence[Sequence[_Block]], remaining_blocks: list[_Block]) -> tuple[list[_Block], list[_Block]]:
    """The background cut in two, so that what is built upon stays in the middle."""
    middle = LEVELS.index("base")
    upper, lower = (sum(b.height for level in part for b in level) for part in (inner[:middle], inner[middle + 1 :]))
    share = (sum(b.height for b in remaining_blocks) + lower - upper) / 2
    cut, used = 0, 0.0
    while cut < len(remaining_blocks) and used + remaining_blocks[cut].height / 2 < share:
        used += remaining_blocks[cut].height
        cut += 1
    return remaining_blocks[:cut], remaining_blocks[cut:]


@dataclass
class _Lane:
    """One of the side-by-side parts of a year's column."""

    year: int | None
    blocks: list[_Block]


def _lanes(years: Mapping[int | None, Sequence[_Block]], height: float, target: _Block | None) -> list[_Lane]:
    lanes: list[_Lane] = []
    for year, blocks in years.items():
        others = sorted((b for b in blocks if b is not target), key=lambda b: (b.wish, b.members[0]))
        lanes += _split(year, others, _splits(others, height)) if others else []
        if target and target.year == year:
            lanes.append(_Lane(year, [target]))
    return lanes


def _split(year: int | None, blocks: Sequence[_Block], count: int) -> list[_Lane]:
    """Blocks dealt out to the emptiest part, so that each keeps the order of heights."""
    parts: list[list[_Block]] = [[] for _ in range(count)]
    used = [0.0] * count
    for block in blocks:
        i = used.index(min(used))
        parts[i].append(block)
        used[i] += block.height
    return [_Lane(year, part) for part in parts if part]


def _separate(lane: _Lane, height: float) -> None:
    """Move the blocks of a lane as little as possible (in squares) until none overlap, inside the column where it is long enough."""
    offsets, total = [], 0.0
    for block in lane.blocks:
        offsets.append(total + block.height / 2)
        total += block.height
    fitted = _monotone([b.y - o for b, o in zip(lane.blocks, offsets, strict=True)])
    room = max(height, total)
    for block, offset, value in zip(lane.blocks, offsets, fitted, strict=True):
        block.y = min(max(value, -room / 2), room / 2 - total) + offset


def _monotone(values: Sequence[float]) -> list[float]:
    """The non-decreasing sequence nearest to `values` in least squares."""
    pools: list[tuple[float, int]] = []
    for value in values:
        mean, count = value, 1
        while pools and pools[-1][0] > mean:
            other, size = pools.pop()
            mean, count = (mean * count + other * size) / (count + size), count + size
        pools.append((mean, count))
    return [mean for mean, count in pools for _ in range(count)]


def _pull(graph: nx.DiGraph, blocks: Sequence[_Block], owner: Mapping[str, _Block], target: _Block | None) -> None:
    """Towards the mean of the neighbours; the target pulls nobody, since everybody is its neighbour."""
    means = []
    for block in blocks:
        around = {id(owner[n]): owner[n] for m in block.members for n in (*graph.predecessors(m), *graph.successors(m))}
        near = [b.y for b in around.values() if b is not target and b is not block]
        means.append(_PULL * sum(near) / len(near) + (1 - _PULL) * block.wish if near and block is not target else block.wish)
    for block, mean in zip(blocks, means, strict=True):
        block.y = mean


def _layout(lanes: Sequence[_Lane]) -> Layout:
    positions: dict[str, tuple[float, float]] = {}
    columns: list[Column] = []
    reached: dict[int, float] = {}
    x = edge = 0.0
    for i, lane in enumerate(lanes):
        earlier = columns[-1].year if columns else None
        skipped = earlier is not None and lane.year is not None and lane.year > earlier + 1
        rows = [row for block in lane.blocks for row in _rows(block)]
        if i and lane.year is None and earlier is not None:
            edge += _APART
            x = edge + max(label_width(UNKNOWN) + _EDGE, *(left for _, _, _, left, _ in rows)) - _STEP
        x = max([x + _STEP + (_GAP if skipped else 0), *(_clear(reached, y, h) + left for _, y, h, left, _ in rows)])
        for member, y, height, _, right in rows:
            positions[member] = (round(x, 2), round(y, 2))
            reached |= dict.fromkeys(_cells(y, height), x + right)
        if i and lane.year == lanes[i - 1].year:
            columns[-1] = Column(lane.year, columns[-1].left, x + _EDGE, columns[-1].skipped)
        else:
            columns.append(Column(lane.year, edge, x + _EDGE, skipped))
        edge = x + _EDGE
    half = max([ROW, *(abs(b.y) + b.height / 2 for lane in lanes for b in lane.blocks)]) + 8
    return Layout(positions, tuple(columns), 0.0, -half, edge, half)


def _rows(block: _Block) -> Iterator[tuple[str, float, float, float, float]]:
    """(member, y, height, reach to the left, reach to the right), the paper first and its repositories under it."""
    top = block.y - block.height / 2
    for member, height, left, right in zip(block.members, block.heights, block.lefts, block.rights, strict=True):
        yield member, top + height / 2, height, left, right
        top += height


def _cells(y: float, height: float) -> range:
    return range(int((y - height / 2) // _CELL), int((y + height / 2) // _CELL) + 1)


def _clear(reached: Mapping[int, float], y: float, height: float) -> float:
    """The x from which a stretch of height is free of what stands to the left."""
    return max(reached.get(cell, 0.0) for cell in _cells(y, height))
