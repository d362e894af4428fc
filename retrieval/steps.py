"""Steps that the target's text says it takes and that its own code switches off, or has no name for. Pure.

"We apply top-p sampling" in a paper whose repository has neither `top_p` nor a cumulative sum: either the step was dropped or
it is something else than the text says; "with gradient clipping", and every setting of it is 0. Words alone are compared, so
everything is taken in favour of the code: any of many names anywhere in the repository will do, a trainer or a library that
may take the step by itself makes all of it silent, and a sentence counts only if it says outright that the target does this.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from lineage.insight import Conflict, Held
from lineage.model import Chunk, Fact, FactKind, Focus, Hit, WorkId
from retrieval.experiments import Experiments, settings_of
from retrieval.gaps.text import Said, TargetText
from retrieval.holders import aside, of_baselines
from retrieval.kinship import Kinship
from retrieval.places import evidence, is_own_code

ABSENT, OFF = 0.35, 0.45
"""Severities of a step that nothing names, and of one that settings switch off."""
_LEAST = 0.75
"""Weight of a section from which on its sentences speak of what was done."""
_SIDES = 3
_NOTHING = frozenset(("0", "none", "null", "false"))
OPERATION = "operation"
"""The name of the fact that a step is taken, or that nothing is."""
_SHORT = 5
"""Letters under which a name in code must begin a word, or be in capitals, to count."""
_DONE = re.compile(
    r"\bwe\s(?:\w{1,20}\s){0,3}?(?:use|apply|employ|adopt|perform|utili[sz]e|add|incorporate|include|clip|keep|maintain|implement|leverage|train|"
    r"optimi[sz]e|decode|sample|generate|regulari[sz]e|augment|set)\b|\b(?:is|are|was|were)\s(?:\w{1,20}\s)?(?:trained|optimi[sz]ed|regulari[sz]ed|"
    r"augmented|decoded|sampled|generated)\b",
    re.IGNORECASE,
)
_GIVEN = re.compile(
    r"[^.;:]{0,40}?\b(?:is|are|was|were)\s(?:\w{1,20}\s)?(?:used|applied|employed|adopted|added|performed|utili[sz]ed|incorporated|enabled)\b",
    re.IGNORECASE,
)
_BREAKS = re.compile(r"[.;:]|\b(?:which|that|who|whose|where)\b", re.IGNORECASE)
_OTHERWISE = re.compile(
    r"\b(?:without|not|no|never|instead of|rather than|unlike|disabl\w*|remov\w*|omit\w*|avoid\w*|replac\w*|compar\w*|baselines?|ablat\w*|could|"
    r"can|may|might|would|future|such as|e\.g|previous|prior|existing|other|original\w*|proposed by|similar to|they|their|effects?|vary\w*|whether|"
    r"alternative\w*|either|if|when|optional\w*|pre-?trained)\b|n['’]t\b",
    re.IGNORECASE,
)
_CODE = {"training": re.compile(r"\.backward\("), "sampling": re.compile(r"\b(?:multinomial|argmax|Categorical)\(")}
"""What shows that a piece of code takes the steps of a kind itself."""


@dataclass(frozen=True)
class Step:
    """A step of training or of sampling: how text names it, the names of which code that takes it has one (None: it may do without).

    `facts` are the settings of it, `off` the values by which it is not taken.
    """

    name: str
    kind: str
    said: re.Pattern[str]
    code: re.Pattern[str] | None
    facts: tuple[str, ...] = ()
    off: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Steps:
    """The packaged table (`data/steps.json`, with its provenance); `delegated` is, by kind, what may take a step without naming it."""

    steps: tuple[Step, ...]
    delegated: Mapping[str, re.Pattern[str]]


@cache
def steps() -> Steps:
    """The packaged steps."""
    table = json.loads(files("retrieval").joinpath("data/steps.json").read_text("utf-8"))
    found = [_step(name, kind, row["said"], row) for kind in _CODE for name, row in table[kind].items()]
    trainers, libraries = ("|".join(map(re.escape, table[name].split())) for name in ("delegated", "imported"))
    imported = rf"^[ \t]{{0,40}}(?:from|import) (?:{libraries})\b"
    return Steps(tuple(found), {"training": re.compile(trainers), "sampling": re.compile(f"{trainers}|{imported}", re.MULTILINE)})


def _step(name: str, kind: str, said: Iterable[str], row: Mapping[str, str]) -> Step:
    names, facts, off = (row.get(key, "").split() for key in ("code", "facts", "off"))
    return Step(name, kind, _spoken(said), _named(names) if names else None, tuple(facts), _NOTHING.union(off))


def _spoken(phrases: Iterable[str]) -> re.Pattern[str]:
    said = "|".join(r"[-\s]{0,2}".join(map(re.escape, phrase.split())) for phrase in phrases)
    return re.compile(rf"\b(?:{said})\b", re.IGNORECASE)


def _named(names: Sequence[str]) -> re.Pattern[str]:
    """Any of the names: a long one anywhere in a word, a short one where a word begins or in capitals (`ema`, `ModelEMA`, no "schema")."""
    short = [name for name in names if len(name) < _SHORT]
    forms = [rf"(?i:{re.escape(name)})" for name in names if name not in short]
    forms += [rf"(?<![A-Za-z])(?i:{re.escape(name)})|{re.escape(name.upper())}|{re.escape(name.capitalize())}" for name in short]
    return re.compile("|".join(forms))


def conflicts(said: TargetText, code: Sequence[Chunk], kinship: Kinship, held: Mapping[str, Sequence[Held]]) -> Iterator[Conflict]:
    """A row for each step that the text takes and that `code`, the passages of the target's own repositories, does not take."""
    experiments = Experiments.of(held, said.work.id)
    own = {kind: _place(kind, code, kinship) for kind in _CODE}
    for step in steps().steps if code else ():
        sentence = next((one for one in said.sentences if takes(one, step)), None)
        if sentence is None:
            continue
        if off := switched_off(step, held, said.work.id):
            yield from _conflict(step, sentence, off, said, experiments)
        elif (place := own[step.kind]) and step.code and not any(step.code.search(one.text) for one in code):
            yield from _conflict(step, sentence, [_side(place, "none", "")], said, experiments)


