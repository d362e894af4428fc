"""What is expected of an implementation: values, each with who holds it, and of which of a repository's experiments it can be expected. Pure.

The target's own word goes before its own code, that before its lineage, and the lineage counts only for what the target
speaks of: what neither names, an implementation need not have. A paper has several experiments, and a repository may keep
each in a folder of its own; a value of one is not expected of another, nor of a repository that has no such experiment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from lineage.insight import Gap, Held, Specification, Suggestion
from lineage.tokens import stem
from retrieval.experiment_folders import Folders, folders
from retrieval.experiments import Experiments, compatible, is_parameter, telling
from retrieval.gaps.beside import measured
from retrieval.gaps.text import DONE, OWN, section_weight, told
from retrieval.gaps.wording import wording
from retrieval.places import is_own_code

LEAST = 0.5
"""Confidence from which on a value of the lineage is expected of a repository."""
_ALIKE = (frozenset({"epochs", "steps"}), frozenset({"warmup_epochs", "warmup_steps"}), frozenset({"hidden_size", "embedding_dim"}))
"""Details that are one to many authors."""
_ORDERED = frozenset({"adam_betas", "normalize_mean", "normalize_std", "color_jitter", "crop_scale"})
"""Details whose numbers each have a place of their own."""
_PLACES = {"adam_beta1": 0, "adam_beta2": 1}
"""Details that are one of the numbers of `adam_betas`."""
_MIXED = ({"mixed", "float16"}, {"mixed", "bfloat16"})
"""Precisions that are one said less and more exactly."""
_NOT_IN_CODE = frozenset({"gpus", "gpu_type", "training_time", "num_workers", "num_runs", "train_size"})
"""What an experiment ran on, with and how often, which a program need not say."""
_RUNS = ("learning_rate", "batch_size", "epochs", "steps")
"""Details that every experiment has a value of."""
_PROGRAM = re.compile(r"arg|pars(?:e|er)|option|config|setting|main|\.(?:py|sh)\b", re.IGNORECASE)
_EXAMPLES = frozenset({"examples", "example", "tests", "test", "demo", "demos", "tutorials"})
_LONGEST = 8_000
Same = Callable[[str, str, str], bool]


# -- what is expected


def offered(gap: Gap, silent: bool = False) -> Suggestion | None:
    """The value that is expected of what the target leaves unsaid: its own code's; that of its lineage for what it speaks of, if it is sure.

    `silent`: the target's own program is at hand, so that what it has no value of need not be there.
    """
    valued = [one for one in gap.suggestions if one.value]
    own = next((one for one in valued if is_own(one)), None)
    return own or next((one for one in valued if one.confidence >= LEAST and _spoken(gap) and not silent), None)


def is_own(offer: Suggestion) -> bool:
    """Whether the target's own code has a value."""
    return any(held.evidence.from_target for held in offer.held)


def _spoken(gap: Gap) -> bool:
    """Whether the target's own text, other than its introduction and what it says of others, speaks of a detail."""
    return any(hit.from_target and section_weight(hit.chunk) >= DONE for hit in gap.stated)


def certainty(gap: Gap) -> float:
    """How sure it is that an implementation has the expected value."""
    offer = None if gap.facts else offered(gap)
    return 1.0 if gap.facts else offer.confidence if offer else 0.0


def has_program(known: Mapping[str, Sequence[Held]]) -> bool:
    """Whether the target's own code runs an experiment."""
    return any(is_own_code(one) for name in _RUNS for one in known.get(name, ()))


def expected(gap: Gap, silent: bool = False) -> list[Held]:
    """Who holds the expected value."""
    stated = [one for one in gap.facts if one.fact.literal]
    if stated or gap.state is Specification.SPECIFIED:
        return [one for one in stated if _was_done(one)]
    offer = offered(gap, silent)
    return [one for one in offer.held if one.fact.literal] if offer else []


def _was_done(one: Held) -> bool:
    """Whether a value that the target states says what was done: one of a table, or of a sentence that does not introduce, compare or measure."""
    weight = section_weight(one.evidence.chunk)
    return not measured(one) and (weight >= DONE or (one.fact.kind == "table" and weight >= OWN))


def further(gap: Gap, known: Mapping[str, Sequence[Held]]) -> list[Held]:
    """What the target states besides: a report shows the first few values, any of them will do."""
    if not gap.facts:
        return []
    some = (one for name in gap.detail.facts for one in known.get(name, ()) if one.fact.literal)
    return told(some, gap.facts[0].fact.work)


def absent_counts(some: Sequence[Held]) -> bool:
    """Whether a repository without a value lacks something: not what a run was on, nor what sentences alone say of one of several parts."""
    many = wording().many
    return any(one.fact.name not in _NOT_IN_CODE and not (one.fact.kind == "prose" and one.fact.name in many) for one in some)


