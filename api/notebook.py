"""Results as notebooks show them: hits, gaps and the graph as HTML without script. Text of third parties is escaped, addresses are checked.

`api.local` and `api.client` import it, which registers the renderers with `api.wire.markup`.
"""

from __future__ import annotations

from collections.abc import Iterable

from api.wire.hits import AnswerView, HitView
from api.wire.insight import GapsView
from api.wire.markup import LEFT, LONGEST, Cell, Heading, Table, Text, html, renderers
from api.wire.report import HEADS, cited, conflict_blocks, decision_row
from api.wire.stored import GraphView

_MOST_ROWS = 40
_MOST_LINES = 8


def hits(answer: AnswerView) -> str:
    """A row for each hit: rank, citation and license, the lines that answer, the reason why the source counts."""
    heading = answer.query if answer.supported else f"{answer.query} (nothing in the lineage answers this; the nearest)"
    rows = ((str(hit.rank), cited(hit), (Text(_focus(hit), "lines"),), hit.lineage.why) for hit in answer.hits)
    return _table(heading, ("", "citation", "lines", "why"), rows)


def gaps(report: GapsView) -> str:
    """The contradictions, then each detail with its state and the best value offered."""
    title = report.target.title or report.target.id
    return html([Heading(3, title), *conflict_blocks(report.conflicts)], LEFT) + _table("Details", HEADS, map(decision_row, report.gaps))


def graph(view: GraphView) -> str:
    """The graph as SVG, the picture that `lineage graph --format svg` draws."""
    import networkx as nx

    from lineage.graph.exports import svg
    from lineage.graph.layout import Column, Layout

    drawn = nx.DiGraph()
    for node in view.nodes:
        texts = {"roles": ", ".join(node["roles"]), "authors": "; ".join(node["authors"])}
        drawn.add_node(node["id"], **{name: value for name, value in {**node, **texts}.items() if value is not None})
    drawn.add_edges_from((edge["source"], edge["target"], edge) for edge in view.edges)
    columns = tuple(Column(column["year"], column["left"], column["right"], column["skipped"]) for column in view.columns)
    placed = Layout({node["id"]: (node["x"], node["y"]) for node in view.nodes}, columns, *view.box)
    return svg(drawn, placed)


def _focus(hit: HitView) -> str:
    """The lines that answer, at most eight."""
    first = hit.focus.start_line - hit.source.start_line
    lines = hit.text.splitlines()[max(first, 0) : hit.focus.end_line - hit.source.start_line + 1]
    return "\n".join(line[:LONGEST] for line in lines[:_MOST_LINES])


def _table(heading: str, names: tuple[str, ...], rows: Iterable[tuple[Cell, ...]]) -> str:
    """A table; of many rows the first forty."""
    every = tuple(rows)
    more = f" (the first {_MOST_ROWS} of {len(every)})" if len(every) > _MOST_ROWS else ""
    return html([Table(names, every[:_MOST_ROWS], heading + more)], LEFT)


renderers.update({AnswerView: hits, GapsView: gaps, GraphView: graph})
