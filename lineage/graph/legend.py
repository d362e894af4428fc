"""The legend shared by all drawings: colors, sizes and short names.

The colors are those of Okabe and Ito ("Color Universal Design", 2008), told apart with any kind of color vision.
The page has them again in `lineage/data/graph.css`, where a dark page can have its own.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

ROLES = {
    "base": "built upon",
    "method": "method used",
    "setup": "settings followed",
    "data": "data",
    "metric": "metric",
    "baseline": "compared with",
    "background": "background",
    "": "role not known",
}
COLORS = {
    "target": "#1b1f24",
    "base": "#d55e00",
    "method": "#0072b2",
    "setup": "#009e73",
    "data": "#e69f00",
    "metric": "#cc79a7",
    "baseline": "#56b4e9",
    "background": "#9aa1ab",
    "": "#c9ced6",
    "code": "#4b5360",
}
EXPLANATION = (
    "A lineage is what a paper took for granted: the works it builds on, and their code. "
    "Older works stand to the left, larger marks carry more of it, and color says what a work is used for."
)
FONT = 12
_CHARACTER = 6.7
_LABEL_COLUMNS = (31, 26)
_HANGING = {"a", "an", "and", "are", "as", "at", "by", "for", "from", "in", "is", "of", "on", "or", "the", "to", "via", "with"}
_MINOR = 0.2


def radius(node: Mapping[str, Any]) -> float:
    """Half the size of a node's mark in pixels at scale 1: the area grows with the weight."""
    if node["target"]:
        return 17.0
    return 5.0 if node["kind"] == "code" else round(4 + 10 * float(node["score"]) ** 0.5, 2)


def label(node: Mapping[str, Any]) -> str:
    """The short name: what stands before a colon, else as many whole words as fit; a little less for works of little weight."""
    title, room = str(node["title"]), _LABEL_COLUMNS[not node["target"] and float(node["score"]) < _MINOR]
    if node["kind"] == "code":
        return _fit(title.removeprefix("github.com/"), room)
    name, colon, _ = title.partition(": ")
    return name if colon and 2 <= _columns(name) <= room else _fit(title, room)


def label_width(text: str) -> float:
    """Pixels that a label takes at scale 1, estimated generously."""
    return _columns(text) * _CHARACTER


def color(node: Mapping[str, Any]) -> str:
    """The color of a node's mark."""
    if node["target"]:
        return COLORS["target"]
    return COLORS["code" if node["kind"] == "code" else str(node["role"])]


def _columns(text: str) -> int:
    """Columns of a text as a terminal counts them: two for East Asian wide characters, none for accents."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _fit(text: str, room: int) -> str:
    if _columns(text) <= room:
        return text
    ends = list(accumulate(map(_columns, text)))
    cut = bisect_right(ends, room - 1)
    words = text[:cut].split(" ")[:-1]
    while words and words[-1].lower() in _HANGING:
        words.pop()
    whole = " ".join(words)
    return (whole if _columns(whole) > room // 2 else text[:cut]).rstrip(" ,:;-–") + "…"