# -- which values agree


def alike(one: Held, other: Held) -> bool:
    """Whether two facts are of one detail, under its name or one that means the same to many."""
    names = {one.fact.name, other.fact.name}
    return len(names) == 1 or any(names <= family for family in _ALIKE) or ("adam_betas" in names and not names.isdisjoint(_PLACES))


def agree(one: Held, other: Held, same: Same) -> bool:
    """Whether two facts of one detail have the same value; ordered numbers are compared place by place."""
    if not (one.fact.literal and alike(one, other)):
        return False
    if {one.fact.value, other.fact.value} in _MIXED:
        return True
    mine, theirs = _places(one), _places(other)
    if mine and theirs:
        pairs = [(a, b) for a, b in zip_longest(mine, theirs, fillvalue="-") if a and b]
        return bool(pairs) and all(same(_PLACED.get(one.fact.name, one.fact.name), a, b) for a, b in pairs)
    return same(other.fact.name, one.fact.value, other.fact.value)


_PLACED = dict.fromkeys(("adam_betas", *_PLACES), "adam_beta1")
"""The detail by which a single number of several is compared."""


def _places(one: Held) -> list[str]:
    """The numbers of an ordered value, "" where it says nothing; none if it is no such value."""
    if one.fact.name in _PLACES:
        return [*[""] * _PLACES[one.fact.name], one.fact.value, *[""] * (1 - _PLACES[one.fact.name])]
    if one.fact.name not in _ORDERED or one.fact.value[:1] != "[":
        return []
    try:
        return [str(item) for item in json.loads(one.fact.value)]
    except ValueError:
        return []


# -- of which experiment


@dataclass(frozen=True)
class Repository:
    """The facts of a repository by name, the folders that are an experiment each, and the words by which it speaks of any."""

    held: Mapping[str, Sequence[Held]]
    folders: Folders
    words: frozenset[str]
    experiments: Experiments

    @classmethod
    def of(cls, held: Mapping[str, Sequence[Held]], experiments: Experiments) -> Repository:
        """What a repository holds; `experiments` are those that the target lists."""
        facts = [one for some in held.values() for one in some]
        said = {telling(f"{one.evidence.chunk.path} {one.fact.scope} {one.evidence.chunk.symbol}") for one in facts}
        said |= {telling(one.fact.value) for name in ("dataset", "model") for one in held.get(name, ())}
        return cls(held, folders(one.evidence.chunk for one in facts), frozenset[str]().union(*said), experiments)

    def has(self, one: Held) -> bool:
        """Whether a value may be expected of it: of none of the experiments that the target lists, or of one that it speaks of."""
        section = one.evidence.chunk.section
        return one.evidence.work.kind != "paper" or section not in self.experiments.listed or not self.words.isdisjoint(_names(section[-1]))

    def comparable(self, wanted: Held, found: Held) -> bool:
        """Whether a repository's value contradicts an expected one that it is not."""
        same_kind = alike(wanted, found) and wanted.fact.unit == found.fact.unit
        scopes = _PROGRAM.search(found.fact.scope) is not None or compatible(wanted.fact.scope, found.fact.scope)
        return same_kind and scopes and self._beside(wanted, found)

    def _beside(self, wanted: Held, found: Held) -> bool:
        """Whether a value stands where the experiment of the expected one is kept; what names none of them is of the program beside them all,
        if it is the target's own."""
        of, at = self._named(wanted), self.folders.of(found)
        return at in of if of or (self.folders.found and not wanted.evidence.from_target) else not at

    def _named(self, one: Held) -> frozenset[str]:
        """The experiments with a folder that an expected value speaks of."""
        chunk, code = one.evidence.chunk, one.evidence.work.kind == "code"
        place = f"{one.fact.work.rpartition('/')[2]} {chunk.path}" if code else f"{' '.join(chunk.section)} {chunk.text[:_LONGEST]}"
        return self.folders.named(f"{one.fact.scope} {place}")


def _names(title: str) -> set[str]:
    """The names in a title, whole: "ImageNet" is no net."""
    return {stem(word.lower()) for word in re.findall(r"[^\W_]{1,60}", title) if telling(word)}


def is_aside(one: Held, found: Sequence[Held]) -> bool:
    """Whether a value is only what an example has, or what a function or a model's settings take if their caller says nothing."""
    if is_parameter(one) or not _EXAMPLES.isdisjoint(one.evidence.chunk.path.lower().split("/")[:-1]):
        return True
    return _is_class_default(one) and any(other.fact.name == one.fact.name and not other.fact.literal for other in found)


def _is_class_default(one: Held) -> bool:
    root = re.split(r"[.:]", one.fact.scope)[0]
    return one.fact.kind == "default" and bool(root) and re.search(rf"\bclass\s+{re.escape(root)}\b", one.evidence.chunk.text) is not None
