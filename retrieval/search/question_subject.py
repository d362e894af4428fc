"""What a question is about: the details that it names or asks the value of, and the models, data sets, tasks and experiments it names. Pure.

"How many epochs is ViT-B trained on ImageNet?" is no question about all that a lineage trains.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

from lineage.hyperparameters.ontology import Ontology
from lineage.hyperparameters.terms import fold
from lineage.records import Work, WorkId
from lineage.text.tokens import STOP, parts
from retrieval.decisions.experiments import telling

_WORD = re.compile(r"[^\W_](?:[\w.+×-]{0,60}[^\W_])?")
_RUN = re.compile(r"[^\W_]{1,60}")
_SIZES = {"t": "tiny", "s": "small", "b": "base", "l": "large", "h": "huge", "g": "giant", "xl": "xlarge"}
"""How the sizes of a model are cut: ViT-B is `vit_base`."""
_CUT = frozenset((*_SIZES, *_SIZES.values()))
_CHOICES = ("optimizer", "activation", "normalization", "precision", "gpu_type")
"""Details whose values are written as names are, and name no experiment."""
_PLAIN = "use used uses using value values train trained training much many model models paper get set"
_ASKS = frozenset(_PLAIN.split())
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
_ENDS = frozenset(_LEFT.split())
"""A verb, a preposition or the next question ends the nouns whose value is asked for."""
_QUALIFIED = "default value values maximum minimum max min exact initial fixed specific"
_PASSED = STOP | frozenset(_QUALIFIED.split())
_SHARE = 0.4
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


@dataclass(frozen=True)
class Subject:
    """What a question names: `names` of one or more words each, `own` whether it names the target, `hints` further words that tell."""

    names: tuple[Name, ...]
    own: bool
    hints: frozenset[str]


def subject(question: str, details: Sequence[Span], known: Ontology, target: frozenset[str] = frozenset()) -> Subject:
    """The subject of a question: what is written as a name, but for the details at these places, values of optimisers and the like, and the
    folded names of the target."""
    names: list[list[str]] = []
    rest: list[str] = []
    own, end = False, -1
    for word, start, stop in _undetailed(question[:LONGEST], details, known):
        if fold(word) in target:
            own = True
        elif not _is_name(word, start == 0, known):
            rest.append(word)
        else:
            names += [] if end > 0 and not question[end:start].strip() else [[]]
            names[-1].append(word)
            end = stop
    return Subject(tuple(map(tuple, names)), own, telling(" ".join(word for word in rest if word.lower() not in _ASKS)))


def _undetailed(question: str, details: Sequence[Span], known: Ontology) -> Iterator[tuple[str, int, int]]:
    """The words of a question with their places, without those that name a detail or a value of optimisers and the like."""
    for match in _WORD.finditer(question):
        word = match[0].replace("×", "x")
        named = any(start <= match.start() < stop for start, stop in details)
        if not named and not any(fold(word) in known.terms[name].choices for name in _CHOICES):
            yield word, match.start(), match.end()


def called(target: Work, own: Iterable[WorkId]) -> frozenset[str]:
    """The folded names of a target: what stands before its title's colon, what its abstract introduces, its own repositories."""
    title = [target.title.partition(":")[0]] if ":" in target.title else []
    return frozenset(map(fold, (*title, *coined(target.abstract), *(work.rpartition("/")[2] for work in own))))


def _is_name(word: str, first: bool, known: Ontology) -> bool:
    """Whether a word is written as a name: with a capital or with letters and digits."""
    if word.lower() in STOP or not any(c.isalpha() for c in word):
        return False
    naming = known.naming(word)
    return any(c.isupper() or c.isdigit() for c in word[first:]) and not (naming and not naming.scope)


def is_heard(about: Subject, passages: Iterable[tuple[str, tuple[Work | None, ...]]]) -> bool:
    """Whether any of these passages, each with the works that it is of, has any of the names of a subject; true where there are none."""
    return not about.names or any(names_spoken(words_of(text), about) or any(map(partial(_is_called, about), works)) for text, works in passages)


def share_spoken(about: Subject, text: str) -> float:
    """The share of the names of a subject that a text speaks of; the subject has names."""
    lowered = text.replace("×", "x").lower()
    if not any(all(_may_speak(lowered, word) for word in name) for name in about.names):
        return 0.0
    return names_spoken(words_of(text), about) / len(about.names)


def _is_called(about: Subject, work: Work | None) -> bool:
    """Whether a name of a subject is that of a work, or goes on from it (`Paper2CodeBench`)."""
    if work is None:
        return False
    called = fold(work.id.rpartition("/")[2])
    goes_on = len(called) > _NAMED_FROM and any(fold(word).startswith(called) for name in about.names for word in name)
    return goes_on or names_spoken(words_of(f"{called} {work.title}"), about) > 0


def names_spoken(words: frozenset[str], about: Subject, beside: frozenset[str] = frozenset()) -> int:
    """How many of the names are spoken of; what stands `beside` may have all of a name but its last word."""
    return sum(_speaks(words, name[-1:]) and _speaks(words | beside, name) for name in about.names) if words else 0


