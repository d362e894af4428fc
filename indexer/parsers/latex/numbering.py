r"""Counters as LaTeX counts them, labels, and references resolved once everything is counted.

A reference is written as a sentinel and replaced when the run is over, because it may point forward.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

LEVELS = {"part": -1, "chapter": 0, "section": 1, "subsection": 2, "subsubsection": 3, "paragraph": 4, "subparagraph": 5}
_ORDER = ("chapter", "section", "subsection", "subsubsection")
OPEN, CLOSE = "\x02", "\x03"
_SENTINEL = re.compile("\x02([a-z])([^\x02\x03]{0,300})\x03")


@dataclass(frozen=True)
class LabelTarget:
    """What a label points to: its kind (`Section`, `Table` ...), printed number and title."""

    kind: str = ""
    number: str = ""
    title: str = ""


@dataclass(frozen=True)
class Form:
    r"""How the number of a kind of float is printed (`\thetable`): `before` it, the section's number before that."""

    before: str = ""
    of_section: bool = False
    known: bool = True


def sentinel(style: str, label: str) -> str:
    """A reference to be resolved: style `n` number, `p` number in brackets, `k` kind and number, `t` title."""
    return f"{OPEN}{style}{label[:300]}{CLOSE}"


class Counters:
    """The numbers of one paper: sections (lettered in the appendix), floats, equations, theorems."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}
        self.within: dict[str, str] = {}
        self.forms: dict[str, Form] = {}
        self.appendix = False
        self.chapters = False
        self.labels: dict[str, LabelTarget] = {}

    def section(self, name: str) -> str:
        """Count a section of this level and give its printed number, or nothing below subsubsections."""
        if name not in _ORDER:
            return ""
        self.chapters = self.chapters or name == "chapter"
        self.step(name)
        for lower in _ORDER[_ORDER.index(name) + 1 :]:
            self.values[lower] = 0
        return self.number(name)

    def number(self, name: str) -> str:
        """The printed number of a section counter, as it stands."""
        order = _ORDER if self.chapters else _ORDER[1:]
        parts = [self.values.get(counter, 0) for counter in order[: order.index(name) + 1]] if name in order else []
        words = [str(part) for part in parts]
        if self.appendix and words:
            words[0] = letter(parts[0])
        return ".".join(words)

    def start_appendix(self) -> None:
        """Sections are lettered from here on."""
        if not self.appendix:
            self.appendix = True
            self.values.update(dict.fromkeys(_ORDER, 0))

    def step(self, name: str) -> str:
        """Count one of these and give its printed number."""
        self.values[name] = self.values.get(name, 0) + 1
        for inner, outer in self.within.items():
            if outer == name:
                self.values[inner] = 0
        prefix = self.number(self.within[name]) if name in self.within else ""
        return f"{prefix}.{self.values[name]}" if prefix else str(self.values[name])

    def printed(self, kind: str) -> str:
        """Count a float and give its number; nothing where the author prints it in a way that only TeX understands."""
        count, form = self.step(kind), self.forms.get(kind)
        if form is None:
            return count
        return (self.number("section") if form.of_section else "") + form.before + str(self.values[kind]) if form.known else ""

    def label(self, name: str, target: LabelTarget) -> None:
        """Remember what a label points to; the first use of a name counts."""
        self.labels.setdefault(name, target)


def letter(count: int) -> str:
    """A, B … Z, AA for 1, 2 … 26, 27."""
    out = ""
    while count > 0:
        count, letter_index = divmod(count - 1, 26)
        out = chr(65 + letter_index) + out
    return out or "A"


class Resolved:
    """A text with its references filled in, and where every old offset has gone."""

    def __init__(self, text: str, labels: dict[str, LabelTarget]) -> None:
        pieces, self._old, self._shift, last, shift = [], [0], [0], 0, 0
        for match in _SENTINEL.finditer(text):
            printed = _printed(match[1], match[2], labels)
            pieces += [text[last : match.start()], printed]
            last = match.end()
            shift += len(printed) - len(match[0])
            self._old.append(last)
            self._shift.append(shift)
        self.text = "".join([*pieces, text[last:]])

    def at(self, offset: int) -> int:
        """The new offset of an old one that lies outside the references."""
        return offset + self._shift[bisect_right(self._old, offset) - 1]


def resolve(text: str, labels: dict[str, LabelTarget]) -> str:
    """A short text (a title, a header) with its references filled in."""
    return _SENTINEL.sub(lambda match: _printed(match[1], match[2], labels), text) if OPEN in text else text


def _printed(style: str, names: str, labels: dict[str, LabelTarget]) -> str:
    targets = [labels.get(name.strip()) for name in names.split(",")]
    if style == "t":
        return next((target.title for target in targets if target and target.title), "[ref]")
    numbers = [target.number if target and target.number else "[ref]" for target in targets]
    joined = ", ".join(numbers)
    if style == "p":
        return f"({joined})"
    kind = next((target.kind for target in targets if target), "")
    return f"{kind} {joined}".strip() if style == "k" else joined
