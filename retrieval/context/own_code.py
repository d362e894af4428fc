"""Which of the target's own functions do what a task asks for (pure but for reading the catalogue): due before any choice by thrift.

A long function loses to five scraps where units compete by what they say a token, and another's training loop is as like the words
"training loop" as the target's own. So for each part of a task the own function that retrieval ranks first is in, and what others
have answers that part no more, but for what the own function calls.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from lineage.records import Hit
from retrieval.context.task import Subquestion, asks_settings
from retrieval.context.units import PackUnit, weighed
from retrieval.decisions.experiment_folders import Folders

_LEAST, _SHOWN = 0.02, 0.005
"""How relevant a function must be to a part to do it; and one that shows by its calls that it does."""
_ANSWERED = 0.1
"""What is left of the relevance of others' code to what the target's own code answers."""
_ASIDE = 0.2
"""What code of an experiment beside the root's is worth, where the task does not name it."""
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


def worth(hit: Hit, task: str, folders: Folders) -> float:
    """What a piece of code is worth to a task: the root program's first, an experiment's beside it where the task names it."""
    experiment = folders.holding(hit.chunk)
    return _ASIDE if experiment and experiment not in folders.named(task) else 1.0


def by_experiment(pack_units: Sequence[PackUnit], task: str, folders: Folders) -> list[PackUnit]:
    """The units, those of the target's code as relevant as the experiment that they belong to lets them be."""
    return [weighed(unit, worth(unit.hit, task, folders)) if unit.hit.from_target else unit for unit in pack_units]


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
    return max(able or (unit for unit in some if unit.relevance[number] >= _LEAST), key=lambda unit: unit.relevance[number], default=None)


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
