"""Text for a terminal: color and line breaks. Text that is piped carries neither.

Renderers mark what stands out with `bold`, `dim`, `good`, `bad` and `cut`; the marks are Unicode noncharacters, so they
never clash with a text, and are removed wherever they are not turned into color (not a terminal, NO_COLOR, TERM=dumb).
"""

from __future__ import annotations

import os
import re
import shutil
import unicodedata
from collections.abc import Iterator
from typing import TextIO

from lineage.text.hidden_text import printable

_END, _BOLD, _DIM, _GOOD, _BAD, _CUT = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3", "\ufdd4", "\ufdd5"
_ANSI = {_END: "\x1b[0m", _BOLD: "\x1b[1m", _DIM: "\x1b[2m", _GOOD: "\x1b[32m", _BAD: "\x1b[31m", _CUT: ""}
_MARK = re.compile("[\ufdd0-\ufdd5]")
_NARROWEST = 20
_DEEPEST = 12
"""Columns that the continuation of a line is indented by, at most: a narrow terminal needs the rest."""


def one_line(text: str) -> str:
    """The text without control characters, on one line."""
    return " ".join(printable(text).split())


def bold(text: str) -> str:
    """A heading or a name."""
    return f"{_BOLD}{text}{_END}"


def dim(text: str) -> str:
    """Secondary text: places, and how something was found."""
    return f"{_DIM}{text}{_END}"


def good(text: str) -> str:
    """Text that is right, and the lines that answer."""
    return f"{_GOOD}{text}{_END}"


def bad(text: str) -> str:
    """An error or a contradiction."""
    return f"{_BAD}{text}{_END}"


def cut(line: str) -> str:
    """A line that is cut at the terminal's edge and not wrapped: code, and rows of a table."""
    return f"{_CUT}{line}"


def plain(text: str) -> str:
    """The text without marks."""
    return _MARK.sub("", text)


def size() -> tuple[int, int]:
    """Columns and rows of the terminal; COLUMNS and LINES count first."""
    columns, rows = shutil.get_terminal_size((80, 24))
    return max(columns, _NARROWEST), rows


def rendered(text: str, stream: TextIO) -> str:
    """The text as `stream` takes it: wrapped at words and colored for a terminal, bare otherwise."""
    if not stream.isatty():
        return plain(text)
    laid_out = "\n".join(row for line in text.split("\n") for row in _rows(line, size()[0]))
    return _colored(laid_out) if in_color() else plain(laid_out)


def in_color() -> bool:
    """Whether the user wants color (https://no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _colored(text: str) -> str:
    return _MARK.sub(lambda mark: _ANSI[mark[0]], text)


def width(text: str) -> int:
    """Columns that a text takes."""
    text = plain(text)
    return len(text) if text.isascii() else sum(_columns(c) for c in text)


def _columns(c: str) -> int:
    if unicodedata.combining(c):
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


def _rows(line: str, columns: int) -> Iterator[str]:
    """The rows that a line becomes; what is wrapped goes on a little further in."""
    if width(line) <= columns:
        yield line
    elif line.startswith(_CUT):
        yield _shortened(line.expandtabs(4), columns)
    else:
        yield from _wrapped(line, columns)


def _shortened(line: str, columns: int) -> str:
    kept, used = [], 0
    for c in line:
        used += 0 if _MARK.match(c) else _columns(c)
        if used >= columns and not _MARK.match(c):
            break
        kept.append(c)
    return "".join(kept) + "…" + (_END if _MARK.search(line[1:]) else "")


def _wrapped(line: str, columns: int) -> Iterator[str]:
    indent = len(line) - len(line.lstrip(" "))
    further = " " * min(indent + 4, _DEEPEST, columns // 3)
    row, used = "", 0
    for word in re.findall(r"\s*\S+", line):
        taken = width(word)
        if row.strip() and used + taken > columns and len(further) + taken <= columns:
            yield row
            word = further + word.lstrip()
            row, used = word, width(word)
        else:
            row, used = row + word, used + taken
    yield row
