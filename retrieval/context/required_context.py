"""Context that a pack must have: where the target states and sets what the task asks for; then the choice of units within the budget.

Retrieval ranks what is like a task's words. A set-up paragraph ("we train for 400K steps with AdamW, batch size 256 ...") is
like none of them and answers most. So the passages that hold the target's stated values, and the configuration files and
commands of its own code, are looked up by the details that they state, not by what they resemble.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from lineage.records import Hit
from lineage.text.tokens import tokens
from retrieval.context.task import Subquestion, asked, asks_settings
from retrieval.context.units import Kind, PackUnit, beside, kind_of, neutral, paragraphs
from retrieval.decisions.fact_index import is_vendored
from retrieval.decisions.provenance import evidence, line_at
from retrieval.decisions.target_text import section_weight

if TYPE_CHECKING:
    from lineage.records import Chunk, Fact, FactKind, Hit
    from lineage.results import Gap, Gaps, Stage
    from retrieval.search.engine import Engine

_LEAST_RELEVANT, _SHOWN = 0.02, 0.005
"""How relevant a function must be to a part to do it; and one that shows by its calls that it does."""
_ANSWERED = 0.1
"""What is left of the relevance of others' code to what the target's own code answers."""
_TRAINING = re.compile(
    r"\b(?:pre-?|fine-?)?(?:train(?:ing)?|tun(?:e|ing))[\s-]{1,3}(?:loops?|steps?|procedure|code|script|routine|program|function|epochs?|run)\b"
    r"|\btrain the\b|\b(?:train|training)\s{0,3}\Z",
    re.IGNORECASE,
)
_TRAINS = (
    re.compile(
        r"\.backward\(|\bloss_scaler\(|\boptimizer\.(?:step|minimize)\(|\bdef training_step\b|\btrain_on_batch\("
        r"|\bvalue_and_grad\b|\bGradientTape\b|\bapply_gradients\b"
    ),
    re.compile(r"\btrainer\.(?:fit|train)\("),
)
"""What a function calls, or is called, that trains, in the words of the common frameworks; then what has them do it."""
_CALLED = re.compile(r"(?<![\w.])([A-Za-z_]\w{2,80})\(")


def answering(pack_units: Sequence[PackUnit], questions: Sequence[Subquestion]) -> dict[int, PackUnit]:
    """The own function that does each part of a task, by the number of the question; of a task without parts, the whole.

    Settings are no function's: they are due where they are set.
    """
    of_code = [(number, subquestion) for number, subquestion in enumerate(questions) if subquestion.of != "detail" and subquestion.kinds]
    asked = [(number, subquestion) for number, subquestion in of_code if subquestion.of == "part"] or of_code
    own = [unit for unit in pack_units if unit.kind == "imitate" and unit.hit.from_target and unit.hit.chunk.role != "config"]
    best = {number: _first(own, number, subquestion.text) for number, subquestion in asked if not asks_settings(subquestion.text)}
    return {number: unit for number, unit in best.items() if unit}


def _first(own: Sequence[PackUnit], number: int, text: str) -> PackUnit | None:
    """The own function most relevant to a question; to one about training, of those that train."""
    some = [unit for unit in own if unit.relevance.get(number, 0.0) >= _SHOWN]
    shown = (train for signs in _TRAINS if (train := [unit for unit in some if signs.search(unit.text)]))
    able = next(shown, []) if _TRAINING.search(text) else []
    return max(able or (unit for unit in some if unit.relevance[number] >= _LEAST_RELEVANT), key=lambda unit: unit.relevance[number], default=None)


def without_answered(pack_units: Sequence[PackUnit], questions: Sequence[Subquestion], answers: Mapping[int, PackUnit]) -> list[PackUnit]:
    """The units; others' code hardly answers what own functions answer, nor the task as a whole, unless they call it."""
    texts = {questions[number].text for number in answers}
    gone = {number for number, subquestion in enumerate(questions) if answers and (subquestion.text in texts or subquestion.of == "task")}
    called = {name for unit in answers.values() for name in _CALLED.findall(unit.text)}
    return [_set_back(unit, gone) if _of_others(unit, called) else unit for unit in pack_units]


def _of_others(unit: PackUnit, called: set[str]) -> bool:
    foreign = unit.kind == "imitate" and not unit.hit.from_target
    return foreign and unit.hit.chunk.symbol.rpartition(".")[2] not in called


def _set_back(unit: PackUnit, gone: Collection[int]) -> PackUnit:
    return replace(unit, relevance={number: value * (_ANSWERED if number in gone else 1.0) for number, value in unit.relevance.items()})


