"""Values that a text gives names that no list of details has: a symbol (`λ_cat`) or a term ("commitment cost") with its number. Pure.

The names come from the code that is audited: `lambda_cat: 1.0` is looked for as `λ_{cat}`, `lambda_cat` and "lambda cat",
`commitment_cost` as "commitment cost". What counts is the number that follows: behind "=", "is set to", "of", or, in a
list of names, the one at the same place of the list of numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from lineage.hyperparameters.values import number
from lineage.records import Setting
from lineage.text.tokens import parts, stem
from retrieval.decisions.provenance import TRIED
from retrieval.decisions.setting_words import setting_words
from retrieval.decisions.target_text import DONE, TargetSentence

_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ϵ": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta", "κ": "kappa",
    "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi", "ϕ": "phi", "ψ": "psi", "ω": "omega",
}  # fmt: skip
_LETTERS = frozenset(_GREEK.values())
_ALIASES = {"lam": "lambda", "lmbda": "lambda", "lambd": "lambda", "eps": "epsilon", "varepsilon": "epsilon", "sig": "sigma", "temp": "temperature"}
_LITTLE = (
    "weight weights coef coeff coefficient value init initial initialization default loss param parameter factor start end final first last scale"
    " scaling num n number the of for reg term hyper cfg config args 0 1 self"
)
_SAY_LITTLE = frozenset(_LITTLE.split())
"""Parts of a name in code that the text may leave out."""
_INDICES = frozenset({"num", "n", "reg", "min", "max", "term"})
"""Those that may be the index of a letter: `lambda_num`."""
_FORMAT = re.compile(r"\\(?:text|mathrm|mathbf|mathit|mathcal|rm|bf|operatorname|bm|boldsymbol|times)(?![a-z])|[$\\]")
_BRACES = re.compile(r"\{([^{}]{0,60})\}")
_TOKEN = re.compile(
    r"\d{1,9}(?:\.\d{1,9})?[A-Z]\b|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?%?|\.\d+|[^\W\d_]+(?:[_'][^\W_]+|\d+)*|[=,;:/()~≈]|\S"
)
_NUMBER = re.compile(r"(?:\d|\.\d)")
_LINK_WORDS = (
    "= : ~ ≈ is are was were be set fixed equal equals to as at of initialized initialised chosen default use used uses value values with by a an the"
    " and , from respectively we take takes ( ) factor rate coefficient ratio weight kept both constant probability"
)
_LINKS = frozenset(_LINK_WORDS.split())
_FIRM = re.compile(
    r"\b(?:set|sets|fix(?:ed)?|use[ds]?|using|choose|chose|default\w{0,2}|initiali[sz]\w{1,6}|adopt\w{0,2}|equal\w{0,2}|select\w{0,2}|take[ns]?|with)\b|="
)
_WORKED = re.compile(
    r"\b(?:simplicity|generality|limit|equivalent|recover\w{0,3}|reduces? to|proof|lemma|theorem|suppose|assum\w{1,4}|larger than|smaller than|"
    r"exceed\w{0,2}|increas\w{1,4}|decreas\w{1,4}|insensitive|example|e\.g)\b",
    re.IGNORECASE,
)
"""Words of a sentence that works with a symbol instead of setting it."""
_COUNT = re.compile(
    r"\b(?P<count>\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|twelve|sixteen)[ -]"
    r"(?P<unit>layer|head|block|stage|bit)s?\s(?P<noun>[A-Za-z]{2,30})"
)
_UNITS = frozenset(map(stem, ("layer", "head", "block", "stage", "bit")))
_COUNTS = "two three four five six seven eight nine ten twelve sixteen"
_WORDS = dict(zip(_COUNTS.split(), (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16), strict=True))
_REFERRED = re.compile(
    r"\b(?:fig(?:ure|s?\.)|tab(?:le|\.)|sec(?:tion|\.)|eq(?:uation|s?\.)|appendix|algorithm|step)s?[~ ]"
    r"\(?[\d.]{1,8}\)?|\(\d{1,3}\)|\[[^\[\]]{1,200}\]",
    re.IGNORECASE,
)
_CITED = re.compile(r"\[[^\[\]]{1,300}\]")
_COUNTING = ("num", "n_", "number")
_PREFIX, _REACH, _MOST_PIECES = 3, 12, 4
_EVERYWHERE = frozenset(("epochs", "length", "layers", "blocks", "height", "number", "hidden", "tokens"))
_WORD = 6
"""Letters of a word from which on it may be the whole name of a setting in a text."""


@dataclass(frozen=True)
class Named:
    """A number that code gives a name: the name's telling parts, in order, and the file and line."""

    name: str
    pieces: tuple[str, ...]
    value: float
    path: str
    line: int

    @property
    def is_count(self) -> bool:
        """Whether its only part is the unit of a count ("two-layer")."""
        return len(self.pieces) == 1 and stem(self.pieces[0]) in _UNITS

    @property
    def is_word(self) -> bool:
        """Whether the name is one word that tells it from others: `timestep`, not `size`."""
        return len(self.pieces) == 1 and self.name.lower() == self.pieces[0] and len(self.name) >= _WORD and self.name.lower() not in _words_of_all()


