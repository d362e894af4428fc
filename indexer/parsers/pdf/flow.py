"""Rows to running text: line-break hyphens undone, and every character's place kept.

`FlowWriter` grows the document's one text; what it places can be found again from a point on a page (link annotations)
and from an offset (raised numbers).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from indexer.parsers.pdf.page import Box, Line, Range

_WORD = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*")
_LAST = re.compile(r"([^\W_]+(?:[-‐][^\W_]+)*)[-‐\u00ad]\s*\Z")
_FIRST = re.compile(r"\s*([^\W_]+)")
_URL_TAIL = re.compile(r"(?:https?:|www\.|doi:\s?10\.|arxiv\.org|github\.com)\S*\s*\Z", re.IGNORECASE)


@dataclass(frozen=True)
class PageWords:
    """The unbroken words of a document, against which hyphenated words are checked."""

    whole: frozenset[str]
    hyphened: frozenset[str]


def words_of(rows: Iterable[Line]) -> PageWords:
    """Collect words that no line break touches."""
    whole: set[str] = set()
    hyphened: set[str] = set()
    before = ""
    for row in rows:
        row_words = [] if _is_rest(before, row.text) else _WORD.findall(row.text.lower())
        before = row.text
        for word in row_words[: -1 if row.text.rstrip().endswith(("-", "‐")) else None]:
            (hyphened if "-" in word else whole).add(word)
    return PageWords(frozenset(whole), frozenset(hyphened))


def glue(before: str, after: str, words: PageWords) -> tuple[str, bool]:
    """What stands between two lines (a space or nothing), and whether the first line's last hyphen goes.

    A broken word loses its hyphen unless the document writes it with one, or a capital or a digit follows.
    """
    if _URL_TAIL.search(before) and (_goes_on(before, after) or (_is_rest(before, after) and after.strip(" .,)").lower() not in words.whole)):
        return "", before.rstrip().endswith("\u00ad")
    last, first = _LAST.search(before), _FIRST.match(after)
    if not last or not first:
        return ("" if before.rstrip().endswith(("/", "—", "–")) and not before.endswith(" –") else " "), False
    parts = last[1], first[1]
    joined = (parts[0] + parts[1]).lower()
    tail = joined.rsplit("-", 1)[-1]
    if joined in words.whole or (tail in words.whole and tail != parts[1].lower()):
        return "", True
    if f"{parts[0]}-{parts[1]}".lower() in words.hyphened or len(parts[0]) == 1:
        return "", False
    if not parts[1][0].islower():
        return "", _is_split_name(parts[0], parts[1], words)
    left_word, right_word = parts[0].lower(), parts[1].lower()
    both = min(map(len, parts)) >= 5 and {left_word, right_word} <= words.whole
    return "", not (
        both or (left_word in _PREFIXES and right_word in words.whole) or "-" in left_word or (left_word.endswith("ly") and len(left_word) > 5)
    )


def _is_split_name(before: str, after: str, words: PageWords) -> bool:
    """Whether capitals on both sides of a break are one acronym (SCIB-ERT), not two (CNN-LSTM)."""
    return before.isupper() and after.isupper() and not {before.lower(), after.lower()} <= words.whole and before.lower() not in words.whole


_PREFIXES = frozenset(
    ["self", "non", "state", "well", "cross", "multi", "fine", "semi", "zero", "few", "one", "two", "three", "high", "low", "end", "real", "large"]
)


def _is_rest(before: str, after: str) -> bool:
    """Whether a row holds one piece and no more, which may be the rest of the address that ends the row before."""
    return bool(_URL_TAIL.search(before) and before.rstrip()[-1].isalnum() and re.fullmatch(r"\s*[\w-]*[^\W\d_][\w-]*[.,)]?\s*", after))


def _goes_on(before: str, after: str) -> bool:
    """Whether an address broken at the end of a line continues: it stopped at a joint, or what follows is not a word."""
    tail = before.rstrip()
    if tail.endswith((".", ",", ";", ")")) and after.lstrip()[:1].isupper():
        return False
    head = after.split()[0] if after.split() else ""
    if tail.endswith(("/", "-", "_", "=", "?", "&", "%", "#", ":", "~", ".")):
        return not (tail.endswith(".") and head.lower().strip(".,") in _PLAIN)
    return "/" in head.rstrip(".,") or "_" in head or bool(re.match(r"[\w-]+\.(?:html?|pdf|git|org|com|io|md|py)\b|[.?&=#]", head))


_PLAIN = {"the", "a", "an", "we", "in", "and", "for", "this", "accessed", "last", "retrieved", "urldate"}


@dataclass
class FlowWriter:
    """The text as it grows, with the place of every line in it."""

    words: PageWords
    parts: list[str] = field(default_factory=list)
    length: int = 0
    places: list[tuple[Line, int]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Everything written so far."""
        return "".join(self.parts)

    def _put(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)

    def apart(self) -> int:
        """End the paragraph; the offset at which the next one starts."""
        if self.length and not self.parts[-1].endswith("\n\n"):
            self._put("\n\n")
        return self.length

    def rows(self, rows: Sequence[Line], keep_lines: bool = False) -> tuple[int, int]:
        """Write rows as running text (or line by line); their offsets."""
        start = self.length
        for row in rows:
            if self.length > start:
                self._join(row, keep_lines)
            lead = len(row.text) - len(row.text.lstrip())
            self.places.append((row, self.length - lead))
            self._put(row.text.strip())
        return start, self.length

    def resume(self, rows: Sequence[Line]) -> tuple[int, int]:
        """Write rows as the continuation of what was written last."""
        self._join(rows[0], False)
        return self.rows(rows)

    def _join(self, row: Line, keep_lines: bool) -> None:
        if keep_lines:
            self._put("\n")
            return
        between, drop = glue(self.parts[-1], row.text, self.words)
        if drop:
            without_hyphen = self.parts[-1].rstrip()[:-1]
            self.length += len(without_hyphen) - len(self.parts[-1])
            self.parts[-1] = without_hyphen
        self._put(between)


