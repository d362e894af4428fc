"""A `config.yaml` whose values each have their source in a comment, and what is left UNSPECIFIED (pure).

A value that the target states is the target's, if it states one; where it has several, for as many experiments, that which its own
program sets, or none: they are listed. Where it is silent its own program speaks, and where there is none the best-supported value of
its lineage stands with its grade. Sentences are remarks. Where nobody says anything the value is the word UNSPECIFIED, so that
the one who writes the code has to decide it knowingly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

from lineage.citation import pinpoint
from lineage.errors import NotFound
from lineage.hyperparameters.ontology import Ontology
from lineage.records import Hit
from lineage.results import FactOccurrence, Gap, Specification, Suggestion
from retrieval.context.markdown import inline, inline_path, place
from retrieval.decisions.consensus import consensus
from retrieval.decisions.experiments import Folders, is_parameter, is_set
from retrieval.decisions.fact_index import FactIndex, is_eval_script, is_low_evidence_path, is_vendored
from retrieval.decisions.provenance import by_value, is_own_code

UNSPECIFIED = "UNSPECIFIED"
_PLAIN = re.compile(r"-?\d[\d.]{0,20}(?:[eE][+-]?\d{1,3})?\Z|true\Z|false\Z|[A-Za-z][A-Za-z0-9_./-]{0,60}\Z")
_EXPONENT = re.compile(r"(?<![\w.])(\d+)(\.\d*)?[eE]([+-]?)(\d+)(?!\w)")
_LONGEST = 200
_REMARK = "# "
"""What a line begins with that sets nothing."""
_ASIDE = 0.5
"""What a line without a value is worth beside one that has it."""
_LISTED, _ALSO = 6, 3
"""Values of as many experiments that are told, and further ones beside the one that is chosen."""
_KEY = re.compile(r"[^A-Za-z0-9_]+")
_COMMAND, _CONFIG, _OPTION, _CALL, _PARAMETER = range(5)


@dataclass(frozen=True)
class ConfigLine:
    """One line of the file: its `section`, how much a reproduction depends on it, and the evidence of its value."""

    section: str
    line: str
    weight: float
    evidence: tuple[Hit, ...] = ()
    is_open: bool = False


class _Setting(NamedTuple):
    """A setting's name, its line of the file, the evidence of its value, and whether its value is UNSPECIFIED."""

    name: str
    line: str
    evidence: tuple[Hit, ...]
    is_open: bool = False


def entries(gaps: Sequence[Gap], programs: Programs | None = None) -> list[ConfigLine]:
    """A line for every setting, those on which most depends first; a detail of several settings has a line for each."""
    config_lines_by_key: dict[str, ConfigLine] = {}
    for gap in gaps:
        for name, line, evidence, is_open in _lines(gap, programs):
            weight = gap.detail.weight * (_ASIDE if is_open or line.startswith(_REMARK) else 1.0)
            config_lines_by_key.setdefault(name, ConfigLine(_key(gap.detail.topic) or "other", line, weight, evidence, is_open))
    return sorted(config_lines_by_key.values(), key=lambda entry: -entry.weight)


def _lines(gap: Gap, programs: Programs | None) -> Iterable[_Setting]:
    """What the target states by value and its own program sets; else what it states in words; else the best of its lineage."""
    stated = _by_name(gap.facts) if gap.state is not Specification.UNSPECIFIED else {}
    known = {name: some for name in gap.detail.facts if programs and (some := programs.settings(name))}
    names = [*stated, *_further(stated, known)]
    for name in names:
        yield _line(name, stated.get(name, ()), known.get(name, ()), programs)
    if not names:
        yield _silent(gap, programs)


def _further(stated: Collection[str], known: Mapping[str, Sequence[ProgramSetting]]) -> list[str]:
    """The setting of a detail that own code has surest, unless a stated one of the detail is among its own, or it is unsure."""
    rest = [name for name in known if name not in stated]
    best = min(rest, key=lambda name: (bool(known[name][0].experiment), not known[name][0].sure), default=None)
    return [best] if best and (not stated or (known[best][0].sure and known.keys().isdisjoint(stated))) else []


def _line(name: str, stated: Sequence[FactOccurrence], set_: Sequence[ProgramSetting], programs: Programs | None) -> _Setting:
    """One setting: the value of the target, or that of its program, or a remark that lists those of its experiments."""
    key, chosen = _key(name), _chosen(stated)
    own = next((program_setting for program_setting in set_ if not (program_setting.experiment and programs and programs.rooted)), None)
    sure = own if own and own.sure else None
    agreed = next((other for other in stated if sure and programs and programs.same(name, other, sure.held)), None)
    first = agreed or (None if sure and programs and programs.several else chosen)
    if first:
        beside = f"; own code: {inline(sure.held.fact.value, 40)}, {_cited(sure.held.evidence)}" if sure and not agreed else ""
        return _Setting(key, _written(key, first, f"stated: {_cited(first.evidence)}{_others(first, stated)}{beside}"), (first.evidence,))
    if sure or (own and not stated and len(set_) == 1):
        occurrence = (sure or set_[0]).held
        note = f"; stated: {_listed(stated)}" if stated else f", not stated{_elsewhere(set_)}"
        return _Setting(key, _written(key, occurrence, f"own code: {_cited(occurrence.evidence)}{note}"), (occurrence.evidence,))
    several = stated or [program_setting.held for program_setting in set_]
    scopes = [other.fact.scope for other in stated] or [program_setting.experiment or program_setting.held.fact.scope for program_setting in set_]
    return _Setting(key, f"{_REMARK}{key}: one for each model or experiment: {_listed(several, scopes)}", (several[0].evidence,))


