"""Settings of the code that the target says it follows in a section, which that section does not give.

"We followed the NanoGPT codebase as closely as possible" leaves to that code whatever the section does not say. Only a section
about something of its own ("NanoGPT", not "Set-up") is held against the code that it follows while the target's own code is at hand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lineage.ids import repo_name
from lineage.records import WorkId
from lineage.results import FactOccurrence, Gap
from lineage.text.tokens import parts
from retrieval.contradictions.declared_baselines import Followed, files_of, followed, stated, theirs
from retrieval.decisions.experiments import telling
from retrieval.decisions.setting_words import setting_words
from retrieval.decisions.target_text import TargetText
from retrieval.decisions.wording import wording
from retrieval.gaps.mention_matcher import Spoken
from retrieval.gaps.offers import Context
from retrieval.gaps.undocumented_settings import Known, place, plainness, row, runs, settings_of
from retrieval.search.engine import Engine

MOST = 8
"""Rows for each code that is followed."""
WEIGHT, _STEP = 0.3, 0.01
_WHY = "the text follows code that sets it, and does not give it"


def rows(
    engine: Engine, target_text: TargetText, known: Known, occurrences_by_key: Mapping[str, Sequence[FactOccurrence]], context: Context, *, own: bool
) -> Iterator[Gap]:
    """A row for each setting of followed code that its section does not give; `own` says that the target's own code is at hand."""
    for source in followed(target_text, engine.generation.catalog.links()):
        works = frozenset(_stored(work, engine) for work in source.works)
        if source.section and (telling(source.section[-1]) or not own):
            yield from _of(
                replace(source, works=works, section_text=_around(source, target_text)), engine, target_text, known, occurrences_by_key, context
            )


def _stored(work: WorkId, engine: Engine) -> WorkId:
    """The repository, or the one of the same name where it is not there: what a paper links may have moved."""
    if work in engine.kinship.kin:
        return work
    name = repo_name(work)
    return next((other for other, kin in engine.kinship.kin.items() if kin.work.kind == "code" and repo_name(other) == name), work)


def _around(source: Followed, target_text: TargetText) -> str:
    """What is said in the section and wherever its title is named, and how files of the stages are called that are spoken of there."""
    title = telling(source.section[-1])
    some = [other for other in target_text.sentences if other.chunk.section == source.section or (title and title <= telling(other.text))]
    stages = {word for stage in wording().stages if any(other.has(stage.prose) for other in some) for word in stage.files}
    return " ".join((source.section_text, *(other.text for other in some), *stages))


def _of(
    source: Followed,
    engine: Engine,
    target_text: TargetText,
    known: Known,
    occurrences_by_key: Mapping[str, Sequence[FactOccurrence]],
    context: Context,
) -> Iterator[Gap]:
    by_name: dict[str, list[FactOccurrence]] = defaultdict(list)
    for other in _candidates(source, engine, known, occurrences_by_key):
        by_name[other.fact.name].append(other)
    here = Spoken(tuple(other for other in target_text.sentences if other.chunk.section == source.section))
    covered = setting_words().with_alike(name for name in by_name if stated(name, occurrences_by_key.get(name, ()), target_text.work.id, source))
    rest = (name for name in by_name if name not in covered)
    open_ = [name for name in rest if not any(here.gives(other.fact.written, other.fact.value) for other in by_name[name])]
    whose = f"{source.section[-1]}, {repo_name(min(source.works))}"
    for nth, name in enumerate(sorted(open_, key=lambda name: _rank(name, by_name[name], known))[:MOST]):
        yield row(name, by_name[name], whose, _WHY, WEIGHT - _STEP * nth, context)


def _candidates(source: Followed, engine: Engine, known: Known, occurrences_by_key: Mapping[str, Sequence[FactOccurrence]]) -> list[FactOccurrence]:
    """What the followed code is run with: facts of details by their names, other settings by their own."""
    of_works = [other for name in known.gaps for other in occurrences_by_key.get(name, ()) if other.fact.work in source.works]
    facts = [other for other in of_works if not (runs(other.fact.name) or runs(other.fact.written))]
    placed = {place(other) for some in occurrences_by_key.values() for other in some}
    others = [other for other in settings_of(engine, source.works) if place(other) not in placed]
    some = [other for other in (*facts, *others) if other.fact.kind != "call" and other.evidence.chunk.kind != "docs"]
    kept = theirs(some, source, files_of([[*facts, *others]]))
    kept = [replace(other, mentioned=False) for other in kept]  # the target says that it follows this code
    return [other for other in kept if _is_of_stage(other, source.section_text)] or kept


def _is_of_stage(occurrence: FactOccurrence, text: str) -> bool:
    """Whether a file is named after a stage that is spoken of."""
    names = parts(occurrence.evidence.chunk.path.rpartition("/")[2])
    return any(word in names and word in text for stage in wording().stages for word in stage.files)


def _rank(name: str, some: Sequence[FactOccurrence], known: Known) -> tuple[bool, float, int, int]:
    """What a script sets before what a program offers, then what details know, by weight, then what tells most."""
    gap = known.gaps.get(name)
    default = all(occurrence.fact.kind == "default" for occurrence in some)
    return default, -(gap.detail.weight if gap else 0.0), plainness(some[0].fact.value), some[0].fact.line
