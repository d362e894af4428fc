"""Where sentences begin and end in scientific prose, with its abbreviations, initials and citations."""

from __future__ import annotations

import re
from collections.abc import Iterator

_STOP = re.compile(r"[.!?][”\"’')\]]{0,2}(?:\s?\d{1,2}(?=\s)|\s\[[\d,;\s–-]{1,60}\]\.?(?=\s))?\s+(?=[\"“(\[]?[^\W_a-z])|\n\n")
_SHORT = re.compile(
    r"(?:\b(?:et al|al|[Ee]\.g|[Ii]\.e|[Cc]f|vs|etc|resp|approx|ca|Fig|Figs|Eq|Eqs|Sec|Sect|Ch|App|Tab|Thm|Lem|Prop|Def|Ref|Refs|"
    r"No|Nos|Vol|pp|Dr|Prof|Mr|Ms|Mrs|St|Jr|Inc|Ltd|viz|w\.r\.t|a\.k\.a|Alg)|\b[A-Z])\Z"
)


def sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Offsets of the sentences of text[start:end]."""
    first = start
    for stop in _STOP.finditer(text, start, end):
        if stop[0][0] == "." and _SHORT.search(text, max(first, stop.start() - 12), stop.start()):
            continue
        last = stop.start() + len(stop[0].rstrip())
        if text[first:last].strip():
            yield first, last
        first = stop.end()
    if text[first:end].strip():
        yield first, end


_ABBREVIATED = re.compile(
    r"(?:\b(?:vs|etc|cf|Dr|St|Jr|Sr|Mr|Mrs|Ms|No|Nos|Vol|vol|Proc|Conf|Int|Intl|Trans|Rev|Lett|Phys|Appl|Adv|Ann|Am|Comput|Commun|"
    r"Sci|Math|Res|Mach|Learn|Nat|Mod|Ed|eds|pp|approx|Fig|Eq|Inc|Ltd|Univ|Dept|Inf|Syst|Softw|Eng|Biol|Med|Chem|Soc|Acad|Symp|"
    r"Assoc|Process|Intell|Artif|Astrophys|Class|Quantum|Prog|Theor|Gen|Rel|Cosmol|Tech|Rep|Stat|"
    r"Natl|Bull)|\b[^\W\d_a-z]|\.[ -]?[^\W\d_]|U\.S)\Z"
)
_FULL_STOP = re.compile(r"[.?!](?=[”\"’]?\s+\S|\s*\Z)")
_CAPITAL = re.compile(r"[”\"’]?\s*(?:[^\W\d_a-z]|\d|\Z)")


def full_stops(text: str, limit: int) -> list[int]:
    """Positions of the marks that end a part of a bibliography entry: not after an initial or a journal's abbreviation."""
    stop_positions: list[int] = []
    for stop in _FULL_STOP.finditer(text):
        before = text[max(0, stop.start() - 12) : stop.start()]
        if stop[0] == "." and _ABBREVIATED.search(before) and not before.endswith("et al"):
            continue
        if stop[0] != "." and not _CAPITAL.match(text, stop.end()):
            continue
        stop_positions.append(stop.start())
        if len(stop_positions) >= limit:
            break
    return stop_positions