_OTHER = 0.25
"""What a detail of which the task does not speak is worth: alone nothing, but a set-up paragraph states many at once."""
_LEAST = 0.3
"""What a piece must be worth by all that it states, to be due."""
_VALUE, _WORDS = 1.0, 0.5
"""How surely a passage states a detail: by a value that was read, or in words."""
_SET: frozenset[FactKind] = frozenset(("config", "command", "default"))
SAYS = 0.02
"""What a new word of rarity one is worth beside the subquestions, which together are worth one."""
TELLING = 40
MOST = 0.3
"""The share of a budget that one unit may take while there is choice: one long function is not worth five short ones."""
THRIFT = 0.5
"""How far the cost of a unit counts: 0 takes by gain alone, 1 by gain a token, which favors scraps."""


@dataclass(frozen=True)
class Due:
    """Pieces of the target's text and of its own settings; `worth` is that of the details by whose numbers they are relevant.

    `setting` are the chunks, whoever's, that set what a task asks for, if that is known.
    """

    said: tuple[PackUnit, ...] = ()
    set: tuple[PackUnit, ...] = ()
    worth: tuple[float, ...] = ()
    setting: frozenset[str] | None = None

    def telling(self, unit: PackUnit) -> bool:
        """Whether a unit is more than options of a program none of which the task asks for."""
        chunk = unit.hit.chunk
        return self.setting is None or chunk.kind != "code" or chunk.role != "config" or chunk.id in self.setting

    def adding(self, taken: Iterable[PackUnit]) -> list[PackUnit]:
        """Those that say enough that none before them says: the tenth file of settings repeats the first."""
        value, kept = UnitValue(self.worth, {}), list[PackUnit]()
        for unit in taken:
            if value.gain(unit) * sum(self.worth) >= _LEAST:
                value.add(unit)
                kept.append(unit)
        return kept


@dataclass
class _Piece:
    """A chunk, and the lines in which it states details (by number), with how surely."""

    hit: Hit
    states: list[tuple[int, str, float]] = field(default_factory=list)


def due(gaps: Gaps | None, task: str, stage: Stage | None, engine: Engine) -> Due:
    """The pieces that state what `task` asks for, most telling first; none where it is not known what the target states."""
    if gaps is None:
        return Due()
    details = [gap.detail for gap in gaps.gaps]
    spoken = {detail.name for detail in (details if asks_settings(task) else asked(details, task, stage))}
    worth = tuple(detail.weight * (1.0 if detail.name in spoken else _OTHER) for detail in details)
    names = {name for detail in details if detail.name in spoken for name in detail.facts}
    setting = frozenset(fact.chunk for fact in engine.generation.catalog.facts() if fact.name in names)
    return Due(_telling(_said(gaps.gaps), worth), _telling(_set(gaps, engine), worth), worth, setting)


def _said(gaps: Sequence[Gap]) -> Iterable[_Piece]:
    """The passages of the target's text that state a detail."""
    pieces_by_key: dict[str, _Piece] = {}
    for number, gap in enumerate(gaps):
        for occurrence in gap.facts:
            _note(pieces_by_key, occurrence.evidence, number, occurrence.fact.line, _VALUE)
        for hit in gap.stated:
            _note(pieces_by_key, hit, number, hit.focus.start_line if hit.focus else 0, _WORDS)
    return pieces_by_key.values()


def _note(pieces_by_key: dict[str, _Piece], hit: Hit, number: int, line: int, sure: float) -> None:
    if hit.from_target and hit.chunk.kind == "paper" and not hit.flags:
        piece = pieces_by_key.setdefault(hit.chunk.id, _Piece(hit))
        piece.states.append((number, _line(hit.chunk, line), sure * section_weight(hit.chunk)))


