"""Find a paper's reference list and split it into entries.

Three witnesses, strongest first: named places (`cite.key`) and the targets of links, which pdfTeX leaves at every
entry; printed labels ([12], 12., [ABC+20]) in sequence; and the shape of the column (hanging or first-line indents,
gaps between entries, what a line begins with).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from indexer.parsers.pdf.blocks import Style
from indexer.parsers.pdf.fields import INITIAL_FIRST, SURNAME_FIRST, VANCOUVER
from indexer.parsers.pdf.layout import Sheet
from indexer.parsers.pdf.page import Anchor, Line, Pages

MAX_ROWS_OF_ENTRY = 200
_ROUNDS = 5
_BEHIND, _ENTRY = 40, 8
"""Rows behind a heading that are looked at, and rows of a list of which at least one begins an entry."""
_SEGMENT_YEAR = re.compile(r"\b(?:1[89]|20)\d\d[a-z]?\b|\bn\.\s?d\.|forthcoming|in press", re.IGNORECASE)
_DASH = re.compile(r"\s*(?:[—–―]|_{3,}|-{3,})|\s*,\s")
_LABEL_BRACKET = re.compile(r"\s*\[[^\[\]]{2,40}\]")
_PERSONS = {
    "surname first": re.compile(rf"\s*(?:{SURNAME_FIRST.pattern})(?:[,;.:]|\s?\(| and\b| &|\Z)"),
    "bare initials": re.compile(rf"\s*{VANCOUVER.pattern}"),
    "initials first": re.compile(rf"\s*(?:{INITIAL_FIRST.pattern})(?:[,;.:]| and\b| &|\Z)"),
    "full name": re.compile(
        r"\s*[^\W\d_a-z][\w'’-]+(?: [^\W\d_a-z]\.)?(?: (?:van|von|de|der|la|di))*(?: [^\W\d_a-z][\w'’-]+){1,2}(?:,| and\b|\.| \()"
    ),
}
_OPENINGS = {
    "dash": 2.5, "bracket": 1.5, "surname first": 1.4, "bare initials": 1.2, "initials first": 1.2, "full name": 0.9, "capital": -0.3, "other": -3.0,
}  # fmt: skip
_ENDINGS = {"stop": 0.8, "number": 0.2, "address": 0.2, "closing": 0.2, "word": -2.0, "comma": -3.0, "hyphen": -4.0}
# what a row says is counted in three ways, so each of them weighs less than where it stands
_WEIGHTS = {"indent": 1.5, "gap": 1.0, "short": 0.7, "opening": 0.4, "ending": 0.4, "sense": 0.6}

Features = dict[str, str]


def starts(rows: Sequence[Line], known: Collection[int] = ()) -> list[int]:
    """Indices of the rows that begin an entry; `known` are rows that named places show to begin one."""
    if not rows:
        return []
    looks = _features(rows)
    belief = [_first_guess(look) for look in looks]
    for _ in range(_ROUNDS):
        belief = _learned(looks, belief)
    witness = [6.0 if n in known else -1.5 if len(known) >= 3 else 0.0 for n in range(len(rows))]
    return _best_cut(rows, [a + b for a, b in zip(belief, witness, strict=True)])


def _features(rows: Sequence[Line]) -> list[Features]:
    """What each row looks like. The first row of a column has no gap before it, which tells nothing, so it is left out."""
    columns: dict[tuple[int, int], list[int]] = defaultdict(list)
    for n, row in enumerate(rows):
        columns[row.page, row.column].append(n)
    looks: list[Features] = [{} for _ in rows]
    edges = {key: min(rows[n].box[0] for n in numbers) for key, numbers in columns.items()}
    rights = {key: sorted(rows[n].box[2] for n in numbers)[len(numbers) * 9 // 10] for key, numbers in columns.items()}
    for key, numbers in columns.items():
        # one long entry may fill a column: its edge is then that of the same column of other pages
        left = min(edge for (_, column), edge in edges.items() if column == key[1] and edges[key] - edge < 4 * rows[numbers[0]].size)
        steps = sorted(rows[b].base - rows[a].base for a, b in pairwise(numbers))
        usual = steps[len(steps) // 4] if steps else 0.0
        for place, n in enumerate(numbers):
            ending, opening = _ending(rows[n - 1].text) if n else "stop", _opening(rows[n].text)
            looks[n] = {"indent": str(min(9, round((rows[n].box[0] - left) / 3))), "opening": opening, "ending": ending}
            looks[n]["sense"] = f"{opening} after {'end' if _ENDINGS[ending] > 0 else 'open'}"
            if place:
                step = rows[n].base - rows[n - 1].base
                looks[n]["gap"] = "wide" if step > 1.12 * usual and step > usual + 1 else "usual"
            if n:
                looks[n]["short"] = _shortness(rows[n - 1], rights[rows[n - 1].page, rows[n - 1].column])
    return looks


def _shortness(row: Line, right: float) -> str:
    missing = (right - row.box[2]) / row.size
    return "full" if missing < 0.7 else "nearly" if missing < 3 else "short"


def _opening(text: str) -> str:
    if _DASH.match(text):
        return "dash"
    if _LABEL_BRACKET.match(text):
        return "bracket"
    bare = text.lstrip(" “\"'‘(")
    kind = next((name for name, pattern in _PERSONS.items() if pattern.match(text)), "")
    return kind or ("capital" if bare[:1].isupper() else "other")


def _ending(text: str) -> str:
    text = text.rstrip()
    if re.search(r"https?://\S+\Z|\S+/\S{4,}\Z", text):
        return "address"
    last = text[-1:]
    if re.search(r"(?:\b[^\W\d_]|\b(?:al|vol|pp|Proc|eds?|no|Conf|Trans|Intl?))\.\Z", text):
        return "word"
    return {".": "stop", ",": "comma", ";": "comma", ":": "comma", "-": "hyphen", ")": "closing", "]": "closing"}.get(
        last, "number" if last.isdigit() else "word"
    )


def _first_guess(look: Features) -> float:
    gap, short = {"wide": 1.5}.get(look.get("gap", ""), 0.0), {"short": 0.7, "nearly": 0.2, "full": -0.4}.get(look.get("short", ""), 0.0)
    return _OPENINGS[look["opening"]] + _ENDINGS[look["ending"]] + gap + short - 0.5


def _learned(looks: Sequence[Features], belief: Sequence[float]) -> list[float]:
    """The log odds of each row, out of how often its looks go with what is believed to be a beginning."""
    share = [1 / (1 + math.exp(-max(-30.0, min(30.0, odds)))) for odds in belief]
    begins: Counter[tuple[str, str]] = Counter()
    goes_on: Counter[tuple[str, str]] = Counter()
    for look, part in zip(looks, share, strict=True):
        for item in look.items():
            begins[item] += part  # type: ignore[assignment]
            goes_on[item] += 1 - part  # type: ignore[assignment]
    total, other = sum(share), len(share) - sum(share)
    kinds = Counter(name for name, _ in set(begins))
    weight = {
        item: math.log((begins[item] + 0.3) / (total + 0.3 * kinds[item[0]])) - math.log((goes_on[item] + 0.3) / (other + 0.3 * kinds[item[0]]))
        for item in begins
    }
    prior = math.log((total + 0.5) / (other + 0.5))
    return [prior + sum(_WEIGHTS[item[0]] * weight[item] for item in look.items()) + 0.25 * _first_guess(look) for look in looks]


def _best_cut(rows: Sequence[Line], odds: Sequence[float]) -> list[int]:
    """The cut with the highest sum of odds of its beginnings, less what entries without a year cost."""
    years = [0, *accumulate(bool(_SEGMENT_YEAR.search(row.text)) for row in rows)]
    best = [0.0] + [-math.inf] * len(rows)
    came = [0] * (len(rows) + 1)
    for end in range(1, len(rows) + 1):
        for start in range(max(0, end - MAX_ROWS_OF_ENTRY), end):
            score = best[start] + (odds[start] if start else 0.0) - (0.0 if years[end] > years[start] else 2.0)
            if score > best[end]:
                best[end], came[end] = score, start
    cut = [len(rows)]
    while cut[-1]:
        cut.append(came[cut[-1]])
    return cut[:0:-1]


HEADING = re.compile(
    r"(?:\d{1,2}\.?\s+|[IVX]{1,5}\.?\s+|[A-Z]\.?\s+)?(?:(?:main |supplementary |additional )?references(?: and notes| cited)?|"
    r"bibliography|literature(?: cited)?|"
    r"works cited|literatur(?:verzeichnis)?|références|bibliographie|referencias)\s*[:.]?\Z",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"(?:appendi(?:x|ces)|supplement|[A-Z]\.?\d?(?:\.\d)*\s+[A-Z][a-z]|acknowledge?ments?\Z|about the authors?|author contributions|"
    r"biograph(?:y|ies)\Z|neurips paper checklist|checklist|\d{1,2}\.?\s+[A-Z][a-z])",
    re.IGNORECASE,
)
_BRACKET = re.compile(r"\s*\[(\d{1,4})\]")
_POINT = re.compile(r"\s*(\d{1,4})\s?[.)]\s*(?=\D)|\s*\((\d{1,4})\)\s|\s*(\d{1,4})\s+(?=[^\W\d_])")
_RAISED = re.compile(r"\s*(\d{1,3})(?=[^\W\d_])")
_ALPHA = re.compile(r"\s*\[([^\W\d_][^\s\[\]]{1,14}\d{2}[a-z]?|[A-Z][\w+-]{1,14})\]\s*\S")
_YEAR = re.compile(r"\b(?:1[89]|20)\d\d[a-z]?\b")


@dataclass(frozen=True)
class Region:
    """The rows of one reference list, in reading order; `heading` is the row that announces it, if any."""

    rows: tuple[Line, ...]
    heading: Line | None = None


@dataclass(frozen=True)
class Entry:
    """The rows of one entry; `key` is the name of its place (`cite.` left out) or empty, `label` what is printed before it."""

    rows: tuple[Line, ...]
    key: str = ""
    label: str = ""


def regions(sheets: Sequence[Sheet], style: Style, pages: Pages) -> list[Region]:
    """Every reference list of the document."""
    rows = [row for sheet in sheets for row in sheet.rows]
    heads = [n for n, row in enumerate(rows) if _is_heading(row, style, rows, n)]
    list_regions: list[Region] = []
    for n, start in enumerate(heads):
        limit = heads[n + 1] if n + 1 < len(heads) else len(rows)
        body = rows[start + 1 : _end(rows, start, limit, style)]
        if _reads_like_one(body):
            list_regions.append(Region(tuple(_without_notes(body)), rows[start]))
    if not list_regions and pages.anchors:
        list_regions = _by_anchors(rows, pages.anchors, style)
    return list_regions or _unannounced(rows)


def _unannounced(rows: Sequence[Line]) -> list[Region]:
    """A numbered list with years at the end of a document that gives it no heading."""
    for n in range(len(rows) - 1, len(rows) // 8, -1):
        label = _BRACKET.match(rows[n].text)
        if label and label[1] == "1":
            return [Region(tuple(rows[n:]))] if len(_sequence(rows[n:], _BRACKET)) >= 5 and _reads_like_one(rows[n:]) else []
    return []


def _without_notes(rows: Sequence[Line]) -> list[Line]:
    """The rows less the footnotes that stand below them: smaller ones at the end of a column."""
    sizes = Counter(round(row.size * 2) / 2 for row in rows)
    usual = sizes.most_common(1)[0][0]
    body_lines: list[Line] = []
    small = True
    for row, after in zip(reversed(rows), [None, *reversed(rows)][: len(rows)], strict=True):
        if after is None or (after.page, after.column) != (row.page, row.column):
            small = True
        small = small and row.size < usual - 0.6
        if not small:
            body_lines.append(row)
    return body_lines[::-1]


def _is_heading(row: Line, style: Style, rows: Sequence[Line], n: int) -> bool:
    text = row.text.strip()
    if not HEADING.match(text) or len(text) > 40:
        return False
    shouted = row.bold or row.size > style.size + 0.4 or text.isupper()
    after = rows[n + 1].text if n + 1 < len(rows) else ""
    return shouted or bool(_BRACKET.match(after) or _POINT.match(after) or _ALPHA.match(after)) or (text[0].isupper() and n > 0.4 * len(rows))


def _end(rows: Sequence[Line], start: int, limit: int, style: Style) -> int:
    """The index after the last row of the list: the next heading of the same weight, or a row of the body's size among smaller ones."""
    head = rows[start]
    body = Counter(round(row.size * 2) / 2 for row in rows[start + 1 : start + 30]).most_common(1)
    size = body[0][0] if body else style.size
    for n in range(start + 1, limit):
        row = rows[n]
        text = row.text.strip()
        heavy = (row.bold and head.bold) or (row.size > size + 0.7 and row.size > style.size + 0.3)
        if not heavy and not (text.isupper() and head.text.strip().isupper() and len(text) > 6):
            continue
        like = abs(row.size - head.size) < 0.8 and row.bold == head.bold
        named = bool(_AFTER.match(text)) and not (text[:1].isdigit() and not row.bold and row.size < size + 0.7)
        heading = named or (like and len(text) < 90 and row.size > size + 0.3)
        if heading and len(text) > 3 and not _YEAR.search(text) and not _goes_on(rows[n + 1 : limit][:_BEHIND]):
            return n
    return limit