@dataclass(frozen=True)
class Statement:
    """The number that a sentence gives a name; `firm` if the sentence says that it was set."""

    value: float
    said: TargetSentence
    firm: bool


@cache
def _words_of_all() -> frozenset[str]:
    """Words that name settings in every repository."""
    return setting_words().generic | setting_words().running | _SAY_LITTLE | _EVERYWHERE


def settings_of(settings: Iterable[Setting], every: bool = False) -> Iterator[Named]:
    """The numbers that code and configuration give names, each name and place once; `every` name, or those that a text may use."""
    seen: set[tuple[str, str, float]] = set()
    for setting in settings:
        name = setting.name.rpartition(".")[2]
        pieces, amount = telling_pieces(name), number(setting.value)
        if (pieces or every) and amount is not None and (setting.path, name, float(amount)) not in seen:
            seen.add((setting.path, name, float(amount)))
            yield Named(name, pieces, float(amount), setting.path, setting.line)


def telling_pieces(name: str) -> tuple[str, ...]:
    """The parts of a name by which a text may call it, none where there are too many."""
    every = [_ALIASES.get(piece, piece) for piece in parts(name)]
    little = _SAY_LITTLE - _INDICES if every and every[0] in _LETTERS else _SAY_LITTLE
    pieces = tuple(piece for piece in every if piece not in little)
    if not setting_words().running.isdisjoint(every):
        return ()
    return pieces if len(pieces) <= _MOST_PIECES and all(len(piece) > 1 or len(pieces) > 1 for piece in pieces) else ()


class NamedValues:
    """The numbers that sentences give names."""

    def __init__(self, sentences: Sequence[TargetSentence]) -> None:
        self._sentences = [sentence for sentence in sentences if any(c.isdigit() for c in sentence.text) or _COUNT.search(sentence.text)]

    @cached_property
    def _read(self) -> list[tuple[TargetSentence, list[str]]]:
        return [(sentence, _TOKEN.findall(_CITED.sub("", plain(sentence.text)))) for sentence in self._sentences]

    @cached_property
    def _abbreviations(self) -> frozenset[str]:
        """The abbreviations of the text, in lower case."""
        return frozenset(token.lower() for _, tokens in self._read for token in tokens if len(token) >= _PREFIX and token.isupper())

    def of(self, name: Named) -> list[Statement]:
        """What the text gives a name, in its order."""
        statements: list[Statement] = []
        for sentence, tokens in self._read:
            counted = set(_counted(sentence.text, name.pieces))
            if len(name.pieces) == 1 and not name.is_word and name.pieces[0] not in _LETTERS and name.pieces[0] not in self._abbreviations:
                mentions: Iterable[tuple[int, int]] = ()
                counted |= set(_number_of(tokens, name)) if name.name.lower().startswith(_COUNTING) else set()
            else:
                mentions = _mentions(tokens, name.pieces)
            values = counted | {value for at, after in mentions for value in _given(tokens, at, after)}
            done = sentence.weight >= DONE and not _WORKED.search(sentence.text) and not TRIED.search(sentence.text)
            firm = done and (bool(counted) or _FIRM.search(sentence.text) is not None)
            statements += [Statement(value, sentence, firm) for value in sorted(values)]
        return statements

    def near(self, name: Named) -> set[float]:
        """Every number of the sentences that use a name, but those of figures and sections."""
        numbers: set[float] = set()
        for sentence, tokens in self._read:
            if not sentence.table and next(_mentions(tokens, name.pieces), None):
                numbers |= {
                    float(value)
                    for token in _TOKEN.findall(_REFERRED.sub("", sentence.text))
                    if _NUMBER.match(token) and (value := number(token)) is not None
                }
        return numbers


