"""What a question is about: the details that it names or asks the value of, and the models, data sets, tasks and experiments it names. Pure.

"How many epochs is ViT-B trained on ImageNet?" is no question about all that a lineage trains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from lineage.hyperparameters.ontology import Ontology
from lineage.hyperparameters.terms import fold
from lineage.text.tokens import STOP, parts

_WORD = re.compile(r"[^\W_](?:[\w.+×-]{0,60}[^\W_])?")
_RUN = re.compile(r"[^\W_]{1,60}")
_SIZES = {"t": "tiny", "s": "small", "b": "base", "l": "large", "h": "huge", "g": "giant", "xl": "xlarge"}
"""How the sizes of a model are cut: ViT-B is `vit_base`."""
_CHOICES = ("optimizer", "activation", "normalization", "precision", "gpu_type")
"""Details whose values are written as names are, and name no experiment."""
_NAMED_FROM = 4
"""Letters from which on a name may go on with digits: `llama` is spoken of by `llama2_7b`."""
LONGEST = 8_000
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.-]{0,60}")
_SPOKEN = re.compile(r"[A-Za-z_][\w.@-]{0,60}|[,;?]")
_PHRASE = 4
_NUMBERS = frozenset(("number", "integer", "fraction"))
_WHAT = frozenset(("what", "which"))
_MEASURES = frozenset(("many", "much", "large", "long", "big", "high", "often", "far", "deep", "wide", "small", "strong", "low"))
_IS = frozenset(("is", "are", "was", "were"))
_JOINS = frozenset(("and", "or", ","))
_LEFT = (
    "is are was were does do did has have had can could will would should may might must be get gets of for in on at to from by with when where"
    " how that per after before during without into between than as what which ? ;"
)
_DETERMINERS = frozenset(("a", "all", "an", "both", "each", "every", "its", "the", "their", "these", "this", "those"))
_ENDS = frozenset(_LEFT.split())
"""A verb, a preposition or the next question ends the nouns whose value is asked for."""
_QUALIFIED = "default value values maximum minimum max min exact initial fixed specific"
_PASSED = STOP | frozenset(_QUALIFIED.split())
_VAGUE = frozenset(("model", "models", "data", "dataset", "datasets", "method", "task", "loss", "training", "train", "name", "type", "used", "size"))
Name = tuple[str, ...]
Span = tuple[int, int]
_COINED = re.compile(
    r"(?:\b[Ww]e\s+(?:\w{1,20}\s+){0,2}?(?:introduce|propose|present|develop|release|design|build|construct|create|curate)|\b(?:called|named|dubbed|termed))"
    r"\s+(?:(?:our|an?|the)\s+)?(?:[\"'`“‘$(]|\\\w{1,20}\{)*([A-Za-z][\w+-]{2,39})"
)
_NO_NAME = re.compile(r"[A-Z][a-z]+(?:-[A-Z]?[a-z]+)*\Z|.*-[a-z]+\Z|[A-Z]+s\Z")
"""Words joined (Few-Shot, BERT-based), and plurals (LLMs)."""
_ABSTRACT = 4_000


def names_of(question: str, known: Ontology) -> tuple[Name, ...]:
    """The names in a question (models, data sets ...), without the details that it names and values such as optimizers."""
    names: list[list[str]] = []
    end = -1
    for word, start, stop in _undetailed(question[:LONGEST], [named.span for named in _named(question, known)], known):
        if _is_name(word, start == 0, known):
            names += [] if end > 0 and not question[end:start].strip() else [[]]
            names[-1].append(word)
            end = stop
    return tuple(map(tuple, names))


def _undetailed(question: str, details: Sequence[Span], known: Ontology) -> Iterator[tuple[str, int, int]]:
    """The words of a question with their places, without those that name a detail or a value of optimisers and the like."""
    for match in _WORD.finditer(question):
        word = match[0].replace("×", "x")
        named = any(start <= match.start() < stop for start, stop in details)
        if not named and not any(fold(word) in known.terms[name].choices for name in _CHOICES):
            yield word, match.start(), match.end()


def _is_name(word: str, first: bool, known: Ontology) -> bool:
    """Whether a word is written as a name: with a capital or with letters and digits."""
    if word.lower() in STOP or not any(c.isalpha() for c in word):
        return False
    naming = known.naming(word)
    return any(c.isupper() or c.isdigit() for c in word[first:]) and not (naming and not naming.scope)


def share_spoken(names: Sequence[Name], text: str) -> float:
    """The share of these names (one at least) that a text speaks of."""
    lowered = text.replace("×", "x").lower()
    if not any(all(_may_speak(lowered, word) for word in name) for name in names):
        return 0.0
    words = words_of(text)
    return sum(_speaks(words, name) for name in names) / len(names)


def words_of(text: str) -> frozenset[str]:
    """The words of a text in lower case: runs of letters and digits, their parts, and neighbours joined by a sign (`wav2vec_2`)."""
    return frozenset(word for run in set(_RUN.findall(text.replace("×", "x")[:LONGEST])) for word in _words(run))


@lru_cache(1 << 11)
def _words(run: str) -> tuple[str, ...]:
    return (run.lower(), *parts(run))


def _speaks(words: frozenset[str], name: Name) -> bool:
    """Whether all words of a name are there, each whole or in the pieces that signs part."""
    return all(_has(words, fold(word)) or all(_has(words, run.lower()) for run in _RUN.findall(word)) for word in name)


def _may_speak(lowered: str, word: str) -> bool:
    """Whether a lower-case text contains a word, whole or in pieces: a quick test before `words_of`."""
    whole, *pieces = [(piece, _SIZES.get(piece, piece)) for piece in (fold(word), *(run.lower() for run in _RUN.findall(word)))]
    return any(form in lowered for form in whole) or all(any(form in lowered for form in piece) for piece in pieces)


def _has(words: frozenset[str], piece: str) -> bool:
    """Whether a piece is there, as it is, as what it is cut from, or with a number after it."""
    if piece in words or _SIZES.get(piece) in words:
        return True
    return len(piece) >= _NAMED_FROM and any(word.startswith(piece) and word[len(piece) :].isdigit() for word in words)


# -- the details that are named


class _Named(NamedTuple):
    """A detail that is named by so many words, between two places of the question."""

    name: str
    size: int
    span: Span


def _named(question: str, known: Ontology) -> list[_Named]:
    """The details that a question names, in its order, with the words that name each; the longest phrase that is a name counts, its parts do not."""
    places = list(_IDENTIFIER.finditer(question))[:200]
    words = [place[0].rstrip(".-") for place in places]
    nameds: list[_Named] = []
    at = 0
    while at < len(words):
        size, name = next(((size, name) for size in range(_PHRASE, 0, -1) if (name := _name(words[at : at + size], size, known))), (1, ""))
        first = at + _qualifying(words[at : at + size], known)
        nameds += [_Named(name, size, (places[first].start(), places[at + size - 1].end()))] if name else []
        at += size
    return nameds


def _qualifying(words: Sequence[str], known: Ontology) -> int:
    """How many of the first words of a detail's name only say of what it is: "BERT's" tokenizer."""
    naming = known.naming(" ".join(words))
    scope = naming.scope.split("_") if naming else []
    return next((n for n, word in enumerate(words) if word.lower() not in scope), 0)


