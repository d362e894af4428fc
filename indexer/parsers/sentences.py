"""The sentences of scholarly prose: abbreviations, initials, decimals and citations end nothing by themselves."""

from __future__ import annotations

import re
from bisect import bisect_right

_STOP = re.compile(r"[.!?…](?:(?<=[^\W\d_].)\d{1,2})?[\"'”’)\]]*(?:\s*\[[^\[\]]{1,400}\]\.?)?(?=\s|\Z)|\n")
_ABBREVIATIONS = frozenset(
    re.findall(
        r"\S+",
        "al e.g i.e eg ie cf vs viz resp fig figs eq eqs eqn eqns sec secs sect tab tabs tbl ref refs app appx appendix alg algs "
        "ch chap vol no nos pp p dr prof mr mrs ms st approx ca w.r.t wrt a.k.a aka i.i.d iid s.t ph.d inc ltd co jr sr dept univ "
        "thm def defs prop lem cor proc conf intl trans avg std dev et ed eds op cit",
    )
)
_LAST_WORD = re.compile(r"([\w.'’-]{1,24})[.!?…]\d{0,2}[\"'”’)\]]*(?:\s*\[[^\[\]]{1,400}\]\.?)?\Z")
_BRACKET = re.compile(r"\s*\[[^\[\]]{1,400}\]\.?\Z")
_AFTER = re.compile(r"\s*(\S)")
MAX_CLIPPED = 1_500
"""Characters of a sentence; of a longer one the part around the place is given."""


def sentence_starts(text: str) -> list[int]:
    """Offsets at which a sentence begins, ascending, the first always 0."""
    starts = [0]
    for match in _STOP.finditer(text):
        end = _end(text, match)
        if end is not None and end < len(text):
            following = _AFTER.match(text, end)
            if following:
                starts.append(following.start(1))
    return sorted(set(starts))


def _end(text: str, match: re.Match[str]) -> int | None:
    """Where the sentence that this stop may close ends, or None where it closes none."""
    if match[0] == "\n":
        return match.end()
    end = match.end()
    bracket = _BRACKET.search(match[0])
    following = text[end : end + 40].lstrip()
    if bracket and following[:1].islower():  # the bracket is the subject of what follows
        spaced = bracket[0][0].isspace()
        end = match.start() + bracket.start() if spaced else end
        following = "[" if spaced else following
        if not spaced:
            return None
    abbreviated = not match[0].endswith("].") and _abbreviated(text[max(0, match.start() - 30) : match.start() + 1], following)
    return end if _begins(following) and not abbreviated else None


def _begins(following: str) -> bool:
    return not following or following[0].isupper() or following[0].isdigit() or following[0] in "\"'“‘([$\\•-"


def _abbreviated(before: str, following: str) -> bool:
    match = _LAST_WORD.search(before)
    if not match or before[-1] != ".":
        return False
    word = match[1].lower().strip("'’-")
    if word == "etc":
        return not following[:1].isupper()
    return word in _ABBREVIATIONS or (len(match[1]) == 1 and match[1].isupper() and match[1] != "I") or bool(re.fullmatch(r"(?:[a-z]\.)+[a-z]", word))


class Sentences:
    """The sentences of one block of text, found once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = sentence_starts(text)

    def around(self, offset: int, neighbours: int = 0) -> tuple[int, int]:
        """Start and end (without trailing space) of the sentence that holds the character at `offset`, with so many on each side."""
        index = bisect_right(self.starts, offset) - 1
        start = self.starts[max(0, index - neighbours)]
        end = [*self.starts, len(self.text)][min(index + neighbours, len(self.starts) - 1) + 1]
        if end - start > MAX_CLIPPED:
            start, end = self._clipped(start, end, offset)
        return start, start + len(self.text[start:end].rstrip())

    def _clipped(self, start: int, end: int, offset: int) -> tuple[int, int]:
        """A stretch of whole words around the offset."""
        first, last = max(start, offset - MAX_CLIPPED // 2), min(end, offset + MAX_CLIPPED // 2)
        if first > start:
            gap = self.text.find(" ", first, offset)
            first = gap + 1 if gap >= 0 else first
        if last < end:
            gap = self.text.rfind(" ", offset, last)
            last = gap if gap >= 0 else last
        return first, last
