"""Settings that the target's own code has and that its text never gives. Pure but for reading.

The list of details knows what every reproduction needs; what only this work has is found the other way round: every setting of
the code whose name and value the text does not give is a gap, whatever it is called. Those that say where a program runs and
what it prints are left out, and what constructors take; what tells something goes before switches.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, takewhile
from pathlib import PurePosixPath

from lineage.hyperparameters.terms import fold
from lineage.hyperparameters.values import number
from lineage.records import Fact, FileRole, Setting, WorkId
from lineage.results import SETTING, Detail, FactOccurrence, Gap, GapReason, Specification
from lineage.text.phrases import Word
from lineage.text.tokens import parts, stem
from retrieval.decisions.fact_index import is_eval_script, is_low_evidence_path
from retrieval.decisions.provenance import evidence
from retrieval.decisions.target_text import TargetSentence, TargetText
from retrieval.decisions.wording import setting_words
from retrieval.gaps.offers import VALUES, Context, offers
from retrieval.search.engine import Engine

MOST = 24
WEIGHT, _STEP = 0.35, 0.005
"""Weight of the first row, below the details that every reproduction needs, and how much less each further one has."""
TOPIC = "procedure"
"""The topic of these rows."""
_NO_EXPERIMENT = frozenset({FileRole.PACKAGING, FileRole.DATA})
_LONGEST = 60
_SIBLINGS = 4
"""Files of one folder that set the same name, from which on each is for its own data and none is the paper's."""
Place = tuple[WorkId, str, int]
"""A work, a file, a line."""
_PERCENT = re.compile(r"\s?(?:\\%|per ?cent\b)")
_SHORTEST = 3
"""Letters from which on a part may be the beginning of a word: `prob` of "probability"."""
_PLAIN = 10
"""Whole numbers up to this stand in every text and prove nothing."""


@dataclass(frozen=True)
class Known:
    """What facts say of settings: the names of facts by place, and those that the report has a row for or the target states."""

    names: Mapping[Place, frozenset[str]]
    told: frozenset[str]


def works(engine: Engine) -> list[WorkId]:
    """The repositories of the target's own code."""
    return [work for work, relation in engine.relations.by_work.items() if relation.from_target and relation.work.kind == "code"]


def rows(engine: Engine, own_works: Iterable[WorkId], target_text: TargetText, known: Known, context: Context) -> list[Gap]:
    """A row for each setting of the target's own code that the text does not give."""
    called = fold(target_text.work.title)
    occurrences = (
        occurrence
        for occurrence in settings_of(engine, own_works)
        if fold(occurrence.fact.value) not in called or number(occurrence.fact.value) is not None
    )
    return list(own_rows(occurrences, Spoken(target_text.sentences), known, context))


def settings_of(engine: Engine, works: Iterable[WorkId]) -> Iterator[FactOccurrence]:
    """The settings of repositories as facts under their own names, with their evidence; none of packaging, nor of data."""
    catalog, relations = engine.generation.catalog, engine.relations
    for work in works:
        settings = [setting for setting in catalog.settings(work) if _matters(setting)]
        chunks = catalog.chunks_of(setting.chunk for setting in settings)
        for setting in settings:
            hit = evidence(replace(chunks[setting.chunk], work=work, path=setting.path), relations, setting.line)
            if _NO_EXPERIMENT.isdisjoint(hit.roles):
                yield FactOccurrence(_fact(setting), hit)


def _fact(setting: Setting) -> Fact:
    name = "_".join(parts(setting.name))
    return Fact(name, setting.value, "", setting.work, setting.chunk, setting.kind, setting.line, setting.name, setting.value, setting.scope)


def _matters(setting: Setting) -> bool:
    """Whether a setting says what is computed: a number, a list, a switch or a word, and not where or how the program runs; -1 is none of these."""
    if runs(setting.name) or not 0 < len(setting.value) <= _LONGEST or number(setting.value) == -1:
        return False
    if number(setting.value) is not None or setting.value[0] in "[{":
        return True
    return setting_words().places.isdisjoint(parts(setting.name)[-1:]) and not any(sign in setting.value for sign in "/\\:% .")