def text_of(rows: Sequence[Line], words: PageWords) -> str:
    """Rows as one running text."""
    return slanted_text(rows, words)[0]


def slanted_text(rows: Sequence[Line], words: PageWords) -> tuple[str, tuple[Range, ...]]:
    """Rows as one running text, and its ranges of italic type."""
    writer = FlowWriter(words)
    writer.rows(rows)
    ranges = ((start + a, min(start + b, writer.length)) for row, start in writer.places for a, b in row.italic)
    return writer.text, tuple((max(0, a), b) for a, b in ranges if b > max(0, a))


@dataclass(frozen=True)
class Places:
    """Where every written line stands, by page: from points on paper to offsets in the text."""

    by_page: dict[int, list[tuple[Line, int]]]

    def under(self, page: int, box: Box) -> tuple[int, int] | None:
        """The offsets of the characters under a rectangle, or None where nothing was written of it."""
        x0, y0, x1, y1 = box
        best: tuple[float, int, int] | None = None
        for line, start in self.by_page.get(page, ()):
            overlap = min(y1, line.box[3]) - max(y0, line.box[1])
            if overlap <= 0.3 * (line.box[3] - line.box[1]) or x1 < line.box[0] or x0 > line.box[2]:
                continue
            inside = [n for n, x in enumerate(line.xs) if x0 - 1.5 <= x < x1 - 0.5]
            if inside and (best is None or overlap > best[0]):
                best = (overlap, start + inside[0], start + inside[-1] + 1)
        return best[1:] if best else None


def places_of(writer: FlowWriter) -> Places:
    """An index over what a writer placed."""
    by_page: dict[int, list[tuple[Line, int]]] = {}
    for line, start in writer.places:
        by_page.setdefault(line.page, []).append((line, start))
    return Places(by_page)