def asked_details(question: str, known: Ontology) -> tuple[str, ...]:
    """Names of the details whose value a question asks for: "which optimiser ...", "how many epochs ...", or nothing but names of numbers.

    "which parameters are excluded from weight decay?" names one and asks for something else, as "activation" alone may.
    """
    asked = [name for phrase in _interrogated(question) if (name := known.name_of(" ".join(phrase)))]
    if not asked and _names_alone(question, known):
        asked = [named.name for named in _named(question, known) if known.terms[named.name].type in _NUMBERS]
    return tuple(dict.fromkeys(asked))


def _interrogated(question: str) -> list[list[str]]:
    """The nouns right after "what", "which" or "how many", up to the verb or preposition; what "and" joins to them, apart."""
    words = _SPOKEN.findall(question)[:200]
    asked: list[list[str]] = []
    at = 0
    while at < len(words):
        start = _after_interrogative([word.lower() for word in words[at : at + 3]])
        at += start or 1
        if not start:
            continue
        phrases: list[list[str]] = [[]]
        while at < len(words) and (word := words[at].lower()) not in _ENDS and len(phrases[-1]) < _PHRASE and not _is_verb(words[at : at + 2]):
            if word in _JOINS:
                phrases.append([])
            elif word not in _PASSED:
                phrases[-1].append(words[at])
            at += 1
        asked += filter(None, phrases)
    return asked


def _is_verb(words: Sequence[str]) -> bool:
    """Whether a word in -s governs the nouns that follow: "updates the", "scales each"."""
    return len(words) > 1 and words[0].lower().endswith("s") and words[1].lower() in _DETERMINERS


def _after_interrogative(words: Sequence[str]) -> int:
    """How many of the next words ask for what follows them; 0 if none."""
    if words[0] in _WHAT:
        return 2 if words[1:2] and words[1] in _IS else 1
    return 2 if words[0] == "how" and words[1:2] and words[1] in _MEASURES else 0


def _names_alone(question: str, known: Ontology) -> bool:
    """Whether all of the words that tell are names of details."""
    telling = [word for word in _IDENTIFIER.findall(question) if word.lower() not in _VAGUE | _PASSED]
    return sum(named.size for named in _named(question, known)) >= len(telling)


def _name(words: list[str], size: int, known: Ontology) -> str:
    if len(words) < size or words[0].lower() in STOP or words[-1].lower() in STOP or (size == 1 and words[0].lower() in _VAGUE):
        return ""
    name = known.name_of(" ".join(words)) or ""
    naming = known.naming(words[0]) if size == 1 else None
    # `ImageNet` is no net that a question asks for
    return "" if naming and naming.scope and known.terms[name].type == "text" else name


def coined(abstract: str) -> Iterator[str]:
    """Names that an abstract gives to what it is about ("we introduce PaperCoder"), of two capitals or more."""
    for match in _COINED.finditer(abstract[:_ABSTRACT]):
        name = match[1].strip("-+_")
        if sum(c.isupper() for c in name) > 1 and not _NO_NAME.match(name):
            yield name
