"""Results as notebooks show them: hits, gaps and the graph as HTML without script. Text of third parties is escaped, addresses are checked.

`api.local` and `api.client` import it, which registers the renderers with `api.wire.markup`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from api.wire.hits import AnswerView, HitView
from api.wire.insight import GapsView
from api.wire.markup import LEFT, LONGEST, Cell, Heading, Span, Table, html, renderers
from api.wire.report import HEADS, cited, conflict_blocks, decision_row
from api.wire.stored import GraphView
from lineage.graph.legend import COLOURS
from lineage.graph.svg import curve

_MOST_ROWS = 40
_MOST_LINES = 8


def hits(answer: AnswerView) -> str:
    """A row for each hit: rank, citation and license, the lines that answer, the reason why the source counts."""
    heading = answer.query if answer.supported else f"{answer.query} (nothing in the lineage answers this; the nearest)"
    rows = ((str(hit.rank), cited(hit), (Span(_focus(hit), "lines"),), hit.lineage.why) for hit in answer.hits)
    return _table(heading, ("", "citation", "lines", "why"), rows)


def gaps(report: GapsView) -> str:
    """The contradictions, then each detail with its state and the best value offered."""
    title = report.target.title or report.target.id
    return html([Heading(3, title), *conflict_blocks(report.conflicts)], LEFT) + _table("Details", HEADS, map(decision_row, report.gaps))


def graph(view: GraphView) -> str:
    """The graph as SVG: x is the year, size the weight, color the role; a mark's title names the work."""
    left, top, right, bottom = view.box
    at = {node["id"]: (float(node["x"]), float(node["y"])) for node in view.nodes}
    size = f'viewBox="{left - 20:.0f} {top - 30:.0f} {right - left + 40:.0f} {bottom - top + 50:.0f}" width="100%"'
    columns = (_label((c["left"] + c["right"]) / 2, top - 10, c["name"], "middle") for c in view.columns)
    edges = (_edge(edge, *at[edge["target"]], *at[edge["source"]]) for edge in view.edges if edge["source"] in at and edge["target"] in at)
    style = 'style="background:#fff;max-width:1100px" font-family="sans-serif" font-size="11"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {style}>{"".join((*columns, *edges, *map(_mark, view.nodes)))}</svg>'


def _focus(hit: HitView) -> str:
    """The lines that answer, at most eight."""
    first = hit.focus.start_line - hit.source.start_line
    lines = hit.text.splitlines()[max(first, 0) : hit.focus.end_line - hit.source.start_line + 1]
    return "\n".join(line[:LONGEST] for line in lines[:_MOST_LINES])


def _edge(edge: Mapping[str, Any], x0: float, y0: float, x1: float, y1: float) -> str:
    color = COLOURS.get("code" if edge["kind"] == "code" else edge.get("role") or "", COLOURS[""])
    return f'<path d="{curve(x0, y0, x1, y1)}" fill="none" stroke="{color}" stroke-opacity="0.5"/>'


def _mark(node: Mapping[str, Any]) -> str:
    x, y, radius = float(node["x"]), float(node["y"]), float(node["radius"])
    color = COLOURS.get("target" if node["target"] else "code" if node["kind"] == "code" else node["role"] or "", COLOURS[""])
    name = f"<title>{_cell(node['title'])} ({escape(str(node.get('year') or 'year unknown'))})</title>"
    return f'<g>{name}<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{color}"/></g>' + _label(x - radius - 4, y + 4, node["label"], "end")


def _label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_cell(text)}</text>'


def _cell(text: object) -> str:
    return escape(str(text)[:LONGEST])


def _table(heading: str, names: tuple[str, ...], rows: Iterable[tuple[Cell, ...]]) -> str:
    """A table; of many rows the first forty."""
    every = tuple(rows)
    more = f" (the first {_MOST_ROWS} of {len(every)})" if len(every) > _MOST_ROWS else ""
    return html([Table(names, every[:_MOST_ROWS], heading + more)], LEFT)


renderers.update({AnswerView: hits, GapsView: gaps, GraphView: graph})
