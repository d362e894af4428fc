"""Conflicts, settings and gaps as parts of a pack (pure): whole lines, the most important first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lineage.citation import pinpoint
from lineage.decisions import Decision
from lineage.hyperparameters.values import worded
from lineage.records import MECHANISM, Fact, Focus, Hit, WorkId
from lineage.results import Conflict, FactOccurrence, Gap, Gaps, PackItem, Specification, Stage, Suggestion
from lineage.text.tokens import terms
from retrieval.context import settings_file
from retrieval.context.markdown import code, fenced, inline, license_of, place
from retrieval.context.settings_file import UNSPECIFIED, ConfigLine
from retrieval.context.task import relevant
from retrieval.context.token_budget import Tokens

MOST = 160
"""Stretches of one pack."""
_WIDE = 30
"""Lines of one stretch."""
_WORK, _PLACE = 0.5, 0.85
"""What the next repository, and the next place of one, says of what the one before says."""
_PASSED_OVER = 0.1
"""What an offer counts that a chat model saw and did not choose."""
_AGAIN = 0.93
"""What each further stretch of a work counts of the one before where a model chose: it chooses more of one work than a pack holds."""
_TITLE = 32
"""Letters of a decision."""


@dataclass(frozen=True)
class PackStatement:
    """A statement of code that settles a decision, called `title`: what it is worth, and its lines."""

    title: str
    occurrence: FactOccurrence
    worth: float
    first: int
    last: int


@dataclass(frozen=True)
class Stretch:
    """Statements that stand close together in one file."""

    statements: tuple[PackStatement, ...]

    @property
    def work(self) -> WorkId:
        """The work that its file is of."""
        return self.statements[0].occurrence.fact.work

    @property
    def hit(self) -> Hit:
        """The stretch as evidence."""
        first, last = self.statements[0].first, max(statement.last for statement in self.statements)
        return replace(self.statements[0].occurrence.evidence, focus=Focus(first, last))

    @property
    def line(self) -> str:
        """The place, and each decision with its line: the budget goes into further places, not into what each of them says."""
        many = len(self.statements) > 1
        rows = (f"L{statement.first} {statement.title}" if many else statement.title for statement in self.statements)
        return f"- {place(self.hit)}: {'; '.join(rows)}"


def stretches(gaps: Sequence[Gap], beside: Callable[[Gap, FactOccurrence], bool]) -> list[Stretch]:
    """The stretches that settle decisions, those that say most that was not told first; `beside` says what stands elsewhere already."""
    waiting, again = _all(_statements(gaps, beside)), _AGAIN if _is_read(gaps) else 1.0
    chosen: list[Stretch] = []
    times: Counter[str] = Counter()
    of_work: Counter[WorkId] = Counter()

    def gain(stretch: Stretch) -> float:
        told = sum(statement.worth * 0.5 ** times[statement.title] for statement in stretch.statements)
        return told * again ** of_work[stretch.work]

    while waiting and len(chosen) < MOST:
        best = max(waiting, key=gain)
        chosen.append(best)
        times.update(statement.title for statement in best.statements)
        of_work[best.work] += 1
        gone = {id(statement.occurrence) for statement in best.statements}
        waiting = [stretch for stretch in waiting if gone.isdisjoint(id(statement.occurrence) for statement in stretch.statements)]
    return chosen


def _is_read(gaps: Sequence[Gap]) -> bool:
    """Whether a chat model chose places for the report."""
    return any(suggestion.grade == "model" for gap in gaps for suggestion in gap.suggestions)


def _statements(gaps: Sequence[Gap], beside: Callable[[Gap, FactOccurrence], bool]) -> dict[tuple[str, str], list[PackStatement]]:
    """The statements of code by file, in the order of their lines."""
    titles, read = Counter(_short(gap) for gap in gaps), _is_read(gaps)
    by_file: dict[tuple[str, str], list[PackStatement]] = defaultdict(list)
    for gap in gaps:
        title = _short(gap) if titles[_short(gap)] == 1 else inline(gap.detail.title, _TITLE)
        for nth, suggestion in enumerate(gap.suggestions):
            worth = gap.detail.weight**2 * _WORK**nth * (_PASSED_OVER if read and suggestion.grade != "model" else 1.0)
            of_code = [occurrence for occurrence in suggestion.held if occurrence.fact.line and occurrence.evidence.work.kind == "code"]
            for at, occurrence in enumerate(occurrence for occurrence in of_code if not beside(gap, occurrence)):
                first = occurrence.fact.line
                last = min(max(first, occurrence.fact.end_line), first + _WIDE)
                statement = PackStatement(title, occurrence, worth * _PLACE**at, first, last)
                by_file[occurrence.fact.work, occurrence.evidence.chunk.path].append(statement)
    return {file: sorted(some, key=lambda statement: (statement.first, statement.last)) for file, some in by_file.items()}


def _all(by_file: dict[tuple[str, str], list[PackStatement]]) -> list[Stretch]:
    """From each statement on, those that a stretch has room for, each decision once."""
    return [_from(start, some[at + 1 :]) for some in by_file.values() for at, start in enumerate(some)]


def _from(start: PackStatement, rest: Sequence[PackStatement]) -> Stretch:
    best: dict[str, PackStatement] = {}
    for other in (statement for statement in rest if statement.last <= start.first + _WIDE and statement.title != start.title):
        if other.title not in best or best[other.title].worth < other.worth:
            best[other.title] = other
    return Stretch((start, *sorted(best.values(), key=lambda statement: statement.first)))


def _short(gap: Gap) -> str:
    return inline(gap.detail.title.partition(":")[0], _TITLE)


RecordKind = Literal["decided", "conflict", "config", "unspecified"]
TITLES: Mapping[RecordKind, str] = {"decided": "decided", "conflict": "conflicts", "config": "config.yaml", "unspecified": "unspecified"}
_SIDES, _NEAR = 4, 10
_OVERHEAD = 6
"""Tokens of a section's name or of a fence, which lines share; counted for each, so that a sum is never too small."""
_OPEN = "Open, settled by code of the lineage at the commits of the generation; `lineage read PLACE` shows more:"
_FIRST = 100.0
"""The weight of that line, and of contradictions, which go before all others."""
_STEP = 1 / 125
"""How much less each further stretch of code weighs."""


