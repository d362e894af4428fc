"""The page of a lineage: one HTML file that opens anywhere and asks nothing of a network.

It exists so that a lineage can be sent to somebody who has installed nothing. Titles and sentences are words of
strangers: they travel as JSON in a data block in which no character can end the block, the script puts them on the
page as text nodes only, and the policy in the head allows this one script and this one style sheet, by hash.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from lineage.graph.legend import EXPLANATION, ROLES

_SCRIPTS = ("graph_picture.js", "graph_panel.js", "graph_page.js")
_ICON = "data:image/svg+xml," + quote(
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'><circle cx='4' cy='4' r='4' fill='#d55e00'/></svg>", safe="' =:/"
)


def page(document: Mapping[str, Any]) -> str:
    """The page over `lineage.graph.exports.document`'s values."""
    title = next((node["title"] for node in document["nodes"] if node["target"]), "")
    data = {**document, "roles": ROLES}
    filled = {
        "POLICY": html.escape(policy()),
        "ICON": html.escape(_ICON),
        "TITLE": html.escape(title),
        "EXPLANATION": html.escape(EXPLANATION),
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
