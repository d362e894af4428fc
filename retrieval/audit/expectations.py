"""What a paper leads one to expect of an implementation, and when two values agree. Pure.

Expected is what the paper states that was done: a table, or a sentence that does not introduce, compare, search or measure.
A list of values that were tried is no value. What only the target's own code or its lineage has is known, and no deviation
from it counts: whoever follows the paper cannot know it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest

from lineage.hyperparameters.ontology import Ontology, Same
from lineage.hyperparameters.values import number
from lineage.records import FileRole, WorkId
from lineage.results import FactOccurrence
from lineage.text.tokens import parts
from retrieval.decisions.provenance import TRIED, is_parameter, sentence_of
from retrieval.decisions.target_text import DONE, OWN, section_weight

_ORDERED = frozenset({"adam_betas", "normalize_mean", "normalize_std", "color_jitter", "crop_scale"})
"""Details whose numbers each have a place of their own."""
_PLACES = {"adam_beta1": 0, "adam_beta2": 1}
"""Details that are one of the numbers of `adam_betas`."""
_MIXED = ({"mixed", "float16"}, {"mixed", "bfloat16"})
"""Precisions that are one said less and more exactly."""
COLLECTED = frozenset({"augmentation"})
"""Details of which an experiment has several values at once, each to be there."""
NOT_IN_CODE = frozenset({"gpus", "gpu_type", "training_time", "num_workers", "num_runs", "train_size"})
"""What an experiment ran on, with and how often, which a program need not say."""
_ITEMS = frozenset({"images", "image", "samples", "sample", "examples", "example", "sequences", "sequence", "pairs", "videos"})
"""Units that a batch is counted in without saying so."""
_EXAMPLES = frozenset({FileRole.EXAMPLE, FileRole.TEST})
_TRYING = re.compile(r"search|sensitiv|ablat|sweep|\btuning\b|effect of|impact of|varying|comparison|baseline", re.IGNORECASE)
_CHOSEN = re.compile(r"\b(?:best|final|chosen|selected|default|we (?:use|set|fix|adopt)|is set|are set|was set|were set)\b", re.IGNORECASE)
_TRIAL_RUN = re.compile(r"\s{0,80}(?:el)?if\s[^#]{0,60}\b(?:\w+\.)?\w{0,20}(?:debug|smoke_?test|dry_?run|fast_dev)", re.IGNORECASE)
_SEARCHED = re.compile(r"search_?space|sweep|grid_?search|tuning_?space")
_PLACED = dict.fromkeys(("adam_betas", *_PLACES), "adam_beta1")
"""The detail by which a single number of several is compared."""


@dataclass(frozen=True)
class Expectation:
    """One value that the paper states, of one detail; `item` is the place in a statement of several values, -1 for a single one."""

    value: FactOccurrence
    item: int = -1

    @property
    def name(self) -> str:
        """The detail's name."""
        return self.value.fact.name

    @property
    def place(self) -> tuple[str, int, str]:
        """The statement that it was read from."""
        return self.value.fact.chunk, self.value.fact.line, self.value.fact.said


def expectations(values: Iterable[FactOccurrence], target: WorkId, takes_list: bool) -> list[Expectation]:
    """What the target states of one detail; the values of a statement are one expectation each, unless the detail `takes_list`."""
    return [expectation for value in values if value.fact.work == target and is_stated(value) for expectation in _items(value, takes_list)]


def is_stated(value: FactOccurrence) -> bool:
    """Whether a paper's value says what was done."""
    if not value.fact.literal or value.fact.kind not in {"table", "prose"}:
        return False
    if is_end(value):
        return False
    weight = section_weight(value.evidence.chunk)
    return (weight >= DONE or (value.fact.kind == "table" and weight >= OWN)) and not is_tried(value)


def is_end(value: FactOccurrence) -> bool:
    """Whether a learning rate is the zero at which a schedule begins or ends."""
    return value.fact.name == "learning_rate" and number(value.fact.value) == 0


def is_tried(value: FactOccurrence) -> bool:
    """Whether a value is one of those that were tried: by its sentence, or a list below a title that says so."""
    if value.fact.kind != "prose":
        return False
    title = value.evidence.chunk.section[-1] if value.evidence.chunk.section else ""
    sentence, several = sentence_of(value), value.fact.value[:1] == "["
    return (TRIED.search(sentence) is not None and (several or not _CHOSEN.search(sentence))) or (several and _TRYING.search(title) is not None)


def _items(value: FactOccurrence, takes_list: bool) -> Iterator[Expectation]:
    items = [] if takes_list or value.fact.name in _ORDERED else read_list(value.fact.value)
    if not items:
        yield Expectation(value)
    for at, item in enumerate(items):
        yield Expectation(replace(value, fact=replace(value.fact, value=item)), at)


def read_list(value: str) -> list[str]:
    """The items of a list, none for what is no list."""
    try:
        items = json.loads(value) if value[:1] == "[" else []
    except ValueError:
        return []
    return [item if isinstance(item, str) else json.dumps(item) for item in items] if isinstance(items, list) else []


# -- which values agree


def alike(occurrence: FactOccurrence, other: FactOccurrence) -> bool:
    """Whether two facts are of one detail; Adam's betas may stand together or alone."""
    return other.fact.name in sisters(occurrence.fact.name)


