"""Export a lineage's graph: JSON, GraphML, DOT, SVG and one HTML page.

It exists so that a lineage can be looked at anywhere and taken into other tools. Nothing here draws with a foreign
program: DOT is text for those who have Graphviz, and the page is one file that asks nothing of a network.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import textwrap
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any
from urllib.parse import quote

import networkx as nx

from lineage import registry
from lineage.errors import UsageError
from lineage.graph.build import layout, lines
from lineage.graph.layout import Column, Layout
from lineage.graph.legend import COLORS, EXPLANATION, FONT, ROLES, color, label, label_width, radius

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
        "fillcolor": color(attributes),
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


def html(graph: nx.DiGraph, placed: Layout) -> str:
    """One page that asks nothing of a network."""
    return page(document(graph, placed))


# -- the picture, and the page around it


_MARGIN = 28.0
_HEAD = 92.0
_FOOT = 58.0
_LEAST = 760.0
_FONTS = f"""font-family="system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif" font-size="{FONT}\""""


def svg(graph: nx.DiGraph, placed: Layout) -> str:
    """A complete SVG document on a light ground; titles are `<title>` elements, so pointing at a mark names it."""
    content = placed.right - placed.left
    width, height = max(content, _LEAST) + 2 * _MARGIN, placed.bottom - placed.top + _HEAD + _FOOT
    title = next((str(n["title"]) for _, n in graph.nodes(data=True) if n["target"]), "")
    x, y = _MARGIN - placed.left + max(0.0, (_LEAST - content) / 2), _HEAD - placed.top
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" {_size(width, height)} role="img" {_FONTS}>',
        f"<title>{escape('Lineage of ' + title)}</title>",
        f"<desc>{escape(EXPLANATION)}</desc>",
        f'<rect {_size(width, height)} fill="#ffffff"/>',
        *_heading(title, width),
        f'<g transform="translate({x:.1f} {y:.1f})">',
        *_columns(placed),
        *_lines(graph, placed),
        *_marks(graph, placed),
        "</g>",
        *_legend(graph, width, height),
        "</svg>",
        "",
    ]
    return "\n".join(body)


def _heading(title: str, width: float) -> Iterator[str]:
    fit = max(30, int(width / 10))
    yield _text(_MARGIN, 30, textwrap.shorten(title, fit, placeholder=" …") or title[:fit], 'font-size="18" font-weight="600" fill="#1b1f24"')
    for i, line in enumerate(textwrap.wrap(EXPLANATION, max(60, int(width / 6.2)))[:2]):
        yield _text(_MARGIN, 50 + 16 * i, line, 'fill="#57606a"')


def _columns(placed: Layout) -> Iterator[str]:
    height = placed.bottom - placed.top
    for i, column in enumerate(placed.columns):
        ground = "#f4f6f8" if i % 2 == 0 else "#fbfcfd"
        pattern = ' stroke="#c9ced6" stroke-dasharray="3 4"' if column.year is None else ""
        yield f'<rect x="{column.left:.1f}" y="{placed.top:.1f}" {_size(column.right - column.left, height)} fill="{ground}"{pattern}/>'
        yield _text((column.left + column.right) / 2, placed.top - 7, column.name, 'text-anchor="middle" fill="#57606a"')
        if column.skipped and min(_room(column), _room(placed.columns[i - 1])) > 8:
            # Years are left out here.
            yield _text(column.left, placed.top - 7, "…", 'text-anchor="middle" fill="#8a929c"')


def _room(column: Column) -> float:
    """Pixels beside the name of a column."""
    return (column.right - column.left - label_width(column.name)) / 2


def _lines(graph: nx.DiGraph, placed: Layout) -> Iterator[str]:
    """Curves from the cited to the citing work, faint ones first."""
    edges = [(a, b, e) for a, b, e in graph.edges(data=True) if a != b]
    for citing, cited, edge in sorted(edges, key=lambda x: (x[2].get("score", 1.0), x[0], x[1])):
        (x1, y1), (x0, y0) = placed.positions[citing], placed.positions[cited]
        if edge["kind"] == "code":
            yield f'<path d="{curve(x0, y0, x1, y1)}" fill="none" stroke="{COLORS["code"]}" stroke-width="1.2" stroke-dasharray="2 3"/>'
        else:
            stroke, opacity, width = COLORS[edge["role"]], 0.18 + 0.6 * edge["score"], 0.7 + 3 * edge["score"]
            yield (
                f'<path d="{curve(x0, y0, x1, y1)}" fill="none" stroke="{stroke}" stroke-opacity="{opacity:.2f}" stroke-width="{width:.2f}"'
                ' stroke-linecap="round"/>'
            )


def curve(x0: float, y0: float, x1: float, y1: float) -> str:
    """A path that leaves and arrives level, so that lines run together like strands; straight down in one column."""
    if abs(x1 - x0) < 1:
        bend = min(40.0, abs(y1 - y0) / 3) if abs(y1 - y0) > 60 else 0.0
        return f"M{x0:.1f} {y0:.1f}C{x0 + bend:.1f} {y0:.1f} {x1 + bend:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
    half = (x1 - x0) / 2
    return f"M{x0:.1f} {y0:.1f}C{x0 + half:.1f} {y0:.1f} {x1 - half:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"


