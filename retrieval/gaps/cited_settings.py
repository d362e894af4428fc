"""Settings of cited programs that no list of details knows and that the target does not give, in whatever words they have. Pure but for reading.

What the program sets that the target's model or training is surely taken from is open until the target says otherwise; what other works set
applies where several agree to have it and the target speaks of what it is called after.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from lineage.records import Tier, WorkId
from lineage.results import FactOccurrence, Gap, GapReason
from retrieval.decisions.fact_index import is_eval_script, is_low_evidence_path, is_vendored, of_baselines
from retrieval.decisions.provenance import line_at
from retrieval.decisions.target_text import TargetText
from retrieval.gaps.offers import Context
from retrieval.gaps.undocumented_settings import Known, Place, Spoken, place, plainness, row, settings_of, telling_parts
from retrieval.search.engine import Engine

MOST = 12
WEIGHT, _STEP = 0.3, 0.005
"""Weight of the first row, below the details that every reproduction needs, and how much less each further one has."""
_NEAREST = 3
"""The band of precedence from which on a work's program is taken over with what it sets."""
_PARTS = ("architecture", "optimizer", "loss", "sampling")
"""Topics of the parts whose ancestor's program is as good as the target's own."""
_PLACEHOLDER = re.compile(r"[\[{<$][A-Za-z_ ]")
"""How a value begins that its reader is to fill in."""


def rows(engine: Engine, target_text: TargetText, known: Known, context: Context, told: Collection[Place]) -> Iterator[Gap]:
    """A row for each such setting, those on lines that other rows have `told` left out."""
    spoken = Spoken(target_text.sentences)
    by_name = _by_name(settings_of(engine, _works(engine)), known, context, told)
    open_ = {name: some for name, some in by_name.items() if _applies(some, spoken, context) and not _is_given(some, spoken)}
    ranked = sorted(open_, key=lambda name: _rank(open_[name], context))
    for nth, name in enumerate(islice(ranked, MOST)):
        yield row(name, open_[name], "cited code", GapReason.CITED_CODE_SETS, WEIGHT - _STEP * nth, context)


def _works(engine: Engine) -> list[WorkId]:
    """The repositories of cited works, but for what a paper only mentions."""
    return [work for work, kin in engine.kinship.kin.items() if kin.work.kind == "code" and not kin.from_target and kin.tier is not Tier.MENTIONED]


def _by_name(
    occurrences: Iterable[FactOccurrence], known: Known, context: Context, told: Collection[Place]
) -> Mapping[str, Sequence[FactOccurrence]]:
    """What programs and their configurations set, by name, without what facts know or another row has told."""
    found: dict[str, list[FactOccurrence]] = defaultdict(list)
    for occurrence in filter(_is_setting, occurrences):
        aside = is_low_evidence_path(occurrence, context.foreign) or is_vendored(occurrence.evidence) or of_baselines(occurrence)
        if not aside:
            found[occurrence.fact.name].append(occurrence)
    covered = {name for name, some in found.items() if any(place(other) in known.names or place(other) in told for other in some)}
    return {name: some for name, some in found.items() if name not in covered and any(map(_is_programs, some))}


def _is_setting(occurrence: FactOccurrence) -> bool:
    """Whether a value is set or offered by a program, not a counter that begins at nothing, nor a placeholder."""
    line = line_at(occurrence.evidence.chunk, occurrence.fact.line)
    counts = plainness(occurrence.fact.value) > 0 and re.match(rf"\s*(?:\w+\.)*{re.escape(occurrence.fact.written)}\s*=", line)
    return occurrence.fact.kind != "call" and not is_eval_script(occurrence) and not counts and not _PLACEHOLDER.match(occurrence.fact.value)


def _is_programs(occurrence: FactOccurrence) -> bool:
    """Whether code or a configuration has a setting, or the README of the repository: other documents call other programs."""
    chunk = occurrence.evidence.chunk
    return chunk.kind != "docs" or chunk.path.lower().startswith("readme")


def _applies(some: Sequence[FactOccurrence], spoken: Spoken, context: Context) -> bool:
    """Whether the nearest ancestor sets it, or several works do and the target speaks of all that it is called after."""
    if any(_is_nearest(occurrence, context) for occurrence in some):
        return True
    pieces = list(telling_parts(some[0].fact.written))
    return _count(some) > 1 and len(pieces) > 1 and all(spoken.of_part(piece) for piece in pieces)


def _is_nearest(occurrence: FactOccurrence, context: Context) -> bool:
    return any(context.precedence.band(occurrence.evidence, topic) >= _NEAREST for topic in _PARTS)


def _count(some: Iterable[FactOccurrence]) -> int:
    return len({occurrence.fact.work for occurrence in some})


def _is_given(some: Iterable[FactOccurrence], spoken: Spoken) -> bool:
    return any(spoken.gives(occurrence.fact.written, occurrence.fact.value) for occurrence in some)


def _rank(some: Sequence[FactOccurrence], context: Context) -> tuple[float | int | str, ...]:
    """The nearest ancestor's first, numbers before switches; then by whose it is and how many works have it."""
    best = max(context.precedence.weight(occurrence.evidence, "") for occurrence in some)
    plain = min(plainness(occurrence.fact.value) for occurrence in some)
    nearest = any(_is_nearest(occurrence, context) for occurrence in some)
    return not nearest, plain > 1, -(best + _count(some) / 2), plain, some[0].fact.name
