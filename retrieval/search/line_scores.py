"""How likely each line of a unit of code answers a question (pure).

The rarity of the question's words says where their names stand, but also a comment above, an opener that repeats a name on
every line, a list of parameters hold them. So beside the words count what kind of line it is, what stands around it, and
whether the question asks for such a line ("is rejected" for a `raise`, "by default" for a number). Words that stand on
few lines of the unit count more, as rare ones do in an index, and a table of word vectors, where there is one, tells which lines
speak of the same thing in other words. What each sign weighs is data (`data/focus.json`), fitted by
`benchmarks/focus.py` on questions about passages of packages whose answering lines are known.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache

import numpy as np

from lineage.ports import WordEmbedder
from lineage.records import Focus
from lineage.tables import packaged
from lineage.text.tokens import tokens
from retrieval.search.focus import SIGNATURES, Floats, described, faded, grown, naming, trimmed

NEARLY = 0.95
_LOOSELY, _DECIDED = 0.8, 2.0
"""How much of the best line's value a line has that belongs to a decision, and what a statement that takes one counts beside the best line."""
_REACH, _NEAR = 10, 3.0
_REACHES, _FLAT = (0, 1, 3), 0.02
_INDENT, _DEEP, _MANY = 4, 6, 4
_FADES = (0.35, 0.6, 0.8)
_FIRST = {
    word: kind
    for kind, words in {
        "returns": "return yield",
        "raises": "raise assert",
        "branches": "if elif else except try case",
        "loops": "for while",
        "logs": "print log logger logging warnings",
    }.items()
    for word in words.split()
}
"""What a line does by its first word."""
_WORD, _STRING, _LOGS = re.compile(r"\w+"), re.compile(r"[rfbu]?[\"']"), re.compile(r"self\.log\w{0,20}\b")
_KEEPS = re.compile(r"self\.\w{1,80}\s?(?::[^=]{1,80})?=(?!=)")
_ASSIGNS = re.compile(r"[\w.\[\], ]{1,80}(?::[^=]{1,80})?(?:[-+*/@|&]|//|\*\*)?=(?!=)")
_LINE = ("returns", "raises", "branches", "loops", "logs", "keeps", "assigns", "comments", "strings", "signature", "blank", "numbers", "operators")
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


def focus_of_code(
    text: str,
    first_line: int,
    worth: Mapping[str, float],
    question: str,
    table: WordEmbedder | None = None,
    decided: Mapping[int, float] | None = None,
) -> Focus | None:
    """The lines of code (whose first is `first_line`) that answer best; None if none of the question's words is in it.

    `worth` is the rarity of each of the question's words; `table` is the packaged table of words (`static`). Where a decision is asked for,
    `decided` are the lines of statements that take one of its kind, with how surely it is asked for; lines near them then belong to the answer.
    Without a table these lines alone tell, where there are any.
    """
    lines = text.split("\n")
    if not decided and worth.keys().isdisjoint(tokens(text)):
        return None
    values = likelihoods(lines, worth, question, table) if table or not decided else np.zeros(len(lines))
    if decided is not None:
        stated = np.array([decided.get(first_line + at, 0.0) for at in range(len(lines))])
        values = faded(_peak(values) + _DECIDED * stated, _FADES[-1], _REACH)
    start, end = trimmed(lines, *grown(values.tolist(), NEARLY if decided is None else _LOOSELY))
    return Focus(first_line + start, first_line + end)


def likelihoods(lines: Sequence[str], worth: Mapping[str, float], question: str, table: WordEmbedder | None = None) -> Floats:
    """Of each line how likely it is among those that answer; `worth` is the rarity of each of the question's words."""
    features, (bias, names, weights) = signs(lines, worth, question, table), _weights("vectors" if table else "words")
    logits = bias + weights @ np.array([features[name] for name in names])
    values: Floats = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    return values


@cache
def _weights(kind: str) -> tuple[float, tuple[str, ...], Floats]:
    """What is added to all lines, the signs and what each weighs, with and without the vectors of words."""
    fitted = packaged("focus", "retrieval")[kind]
    names = tuple(name for name in fitted if name)
    return float(fitted[""]), names, np.array([float(fitted[name]) for name in names])


def signs(lines: Sequence[str], worth: Mapping[str, float], question: str, table: WordEmbedder | None = None) -> dict[str, Floats]:
    """Features of each line, by name; every value is one array (lines,)."""
    line_words = [tokens(line) for line in lines]
    line_tokens = tuple(map(frozenset, line_words))
    shape = _shape(lines, line_tokens)
    meaning = _meaning(line_words, question, table, shape) if table else {}
    return shape | _words(line_tokens, worth, 1 - shape["naming"]) | _agreement(shape, _asked(question)) | meaning


@lru_cache(64)
def _asked(question: str) -> Mapping[str, float]:
    """Of each kind of line whether a question asks for it."""
    return {name: float(bool(pattern.search(question))) for name, pattern in _ASKED.items()}


@lru_cache(64)
def _question(table: WordEmbedder, question: str) -> Floats:
    vector: Floats = table.queries([question])[0].astype(np.float64)
    return vector