def plain(text: str) -> str:
    """A sentence with its formulas as plain characters: `$\\lambda_{\\text{cat}}$` is lambda_cat."""
    text = "".join(_GREEK.get(c, c) for c in text)
    text = _FORMAT.sub("", text)
    for _ in range(3):
        text = _BRACES.sub(r"\1", text)
    return text


def _mentions(tokens: Sequence[str], pieces: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where a name stands: (first token, one after the last)."""
    split = [parts(token) for token in tokens]
    for at in range(len(tokens)):
        rest, end = list(pieces), at
        while end < len(tokens) and rest and split[end] and _starts(split[end], rest):
            rest = rest[len([piece for piece in split[end] if piece not in {"0"}]) :]
            end += 1
        if not rest and end > at:
            yield at, end


def _starts(token: Sequence[str], rest: Sequence[str]) -> bool:
    """Whether all parts of a word are the next parts of a name; an index 0 is the initial value."""
    mine = [piece for piece in token if piece != "0"]
    return 0 < len(mine) <= len(rest) and all(_stands_for(a, b) for a, b in zip(mine, rest, strict=False))


def _stands_for(word: str, piece: str) -> bool:
    word = _ALIASES.get(word, word)
    short, long = sorted((word, piece), key=len)
    return word == piece or stem(word) == stem(piece) or (len(short) >= _PREFIX and long.startswith(short) and word not in _LETTERS)


def _given(tokens: Sequence[str], first: int, after: int) -> Iterator[float]:
    """The numbers that follow a name: its own of a list of numbers, both of "from X to Y"."""
    names, place, at = 1, 0, first - 1
    while at >= 1 and tokens[at] in {"and", ","} and _is_symbol(tokens[at - 1]):
        names, place, at = names + 1, place + 1, at - 2
    numbers: list[float] = []
    spanned = False
    for at in range(after, min(len(tokens), after + _REACH)):
        token, word = tokens[at], tokens[at].lower()
        if _NUMBER.match(token):
            value = number(token)
            numbers += [float(value)] if value is not None else []
        elif numbers and token not in {"and", ",", "to", "/"}:
            break
        elif not numbers and _is_symbol(token) and tokens[at - 1] in {"and", ","}:
            names += 1
        elif not numbers and word not in _LINKS and not (_is_symbol(token) and tokens[at + 1 : at + 2] == ["="]):
            return
        spanned = spanned or (word == "from" and not numbers)
    if len(numbers) == names and names > 1:
        yield numbers[place]
    elif numbers:
        yield from numbers if spanned or len(numbers) > 1 else numbers[:1]


def _number_of(tokens: Sequence[str], name: Named) -> Iterator[float]:
    """The counts of "200 queries", "200 learnable queries" for `num_queries`."""
    for at, token in enumerate(tokens):
        counted = [parts(one)[-1:] for one in tokens[at + 1 : at + 3]]
        if (
            _NUMBER.match(token)
            and any(pieces and stem(pieces[0]) == stem(name.pieces[0]) for pieces in counted)
            and (value := number(token)) is not None
        ):
            yield float(value)


def _is_symbol(token: str) -> bool:
    return "_" in token or token in _LETTERS or (len(token) == 1 and token.isalpha())


def _counted(text: str, pieces: Sequence[str]) -> Iterator[float]:
    """The counts of "five-layer MLP" for the parts `mlp` and `layers`, or `layers` alone."""
    for count in _COUNT.finditer(text):
        wanted = [stem(count["unit"]), stem(count["noun"].lower())]
        if sorted(wanted) == sorted(stem(piece) for piece in pieces) or [stem(piece) for piece in pieces] == wanted[:1]:
            yield float(_WORDS.get(count["count"].lower(), 0) or number(count["count"]) or 0)