@dataclass(frozen=True)
class PackLine:
    """One whole line (or a few) of what was concluded: its tokens, how much depends on it, and the file and line that it stands by."""

    kind: RecordKind
    text: str
    weight: float
    cost: int = 0
    evidence: tuple[Hit, ...] = ()
    entry: ConfigLine | None = None
    place: tuple[str, int] = ("", 0)


def of(
    gaps: Gaps | None,
    task: str,
    stage: Stage | None,
    tokens: Tokens,
    symbols: Callable[[], Sequence[ConfigLine]] = tuple,
) -> list[PackLine]:
    """Everything that the gaps of a target say for a task, weightiest first: for planning all with the method's own `symbols`, else what
    the task speaks of."""
    if gaps is None:
        return []
    decided = [_decided(gap, gap.decision) for gap in gaps.gaps if gap.decision]
    asked = [gap for gap in gaps.gaps if not gap.decision and (stage == "planning" or relevant(gap.detail, task))]
    pack_lines = decided + [_conflict(conflict) for conflict in gaps.conflicts if stage == "planning" or _concerns(conflict, task, asked)]
    if stage == "planning":
        entries = [*symbols(), *settings_file.entries([gap for gap in asked if not _in_code_only(gap)])]
        pack_lines += _stretches([gap for gap in asked if gap.state is not Specification.SPECIFIED])
        pack_lines += [
            PackLine("config", config_line.line, config_line.weight, evidence=config_line.evidence, entry=config_line) for config_line in entries
        ]
    else:
        pack_lines += [_gap(gap) for gap in asked if gap.state is not Specification.SPECIFIED]
    return sorted((_costed(pack_line, tokens) for pack_line in pack_lines), key=lambda pack_line: -pack_line.weight)


def _costed(pack_line: PackLine, tokens: Tokens) -> PackLine:
    return replace(pack_line, cost=tokens.count(f"\n  {pack_line.text}") + (1 if pack_line.place[0] else _OVERHEAD))


def more(kept: Sequence[PackLine], pack_lines: Sequence[PackLine], room: int) -> list[PackLine]:
    """Those kept, and the weightiest of the rest that fit into the room that is left."""
    chosen = list(kept)
    known = {(record.kind, record.text) for record in kept}
    for record in pack_lines:
        if (record.kind, record.text) not in known and record.cost <= room:
            chosen.append(record)
            room -= record.cost
    return chosen


def cost(some: Sequence[PackLine]) -> int:
    """What records cost together, at most."""
    return sum(pack_line.cost for pack_line in some)


def parts(kept: Sequence[PackLine], tokens: Tokens) -> list[PackItem]:
    """An item a kind; the settings as one file."""
    items = []
    for kind, title in TITLES.items():
        if some := [record for record in kept if record.kind == kind]:
            text = _text(kind, some)
            hits = {hit.chunk.id: hit for record in some for hit in record.evidence}
            items.append(PackItem(kind, title, text, tokens.count(text), tuple(hits.values())))
    return items