def _chosen(stated: Sequence[FactOccurrence]) -> FactOccurrence | None:
    """The one value that is stated, or the one that is stated of nothing in particular; none of several."""
    open_ = {occurrence.fact.value: occurrence for occurrence in reversed(stated) if not occurrence.fact.scope} or {
        occurrence.fact.value: occurrence for occurrence in reversed(stated)
    }
    return next(iter(open_.values())) if len(open_) == 1 else None


def _silent(gap: Gap, programs: Programs | None) -> _Setting:
    """A detail of which neither the target nor its program has a value that is known by its name."""
    name = _key(gap.detail.name.rpartition(":")[2])
    if gap.stated and gap.state is Specification.SPECIFIED:
        return _Setting(name, f"{_REMARK}{name}: stated in words: {_cited(gap.stated[0])}", gap.stated[:1])
    if offer := best(gap):
        return _offered(name, offer, programs)
    where = f"  # spoken of: {_cited(gap.stated[0])}" if gap.stated else ""
    return _Setting(name, f"{name}: {UNSPECIFIED}{where}", gap.stated[:1], is_open=True)


def best(gap: Gap) -> Suggestion | None:
    """The best offered value of a detail; a statement of code does not count."""
    return next((suggestion for suggestion in gap.suggestions if suggestion.value and suggestion.held and not suggestion.held[0].fact.end_line), None)


def _offered(name: str, best: Suggestion, programs: Programs | None) -> _Setting:
    """The best value that is offered: one of others is a remark where it is unlikely, or the target has a program that does without."""
    occurrence, rooted = best.held[0], bool(programs and programs.rooted)
    if occurrence.evidence.from_target:
        aside = programs.experiment(occurrence) if programs and rooted else ""
        value, note = scalar(best.value), f"{_unit(best.unit)}own code: {_cited(occurrence.evidence)}, not stated"
        line = f"{_REMARK}{name}: {value} ({inline(aside)}): {note}" if aside else f"{name}: {value}  # {note}"
        return _Setting(name, line, (occurrence.evidence,))
    note = f"lineage, {best.grade} evidence: {place(occurrence.evidence)}"
    if best.grade != "weak" and not rooted:
        return _Setting(name, f"{name}: {scalar(best.value)}  # {_unit(best.unit)}{note}", (occurrence.evidence,))
    return _Setting(name, f"{name}: {UNSPECIFIED}  # perhaps {inline(best.value, 60)}: {note}", (occurrence.evidence,), is_open=True)


def _written(key: str, occurrence: FactOccurrence, said: str) -> str:
    return f"{key}: {scalar(occurrence.fact.value)}  # {_unit(occurrence.fact.unit)}{said}"


def _listed(some: Sequence[FactOccurrence], scopes: Sequence[str] = ()) -> str:
    """Values with what each is for, and where the first stands."""
    named = zip(some, scopes or [occurrence.fact.scope for occurrence in some], strict=True)
    values = dict.fromkeys(_for(occurrence, scope) for occurrence, scope in named)
    return f"{', '.join(list(values)[:_LISTED])}: {_cited(some[0].evidence)}"


def _for(occurrence: FactOccurrence, scope: str) -> str:
    """A value with what it is for."""
    return inline(occurrence.fact.value, 40) + (f" ({inline(scope, 30)})" if scope else "")


def _elsewhere(set_: Sequence[ProgramSetting]) -> str:
    """What further values own code sets, with the experiment they are for."""
    return _also(_for(program_setting.held, program_setting.experiment) for program_setting in set_[1:] if program_setting.sure)


def _by_name(facts: Sequence[FactOccurrence]) -> dict[str, list[FactOccurrence]]:
    occurrences_by_key: dict[str, list[FactOccurrence]] = {}
    for occurrence in facts:
        occurrences_by_key.setdefault(occurrence.fact.name, []).append(occurrence)
    return occurrences_by_key