def runs(name: str) -> bool:
    """Whether a name speaks of how a program runs and what it prints."""
    pieces = parts(name)
    return not setting_words().running.isdisjoint((*pieces, "_".join(pieces)))


def _by_name(occurrences: Iterable[FactOccurrence]) -> dict[str, list[FactOccurrence]]:
    """What programs set or offer, by name, without tests and examples, and without files that are for one data set each."""
    programs: dict[str, list[FactOccurrence]] = defaultdict(list)
    for occurrence in occurrences:
        if occurrence.fact.kind != "call" and not is_low_evidence_path(occurrence):
            programs[occurrence.fact.name].append(occurrence)
    return {name: some for name, some in programs.items() if not _scattered(some)}


def _scattered(some: Sequence[FactOccurrence]) -> bool:
    """Whether many files of one folder set a name, each its own."""
    folders: dict[str, set[str]] = defaultdict(set)
    for occurrence in some:
        if occurrence.fact.kind == "config":
            folders[str(PurePosixPath(occurrence.evidence.chunk.path).parent)].add(occurrence.evidence.chunk.path)
    return any(len(paths) >= _SIBLINGS for paths in folders.values()) and len({candidate.fact.value for candidate in some}) > 1


def known_of(gaps: Iterable[Gap], occurrences_by_key: Mapping[str, Sequence[FactOccurrence]], target: WorkId) -> Known:
    """What the facts of a lineage and the rows made from them say."""
    names: dict[Place, set[str]] = defaultdict(set)
    for name, some in occurrences_by_key.items():
        for occurrence in some:
            names[place(occurrence)].add(name)
    stated = {name for name, some in occurrences_by_key.items() if any(occurrence.fact.work == target for occurrence in some)}
    asked = {name for gap in gaps for name in gap.detail.facts}
    return Known({where: frozenset(some) for where, some in names.items()}, setting_words().with_alike(stated) | asked)


def place(occurrence: FactOccurrence) -> Place:
    """Where a value stands: facts and settings of one line are read from the same words."""
    return occurrence.fact.work, occurrence.evidence.chunk.path, occurrence.fact.line


def own_rows(occurrences: Iterable[FactOccurrence], spoken: Spoken, known: Known, context: Context) -> Iterator[Gap]:
    """The rows on settings of the target's own code."""
    unsaid = {name: some for name, some in _by_name(occurrences).items() if not any(_is_given(occurrence, spoken, known) for occurrence in some)}
    for nth, name in enumerate(islice(sorted(unsaid, key=lambda name: _rank(unsaid[name], spoken, known)), MOST)):
        yield _row(name, unsaid[name], WEIGHT - _STEP * nth, context)


def _is_given(occurrence: FactOccurrence, spoken: Spoken, known: Known) -> bool:
    """Whether the text, or a row on a detail, gives a setting."""
    here = known.names.get(place(occurrence), frozenset())
    return not known.told.isdisjoint(here) or spoken.gives(occurrence.fact.written, occurrence.fact.value)


def _rank(some: Sequence[FactOccurrence], spoken: Spoken, known: Known) -> tuple[int | str, ...]:
    """What facts know first, then what tells most and what the text speaks of; switches last."""
    best = min(some, key=is_eval_script)
    plain = plainness(best.fact.value)
    words = sum(bool(spoken.of_part(part)) for part in telling_parts(best.fact.written))
    unknown = not any(known.names.get(place(occurrence)) for occurrence in some)
    return plain > 1, unknown, is_eval_script(best), plain, -min(words, 2), best.evidence.chunk.path, best.fact.line


def plainness(value: str) -> int:
    """0 for a number, list or code that nobody would guess, 1 for a word, 0 and 1, 2 for a switch."""
    if value in {"true", "false", "none"}:
        return 2
    return int(number(value) in (0, 1) or not any(c.isdigit() for c in value))


