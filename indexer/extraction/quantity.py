"""Numbers as prose and tables print them: 1e-4, 1 × 10⁻⁴, 10^{-4}, 4,096, 224 × 224, 10 %, 4k, lists of these.

Only where a number ends and how its parts belong together is decided here; what it is worth, `lineage.hyperparameters.values` knows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lineage.hyperparameters.terms import Term

_SPACE = r"[ \u00a0\u2009\u202f\n]?"
_POWER = rf"10(?:{_SPACE}\^{_SPACE}\{{?{_SPACE}[-−–]?{_SPACE}\d{{1,2}}{_SPACE}\}}?|[−–]{_SPACE}\d{{1,2}}|[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{{1,3}})"
_TIMES = rf"{_SPACE}(?:×|x|\\times|\\cdot|·|⋅|∗|\*){_SPACE}"
_MANTISSA = r"(?:\d{1,3}(?:(?:,|\\,|\{,\}|[\u2009\u202f])\d{3})+(?!\d)|\d{1,15})?(?:\.\d{1,20})?"
NUMBER = (
    rf"(?:{_POWER}|2{_SPACE}\^{_SPACE}\{{?\d{{1,2}}\}}?|(?=\.?\d){_MANTISSA}"
    rf"(?:{_TIMES}{_POWER}|{_TIMES}10{_SPACE}-{_SPACE}\d{{1,2}}|[eE][-−–+]?\d{{1,2}})?(?:{_SPACE}(?:\\?%|percent\b|k\b(?!/)|K\b|M\b|million\b|billion\b))?)"
)
WORDS = {
    "a single": 1, "single": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "twelve": 12, "sixteen": 16, "twenty": 20,
}  # fmt: skip
_DIGITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
WORDS |= {f"{word} {power}": n * size for power, size in (("hundred", 100), ("thousand", 1000)) for n, word in enumerate(_DIGITS, 1)}
_ONE = re.compile(rf"\$?(?P<sign>[-−–])?(?P<number>{NUMBER})\$?(?![\w^]|\.\d)")
_PAIR = re.compile(r"\$?(\d{1,5})\s*(?:×|x|\\times)\s*(\d{1,5})\$?(?!\s*(?:\d|\^|×|x\s*10))")
_NEXT = re.compile(
    rf"\s*(?:,\s*(?:and|or)?|\band\b|\bor\b|/|;)\s*\$?(?P<number>{NUMBER})\$?(?![\w^]|\.\d|\s*-?(?:training\s+)?(?:epochs?|steps|iterations|layers|heads|GPUs?)\b)"
)
_TUPLE = re.compile(rf"[(\[{{]\s*({NUMBER}(?:\s*,\s*{NUMBER}){{1,8}})\s*[)\]}}]")
_THEN = re.compile(r"\s*(?:,\s*(?:and\s+)?|and\s+|/\s*)")


@dataclass(frozen=True)
class Quantity:
    """A number (or list) as written, and where it ends; `items` are its parts, `choice` is true for alternatives ("or")."""

    text: str
    end: int
    items: tuple[str, ...] = ()
    choice: bool = False


def quantity(text: str, at: int, term: Term | None = None) -> Quantity | None:
    """The number that stands at a place of a text; for details that are lists, pairs and tuples as such."""
    if term and term.type == "list":
        if pair := _PAIR.match(text, at):
            return Quantity(f"[{pair[1]}, {pair[2]}]", pair.end(), (pair[1], pair[2]))
        if tuple_ := _TUPLE.match(text, at):
            return Quantity(f"[{tuple_[1]}]", tuple_.end(), tuple(tuple_[1].split(",")))
    match = _ONE.match(text, at)
    if not match:
        return None
    sign = "-" if match["sign"] else ""
    return Quantity(sign + match["number"], match.end(), (sign + match["number"],))


def in_order(text: str, at: int, terms: Sequence[Term]) -> list[Quantity]:
    """As many numbers from a place of a text on as there are details, each read as its detail's; none where there are more or fewer."""
    quantities: list[Quantity] = []
    for term in terms:
        then = _THEN.match(text, quantities[-1].end) if quantities else None
        next_quantity = quantity(text, then.end() if then else at, term) if then or not quantities else None
        if not next_quantity:
            return []
        quantities.append(next_quantity)
    return [] if not quantities or _NEXT.match(text, quantities[-1].end) else quantities


def listed(text: str, at: int) -> Quantity | None:
    """Numbers joined by commas, "and" or "or" from a place of a text on, in brackets or not; None for fewer than two."""
    opened = re.compile(r"\s*[\[({]\s*").match(text, at)
    start = opened.end() if opened else at
    match = _ONE.match(text, start)
    if not match:
        return None
    items, end, choice = [match["number"]], match.end(), False
    while len(items) < 12 and (more := _NEXT.match(text, end)):
        choice = choice or " or" in text[end : more.end()]
        items.append(more["number"])
        end = more.end()
    if len(items) < 2:
        return None
    return Quantity("[" + ", ".join(item.replace(",", "") for item in items) + "]", end, tuple(items), choice or bool(opened))