def _goes_on(rows: Sequence[Line]) -> bool:
    """Whether entries stand behind a row all the same: years, and rows that open as an entry does where the one before has ended."""
    opened = sum(_OPENINGS[_opening(b.text)] > 0 and _ENDINGS[_ending(a.text)] > 0 for a, b in pairwise(rows))
    return min(opened, sum(bool(_YEAR.search(row.text)) for row in rows)) * _ENTRY > len(rows)


def _reads_like_one(rows: Sequence[Line]) -> bool:
    """Whether the rows hold references at all, rather than a line of the table of contents."""
    return sum(bool(_YEAR.search(row.text)) for row in rows[:60]) >= 1 and len(rows) >= 2


def _by_anchors(rows: Sequence[Line], anchors: Sequence[Anchor], style: Style) -> list[Region]:
    at = sorted({n for anchor in anchors if (n := nearest(rows, anchor)) is not None})
    if len(at) < 3:
        return []
    return [Region(tuple(rows[at[0] : min(len(rows), _end(rows, at[-1], len(rows), style))]))]


def nearest(rows: Sequence[Line], anchor: Anchor, above: float = 0.3) -> int | None:
    """The index of the row that a named place stands at: the first one in its column whose baseline is below it.

    The baseline lies at least `above` type sizes below the place: classes differ in where they put it (a line above
    the entry, at the top of its letters, or at its baseline).
    """
    best: tuple[float, int] | None = None
    for n, row in enumerate(rows):
        if row.page != anchor.page or row.box[0] - anchor.x > 60 or anchor.x > row.box[2]:
            continue
        below = row.base - anchor.y
        if above * row.size <= below <= 3.2 * row.size and (best is None or below < best[0]):
            best = (below, n)
    return best[1] if best else None


