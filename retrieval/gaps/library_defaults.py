"""What the target's own code leaves out: options of an optimizer that stay at the library's default, and steps that nothing takes. Pure.

Where the own code makes the call and does not set the option, what others set says nothing of it; where its training loop
stands written out and no line names a step, nothing was recognized, which is weak evidence.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from lineage.citation import pinpoint
from lineage.records import Chunk, Fact, Hit
from lineage.results import FactOccurrence, Gap, GapReason, Specification, Suggestion
from retrieval.decisions.fact_index import is_eval_script, is_low_evidence_path
from retrieval.decisions.provenance import evidence
from retrieval.decisions.wording import setting_words
from retrieval.gaps.offers import Context, chain
from retrieval.search.work_relations import WorkRelations

_CALL = re.compile(r"\boptim\.([A-Z]\w{1,20})\(")
_ARGUMENTS = 800
"""Characters within which a call ends."""
_LOOP = re.compile(r"\.backward\(")
_STEP = re.compile(r"\.step\(")
_DOES_WITHOUT = "the own code trains, and none was recognized there"
_UNSEEN = "no statement was recognized; look yourself"


def filled(
    gaps: Iterable[Gap], chunks: Sequence[Chunk], kinship: WorkRelations, context: Context, decided: Collection[str] = frozenset()
) -> list[Gap]:
    """The rows, those on what the own code (`chunks`) leaves out with that first; rows for which it has a value or a statement (`decided`) stay."""
    code = [chunk for chunk in chunks if chunk.kind == "code"]
    given, loop = list(defaults(code, kinship)), _loop(code, kinship)
    return [_filled(gap, given, None if gap.detail.name in decided else loop, chunks, context) for gap in gaps]


def _loop(code: Sequence[Chunk], kinship: WorkRelations) -> Hit | None:
    """The own training loop that stands written out; none where something takes its steps for the own code."""
    if any(setting_words().delegated.search(chunk.text) for chunk in code):
        return None
    loops = (evidence(chunk, kinship) for chunk in code if _LOOP.search(chunk.text) and _STEP.search(chunk.text))
    return next((hit for hit in loops if not _is_aside(hit)), None)


def _filled(gap: Gap, given: Sequence[FactOccurrence], loop: Hit | None, chunks: Sequence[Chunk], context: Context) -> Gap:
    if gap.state is Specification.SPECIFIED or _has_own(gap):
        return gap
    if offered := [_default(occurrence, context) for occurrence in given if occurrence.fact.name in gap.detail.facts]:
        return replace(gap, suggestions=tuple(offered))
    if loop is None or gap.state is not Specification.UNSPECIFIED:
        return gap
    names = setting_words().without.get(gap.detail.name)
    if names is None:
        return _lowered(gap)
    if any(names.within(chunk.text) for chunk in chunks):
        return gap
    lowered = _lowered(gap)
    return replace(lowered, suggestions=(_nothing(gap, loop, context), *lowered.suggestions))


def _has_own(gap: Gap) -> bool:
    return any(occurrence.evidence.from_target for suggestion in gap.suggestions for occurrence in suggestion.held)


def _lowered(gap: Gap) -> Gap:
    """A row whose values are those of others alone, where own code that trains has none: it may well do without."""
    if gap.stated or not any(suggestion.value for suggestion in gap.suggestions):
        return gap
    return replace(
        gap,
        reason=GapReason.NOT_IN_OWN_CODE,
        of="",
        suggestions=tuple(replace(suggestion, grade="weak", reason=f"{_DOES_WITHOUT}; {suggestion.reason}") for suggestion in gap.suggestions),
    )


def _is_aside(hit: Hit) -> bool:
    occurrence = FactOccurrence(Fact("", "", "", hit.work.id, hit.chunk.id, "call"), hit)
    return is_eval_script(occurrence) or is_low_evidence_path(occurrence)


# -- options that stay at the library's default


def defaults(code: Iterable[Chunk], kinship: WorkRelations) -> Iterator[FactOccurrence]:
    """What an optimizer's default is for each option that no call of one in the own code sets; nothing where calls differ."""
    calls = [(call, hit) for chunk in code for call in _calls(chunk) if not _is_aside(hit := evidence(chunk, kinship, call[2]))]
    if len({name for (name, _, _), _ in calls}) != 1:
        return
    (name, _, line), hit = calls[0]
    for option, value in setting_words().defaults[name].items():
        if not any(_sets(arguments, option) for (_, arguments, _), _ in calls):
            yield FactOccurrence(
                Fact(setting_words().options[option], value, "", hit.work.id, hit.chunk.id, "call", line, option, "", f"{name}, default"), hit
            )


def _calls(chunk: Chunk) -> Iterator[tuple[str, str, int]]:
    """(optimizer, arguments, line) of each call of one that is known."""
    for match in _CALL.finditer(chunk.text):
        if match[1] in setting_words().defaults:
            text = chunk.text[match.end() : match.end() + _ARGUMENTS]
            yield match[1], text[: _closing(text)], chunk.start_line + chunk.text.count("\n", 0, match.start())


def _closing(text: str) -> int:
    """Where the bracket closes that was opened before a text."""
    depth = 1
    for at, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0:
            return at
    return len(text)


def _sets(arguments: str, option: str) -> bool:
    """Whether a call may set an option: by name, in a dictionary, or by place."""
    return option in arguments or "**" in arguments or sum("=" not in argument for argument in arguments.split(",") if argument.strip()) > 1


def _default(occurrence: FactOccurrence, context: Context) -> Suggestion:
    hit, optimizer = occurrence.evidence, occurrence.fact.scope.partition(",")[0]
    has = f"calls {optimizer} without {occurrence.fact.written} at {pinpoint(hit)}: PyTorch's default stands, {occurrence.fact.value}"
    links = chain(hit, context, (), has)
    return Suggestion(occurrence.fact.value, "", "strong", "read in the target's own code", (occurrence,), (hit,), links)


def _nothing(gap: Gap, loop: Hit, context: Context) -> Suggestion:
    """Where to look: that no line names a step is no evidence that none takes it."""
    title = gap.detail.title[:1].lower() + gap.detail.title[1:]
    links = chain(loop, context, (), f"trains at {pinpoint(loop)}, where no line names any {title}")
    return Suggestion("", "", "weak", _UNSEEN, evidence=(loop,), chain=links)
