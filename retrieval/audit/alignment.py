"""Align what the paper states of an experiment with the run of its own code that it describes. Pure.

A paragraph or table of the paper is laid beside every run: words of its column, clause, sentence and titles choose among the runs,
and values that agree show that both are of one experiment. A stated value that no such run has, while the rest agrees, contradicts
the code. Where nothing chooses, nothing is reported.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from lineage.hyperparameters.ontology import Same
from lineage.hyperparameters.values import number
from lineage.ids import repo_name
from lineage.results import FactOccurrence
from lineage.text.phrases import sentences
from retrieval.audit.runs import RunSettings, words
from retrieval.decisions.experiments import Experiments, telling
from retrieval.decisions.provenance import line_at
from retrieval.decisions.wording import wording

ALIGNED = 3
"""Details on which a paragraph and a run agree, from which on they are of one experiment."""
DISTINCT = 2
"""Words of the paper that name a run and none that has the stated value, from which on that other run does not matter."""
NAMED = 1
"""The same where words of the paper name the run."""
Groups = Mapping[tuple[str, ...], "Sequence[_Statement]"]
FAMILIES = (frozenset({"epochs", "steps"}), frozenset({"hidden_size", "embedding_dim"}))
_MACHINES = "gpus gpu_type training_time num_workers timeout precision gradient_checkpointing log_interval eval_interval save_interval"
_REPORTS = "num_runs seed folds metric dataset train_size num_samples eval_batch_size shuffle few_shot"
_MANY = "model loss num_agents llm_model embedding_model tokenizer augmentation activation normalization initialization pooling"
_UNTOLD = frozenset(f"{_MACHINES} {_REPORTS} {_MANY}".split())
"""Details of machines, repetitions and reports, and those that one program has many of."""
_TRIED = re.compile(
    r"\b(?:vary|varying|varied|sweep\w*|grid|search\w*|ablat\w*|experiment(?:ed)? with|different (?:values|choices)|"
    r"range of|ranging|tried|compar\w*)\b",
    re.IGNORECASE,
)
"""Sentences that tell what was tried, not what was used."""
_CLAUSE = re.compile(r"[,;:]\s+|\s+(?:and|while|whereas|but)\s+(?=[\d$A-Z])|\s+and\s+(?=\w+\s(?:results|experiments|models?)\b)")
_SCALED = re.compile(r"(?:\A|[._-])b(?:ase)?[_-]?l(?:r|earning[_-]rate)\Z", re.IGNORECASE)
"""Names of a learning rate that a program multiplies by the size of its batch."""


@dataclass(frozen=True)
class Disagreement:
    """A stated value, the settings of the runs that it is about, and why they are of one experiment."""

    stated: FactOccurrence
    settings: tuple[FactOccurrence, ...]
    grade: str
    why: str


@dataclass(frozen=True)
class _Statement:
    """A value of the paper with the runs that its words choose; `named` are the words that chose them."""

    occurrence: FactOccurrence
    runs: tuple[RunSettings, ...]
    named: frozenset[str]

    @cached_property
    def group(self) -> tuple[str, ...]:
        """What is stated together: the lines of a paragraph, a row or column of a table."""
        fact, chunk = self.occurrence.fact, self.occurrence.evidence.chunk
        return (chunk.id, fact.scope) if fact.kind == "table" else (*chunk.section, str(fact.line))


@dataclass(frozen=True)
class Alignment:
    """The statements of a paper beside the runs of its code; `same` says when two values of a detail are one."""

    runs: Sequence[RunSettings]
    same: Same
    experiments: Experiments

    def disagreements(self, paper: Mapping[str, Sequence[FactOccurrence]]) -> Iterator[Disagreement]:
        """Every stated value that its own run has otherwise."""
        by_name = {name: [self._statement(one) for one in some] for name, some in paper.items() if name not in _UNTOLD}
        groups: dict[tuple[str, ...], list[_Statement]] = defaultdict(list)
        for some in by_name.values():
            for statement in some:
                groups[statement.group].append(statement)
        for name, some in by_name.items():
            for statement in some:
                if not _is_tried(statement.occurrence):
                    yield from self._of(name, statement, some, groups)

    def _statement(self, occurrence: FactOccurrence) -> _Statement:
        """A value with the runs that have its detail and that its nearest words do not exclude."""
        having = [run for run in self.runs if self._values(occurrence.fact.name, run)]
        common = frozenset.intersection(*(run.words for run in having)) if having else frozenset()
        kept, named = having, frozenset[str]()
        for place in _around(occurrence):
            said = words(place) - common
            chosen = [run for run in kept if said & run.words]
            if chosen and len(chosen) < len(kept):
                best = max(len(said & run.words) for run in chosen)
                kept = [run for run in chosen if len(said & run.words) == best]
                named |= frozenset.union(*(said & run.words for run in kept))
        section = occurrence.evidence.chunk.section
        if section in self.experiments.listed:  # one of several experiments: its run must bear its name
            kept = [run for run in kept if telling(section[-1]) & run.words]
        return _Statement(occurrence, tuple(kept), named)

    def _values(self, name: str, run: RunSettings) -> list[FactOccurrence]:
        family = next((some for some in FAMILIES if name in some), frozenset({name}))
        return [occurrence for other in (name, *sorted(family - {name})) for occurrence in run.settings.get(other, ()) if occurrence.fact.literal]

    def _of(self, name: str, statement: _Statement, all_: Sequence[_Statement], groups: Groups) -> Iterator[Disagreement]:
        scored = [(*self._agreeing(run, name, groups[statement.group]), run) for run in statement.runs]
        best = max((len(agreed) for agreed, _, _ in scored), default=0)
        places = {occurrence.evidence.chunk.path for run in statement.runs for occurrence in self._comparable(name, statement.occurrence, run)}
        chosen = [row for row in scored if len(row[0]) == best and _is_about(statement, len(places), *map(len, row[:2]))]
        agreeing = [run for run in statement.runs if self._agrees(name, statement.occurrence, run)]
        if not chosen or (agreeing and (statement.named or best < ALIGNED)):
            return
        chosen = [row for row in chosen if row[2] not in agreeing and not self._is_held(name, statement, row[2], groups[statement.group])]
        settings = list(
            {occurrence.fact: occurrence for *_, run in chosen for occurrence in self._comparable(name, statement.occurrence, run)}.values()
        )
        if not settings or (not agreeing and self._elsewhere(name, statement, best)):
            return
        if any(self._is_settled(name, statement, other, row[2], groups, best) for other in all_ if other is not statement for row in chosen):
            return
        grade = "possible" if agreeing else "sure" if best >= ALIGNED else "likely"
        yield Disagreement(statement.occurrence, tuple(settings), grade, _why(chosen[0][0], statement.named, chosen[0][2]))

    def _is_settled(self, name: str, statement: _Statement, other: _Statement, run: RunSettings, groups: Groups, best: int) -> bool:
        """Whether another statement has the value that a run has where they differ, and its paragraph is as much like the run."""
        places = {other_run.place for other_run in other.runs}
        if run.place not in places or (statement.named and places != {other_run.place for other_run in statement.runs}):
            return False
        compared = self._comparable(name, statement.occurrence, run)
        held = any(self._is_same(name, other.occurrence, one, run) for one in compared)
        return held and len(self._agreeing(run, name, groups[other.group])[0]) >= best

    def _is_held(self, name: str, statement: _Statement, run: RunSettings, group: Sequence[_Statement]) -> bool:
        """Whether the paragraph has another count of the same thing that the run has, or the run the value under a name of its own."""
        family = next((some for some in FAMILIES if name in some), frozenset())
        if any(other.occurrence.fact.name in family - {name} and self._agrees(other.occurrence.fact.name, other.occurrence, run) for other in group):
            return True
        value = re.escape(statement.occurrence.fact.value)
        return name in wording().many and re.search(rf"[:=\s]\s*['\"]?{value}(?![\w.])", run.source) is not None

    def _elsewhere(self, name: str, statement: _Statement, best: int) -> bool:
        """Whether other runs have the stated value, and neither words nor the paragraph set them apart."""
        having = [run for run in self.runs if self._agrees(name, statement.occurrence, run)]
        if not having or (statement.named and best >= ALIGNED):
            return bool(having) and not statement.named
        return len(statement.named - frozenset().union(*(run.words for run in having))) < DISTINCT

    def _agrees(self, name: str, stated: FactOccurrence, run: RunSettings) -> bool:
        return any(self._is_same(name, stated, one, run) for one in _of_part(stated, self._values(name, run)))

    def _is_same(self, name: str, stated: FactOccurrence, occurrence: FactOccurrence, run: RunSettings) -> bool:
        if self.same(name, stated.fact.value, occurrence.fact.value):
            return True
        if name == "batch_size":
            return _multiple(stated, occurrence, _factors(run))
        if name == "learning_rate":
            return _SCALED.search(occurrence.fact.written) is not None and _multiple(stated, occurrence, None)
        return False

    def _comparable(self, name: str, stated: FactOccurrence, run: RunSettings) -> list[FactOccurrence]:
        """The run's values of a detail that may be of the same part: one value, or those whose scope shares a word."""
        found = self._values(name, run)
        own = [occurrence for occurrence in found if occurrence.fact.name == name] or found
        kept = _of_part(stated, own)
        if telling(stated.fact.scope) and len(kept) == len(own) and name in wording().many and not words(stated.fact.scope) & run.words:
            return []
        return kept if len({occurrence.fact.value for occurrence in kept}) == 1 else []

    def _agreeing(self, run: RunSettings, besides: str, group: Sequence[_Statement]) -> tuple[list[str], list[str]]:
        """The details of a paragraph on which a run agrees, and those on which it does not."""
        agreed, differing = dict[str, None](), dict[str, None]()
        for statement in group:
            name = statement.occurrence.fact.name
            if self._values(name, run) and any(run.place == other.place for other in statement.runs):
                (agreed if self._agrees(name, statement.occurrence, run) else differing).setdefault(name)
        return [name for name in agreed if name != besides], [name for name in differing if name not in agreed]


