"""How likely each line of a unit of code answers a question (pure).

The rarity of the question's words says where their names stand, but also a comment above, an opener that repeats a name on
every line, a list of parameters hold them. So beside the words count what kind of line it is, what stands around it, and
whether the question asks for such a line ("is rejected" for a `raise`, "by default" for a number). Words that stand on
few lines of the unit count more, as rare ones do in an index, and a table of word vectors, where there is one, tells which lines
speak of the same thing in other words. What each sign weighs is data (`data/focus.json`), fitted by
`benchmarks/focus.py` on questions about passages of packages whose answering lines are known.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from lineage.ports import WordEmbedder
from lineage.records import Focus
from lineage.text.tokens import tokens
from retrieval.search.focus import SIGNATURES, described, grown, naming, trimmed

Floats = NDArray[np.float64]
NEARLY = 0.95
_REACH, _NEAR = 10, 3.0
_REACHES, _FLAT = (0, 1, 3), 0.02
_INDENT, _DEEP, _MANY = 4, 6, 4
_FADES = (0.35, 0.6, 0.8)
_KINDS = {
    kind: re.compile(pattern)
    for kind, pattern in {
        "returns": r"(?:return|yield)\b",
        "raises": r"(?:raise|assert)\b",
        "branches": r"(?:if|elif|else|except|try|case)\b",
        "loops": r"(?:for|while)\b",
        "logs": r"(?:print|log|logger|logging|warnings|self\.log\w{0,20})\b",
        "keeps": r"self\.\w{1,80}\s?(?::[^=]{1,80})?=(?!=)",
        "assigns": r"[\w.\[\], ]{1,80}(?::[^=]{1,80})?(?:[-+*/@|&]|//|\*\*)?=(?!=)",
        "comments": r"#|//",
        "strings": r"[rfbu]?[\"']",
    }.items()
}
_AROUND = (("comments", -1), ("comments", 1), ("branches", -1), ("returns", 1), ("naming", 1))
_ASKED = {
    asked: re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)
    for asked, pattern in {
        "numbers": r"default\w*|value|many|much|size|rate|number|constant|factor|how (?:large|long|big|often)|fraction|percent\w*"
        r"|one|two|three|four|half|twice|zero|ten|\d+",
        "raises": r"rais\w*|error\w*|reject\w*|fail\w*|invalid|refus\w*|must|complain\w*|abort\w*|assert\w*|exception\w*|forbid\w*"
        r"|not allowed|validat\w*|check\w*|illegal|unsupported",
        "returns": r"return\w*|output\w*|result\w*|yield\w*|hand(?:s|ed)? back|deliver\w*|final\w*|gives?",
        "branches": r"if|when|unless|only|otherwise|without|except|whether|case|absent|missing|instead|either|else|fall ?back",
        "loops": r"loop\w*|each|every|iterat\w*|over|per|for all|repeat\w*|until|while|step\w*",
        "logs": r"print\w*|log(?:s|ged|ging)?|report\w*|warn\w*|message|display\w*",
        "keeps": r"initial\w*|set ?up|start\w*|construct\w*|creat\w*|build\w*|store\w*|register\w*|keep\w*",
        "parameters": r"argument\w*|option\w*|parameter\w*|switch\w*|flag\w*|default\w*|configur\w*|accept\w*",
    }.items()
}
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_OPERATOR = re.compile(r"[-+*/%@<>]=?|==|!=")


def focus_of_code(text: str, first_line: int, worth: Mapping[str, float], question: str, table: WordEmbedder | None = None) -> Focus | None:
    """The lines of code (whose first is `first_line`) that answer best; None if none of the question's words is in it.

    `worth` is the rarity of each of the question's words; `table` is the packaged table of words (`static`).
    """
    lines = text.split("\n")
    if worth.keys().isdisjoint(token for line in lines for token in tokens(line)):
        return None
    start, end = trimmed(lines, *grown(likelihoods(lines, worth, question, table).tolist(), NEARLY))
    return Focus(first_line + start, first_line + end)


def likelihoods(lines: Sequence[str], worth: Mapping[str, float], question: str, table: WordEmbedder | None = None) -> Floats:
    """Of each line how likely it is among those that answer; `worth` is the rarity of each of the question's words."""
    features, weights = signs(lines, worth, question, table), _weights()["vectors" if table else "words"]
    names = [name for name in weights if name]
    logits = weights[""] + np.array([weights[name] for name in names]) @ np.stack([features[name] for name in names])
    return 1 / (1 + np.exp(-np.clip(logits, -30, 30)))


