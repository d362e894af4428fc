"""Draw the contradictions of a lineage between a paper and its own code as SVG, for the README.

lineage gaps arxiv-2004.14974 --json | python -m docs.contradictions_picture > docs/pictures/contradictions.svg

Every value and place in the picture is one of the report; nothing is added by hand.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any
from xml.sax.saxutils import escape

_WIDTH, _ROW, _HEAD = 820, 50, 96
_SANS = "system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
_MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"
_LEFT, _PAPER, _CODE = 24, 190, 420


def svg(report: Mapping[str, Any]) -> str:
    """The contradictions between prose and code of a report of gaps (`data` of `lineage gaps --json`), one row each."""
    rows = [sides for conflict in report["conflicts"] if (sides := _sides(conflict["sides"]))]
    height = _HEAD + _ROW * len(rows) + 2
    title = rows[0][0]["evidence"]["source"]["title"]
    caption = f"{len(rows)} contradictions between “{title}” and its own code"
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" role="img">',
        f"<title>{escape(caption)}</title>",
        f'<rect width="{_WIDTH}" height="{height}" rx="8" fill="#ffffff" stroke="#d0d7de"/>',
        _text(_LEFT, 34, title, size=17, weight=600),
        _text(_LEFT, 70, "setting", color="#57606a"),
        _text(_PAPER, 70, f"the paper says ({_section(rows)})", color="#57606a"),
        _text(_CODE, 70, "its code defaults to", color="#57606a"),
        *(line for number, (paper, code) in enumerate(rows) for line in _row(_HEAD + _ROW * number, paper, code)),
        "</svg>",
        "",
    ]
    return "\n".join(body)


def _sides(sides: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    """The side in prose and the side in code, if there are both."""
    paper = [side for side in sides if side["evidence"]["kind"] == "paper"]
    code = [side for side in sides if side["evidence"]["kind"] in {"code", "config"}]
    return (paper[0], code[0]) if paper and code else None


def _section(rows: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> str:
    return ", ".join(dict.fromkeys(paper["citation"].partition("#")[2] for paper, _ in rows))


def _row(y: int, paper: Mapping[str, Any], code: Mapping[str, Any]) -> Iterator[str]:
    source = code["evidence"]["source"]
    path = PurePosixPath(source["path"])
    where = f"{'/'.join(path.parts[-2:])}, line {code['evidence']['focus']['start_line']}"
    yield f'<line x1="{_LEFT}" x2="{_WIDTH - _LEFT}" y1="{y - 10}" y2="{y - 10}" stroke="#eaeef2"/>'
    yield _text(_LEFT, y + 18, paper["fact"]["name"].replace("_", " "), weight=600)
    yield _text(_PAPER, y + 18, _value(paper["fact"]), color="#0a5c2f", family=_MONO)
    yield _text(_CODE, y + 12, _value(code["fact"]), color="#a40e26", family=_MONO)
    yield _text(_CODE, y + 29, where, size=11, color="#57606a", family=_MONO)


def _value(fact: Mapping[str, Any]) -> str:
    scope = f" ({fact['scope']})" if fact["scope"] else ""
    try:
        number = float(fact["value"])
    except ValueError:
        return f"{fact['value']}{scope}"
    shown = f"{number:.0e}" if 0 < number < 0.01 and number == float(f"{number:.0e}") else f"{number:g}"
    return shown.replace("e-0", "e-") + scope


def _text(x: int, y: int, words: str, *, size: int = 13, weight: int = 400, color: str = "#1f2328", family: str = _SANS) -> str:
    style = f'font-size="{size}" font-weight="{weight}" fill="{color}" font-family="{family}"'
    return f'<text x="{x}" y="{y}" {style}>{escape(words)}</text>'


if __name__ == "__main__":
    sys.stdout.write(svg(json.load(sys.stdin)["data"]))
