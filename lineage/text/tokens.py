"""Identifier-aware words, made the same way for the index, for questions and for single lines.

`initWeights`, `init_weights` and "init weights" have to meet, `nn.Linear` must be found by "linear", and
`1e-4` by "0.0001". Splitting identifiers is worth more than the choice of model (BM25 on docstring search:
MRR .34 without, .62 with), so it stands in one pure function that both sides share. Every token is made of
letters and digits only; what is special to the full-text engine can therefore not pass through.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

VERSION = "tokens@2"
MAX_TOKENS = 20_000
MAX_TERMS = 160
MAX_VARIANTS = 1_000
_MAX_WORD = 64
_LONG_LINE = 4_000
_RUN = re.compile(r"\d[\d_]*+(?:\.\d+)?+(?:[eE][+-]?\d{1,3})?+(?![^\W\d_])|\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d++[A-Za-z]?(?![A-Za-z])|\d+|[^\WA-Za-z\d_]+")
_LETTERS = re.compile(r"[A-Za-z]+")
_SHORTEST, _LONGEST = 3, 6
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ALNUM = re.compile(r"[\W_]+")

# Words that carry a sentence and no subject; the words of code among them ("for", "with", "not") go as well,
# because they stand in nearly every chunk.
_STOP = (
    "a an the of to in on at by is are was were be been being it its this that these those as and or if for from with without into"
    " we our us you your they their them he she his her i me my which who whom what when where how why does do did done has have had"
    " can could will would shall should may might must not no than then there here so such also each any all both between during"
    " before after above below over under about more most some only very just via per used use using"
)
STOP = frozenset(_STOP.split())


def fold(text: str) -> str:
    """Compatibility forms and accents taken away (NFKD without marks), case kept; ASCII passes untouched."""
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def parts(word: str) -> list[str]:
    """Lower-case pieces of one identifier: `_initWeights2d` gives init, weights, 2d."""
    return [piece.lower() for piece in _PART.findall(word)]


_ENDINGS = (
    ("izations", "iz"), ("ization", "iz"), ("isations", "iz"), ("isation", "iz"), ("izers", "iz"), ("izer", "iz"), ("isers", "iz"), ("iser", "iz"),
    ("izing", "iz"), ("ising", "iz"), ("ized", "iz"), ("ised", "iz"), ("izes", "iz"), ("ises", "iz"), ("ize", "iz"), ("ise", "iz"),
    ("ations", "at"), ("ation", "at"), ("ating", "at"), ("ated", "at"), ("ates", "at"), ("ate", "at"), ("ators", "at"), ("ator", "at"),
    ("ings", ""), ("ing", ""), ("edly", ""), ("ies", "y"), ("ied", "y"), ("sses", "ss"), ("ers", "er"), ("es", ""), ("ed", ""),
    ("ments", "ment"), ("ally", "al"), ("ly", ""), ("s", ""), ("e", ""),
)  # fmt: skip

_WHOLE = ("ss", "us", "is", "ias")
_BY_LAST = {last: tuple(pair for pair in _ENDINGS if pair[0].endswith(last)) for last in {ending[-1] for ending, _ in _ENDINGS}}


def stem(word: str) -> str:
    """A light stem: inflections and British spelling go, derivations mostly stay; words under four letters and numbers pass."""
    if len(word) < 4 or not word.isalpha() or not word.isascii() or word.endswith(_WHOLE):
        return word
    for ending, left in _BY_LAST.get(word[-1], ()):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            base = word[: len(word) - len(ending)]
            if not left and len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz":
                base = base[:-1]
            return base + left
    return word


def number(text: str) -> str:
    """One token for one value: `1e-4`, `0.0001` and `1.0e-04` give the same."""
    try:
        value = float(text.replace("_", ""))
    except ValueError:
        return ""
    return "n" + _ALNUM.sub("", f"{value:.6g}".replace(".", "p").replace("-", "m"))


@lru_cache(maxsize=1 << 13)
def _known(run: str) -> tuple[str, ...]:
    """The tokens of a short run: texts repeat their words (of numbers there is no end)."""
    return tuple(_run(run))


def _run(run: str) -> Iterator[str]:
    if run[0].isdigit() and ("." in run or "e" in run.lower()) and (value := number(run)):
        yield value
        return
    pieces = parts(run[: 4 * _MAX_WORD])
    for piece in pieces:
        if _WIDE.search(piece):
            yield from piece
        else:
            yield stem(piece[:_MAX_WORD])
    if len(pieces) > 1:
        yield "".join(pieces)[:_MAX_WORD]


def tokens(text: str) -> list[str]:
    """Tokens of a text in order, at most `MAX_TOKENS`: stems of every part, and each compound identifier whole."""
    token_list: list[str] = []
    for line in text.split("\n"):
        token_list.extend(_line(line) if len(line) <= _LONG_LINE else _cut(line))
        if len(token_list) >= MAX_TOKENS:
            return token_list[:MAX_TOKENS]
    return token_list


@lru_cache(maxsize=1 << 13)
def _line(line: str) -> tuple[str, ...]:
    """The tokens of a line: a question asks for those of the same passages several times."""
    return tuple(_cut(line))


def _cut(line: str) -> list[str]:
    found: list[str] = []
    for run in _RUN.findall(fold(line)):
        if len(run) > _MAX_WORD:
            found.extend(_run(run))
        elif run.isdecimal() and run.isascii():
            found.append(run)
        else:
            found.extend(_known(run))
    return found


def terms(question: str) -> list[str]:
    """Distinct tokens of a question that carry meaning, at most `MAX_TERMS`; all of them if only stop words are left."""
    seen = dict.fromkeys(tokens(question))
    content_terms = [token for token in seen if token not in STOP] or list(seen)
    return content_terms[:MAX_TERMS]


def variants(question: str) -> list[str]:
    """Other forms under which code may hold the question's words, at most `MAX_VARIANTS`, the likeliest first.

    Programmers abbreviate by cutting ("initialise" is `init`, "probability" `prob`) and join neighbours
    ("batch norm" is `batchnorm`); which of these exist, the index knows.
    """
    words = [word.lower() for word in _LETTERS.findall(fold(question))]
    pairs = [(first_word, other) for first_word, other in pairwise(words) if first_word not in STOP and other not in STOP]
    joined = [form for first_word, other in pairs for form in (first_word + other, stem(first_word) + other)]
    cut = [word[:length] for word in words if len(word) > _SHORTEST + 2 for length in range(_SHORTEST, min(_LONGEST, len(word) - 2) + 1)]
    excluded_terms = {*terms(question), *STOP}
    return [form for form in dict.fromkeys((*joined, *cut)) if form not in excluded_terms][:MAX_VARIANTS]


def fts_phrase(tokens_: Iterable[str]) -> str:
    """An FTS5 expression that the tokens satisfy one after another; "" for none."""
    words = " ".join(token for token in tokens_ if token.isalnum())
    return f'"{words}"' if words else ""


def fts_any(tokens_: Iterable[str]) -> str:
    """An FTS5 expression that any of the tokens satisfies; "" for none. What is not letters and digits is left out."""
    return " OR ".join(f'"{token}"' for token in tokens_ if token.isalnum())


def counted(n: int, thing: str) -> str:
    """`1 word`, `2 words`."""
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"