@cache
def _weights() -> dict[str, dict[str, float]]:
    """What each sign weighs, with and without the vectors of words; under the empty name what is added to all."""
    fitted = json.loads(files("retrieval").joinpath("data/focus.json").read_text("utf-8"))
    return {kind: {str(name): float(weight) for name, weight in fitted[kind].items()} for kind in ("words", "vectors")}


def signs(lines: Sequence[str], worth: Mapping[str, float], question: str, table: WordEmbedder | None = None) -> dict[str, Floats]:
    """What speaks for or against each line, by name; every value is one array (lines,)."""
    line_words = [tokens(line) for line in lines]
    line_tokens = tuple(map(frozenset, line_words))
    shape = _shape(tuple(lines), line_tokens)
    asked = {name: float(bool(pattern.search(question))) for name, pattern in _ASKED.items()}
    meaning = _meaning(line_words, question, table, shape) if table else {}
    return shape | _words(line_tokens, worth, 1 - shape["naming"]) | _agreement(shape, asked) | meaning


@lru_cache(512)
def _shape(lines: tuple[str, ...], held: tuple[frozenset[str], ...]) -> dict[str, Floats]:
    """What a line is and where it stands, whatever is asked."""
    bare, at = [line.strip() for line in lines], np.arange(len(lines), dtype=np.float64)
    shape = {kind: _floats(bool(pattern.match(line)) for line in bare) for kind, pattern in _KINDS.items()}
    shape["naming"], shape["docstring"] = _floats(naming(lines)), _floats(described(lines))
    shape["signature"], shape["parameters"] = _floats(line.startswith(SIGNATURES) for line in bare), _parameters(bare)
    shape["blank"] = _floats(not line for line in bare)
    shape["indent"] = _indent(lines)
    shape["numbers"] = np.minimum(_floats(len(_NUMBER.findall(line)) for line in bare), _MANY)
    shape["operators"] = np.minimum(_floats(len(_OPERATOR.findall(line)) for line in bare), _DEEP)
    shape["length"] = np.log1p(_floats(len(line) for line in bare))
    shape["names"] = np.log1p(_floats(len(token_set) for token_set in held))
    shape["place"], shape["lines"] = at / max(len(lines) - 1, 1), np.full(len(lines), math.log(len(lines)))
    shape["first"], shape["last"] = np.exp(-at / _NEAR), np.exp(-at[::-1] / _NEAR)
    return shape | {f"{kind} {step:+d}": _shifted(shape[kind], step) for kind, step in _AROUND}


def _words(every: Sequence[frozenset[str]], worth: Mapping[str, float], inside: Floats) -> dict[str, Floats]:
    """How many of the question's words a line and its neighbours hold, as shares of what the whole unit holds."""
    line_tokens, many = [token_set & worth.keys() for token_set in every], len(every)
    often = Counter(token for token_set in line_tokens for token in token_set)
    known = {token: worth[token] for token in often}
    few = {token: value * math.log((many + 1) / (often[token] + 0.5)) / math.log(many + 1.5) for token, value in known.items()}
    plain, apart = _sums(line_tokens, known), _sums(line_tokens, few)
    asked, whole, total = (max(sum(some.values()), 1e-9) for some in (worth, known, few))
    features = {"worth": plain / whole, "apart": apart / total, "asked": plain / asked, "share": np.full(many, whole / asked)}
    features["words"] = np.minimum(_floats(len(token_set) for token_set in line_tokens), _DEEP)
    features["dense"] = features["worth"] / np.maximum(np.log1p(_floats(len(token_set) for token_set in every)), 0.7)
    features |= {f"faded {fade}": _peak(_faded(apart * inside, fade)) for fade in _FADES}
    features |= {f"apart {step:+d}": _shifted(features["apart"], step) for step in (-2, -1, 1, 2)}
    return features | {f"around {reach}": _sums(_unions(line_tokens, reach), few) / total for reach in (1, 3)}