@lru_cache(1 << 13)
def _line(bare: str) -> tuple[float, ...]:
    """What a line without its indentation is, in the order of `_LINE`."""
    word, assigns = _WORD.match(bare), "=" in bare
    first = word[0] if word else ""
    logs = first == "self" and _LOGS.match(bare) is not None
    does = [_FIRST.get(first) == kind or (kind == "logs" and logs) for kind in _LINE[:5]]
    keeps = assigns and first == "self" and _KEEPS.match(bare) is not None
    sets = assigns and _ASSIGNS.match(bare) is not None
    kinds = (*does, keeps, sets, bare.startswith(("#", "//")), _STRING.match(bare) is not None, bare.startswith(SIGNATURES), not bare)
    return (*map(float, kinds), min(len(_NUMBER.findall(bare)), _MANY), min(len(_OPERATOR.findall(bare)), _DEEP))


def _shape(lines: Sequence[str], token_sets: Sequence[frozenset[str]]) -> dict[str, Floats]:
    """What a line is and where it stands, whatever is asked."""
    bare, at = [line.strip() for line in lines], np.arange(len(lines), dtype=np.float64)
    shape: dict[str, Floats] = dict(zip(_LINE, np.array([_line(line) for line in bare], np.float64).T.copy(), strict=True))
    shape["naming"], shape["docstring"] = _floats(naming(lines)), _floats(described(lines))
    shape["parameters"], shape["indent"] = _parameters(bare), _indent(lines)
    shape["length"] = np.log1p(_floats(len(line) for line in bare))
    shape["names"] = np.log1p(_floats(len(token_set) for token_set in token_sets))
    shape["place"], shape["lines"] = at / max(len(lines) - 1, 1), np.full(len(lines), math.log(len(lines)))
    shape["first"], shape["last"] = np.exp(-at / _NEAR), np.exp(-at[::-1] / _NEAR)
    return shape | {f"{kind} {step:+d}": _shifted(shape[kind], step) for kind, step in _AROUND}


def _words(every: Sequence[frozenset[str]], worth: Mapping[str, float], inside: Floats) -> dict[str, Floats]:
    """How many of the question's words a line and its neighbours hold, as shares of what the whole unit holds."""
    some, many = [token for token in worth if any(token in token_set for token_set in every)], len(every)
    holds = np.array([[token in token_set for token in some] for token_set in every], np.float64).reshape(many, len(some))
    known = np.array([worth[token] for token in some])
    few = known * np.log((many + 1) / (holds.sum(0) + 0.5)) / math.log(many + 1.5)
    plain, apart = holds @ known, holds @ few
    asked, whole, total = (max(float(value), 1e-9) for value in (sum(worth.values()), known.sum(), few.sum()))
    features = {"worth": plain / whole, "apart": apart / total, "asked": plain / asked, "share": np.full(many, whole / asked)}
    features["words"] = np.minimum(holds.sum(1), _DEEP)
    features["dense"] = features["worth"] / np.maximum(np.log1p(_floats(len(token_set) for token_set in every)), 0.7)
    features |= {f"faded {fade}": _peak(faded(apart * inside, fade, _REACH)) for fade in _FADES}
    features |= {f"apart {step:+d}": _shifted(features["apart"], step) for step in (-2, -1, 1, 2)}
    sums, at = np.concatenate([np.zeros((1, len(some))), holds.cumsum(0)]), np.arange(many)
    near = {reach: sums[np.minimum(at + reach + 1, many)] - sums[np.maximum(at - reach, 0)] for reach in (1, 3)}
    return features | {f"around {reach}": (often > 0) @ few / total for reach, often in near.items()}


def _agreement(shape: Mapping[str, Floats], asked: Mapping[str, float]) -> dict[str, Floats]:
    """Whether the line is of the kind that the question asks for."""
    number = (shape["numbers"] > 0).astype(np.float64)
    kinds = dict(shape) | {"numbers": number}
    none = np.zeros(len(number))
    features = {f"asked {name}": kinds[name] if value else none for name, value in asked.items()}
    return features | {"asked default": asked["numbers"] * number * shape["parameters"]}


def _meaning(line_words: Sequence[Sequence[str]], question: str, table: WordEmbedder, shape: Mapping[str, Floats]) -> dict[str, Floats]:
    """How like the question a line is alone and with its neighbours, and how far that stands out of the unit."""
    asked: Floats = _question(table, question)  # type: ignore[arg-type] # a protocol says nothing of hashes
    near: Floats = table.windows(line_words, _REACHES).astype(np.float64) @ asked
    ranked, many = np.sort(near[0]), len(line_words)
    near[0] = np.where(shape["blank"] > 0, (ranked[(many - 1) // 2] + ranked[many // 2]) / 2, near[0])
    out = (near - near.mean(1, keepdims=True)) / (near.std(1, keepdims=True) + _FLAT)
    features = {f"like {reach}": near[at] for at, reach in enumerate(_REACHES)} | {
        f"stands out {reach}": out[at] for at, reach in enumerate(_REACHES)
    }
    return features | {"stand out": _peak(faded(np.maximum(out[0], 0) * (1 - shape["naming"]), _FADES[1], _REACH))}


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