def yaml(chosen: Sequence[ConfigLine]) -> str:
    """The file: sections in the order in which their weightiest entry comes."""
    order = {section: at for at, section in reversed(list(enumerate(entry.section for entry in chosen)))}
    rows: list[str] = []
    for section, group in groupby(sorted(chosen, key=lambda entry: order[entry.section]), key=lambda entry: entry.section):
        rows += [f"{section}:", *(f"  {entry.line}" for entry in group)]
    if any(entry.is_open for entry in chosen):
        rows.insert(0, f"# {UNSPECIFIED}: neither the target nor anything in its lineage says; decide knowingly")
    return "\n".join(rows)


def scalar(value: str) -> str:
    """A value as YAML reads it back: numbers, plain words, lists and mappings as they are, everything else quoted."""
    text = inline_path(value)
    if _PLAIN.match(text):
        return text if text[0].isalpha() else _pointed(text)
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return json.dumps(text[:_LONGEST], ensure_ascii=False)
    whole = json.dumps(read, ensure_ascii=False)
    return whole if '"' in whole else _pointed(whole)


def _pointed(text: str) -> str:
    """With a point and a sign in every number that has an exponent: YAML 1.1 takes `1e-8` for a word."""
    return _EXPONENT.sub(lambda match: f"{match[1]}{match[2] or '.0'}e{match[3] or '+'}{match[4]}", text)


def _unit(unit: str) -> str:
    return f"{inline(unit, 20)}; " if unit else ""


def _cited(hit: Hit) -> str:
    return inline_path(pinpoint(hit))


def _others(first: FactOccurrence, facts: Sequence[FactOccurrence]) -> str:
    """Further values that the target states itself, which contradict or qualify the first."""
    return _also(
        dict.fromkeys(
            _for(occurrence, inline(occurrence.fact.scope) or "elsewhere") for occurrence in facts if occurrence.fact.value != first.fact.value
        )
    )


def _also(rest: Iterable[str]) -> str:
    some = list(rest)[:_ALSO]
    return f"; also {', '.join(some)}" if some else ""


def _key(text: str) -> str:
    return _KEY.sub("_", text).strip("_").lower()


@dataclass(frozen=True)
class ProgramSetting:
    """A value with its holder: `sure` if a command, a file or an option of a program sets it; `experiment` is "" for the root's."""

    held: FactOccurrence
    sure: bool
    experiment: str = ""


@dataclass(frozen=True)
class Programs:
    """The target's own programs: everything that is held, how values compare, and which folders are experiments."""

    holders: FactIndex
    ontology: Ontology
    folders: Folders

    def settings(self, name: str) -> list[ProgramSetting]:
        """The values that own code has for a detail, each once, what was run most surely first."""
        groups = by_value(name, sorted(self._own(name), key=self._place), self.ontology.same)
        return [ProgramSetting(first, self._rank(first) <= _OPTION, self.experiment(first)) for first, *_ in groups]

    def same(self, name: str, occurrence: FactOccurrence, other: FactOccurrence) -> bool:
        """Whether two hold one value of a detail."""
        return occurrence.fact.value == other.fact.value or self.ontology.same(name, occurrence.fact.value, other.fact.value)

    @cached_property
    def rooted(self) -> bool:
        """Whether something outside of the experiments sets anything."""
        return "" in self._running

    @cached_property
    def several(self) -> bool:
        """Whether there are experiments beside each other, of which a sentence may mean any."""
        return len(self._running) > 1

    @cached_property
    def _running(self) -> frozenset[str]:
        """The experiments of which a file or a program sets something."""
        own = (occurrence for some in self.holders.held.values() for occurrence in some if is_own_code(occurrence))
        return frozenset(
            self.experiment(occurrence) for occurrence in own if self._rank(occurrence) <= _OPTION and not is_low_evidence_path(occurrence)
        )

    def experiment(self, occurrence: FactOccurrence) -> str:
        """The experiment that a holder belongs to, "" for the root's."""
        return self.folders.of(occurrence)

    def _own(self, name: str) -> Iterable[FactOccurrence]:
        try:
            values = consensus(self.holders, name, self.ontology).values
        except NotFound:
            return []
        return [
            occurrence
            for value in values
            for occurrence in value.held
            if occurrence.fact.literal and is_own_code(occurrence) and not is_vendored(occurrence.evidence)
        ]

    def _place(self, occurrence: FactOccurrence) -> tuple[bool, bool, bool, int, int]:
        return (
            bool(self.experiment(occurrence)),
            is_low_evidence_path(occurrence),
            is_eval_script(occurrence),
            self._rank(occurrence),
            occurrence.fact.scope.count("."),
        )

    def _rank(self, occurrence: FactOccurrence) -> int:
        if is_set(occurrence):
            return _COMMAND if occurrence.fact.kind == "command" else _CONFIG
        if occurrence.fact.kind != "default":
            return _CALL
        # a model's class has sizes if nobody says otherwise, and whoever makes one does
        sized = occurrence.fact.scope[:1].isupper() and self.ontology.topic(occurrence.fact.name) == "architecture"
        if sized or is_parameter(occurrence):
            return _PARAMETER
        return _CALL if occurrence.evidence.chunk.role in {"function", "method"} else _OPTION
