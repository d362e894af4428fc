"""Where entries begin in a list without labels: the rows that explain the whole list best.

What a row says (how it opens, how the row before it ends) gives a first guess of where entries begin. From that guess
the list's own habits are learned, and the guess again from those, as long as a few rounds last: which indent, which
gap, which kind of opening its entries have. At last the best cut of the whole list is chosen, in which nearly every
entry has a year.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from itertools import accumulate, pairwise

from indexer.parsers.pdf.names import INITIAL_FIRST, SURNAME_FIRST, VANCOUVER
from indexer.parsers.pdf.page import Line

MAX_ROWS_OF_ENTRY = 200
_ROUNDS = 5
_YEAR = re.compile(r"\b(?:1[89]|20)\d\d[a-z]?\b|\bn\.\s?d\.|forthcoming|in press", re.IGNORECASE)
_DASH = re.compile(r"\s*(?:[—–―]|_{3,}|-{3,})|\s*,\s")
_BRACKET = re.compile(r"\s*\[[^\[\]]{2,40}\]")
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
    if _BRACKET.match(text):
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
    years = [0, *accumulate(bool(_YEAR.search(row.text)) for row in rows)]
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