def words_of(text: str) -> frozenset[str]:
    """The words of a text in lower case: runs of letters and digits, their parts, and neighbours joined by a sign (`wav2vec_2`)."""
    return frozenset(word for run in set(_RUN.findall(text.replace("×", "x")[:LONGEST])) for word in _words(run))


@lru_cache(1 << 14)
def _words(run: str) -> tuple[str, ...]:
    return (run.lower(), *parts(run))


def _speaks(words: frozenset[str], name: Name) -> bool:
    """Whether all words of a name are there, each whole or in the pieces that signs part."""
    return all(_has(words, fold(word)) or all(_has(words, run.lower()) for run in _RUN.findall(word)) for word in name)


def _may_speak(lowered: str, word: str) -> bool:
    """Whether a text in lower case has the letters of a word, whole or in pieces: if not, `words_of` it cannot speak of it."""
    whole, *pieces = [(piece, _SIZES.get(piece, piece)) for piece in (fold(word), *(run.lower() for run in _RUN.findall(word)))]
    return any(form in lowered for form in whole) or all(any(form in lowered for form in piece) for piece in pieces)


def _has(words: frozenset[str], piece: str) -> bool:
    """Whether a piece is there, as it is, as what it is cut from, or with a number after it."""
    if piece in words or _SIZES.get(piece) in words:
        return True
    return len(piece) >= _NAMED_FROM and any(word.startswith(piece) and word[len(piece) :].isdigit() for word in words)


def works_folded(about: Subject) -> frozenset[str]:
    """The folded names of a subject without sizes, as works may be called."""
    return frozenset(fold("".join(run for run in _RUN.findall(word) if run.lower() not in _CUT)) for name in about.names for word in name)


# -- the details that are named


def named_details(question: str, known: Ontology) -> tuple[str, ...]:
    """Names of details in the order of the question; the longest phrase that is a name counts, its parts do not."""
    return tuple(dict.fromkeys(named.name for named in _named(question, known)))


class _Named(NamedTuple):
    """A detail that is named by so many words, between two places of the question."""

    name: str
    size: int
    span: Span


def _named(question: str, known: Ontology) -> list[_Named]:
    """The same with the words that name each."""
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
    if not asked and asks_for(question, known, 1.0):
        asked = [name for name in named_details(question, known) if known.terms[name].type in _NUMBERS]
    return tuple(dict.fromkeys(asked))


def _interrogated(question: str) -> list[list[str]]:
    """The nouns right after "what", "which" or "how many", up to the verb or preposition; what "and" joins to them, apart."""
    words = _SPOKEN.findall(question)[:200]
    found: list[list[str]] = []
    at = 0
    while at < len(words):
        start = _after_interrogative([word.lower() for word in words[at : at + 3]])
        at += start or 1
        if not start:
            continue
        phrases: list[list[str]] = [[]]
        while at < len(words) and (word := words[at].lower()) not in _ENDS and len(phrases[-1]) < _PHRASE:
            if word in _JOINS:
                phrases.append([])
            elif word not in _PASSED:
                phrases[-1].append(words[at])
            at += 1
        found += filter(None, phrases)
    return found


def _after_interrogative(words: Sequence[str]) -> int:
    """How many of the next words ask for what follows them; 0 if none."""
    if words[0] in _WHAT:
        return 2 if words[1:2] and words[1] in _IS else 1
    return 2 if words[0] == "how" and words[1:2] and words[1] in _MEASURES else 0


def asks_for(question: str, known: Ontology, share: float = _SHARE) -> bool:
    """Whether details are what is asked for: so many of the words that tell are their names."""
    telling = [word for word in _IDENTIFIER.findall(question) if word.lower() not in _VAGUE | _PASSED]
    return sum(named.size for named in _named(question, known)) >= share * len(telling)


def _name(words: list[str], size: int, known: Ontology) -> str:
    if len(words) < size or words[0].lower() in STOP or words[-1].lower() in STOP or (size == 1 and words[0].lower() in _VAGUE):
        return ""
    found = known.name_of(" ".join(words)) or ""
    naming = known.naming(words[0]) if size == 1 else None
    # `ImageNet` is no net that a question asks for
    return "" if naming and naming.scope and known.terms[found].type == "text" else found


def subject_of(question: str, known: Ontology, target: frozenset[str] = frozenset()) -> Subject:
    """What a question is about besides the details that it names; `target` are the folded names of the target."""
    return subject(question, [named.span for named in _named(question, known)], known, target)


def coined(abstract: str) -> Iterator[str]:
    """Names that an abstract gives to what it is about ("we introduce PaperCoder"), of two capitals or more."""
    for match in _COINED.finditer(abstract[:_ABSTRACT]):
        name = match[1].strip("-+_")
        if sum(c.isupper() for c in name) > 1 and not _NO_NAME.match(name):
            yield name