def entries(region: Region, anchors: Sequence[Anchor]) -> list[Entry]:
    """The list's entries, in order."""
    rows = region.rows
    keys = max((_keys(rows, anchors, above) for above in (0.3, -0.2)), key=len)
    printed = _labels(rows)
    if printed and len(printed) >= 0.8 * len(keys):
        named = _in_order(rows, anchors)
        same = len(named) == len(printed)
        moved = dict(zip(sorted(printed), named, strict=True)) if same else {_at_label(n, printed): key for n, key in keys.items()}
        return list(_cut(rows, sorted(printed), moved, printed))
    return list(_cut(rows, starts(rows, keys), keys, {}))


def _in_order(rows: Sequence[Line], anchors: Sequence[Anchor]) -> list[str]:
    """Names of the places on the list's pages in reading order. Publishers put them up to two lines off, but in order."""
    second = {row.page: row.box[0] for row in sorted(rows, key=lambda row: -row.box[0]) if row.column == 1}
    pages = {row.page for row in rows}
    here = [anchor for anchor in anchors if anchor.page in pages]
    return [anchor.name for anchor in sorted(here, key=lambda a: (a.page, a.page in second and a.x > second[a.page] - 30, a.y))]


def _keys(rows: Sequence[Line], anchors: Sequence[Anchor], above: float) -> dict[int, str]:
    """Row -> name of the place that stands at it."""
    keys: dict[int, str] = {}
    for anchor in anchors:
        n = nearest(rows, anchor, above)
        if n is not None:
            keys.setdefault(n, anchor.name)
    return keys