def _marks(graph: nx.DiGraph, placed: Layout) -> Iterator[str]:
    for node, attributes in graph.nodes(data=True):
        x, y = placed.positions[node]
        size, ink = radius(attributes), "#1b1f24" if attributes["score"] >= 0.3 else "#57606a"
        weight = ' font-weight="600"' if attributes["score"] >= 0.5 and attributes["kind"] == "paper" else ""
        yield f"<g><title>{escape(_spoken(attributes))}</title>{_shape(attributes, x, y, size)}"
        halo = 'paint-order="stroke" stroke="#ffffff" stroke-opacity="0.85" stroke-width="3" stroke-linejoin="round"'
        lx, ly = (x + size, y - size - 6) if attributes["target"] else (x - size - 5, y + 4)
        yield _text(lx, ly, label(attributes), f'text-anchor="end" fill="{ink}"{weight} {halo}') + "</g>"


def _shape(attributes: Mapping[str, Any], x: float, y: float, size: float) -> str:
    if attributes["kind"] == "code":
        return f'<rect x="{x - size:.1f}" y="{y - size:.1f}" {_size(2 * size, 2 * size)} rx="1.5" fill="{color(attributes)}" stroke="#ffffff"/>'
    ring = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size - 4:.1f}" fill="none" stroke="#ffffff" stroke-width="2"/>' if attributes["target"] else ""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}" fill="{color(attributes)}" stroke="#ffffff"/>{ring}'


def _spoken(attributes: Mapping[str, Any]) -> str:
    roles = "the target" if attributes["target"] else ", ".join(ROLES[r] for r in attributes["roles"].split(", ") if r) or attributes["kind"]
    return f"{attributes['title']} ({attributes.get('year', 'year unknown')}): {roles}"


def _legend(graph: nx.DiGraph, width: float, height: float) -> Iterator[str]:
    x, y = _MARGIN, height - 24
    shown_roles = {str(n["role"]) for _, n in graph.nodes(data=True) if n["kind"] == "paper" and not n["target"]}
    entries = [("target", "target"), *((role, name) for role, name in ROLES.items() if role in shown_roles), ("code", "code repository")]
    for role, name in entries:
        mark = f'x="{x:.1f}" y="{y - 9:.1f}" width="10" height="10"' if role == "code" else f'cx="{x + 5:.1f}" cy="{y - 4:.1f}" r="5.5"'
        yield f'<{"rect" if role == "code" else "circle"} {mark} fill="{COLORS[role]}"/>'
        yield _text(x + 16, y, name, 'fill="#1b1f24"')
        x += 34 + label_width(name)
    yield _text(width - _MARGIN, y, "paper-lineage", 'text-anchor="end" fill="#8a929c"') if x < width - 150 else ""


def _size(width: float, height: float) -> str:
    return f'width="{width:.1f}" height="{height:.1f}"'


def _text(x: float, y: float, text: str, style: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(text)}</text>'


_SCRIPTS = ("graph_picture.js", "graph_panel.js", "graph_page.js")
_ICON = "data:image/svg+xml," + quote(
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'><circle cx='4' cy='4' r='4' fill='#d55e00'/></svg>", safe="' =:/"
)


def page(document: Mapping[str, Any]) -> str:
    """The page over `lineage.graph.exports.document`'s values."""
    title = next((node["title"] for node in document["nodes"] if node["target"]), "")
    data = {**document, "roles": ROLES}
    filled = {
        "POLICY": escape(policy()),
        "ICON": escape(_ICON),
        "TITLE": escape(title),
        "EXPLANATION": escape(EXPLANATION),
        "STYLE": _style(),
        "DATA": embedded(data),
        "SCRIPT": _script(),
    }
    text = _part("graph.html")
    # One pass over the template alone, so that nothing in a title is taken for a place to fill.
    parts = text.split("@@")
    return "".join(filled[part] if i % 2 else part for i, part in enumerate(parts))


def policy() -> str:
    """The page's Content-Security-Policy; a server that sends the page sends the same (and `frame-ancestors`, which a page cannot set)."""
    style, script = hashes()
    return f"default-src 'none'; style-src '{style}'; script-src '{script}'; img-src data:; base-uri 'none'; form-action 'none'"


def hashes() -> tuple[str, str]:
    """What a policy must allow for the page's style sheet and script, as `sha256-…`."""
    return _hash(_style()), _hash(_script())


def embedded(value: object) -> str:
    """JSON in ASCII that is safe inside a script element: no `<`, `>`, `&` and no line separator is left as it is."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _part(name: str) -> str:
    return (files("lineage") / "data" / name).read_text(encoding="utf-8")


def _style() -> str:
    return _part("graph.css")


def _script() -> str:
    return '"use strict";\n(() => {\n' + "\n".join(map(_part, _SCRIPTS)) + "})();\n"
