"""What a question is about besides details (models, data sets, tasks, experiments), and which holders of a value speak of it. Pure.

"How many epochs is ViT-B trained on ImageNet?" is no question about all that a lineage trains. A holder speaks of what stands
in its scope, path, headings, row or sentence, and in the command that it is part of; what a program takes if nobody says
otherwise is spoken of by the commands that run it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

from lineage.hyperparameters.ontology import Ontology
from lineage.hyperparameters.terms import fold
from lineage.records import Work, WorkId
from lineage.results import FactOccurrence
from lineage.text.tokens import STOP, parts
from retrieval.decisions.experiment_folders import Folders
from retrieval.decisions.experiments import telling
from retrieval.decisions.provenance import BEGINS, command_of, is_own_code, line_at, sentences_of
from retrieval.search.entity_routing import coined

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
_LONGEST = 8_000
_OTHER = re.compile(r"(?:,|\band\b|\bor\b)\s{1,3}(?=\$?\d[\w.,^{}\\-]{0,20}\$?\s(?:for|on|in|with)\b)")
"""What stands before the next of several values, each of something else: "2048 for A and 1024 for B"."""
Name = tuple[str, ...]
Span = tuple[int, int]


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
    for word, start, stop in _undetailed(question[:_LONGEST], details, known):
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


# -- who speaks of it


class _Rank(NamedTuple):
    """Orders holders: those that speak of a name; that stand in no other experiment's folder; the target's own where it speaks nearly, the
    work that is named, the target's own; by how many names are spoken of near the value, in its scope, around it; by hints."""

    speaks: bool
    inside: bool
    standing: int
    near: int
    scope: int
    around: int
    hints: int


@dataclass(frozen=True)
class SubjectMatcher:
    """The facts of a lineage by name, and what each speaks of."""

    held: Mapping[str, Sequence[FactOccurrence]]

    @cached_property
    def _run(self) -> Mapping[tuple[WorkId, str], frozenset[str]]:
        """The words of the commands that run each program of each work."""
        found: dict[tuple[WorkId, str], set[str]] = defaultdict(set)
        for occurrence in (one for some in self.held.values() for one in some if one.fact.kind == "command"):
            found[occurrence.fact.work, occurrence.fact.scope.rpartition("/")[2]] |= _words(
                f"{_saying(occurrence)} {' '.join(occurrence.evidence.chunk.section[-1:])}"
            )
        return {place: frozenset(words) for place, words in found.items()}

    @cached_property
    def _folders(self) -> Folders:
        """The folders of the target's own code that are an experiment each."""
        return Folders.of_files(occurrence.evidence.file for some in self.held.values() for occurrence in some if is_own_code(occurrence))

    def best(self, some: Sequence[FactOccurrence], about: Subject) -> FactOccurrence | None:
        """The first of those that speak most of a subject; none where it names something that nobody speaks of, or only others than the
        target do, which has values of its own: one value of its own is for all that it speaks of."""
        if about.own:
            some = [occurrence for occurrence in some if occurrence.evidence.from_target]
        ranked = [(self._rank(occurrence, about), occurrence) for occurrence in some]
        rank, first = max(ranked, key=lambda row: row[0], default=(None, None))
        if rank is None or not about.names:
            return first
        own = [occurrence for occurrence in some if occurrence.evidence.from_target]
        if rank.speaks and (rank.standing or not own):
            return first
        return own[0] if len({occurrence.fact.value for occurrence in own}) == 1 and self._knows(about) else None

    def hinted(self, occurrence: FactOccurrence, about: Subject) -> bool:
        """Whether a holder speaks of a name of a question, or of half of what else it hints at."""
        rank = self._rank(occurrence, about)
        return rank.speaks or (not about.names and 0 < len(about.hints) <= 2 * rank.hints)

    def _knows(self, about: Subject) -> bool:
        """Whether anything that the target's own text or code sets speaks of a name."""
        own = (occurrence for some in self.held.values() for occurrence in some if occurrence.evidence.from_target)
        return any(_spoken(_text(occurrence) | self._near(occurrence), about) for occurrence in own)

    def _rank(self, occurrence: FactOccurrence, about: Subject) -> _Rank:
        text = _text(occurrence) if about.names else frozenset[str]()
        near, scope = (_spoken(words, about, text) for words in (self._near(occurrence), _words(occurrence.fact.scope)))
        around, whose = 0 if _parted(occurrence) else _spoken(text, about), _is_of_named(occurrence, about)
        standing = 3 if near and occurrence.evidence.from_target else 2 if whose else int(occurrence.evidence.from_target)
        hints = len(about.hints & telling(f"{_place(occurrence)} {occurrence.fact.scope}")) if about.hints else 0
        return _Rank(bool(near or around or whose), self._inside(occurrence, about), standing, near, scope, around, hints)

    def _near(self, occurrence: FactOccurrence) -> frozenset[str]:
        """The words of where a holder stands and of what says it; a default is said with the commands that run its program."""
        run = self._run.get((occurrence.fact.work, occurrence.evidence.chunk.path.rpartition("/")[2])) if occurrence.fact.kind == "default" else None
        return _words(f"{occurrence.fact.scope} {occurrence.fact.written} {_place(occurrence)} {_saying(occurrence)}") | (run or frozenset())

    def _inside(self, occurrence: FactOccurrence, about: Subject) -> bool:
        """Whether a holder stands outside of the folders of experiments, or in that of one which the question names."""
        experiment = self._folders.of(occurrence) if occurrence.evidence.from_target else ""
        return not experiment or experiment in self._folders.named(" ".join(word for name in about.names for word in name))