def _of_part(stated: FactOccurrence, found: Sequence[FactOccurrence]) -> list[FactOccurrence]:
    """The settings whose scope shares a word with a statement's; all if none does."""
    said = telling(f"{stated.fact.scope} {stated.fact.written}")
    return [occurrence for occurrence in found if telling(occurrence.fact.scope) & said] or list(found)


def _is_about(statement: _Statement, files: int, agreed: int, differing: int) -> bool:
    """Whether what a paragraph and a run have in common shows that both are of one experiment."""
    method = words(repo_name(statement.runs[0].place[0]))
    if files == 1 and (len(statement.named) > 1 or (statement.named & words(statement.occurrence.fact.scope)) - method):
        return differing <= agreed + 2
    return agreed >= (NAMED if statement.named else ALIGNED) and differing <= agreed


def _factors(run: RunSettings) -> set[int] | None:
    """The factors of a run's batch size; None if unknown."""
    found = {int(value) for occurrence in run.settings.get("gpus", ()) if (value := number(occurrence.fact.value))}
    return found - {1} or None


def _multiple(stated: FactOccurrence, occurrence: FactOccurrence, factors: set[int] | None) -> bool:
    """Whether a stated value is a whole multiple of a setting, as of devices and passes."""
    left, right = number(stated.fact.value), number(occurrence.fact.value)
    if not left or not right:
        return False
    ratio = left / right
    return ratio >= 1.5 and abs(ratio - round(ratio)) < 1e-6 and (factors is None or any(round(ratio) % factor == 0 for factor in factors))