def _set(gaps: Gaps, engine: Engine) -> Iterable[_Piece]:
    """The configuration files, options, commands and manuals of the target's own code that set a detail."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for number, gap in enumerate(gaps.gaps):
        for name in gap.detail.facts:
            numbers[name].append(number)
    catalog, relations = engine.generation.catalog, engine.relations
    chunk_of, pieces_by_key = cache(catalog.chunk), dict[str, _Piece]()
    for fact in catalog.facts():
        if fact.kind in _SET and fact.name in numbers and relations.of(fact.work).from_target:
            chunk = chunk_of(fact.chunk)
            if chunk and _sets(chunk, fact) and not is_vendored(hit := evidence(chunk, relations)):
                piece = pieces_by_key.setdefault(chunk.id, _Piece(hit))
                piece.states += [(number, _line(chunk, fact.line), _VALUE) for number in numbers[fact.name]]
    return pieces_by_key.values()


def _sets(chunk: Chunk, fact: Fact) -> bool:
    """Whether a chunk is a file of settings, the options of a program, or holds a command."""
    return fact.kind == "command" or (chunk.role == "config" if fact.kind == "default" else chunk.kind in {"config", "docs"})


def _line(chunk: Chunk, line: int) -> str:
    return neutral(line_at(chunk, line)).strip()


def _telling(pieces: Iterable[_Piece], worth: Sequence[float]) -> tuple[PackUnit, ...]:
    """The units of pieces that are worth enough, the most telling first."""
    placed = [(unit, at) for piece in pieces if not beside(piece.hit) for at, unit in enumerate(_units(piece))]
    weighted = [(sum(worth[number] * sure for number, sure in unit.relevance.items()), unit, at) for unit, at in placed]
    kept = sorted((entry for entry in weighted if entry[0] >= _LEAST), key=lambda entry: -entry[0])
    return tuple(replace(unit, due=True, order=(order, at)) for order, (_, unit, at) in enumerate(kept))


def _units(piece: _Piece) -> Iterable[PackUnit]:
    """The paragraphs that hold the lines in which something is stated; of files the whole chunk."""
    chunk = piece.hit.chunk
    whole = neutral(chunk.text)
    texts = paragraphs(whole, chunk.role) if chunk.kind in {"paper", "docs"} else [whole]
    for text in texts:
        states = _strongest((number, sure) for number, line, sure in piece.states if (line in text if line else len(texts) == 1))
        if states:
            yield PackUnit(piece.hit, kind_of(piece.hit), text, states, frozenset(tokens(text)))


def _strongest(states: Iterable[tuple[int, float]]) -> Mapping[int, float]:
    best: dict[int, float] = {}
    for number, sure in states:
        best[number] = max(sure, best.get(number, 0.0))
    return best


@dataclass
class UnitValue:
    """What a growing set of units is worth; `worth` is that of each subquestion, `rare` that of words."""

    worth: Sequence[float]
    rare: Mapping[str, float]
    _open: dict[int, float] = field(default_factory=dict)
    _said: dict[str, float] = field(default_factory=dict)

    def gain(self, unit: PackUnit) -> float:
        """What a unit would add."""
        asked = sum(self.worth[number] * self._open.get(number, 1.0) * relevance for number, relevance in unit.relevance.items())
        best = self._best(unit)
        words = sum(self.rare[word] * max(0.0, best - self._said.get(word, 0.0)) for word in self._telling(unit))
        return asked / (sum(self.worth) or 1.0) + SAYS * words

    def add(self, unit: PackUnit) -> None:
        """Put a unit into the set."""
        for number, relevance in unit.relevance.items():
            self._open[number] = self._open.get(number, 1.0) * (1.0 - min(relevance, 1.0))
        best = self._best(unit)
        self._said.update((word, max(best, self._said.get(word, 0.0))) for word in unit.words)

    def _telling(self, unit: PackUnit) -> list[str]:
        """The rarest of the words of a unit that were not said as well before: so many, however long it is."""
        best = self._best(unit)
        fresh = (word for word in unit.words if word in self.rare and self._said.get(word, 0.0) < best)
        return heapq.nsmallest(TELLING, fresh, key=lambda word: (-self.rare[word], word))

    def _best(self, unit: PackUnit) -> float:
        """How relevant a unit is to anything that was asked, by what that is worth."""
        most = max(self.worth, default=1.0) or 1.0
        return max((self.worth[number] * relevance / most for number, relevance in unit.relevance.items()), default=0.0)


def choose(units: Sequence[PackUnit], value: UnitValue, budget: int, caps: Mapping[Kind, int], favor: Mapping[Kind, float]) -> list[PackUnit]:
    """Units of at most `budget` tokens together and `caps` of each kind, in the order in which they were taken.

    The most for their cost come first; `favor` multiplies the gain of a kind. `value` grows by what is taken.
    """

    def worth(unit: PackUnit) -> float:
        return value.gain(unit) * favor.get(unit.kind, 1.0) / math.pow(unit.cost, THRIFT)

    left = dict(caps)
    waiting = [(-worth(unit), number) for number, unit in enumerate(units) if unit.cost <= budget]
    heapq.heapify(waiting)
    taken: list[PackUnit] = []
    while waiting:
        _, number = heapq.heappop(waiting)
        unit = units[number]
        if unit.cost > min(budget, left.get(unit.kind, budget)) or (gain := worth(unit)) <= 0.0:
            continue
        if waiting and gain < -waiting[0][0]:
            heapq.heappush(waiting, (-gain, number))
            continue
        value.add(unit)
        taken.append(unit)
        budget -= unit.cost
        if unit.kind in left:
            left[unit.kind] -= unit.cost
    return taken