def _at_label(n: int, printed: dict[int, str]) -> int:
    """The labelled row that an anchor's row belongs to: itself, or the next one within two rows."""
    return next((m for m in (n, n + 1, n - 1, n + 2) if m in printed), n)


def _cut(rows: Sequence[Line], firsts: Sequence[int], keys: dict[int, str], labels: dict[int, str]) -> Iterator[Entry]:
    for start, end in pairwise([*firsts, len(rows)]):
        yield Entry(tuple(rows[start:end]), keys.get(start, ""), labels.get(start, ""))


def _labels(rows: Sequence[Line]) -> dict[int, str]:
    """Row -> printed label, where the list is numbered or has alphabetic labels; empty where it is not."""
    for pattern in (_BRACKET, _POINT, _RAISED):
        label_sequence = _sequence(rows, pattern)
        if label_sequence and min(label_sequence) <= 2 and (len(label_sequence) >= 3 or len(label_sequence) * 8 >= len(rows)):
            return label_sequence
    alpha = {n: label[1] for n, row in enumerate(rows) if (label := _ALPHA.match(row.text))}
    return alpha if len(alpha) >= 3 and len(alpha) * 12 >= len(rows) else {}


def _sequence(rows: Sequence[Line], pattern: re.Pattern[str]) -> dict[int, str]:
    """Rows that begin with rising numbers: the next number, or one of the following few where one was lost.

    Reading order can be wrong where a page has three columns, so a list that does not rise is taken as numbers only
    when every number from 1 on is there.
    """
    seen = [(n, int(next(g for g in label.groups() if g))) for n, row in enumerate(rows) if (label := pattern.match(row.text))]
    first = next((k for k, (_, number) in enumerate(seen) if number <= 1), 0)
    labels_by_row: dict[int, str] = {}
    last: int | None = None
    for n, number in seen[first:]:
        if last is None or 0 < number - last <= 3:
            labels_by_row[n] = str(number)
            last = number
    numbers = {number for _, number in seen}
    if len(labels_by_row) < 0.6 * len(seen) and len(numbers) == len(seen) == max(numbers, default=0):
        return {n: str(number) for n, number in seen}
    return labels_by_row