def _is_tried(occurrence: FactOccurrence) -> bool:
    """Whether a value is one of several that were tried."""
    if occurrence.fact.value[:1] == "[" and occurrence.fact.name not in {"adam_betas", "image_size", "patch_size"}:
        return True
    return occurrence.fact.kind == "prose" and _TRIED.search(_sentence(occurrence)) is not None


def _sentence(occurrence: FactOccurrence) -> str:
    line = line_at(occurrence.evidence.chunk, occurrence.fact.line)
    return next((one for one in sentences(line) if occurrence.fact.said.rstrip(".,; ")[:60] in one), occurrence.fact.said)


def _around(paper: FactOccurrence) -> Iterator[str]:
    """The scope, the clause, the sentence and the titles of a value, nearest first."""
    yield paper.fact.scope
    if paper.fact.kind != "table":
        sentence = _sentence(paper)
        yield next((part for part in _CLAUSE.split(sentence) if paper.fact.said[:12] in part), "")
        yield sentence
    yield from reversed(paper.evidence.chunk.section)


def _why(agreed: Iterable[str], named: Iterable[str], run: RunSettings) -> str:
    parts = []
    if named := sorted(named)[:4]:
        parts.append(f"the text names it ({', '.join(named)})")
    if agreed := list(agreed)[:5]:
        parts.append(f"the paragraph agrees on {', '.join(agreed)}")
    return f"{run.path} is its run: {'; '.join(parts)}"