def _agreement(shape: Mapping[str, Floats], asked: Mapping[str, float]) -> dict[str, Floats]:
    """Whether the line is of the kind that the question asks for."""
    number = (shape["numbers"] > 0).astype(np.float64)
    kinds = dict(shape) | {"numbers": number}
    features = {f"asked {name}": value * kinds[name] for name, value in asked.items()}
    return features | {"asked default": asked["numbers"] * number * shape["parameters"]}


def _meaning(line_words: Sequence[Sequence[str]], question: str, table: WordEmbedder, shape: Mapping[str, Floats]) -> dict[str, Floats]:
    """How like the question a line is alone and with its neighbours, and how far that stands out of the unit."""
    near = table.windows(line_words, _REACHES).astype(np.float64) @ table.queries([question])[0].astype(np.float64)
    near[0] = np.where(shape["blank"] > 0, np.median(near[0]), near[0])
    out = (near - near.mean(1, keepdims=True)) / (near.std(1, keepdims=True) + _FLAT)
    features = {f"like {reach}": near[at] for at, reach in enumerate(_REACHES)} | {
        f"stands out {reach}": out[at] for at, reach in enumerate(_REACHES)
    }
    return features | {"stand out": _peak(_faded(np.maximum(out[0], 0) * (1 - shape["naming"]), _FADES[1]))}


def _parameters(bare: Sequence[str]) -> Floats:
    """The lines of a signature from its head to where its brackets close."""
    features, depth, inside = np.zeros(len(bare)), 0, False
    for at, line in enumerate(bare):
        if line.startswith(SIGNATURES) and not line.startswith("@") and not inside:
            inside, depth = True, 0
        if inside:
            features[at] = 1.0
            depth += line.count("(") + line.count("[") - line.count(")") - line.count("]")
            inside = depth > 0
    return features


def _indent(lines: Sequence[str]) -> Floats:
    """Steps of indentation beside the least one of the unit; none for a blank line."""
    wide = [len(line) - len(line.lstrip()) for line in lines]
    least = min((width for width, line in zip(wide, lines, strict=True) if line.strip()), default=0)
    return np.minimum(_floats(max(width - least, 0) / _INDENT if line.strip() else 0.0 for width, line in zip(wide, lines, strict=True)), _DEEP)


def _sums(held: Iterable[frozenset[str]], worth: Mapping[str, float]) -> Floats:
    return _floats(sum(worth[token] for token in token_set) for token_set in held)


def _unions(held: Sequence[frozenset[str]], reach: int) -> Iterator[frozenset[str]]:
    return (frozenset().union(*held[max(0, at - reach) : at + reach + 1]) for at in range(len(held)))


def _faded(values: Floats, fade: float) -> Floats:
    """Each value with its neighbours', fading by `fade` a line."""
    return np.convolve(values, fade ** np.abs(np.arange(-_REACH, _REACH + 1)))[_REACH:-_REACH]


def _peak(values: Floats) -> Floats:
    return values / (float(values.max()) or 1.0)


def _shifted(values: Floats, step: int) -> Floats:
    """The value of the line `step` further down at each line, 0 beyond the ends."""
    moved = np.zeros(len(values))
    if step >= 0:
        moved[: max(len(values) - step, 0)] = values[step:]
    else:
        moved[-step:] = values[:step]
    return moved


def _floats(values: Iterable[float]) -> Floats:
    return np.fromiter(values, np.float64)