def _place(occurrence: FactOccurrence) -> str:
    chunk = occurrence.evidence.chunk
    return f"{chunk.path} {chunk.symbol} {' '.join(chunk.section)}"


def _is_of_named(occurrence: FactOccurrence, about: Subject) -> bool:
    """Whether a holder is of a work, other than the target, that is named, be it with a size: `SiT-XL` is asked of SiT."""
    work = occurrence.evidence.work
    whose = {fold(work.id.rpartition("/")[2]), fold(work.title.partition(":")[0])}
    said = (fold("".join(run for run in _RUN.findall(word) if run.lower() not in _CUT)) for name in about.names for word in name)
    return not occurrence.evidence.from_target and not whose.isdisjoint(said)


def _text(occurrence: FactOccurrence) -> frozenset[str]:
    """The words of the passage of a paper."""
    return _words(occurrence.evidence.chunk.text) if occurrence.evidence.work.kind == "paper" else frozenset()


def _parted(occurrence: FactOccurrence) -> bool:
    """Whether the passage of a value gives several, and says of what each is."""
    return occurrence.fact.kind == "prose" and _OTHER.search(occurrence.evidence.chunk.text) is not None


def mentions(occurrence: FactOccurrence, about: Subject) -> bool:
    """Whether the passage that holds a value has any word of a subject."""
    text = f"{occurrence.fact.work} {occurrence.fact.scope} {_place(occurrence)} {occurrence.evidence.chunk.text[:_LONGEST]}"
    return _spoken(_words(text), about) > 0 or not about.hints.isdisjoint(telling(text))


def is_heard(about: Subject, passages: Iterable[tuple[str, tuple[Work | None, ...]]]) -> bool:
    """Whether any of these passages, each with the works that it is of, has any of the names of a subject; true where there are none."""
    return not about.names or any(_spoken(_words(text), about) or any(map(partial(_is_called, about), works)) for text, works in passages)


def share_spoken(about: Subject, text: str) -> float:
    """The share of the names of a subject that a text speaks of; the subject has names."""
    return _spoken(_words(text), about) / len(about.names)


def _is_called(about: Subject, work: Work | None) -> bool:
    """Whether a name of a subject is that of a work, or goes on from it (`Paper2CodeBench`)."""
    if work is None:
        return False
    called = fold(work.id.rpartition("/")[2])
    goes_on = len(called) > _NAMED_FROM and any(fold(word).startswith(called) for name in about.names for word in name)
    return goes_on or _spoken(_words(f"{called} {work.title}"), about) > 0


def _spoken(words: frozenset[str], about: Subject, beside: frozenset[str] = frozenset()) -> int:
    """How many of the names are spoken of; what stands `beside` may have all of a name but its last word."""
    return sum(_speaks(words, name[-1:]) and _speaks(words | beside, name) for name in about.names) if words else 0


def _saying(occurrence: FactOccurrence) -> str:
    """What says a value: the row of a table, the sentence up to the next value, the command with its lines, else the line."""
    if occurrence.fact.kind == "command":
        return command_of(occurrence)
    line = line_at(occurrence.evidence.chunk, occurrence.fact.line)
    if occurrence.fact.kind != "prose":
        return line
    said, here = sentences_of(occurrence)
    sentence = said[here] if here >= 0 else line
    return next((part for part in _OTHER.split(sentence) if occurrence.fact.said[:BEGINS] in part), sentence)


def _words(text: str) -> frozenset[str]:
    """The words of a text in lower case: runs of letters and digits, their parts, and neighbours joined by a sign (`wav2vec_2`)."""
    found: set[str] = set()
    for run in _RUN.findall(text.replace("×", "x")[:_LONGEST]):
        found.update((run.lower(), *parts(run)))
    return frozenset(found)


def _speaks(words: frozenset[str], name: Name) -> bool:
    """Whether all words of a name are there, each whole or in the pieces that signs part."""
    return all(_has(words, fold(word)) or all(_has(words, run.lower()) for run in _RUN.findall(word)) for word in name)


def _has(words: frozenset[str], piece: str) -> bool:
    """Whether a piece is there, as it is, as what it is cut from, or with a number after it."""
    if piece in words or _SIZES.get(piece) in words:
        return True
    return len(piece) >= _NAMED_FROM and any(word.startswith(piece) and word[len(piece) :].isdigit() for word in words)