def _text(kind: RecordKind, some: Sequence[PackLine]) -> str:
    if kind == "config":
        return fenced(settings_file.yaml([record.entry for record in some if record.entry]), "yaml")
    order = list(dict.fromkeys(record.place[0].partition("#")[0] for record in some))
    return "\n".join(record.text for record in sorted(some, key=lambda record: (order.index(record.place[0].partition("#")[0]), record.place)))


def _decided(gap: Gap, decision: Decision) -> PackLine:
    """What was decided on a detail, before all else."""
    note = f" {inline(decision.note, 160)}" if decision.note else ""
    because = f"decided by {inline(decision.who, 160)}, because of {code(decision.citation)}.{note}"
    return PackLine(
        "decided", f"- {inline(decision.title or gap.detail.title, 80)}: {code(decision.value)}; {because}", 2 * _FIRST + gap.detail.weight
    )


def _gap(gap: Gap) -> PackLine:
    """A detail that the target leaves open, with the best value of its lineage, or that nobody has one."""
    best = settings_file.best(gap)
    title, state = inline(gap.detail.title or gap.detail.name, 80), str(gap.state)
    if best is None:
        note = f"{state} ({_cited(gap.stated[0])})" if gap.stated else f"{UNSPECIFIED}: nobody in the lineage says"
        return PackLine("unspecified", f"- {title}: {note}", gap.detail.weight, evidence=gap.stated[:1])
    value = _value(best)
    text = f"- {title}: {state}; the lineage has {value}, {best.grade} evidence: {_cited(best.held[0].evidence)}"
    return PackLine("unspecified", text, gap.detail.weight, evidence=(best.held[0].evidence,))


def _in_code_only(gap: Gap) -> bool:
    """Whether statements of code settle an open decision and no value does."""
    return gap.detail.name.startswith(MECHANISM) or (gap.state is not Specification.SPECIFIED and not settings_file.best(gap) and _has_code(gap))


def _has_code(gap: Gap) -> bool:
    return any(occurrence.fact.end_line for suggestion in gap.suggestions for occurrence in suggestion.held)


def _beside(gap: Gap, occurrence: FactOccurrence) -> bool:
    """Whether a fact stands within a few lines of the value that the settings have."""
    best = settings_file.best(gap)
    if best is None:
        return False
    other = best.held[0]
    same = (occurrence.fact.work, occurrence.evidence.chunk.path) == (other.fact.work, other.evidence.chunk.path)
    return same and abs(occurrence.fact.line - other.fact.line) <= _NEAR


def _stretches(gaps: Sequence[Gap]) -> list[PackLine]:
    """The code that settles open decisions, and a line that says what it is."""
    lines = [
        PackLine("unspecified", stretch.line, 1.0 - nth * _STEP, evidence=(stretch.hit,), place=_file(stretch.hit))
        for nth, stretch in enumerate(stretches(gaps, _beside))
    ]
    return [PackLine("unspecified", _OPEN, _FIRST), *lines] if lines else []


def _file(hit: Hit) -> tuple[str, int]:
    """What sorts stretches: repository and file, line."""
    return f"{hit.work.id}#{hit.chunk.path}", hit.focus.start_line if hit.focus else 0


def _concerns(conflict: Conflict, task: str, asked: Sequence[Gap]) -> bool:
    named = {name for gap in asked for name in (gap.detail.name, *gap.detail.facts)}
    return conflict.name in named or not {*terms(f"{conflict.name.replace('_', ' ')} {conflict.title}")}.isdisjoint(terms(task))


def _conflict(conflict: Conflict) -> PackLine:
    """The sides in one line each, the surest evidence as it stands."""
    sides = "".join(f"\n  - {_side(occurrence)}" for occurrence in conflict.sides[:_SIDES])
    why = f": {inline(conflict.why)}" if conflict.why else ""
    text = f"- {inline(conflict.title or conflict.name, 80)} ({conflict.kind}, severity {conflict.severity:.2f}){why}{sides}"
    return PackLine("conflict", text, _FIRST + conflict.severity, evidence=tuple(occurrence.evidence for occurrence in conflict.sides[:_SIDES]))


def _side(occurrence: FactOccurrence) -> str:
    return " · ".join(filter(None, (_value(occurrence.fact), _cited(occurrence.evidence), license_of(occurrence.evidence))))


def _value(fact: Fact | Suggestion) -> str:
    return code(worded(fact.value, fact.unit))


def _cited(hit: Hit) -> str:
    return code(pinpoint(hit))
