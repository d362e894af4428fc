"""Export a lineage's graph: JSON, GraphML, DOT, SVG and one HTML page.

It exists so that a lineage can be looked at anywhere and taken into other tools. Nothing here draws with a foreign
program: DOT is text for those who have Graphviz, and the page is one file that asks nothing of a network.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import networkx as nx

from lineage import registry
from lineage.errors import UsageError
from lineage.graph.build import layout, lines
from lineage.graph.layout import Layout
from lineage.graph.legend import ROLES, colour, label, radius
from lineage.graph.svg import page, still

SCHEMA = "1"


def export(graph: nx.DiGraph, form: str) -> str:
    """The graph as text by the renderer of that name; the same graph gives the same text. Raises `UsageError` for an unknown one."""
    if form not in (known := registry.names("renderers")):
        raise UsageError(f"a graph cannot be written as {form!r}", hint=f"known forms: {', '.join(known)}")
    text: str = registry.load("renderers", form)(graph, layout(graph))
    return text


def document(graph: nx.DiGraph, placed: Layout | None = None) -> dict[str, Any]:
    """The graph as JSON values: `target`, `nodes` (heaviest first, with x and y in pixels), `edges`, `columns` (years).

    Values that are not known are null (`year`, `licence`, `commit`).
    """
    placed = placed or layout(graph)
    return {
        "schema_version": SCHEMA,
        "target": graph.graph.get("target", ""),
        "nodes": [_node(graph, node, placed) for node in by_weight(graph)],
        "edges": [_edge(citing, cited, edge) for citing, cited, edge in graph.edges(data=True)],
        "columns": [{"year": c.year, "name": c.name, "left": c.left, "right": c.right, "skipped": c.skipped} for c in placed.columns],
        "box": [placed.left, placed.top, placed.right, placed.bottom],
    }


def by_weight(graph: nx.DiGraph) -> list[str]:
    """Nodes with the target first, then papers and code by falling score."""
    nodes = graph.nodes
    return sorted(graph, key=lambda n: (not nodes[n]["target"], -nodes[n]["score"], nodes[n]["kind"] == "code", n))


def _node(graph: nx.DiGraph, node: str, placed: Layout) -> dict[str, Any]:
    attributes = graph.nodes[node]
    x, y = placed.positions[node]
    return {
        "id": node,
        **{name: attributes[name] for name in ("kind", "title", "venue", "score", "role", "url", "target", "distance")},
        "authors": attributes["authors"].split("; ") if attributes["authors"] else [],
        "roles": _split(attributes["roles"]),
        "year": attributes.get("year"),
        "licence": attributes["licence"] or None,
        "commit": attributes.get("commit"),
        "archived": attributes.get("archived", False),
        "label": label(attributes),
        "radius": radius(attributes),
        "x": x,
        "y": y,
    }


def _edge(citing: str, cited: str, edge: Mapping[str, Any]) -> dict[str, Any]:
    ends = {"source": citing, "target": cited, "kind": edge["kind"]}
    if edge["kind"] == "code":
        return {**ends, "tier": edge["tier"], "said_by": _split(edge["said_by"]), "evidence": lines(edge["evidence"])}
    evidence_rows = zip(lines(edge["evidence_roles"]), lines(edge["evidence"]), lines(edge["sections"]), strict=True)
    return {
        **ends,
        "role": edge["role"],
        "roles": _split(edge["roles"]),
        "score": edge["score"],
        "why": lines(edge["why"]),
        "evidence": [{"role": _given(role), "sentence": sentence, "section": _given(section)} for role, sentence, section in evidence_rows],
        "mentions": edge["mentions"],
        "key": edge["key"],
        "known_by": _split(edge["known_by"]),
        "merged": lines(edge["merged"]),
        "influential": edge["influential"],
    }


def _split(names: str) -> list[str]:
    return names.split(", ") if names else []


def _given(text: str) -> str | None:
    return None if text == "-" else text


def as_json(graph: nx.DiGraph, placed: Layout) -> str:
    """The values of `document`, as JSON."""
    return json.dumps(document(graph, placed), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def graphml(graph: nx.DiGraph, placed: Layout) -> str:
    """GraphML 1.0 with declared types; `label`, `x`, `y` and `size` are what Gephi looks for."""
    drawn = graph.copy()
    for node, attributes in drawn.nodes(data=True):
        x, y = placed.positions[node]
        # Gephi's y points upwards.
        attributes.update(label=label(attributes), x=float(x), y=-float(y), size=float(2 * radius(attributes)))
    for _, _, edge in drawn.edges(data=True):
        edge["weight"] = max(0.01, float(edge.get("score", 1.0)))
    return "\n".join(nx.generate_graphml(drawn, named_key_ids=False)) + "\n"


_DOT_HEAD = (
    "digraph lineage {",
    "  rankdir=RL;",
    '  node [style="filled", fontname="Helvetica", fontsize=11];',
    '  edge [color="#9aa1ab", arrowsize=0.6];',
)


def dot(graph: nx.DiGraph, placed: Layout) -> str:
    """DOT with positions (`neato -n` keeps them, `dot` makes its own). Every name and text is a quoted string."""
    nodes = [f"  {_quoted(node)} [{_attributes(_dot_node(graph.nodes[node], placed.positions[node]))}];" for node in graph]
    edges = [f"  {_quoted(a)} -> {_quoted(b)} [{_attributes(_dot_edge(edge))}];" for a, b, edge in graph.edges(data=True)]
    return "\n".join([*_DOT_HEAD, *nodes, *edges, "}", ""])


def _dot_node(attributes: Mapping[str, Any], place: tuple[float, float]) -> dict[str, str]:
    year = f" ({attributes['year']})" if "year" in attributes else ""
    return {
        "label": f"{label(attributes)}{year}",
        "tooltip": attributes["title"],
        "shape": "box" if attributes["kind"] == "code" else "doublecircle" if attributes["target"] else "ellipse",
        "fillcolor": colour(attributes),
        "fontcolor": "#ffffff" if attributes["target"] or attributes["kind"] == "code" else "#000000",
        "URL": attributes["url"],
        "pos": f"{place[0]:.1f},{-place[1]:.1f}",
    }


def _dot_edge(edge: Mapping[str, Any]) -> dict[str, str]:
    if edge["kind"] == "code":
        return {"style": "dotted", "arrowhead": "none", "tooltip": f"{edge['tier']} code"}
    return {"penwidth": f"{0.5 + 3 * math.sqrt(edge['score']):.2f}", "tooltip": ", ".join(ROLES[r] for r in _split(edge["roles"])) or ROLES[""]}


def _attributes(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={_quoted(value)}" for name, value in values.items() if value)


def _quoted(text: str) -> str:
    # A backslash would start an escape (\N is the node's name), a quote would end the string.
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


def svg(graph: nx.DiGraph, placed: Layout) -> str:
    """A still picture."""
    return still(graph, placed)


def html(graph: nx.DiGraph, placed: Layout) -> str:
    """One page that asks nothing of a network."""
    return page(document(graph, placed))
