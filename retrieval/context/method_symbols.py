r"""The method's symbols and quantities with the values that the paper prints: `\tau = 0.07`, "the number of centroids is set to 64" (pure).

Read from sentences on what was done and from tables of hyper-parameters. A formula of a proof sets nothing, and what the
checklist knows by name (a learning rate, a batch size) is said there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lineage.citation import pinpoint
from lineage.records import Hit
from retrieval.context.markdown import inline, inline_path
from retrieval.context.settings_file import ConfigLine
from retrieval.decisions import target_text as text
from retrieval.decisions.target_text import TargetSentence, TargetText

MOST = 16
"""Symbols that are told."""
_DONE = 0.8
_WEIGHT = 1.2
_VALUES = 4
_SECTION = "method"
_POWER = r"(?:\s?(?:\\times|×|\\cdot)\s?10\^\{?-?\d+\}?|\s?\{?[eE]\}?\s?\{?-?\d+\}?|\^\{?-\d+\}?)"
_NUMBER = rf"-?(?:\d{{1,3}}(?:,\d{{3}})+|\d+(?:\.\d+)?|\.\d+){_POWER}?"
_LETTER = r"(?:\\(?:[a-z]{2,8}|[A-Z][a-z]{2,8})|[A-Za-zα-ωΓΔΘΛΣΦΨΩ])"
_INDEX = r"(?:[_^](?:\{[^$=]{1,30}?\}+|\\?\w+))"
_SYMBOL = rf"(?P<symbol>{_LETTER}{_INDEX}{{0,2}})"
_EQUATED = re.compile(rf"(?:\$|,\s?|\(\s?){_SYMBOL}\s?(?:=|\\equiv|:=)\s?(?P<value>{_NUMBER})(?=\s?(?:[$,;)]|\\%|%))")
_SET = r"\s(?:is|are|was|were)\s(?:all\s)?(?:set|fixed)\s(?:to|at)\s"
_LISTED = re.compile(rf"(?P<names>[^.;:]{{1,160}}?){_SET}(?P<values>\$?{_NUMBER}\$?(?:(?:,|,? and)\s\$?{_NUMBER}\$?){{0,4}})")
_BARE = re.compile(rf"\$\s?(?P<symbol>{_LETTER}{_INDEX}{{0,2}})\s?\$|(?<![\w$])(?P<greek>[α-ω])(?![\w$])")
_NAMED = re.compile(rf"\b(?:the|an?)\s(?P<name>[a-z][a-z-]*(?:\s[a-z-]+){{0,5}}?){_SET}\$?(?P<value>{_NUMBER})(?![\w.]*\w)")
_CUE = re.compile(
    r"\b(?:set|sets|setting|use|uses|using|fix|fixed|choose|chosen|select|default|adopt|take|with|where|hyper-?param\w*)\b", re.IGNORECASE
)
_WORKED = re.compile(
    r"\b(?:suppose|assum\w*|proof|lemma|theorem|proposition|equivalent|recovers?|reduces? to|simplicity|generality|limit|when|compared to)\b",
    re.IGNORECASE,
)
_KNOWN = re.compile(
    r"learning rate|batch size|weight decay|epoch|dropout|warm-?up|seed|adam|momentum|patch size|hidden|layers?\b|heads?\b", re.IGNORECASE
)
_COUNTERS = re.compile(r"\\(?:alpha|beta)_\{?[12t]\}?\Z|[ijkntx]\Z|[xyzt]_")
_COUNTED = re.compile(r"^#|params\b|FLOP|accuracy|\bFID\b|score", re.IGNORECASE)
"""What a table counts or measures of a model, and nobody sets."""
_TABLE = re.compile(r"hyper-?param|parameter|configuration|settings?\b|notation|symbol", re.IGNORECASE)
_PLAIN = re.compile(r"[\\{}$]|(?:mathrm|text|mathcal|operatorname|bm|mathbf)")


@dataclass(frozen=True)
class SymbolValue:
    """A symbol or a name as printed, with its value and the sentence that gives it."""

    symbol: str
    value: str
    sentence: TargetSentence


def config_lines(target_text: TargetText) -> list[ConfigLine]:
    """A line for each symbol: its value with the place, or all values where it has several."""
    by_key: dict[str, list[SymbolValue]] = {}
    for given in read(target_text.sentences):
        if key := _key(given.symbol):
            by_key.setdefault(key, []).append(given)
    lines = [_line(key, some, text.hit(some[0].sentence, target_text.work)) for key, some in by_key.items()]
    return lines[:MOST]


def read(sentences: Iterable[TargetSentence]) -> Iterator[SymbolValue]:
    """Every symbol and quantity that a sentence or a table of settings gives a value."""
    for sentence in sentences:
        if sentence.weight < _DONE or sentence.quoted or sentence.chunk.role == "equation":
            continue
        if sentence.table:
            yield from _row(sentence)
        elif not _WORKED.search(sentence.text) and "$$" not in sentence.text:
            yield from _sentence(sentence)


def _sentence(sentence: TargetSentence) -> Iterator[SymbolValue]:
    if _CUE.search(sentence.text):
        for match in _EQUATED.finditer(sentence.text):
            if not _COUNTERS.match(match["symbol"]):
                yield SymbolValue(match["symbol"], match["value"], sentence)
    for match in _LISTED.finditer(sentence.text):
        symbols = [bare["symbol"] or bare["greek"] for bare in _BARE.finditer(match["names"])]
        values = re.findall(_NUMBER, re.sub(r"\[[^\]]*\]", "", match["values"]))
        if symbols and len(values) >= len(symbols):
            yield from (SymbolValue(symbol, value, sentence) for symbol, value in zip(symbols, values, strict=False) if not _COUNTERS.match(symbol))
    for match in _NAMED.finditer(sentence.text):
        if not _KNOWN.search(match["name"]):
            yield SymbolValue(match["name"], match["value"], sentence)


def _row(sentence: TargetSentence) -> Iterator[SymbolValue]:
    """A row of a table of hyper-parameters that names one and gives its value."""
    cells = [cell.strip() for cell in sentence.text.split("|") if cell.strip()]
    if (
        not 2 <= len(cells) <= 4
        or not _TABLE.search(f"{sentence.header} {sentence.chunk.header}")
        or _KNOWN.search(cells[0])
        or _COUNTED.search(cells[0])
    ):
        return
    value = cells[-1].strip("$ ")
    if re.fullmatch(_NUMBER, value) and not re.fullmatch(_NUMBER, cells[0].strip("$ ")):
        yield SymbolValue(cells[0].strip("$ "), value, sentence)


def _key(symbol: str) -> str:
    return re.sub(r"\W+", "_", _PLAIN.sub("", symbol)).strip("_")


def _line(key: str, some: Sequence[SymbolValue], hit: Hit) -> ConfigLine:
    values = list(dict.fromkeys(_written(given.value) for given in some))
    where = inline_path(pinpoint(hit))
    if len(values) > 1:
        return ConfigLine(_SECTION, f"# {key}: one for each of several: {', '.join(values[:_VALUES])}: {where}", _WEIGHT / 2, (hit,))
    return ConfigLine(_SECTION, f"{key}: {values[0]}  # stated: {where}: {inline(some[0].sentence.text, 60)}", _WEIGHT, (hit,))


def _written(value: str) -> str:
    """A number as YAML reads it: `1{e}{-3}` and `1 \\times 10^{-3}` as `1.0e-3`."""
    plain = re.sub(r"[{}\s,]", "", value)
    power = re.fullmatch(r"(-?[\d.]+)(?:\\times|×|\\cdot)10\^(-?\d+)|(-?[\d.]+)[eE](-?\d+)", plain)
    if not power:
        base = re.fullmatch(r"(\d+)\^(-\d+)", plain)
        return f"1.0e{base[2]}" if base and base[1] == "10" else plain
    mantissa, exponent = power[1] or power[3], power[2] or power[4]
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{exponent if exponent[0] == '-' else '+' + exponent}"