def switched_off(step: Step, held: Mapping[str, Sequence[Held]], target: WorkId) -> list[Held]:
    """The settings of the own code by which a step is not taken; none if any sets it, or if the text gives a value that can be compared."""
    some = [one for name in step.facts for one in held.get(name, ())]
    own = [one for one in some if is_own_code(one) and not (aside(one) or of_baselines(one))]
    stated = any(one.fact.work == target for one in some)
    off = not stated and all(one.fact.value.lower() in step.off for one in own)
    # what one call passes to one of many layers switches nothing off
    return [one for one in settings_of(own) if one.fact.kind != "call"] if off else []


def takes(one: Said, step: Step) -> bool:
    """Whether a sentence says outright that the target takes a step."""
    found = step.said.search(one.text)
    if not found or one.weight < _LEAST or one.table or one.caption or one.quoted or _OTHERWISE.search(one.text):
        return False
    done = list(_DONE.finditer(one.text, 0, found.start()))
    before = one.text[done[-1].end() : found.start()] if done else ""
    return bool(done and not _BREAKS.search(before)) or _GIVEN.match(one.text, found.end()) is not None


def _place(kind: str, code: Sequence[Chunk], kinship: Kinship) -> Hit | None:
    """Where the own code takes the steps of a kind by itself; nowhere if a trainer or a library may do it."""
    if any(steps().delegated[kind].search(one.text) for one in code):
        return None
    found = (one for one in _places(code, _CODE[kind], kinship) if not (aside(held := _side(one, "", "")) or of_baselines(held)))
    return next(found, None)


def _places(code: Iterable[Chunk], taking: re.Pattern[str], kinship: Kinship) -> Iterator[Hit]:
    for chunk in code:
        if chunk.kind == "code" and (found := taking.search(chunk.text)):
            yield evidence(chunk, kinship, chunk.start_line + chunk.text.count("\n", 0, found.start()))


def _conflict(step: Step, sentence: Said, code: Sequence[Held], said: TargetText, experiments: Experiments) -> Iterator[Conflict]:
    hit = Hit(1, 1.0, sentence.chunk, said.work, focus=Focus(sentence.line, sentence.line), from_target=True)
    mine = _side(hit, step.name, " ".join(sentence.text.split()))
    shown = [one for one in code if experiments.together(mine, one)][:_SIDES]
    if shown:
        off = shown[0].fact.name != OPERATION
        told = "switches it off" if off else f"has its {step.kind} and names nothing like it; words alone were compared"
        title, why = f"{step.name[:1].upper()}{step.name[1:]}", f"the text says that it is done; the own code {told}"
        yield Conflict(f"step:{step.name}", title, "paper-code", (mine, *shown), OFF if off else ABSENT, why)


def _side(hit: Hit, value: str, words: str) -> Held:
    kind: FactKind = "prose" if hit.work.kind == "paper" else "call"
    return Held(Fact(OPERATION, value, "", hit.work.id, hit.chunk.id, kind, hit.focus.start_line if hit.focus else 0, value, words), hit)