def _row(name: str, some: Sequence[FactOccurrence], weight: float, context: Context) -> Gap:
    """A gap for one setting with its values; no fact answers it, so that nothing but its own name can be compared."""
    title, question = f"{some[0].fact.written} (own setting)", f"What {name.replace('_', ' ')} is used?"
    detail = Detail(SETTING + name, title, TOPIC, question, weight=round(weight, 3))
    made = offers((name,), {name: some}, (), context)
    return Gap(detail, Specification.UNSPECIFIED, suggestions=tuple(offer.suggestion for offer in made[:VALUES]), reason=GapReason.OWN_CODE_SETS)


@dataclass(frozen=True)
class Spoken:
    """Sentences, indexed by the parts of their words."""

    sentences: tuple[TargetSentence, ...]

    @cached_property
    def places(self) -> Mapping[str, set[int]]:
        """The sentences in which each part stands; a line of a table has its columns' heads before it."""
        sentences: dict[str, set[int]] = defaultdict(set)
        for nth, sentence in enumerate(self.sentences):
            for piece in parts(f"{sentence.header} {sentence.text}"):
                sentences[piece].add(nth)
        return sentences

    @cached_property
    def numbers(self) -> list[set[float | int | None]]:
        """The numbers of each sentence."""
        return [{_number(sentence, word) for word in sentence.words if word.number} for sentence in self.sentences]

    @cached_property
    def _words(self) -> tuple[list[str], Mapping[str, Sequence[str]]]:
        """The parts in order, and those of each stem."""
        by_stem: dict[str, list[str]] = defaultdict(list)
        for word in self.places:
            by_stem[stem(word)].append(word)
        return sorted(self.places), by_stem

    @cached_property
    def _of_parts(self) -> dict[str, set[int]]:
        return {}

    def of_part(self, part: str) -> set[int]:
        """The sentences with words that a part of a name stands for: itself, an inflection, what it abbreviates."""
        if part not in self._of_parts:
            self._of_parts[part] = set().union(*(self.places[word] for word in self._standing_for(part) & self.places.keys()))
        return self._of_parts[part]

    def _standing_for(self, part: str) -> set[str]:
        words = {part, *setting_words().spoken.get(part, ())}
        if len(part) < _SHORTEST or part.isdigit():
            return words
        in_order, by_stem = self._words
        longer = takewhile(lambda word: word.startswith(part), in_order[bisect_left(in_order, part) :])
        return words.union(longer, by_stem.get(stem(part), ()))

    def naming(self, name: str) -> set[int]:
        """The sentences in which all parts of a name stand."""
        wanted = list(map(self.of_part, parts(name)))
        return wanted[0].intersection(*wanted[1:]) if wanted else set()

    def gives(self, name: str, value: str) -> bool:
        """Whether some sentence gives a setting: all of its name and a number or the value, or a value of its own and a telling part."""
        wanted = number(value)
        if wanted is None or value.startswith("["):
            return self._gives_words(name, value)
        if any(wanted in self.numbers[index] or (len(parts(name)) > 1 and self.numbers[index]) for index in self.naming(name)):
            return True
        rare = isinstance(wanted, float) or abs(wanted) > _PLAIN
        return rare and any(wanted in self.numbers[index] for index in self._telling(name))

    def _gives_words(self, name: str, value: str) -> bool:
        """The same for a word or a list: a value of several words is given wherever they stand together, one beside a telling part."""
        valued = self.naming(value) if value[:1] != "[" else set()
        if valued and (len(parts(value)) > 1 or not valued.isdisjoint(self._telling(name))):
            return True
        return len(parts(name)) > 1 and any(self.numbers[index] for index in self.naming(name))

    def _telling(self, name: str) -> set[int]:
        """The sentences in which any telling part of a name stands."""
        return {index for part in telling_parts(name) for index in self.of_part(part)}


def _number(sentence: TargetSentence, word: Word) -> float | int | None:
    """A number of a sentence, per cent as a fraction."""
    value = number(word.text)
    return value / 100 if value is not None and _PERCENT.match(sentence.text, word.end) else value


def telling_parts(name: str) -> Iterable[str]:
    """The parts of a name that tell it from others."""
    return (part for part in parts(name) if part not in setting_words().generic and len(part) > 1)