def sisters(name: str) -> frozenset[str]:
    """The names under which a detail may stand."""
    return frozenset({"adam_betas", *_PLACES}) if name in _PLACED else frozenset({name})


def agree(occurrence: FactOccurrence, other: FactOccurrence, same: Same) -> bool:
    """Whether two facts of one detail have the same value; ordered numbers are compared place by place."""
    if not (occurrence.fact.literal and other.fact.literal and alike(occurrence, other)):
        return False
    if {occurrence.fact.value, other.fact.value} in _MIXED:
        return True
    mine, theirs = _places(occurrence), _places(other)
    if mine and theirs:
        pairs = [(a, b) for a, b in zip_longest(mine, theirs, fillvalue="-") if a and b]
        return bool(pairs) and all(same(_PLACED.get(occurrence.fact.name, occurrence.fact.name), a, b) for a, b in pairs)
    return same(other.fact.name, occurrence.fact.value, other.fact.value)


def _places(occurrence: FactOccurrence) -> list[str]:
    """The numbers of an ordered value, "" where it says nothing; none if it is no such value."""
    if occurrence.fact.name in _PLACES:
        return [*[""] * _PLACES[occurrence.fact.name], occurrence.fact.value, *[""] * (1 - _PLACES[occurrence.fact.name])]
    return read_list(occurrence.fact.value) if occurrence.fact.name in _ORDERED else []


# -- values of the repository that is audited


def is_aside(occurrence: FactOccurrence) -> bool:
    """Whether a value is only what an example or a trial run has, or what a function takes if its caller says nothing."""
    return is_parameter(occurrence) or in_example(occurrence) or _is_of_trial_run(occurrence)


def _is_of_trial_run(occurrence: FactOccurrence) -> bool:
    """Whether a line of code runs only `if args.debug:` and the like."""
    chunk = occurrence.evidence.chunk
    if chunk.kind != "code" or not occurrence.fact.line:
        return False
    lines = chunk.text.split("\n")[: occurrence.fact.line - chunk.start_line + 1]
    indent = len(lines[-1]) - len(lines[-1].lstrip()) if lines else 0
    for line in reversed(lines):
        if line.strip() and (width := len(line) - len(line.lstrip())) < indent:
            indent = width
            if _TRIAL_RUN.match(line):
                return True
    return False


def in_example(occurrence: FactOccurrence) -> bool:
    """Whether a value stands in an example, a test, or a list of what is to be tried."""
    return not _EXAMPLES.isdisjoint(occurrence.evidence.roles) or _SEARCHED.search(occurrence.evidence.chunk.path.lower()) is not None


def one_measure(stated: FactOccurrence, set_: FactOccurrence) -> bool:
    """Whether two amounts are counted in one unit; code that names none counts what most do, and not tokens."""
    return stated.fact.unit == set_.fact.unit or (not set_.fact.unit and stated.fact.unit in _ITEMS)


_STAGES = {
    "pretraining": r"pre ?train",
    "fine-tuning": r"fine ?tun|\b(?:ft|sft)\b",
    "probing": r"\b(?:lin(?:ear)? ?(?:prob|eval|class)|prob(?:e|ing)\b)",
    "distillation": r"distil",
    "evaluation": r"\b(?:eval(?!\w*s\b)|evaluat|test(?:ing)?\b|valid|val\b|infer|predict|sampl(?:e|er|ing)\b|generat(?:e|ion|ing)\b|decod(?!er))",
}
_TRAINED = re.compile(r"\btrain(?:ing|ed)?\b", re.IGNORECASE)
_REACH = 80


def stages(text: str) -> frozenset[str]:
    """The stages that a text names, identifiers included."""
    low = " ".join(parts(text.replace("-", " "))) if "_" in text or "/" in text else text.lower().replace("-", " ")
    return frozenset(stage for stage, pattern in _STAGES.items() if re.search(pattern, low))


def one_stage(stated: FactOccurrence, set_: FactOccurrence, evaluated: bool) -> bool:
    """Whether a stated value and one of code may be of one stage; one of a detail that is `evaluated` may be of evaluation too."""
    chunk, sentence = set_.evidence.chunk, stated.fact.said[:_REACH]
    of_paper = stages(f"{stated.fact.scope} {sentence if stated.fact.kind == 'prose' else ''}")
    of_code = stages(" ".join(parts(f"{chunk.path.rpartition('.')[0]} {set_.fact.scope} {set_.fact.written}")))
    if evaluated or _TRAINED.search(sentence):
        of_paper -= {"evaluation"}  # "the training and sampling batch sizes" are of both
    of_code -= {"evaluation"} if evaluated else set()
    return bool(of_paper & of_code) if of_paper and of_code else of_code <= {"pretraining", "fine-tuning"} and of_paper != {"evaluation"}


def amounts_in(word: str) -> Iterator[float]:
    """The numbers in a word of prose."""
    for piece in word.strip("$.,;:()[]\\").replace("{", "").replace("}", "").split("="):
        if (amount := number(piece.strip("$.,;:()[]~"))) is not None:
            yield float(amount)


def is_schedule(known: Ontology, value: FactOccurrence) -> bool:
    """Whether a schedule is one of those that the list knows: the `_target_` of a scheduler of noise is none."""
    term = known.terms.get(value.fact.name)
    if term is None or term.type != "schedule" or value.fact.kind != "config":
        return True
    return any(f'"{kind}"' in value.fact.value for kind in term.values)
