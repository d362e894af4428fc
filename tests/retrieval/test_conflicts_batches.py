"""Batches of a paper against those of its code, which counts what one device takes in one pass."""

from __future__ import annotations

import pytest

from lineage.hyperparameters.ontology import ontology
from lineage.records import Chunk, Fact, FactKind, Hit, Work, WorkId
from lineage.results import FactOccurrence
from retrieval.contradictions.detect import DetailTerms, conflicts, loosely
from retrieval.decisions.agreement import whole

TARGET = Work(WorkId("arxiv:2401.00001"), title="The Target")
OWN = Work(WorkId("repo:github.com/target/own"), "code", "own")
TERMS = DetailTerms(lambda name: name, lambda name: 0.6, loosely(ontology().same))


def held(name: str, value: str, work: Work = OWN, kind: FactKind = "config") -> FactOccurrence:
    paper = work is TARGET
    path = "main.tex" if paper else "config.yaml"
    chunk = Chunk(
        f"c_{path}", work.id, path, "paper" if paper else "config", "paragraph", "", "", 0, 0, 1, 20, section=("Settings",) if paper else ()
    )
    return FactOccurrence(Fact(name, value, "", work.id, chunk.id, kind, 5, name, value), Hit(1, 1.0, chunk, work, from_target=True))


def told(*some: FactOccurrence) -> list[str]:
    by_name: dict[str, list[FactOccurrence]] = {}
    for one in some:
        by_name.setdefault(one.fact.name, []).append(one)
    return [one.name for one in conflicts(by_name, TARGET.id, TERMS)]


PAPER, CODE = held("batch_size", "2048", TARGET, "prose"), held("batch_size", "256")


def test_a_batch_that_devices_may_make_is_the_papers() -> None:
    assert told(PAPER, CODE) == []
    assert told(PAPER, CODE, held("gpus", "8")) == []


@pytest.mark.parametrize("code", [[held("batch_size", "300")], [CODE, held("gpus", "6")]])
def test_a_batch_that_no_devices_make_is_another(code: list[FactOccurrence]) -> None:
    assert told(PAPER, *code) == ["batch_size"]


def test_what_is_no_number_counts_for_nothing() -> None:
    assert whole([held("batch_size", "auto")], [held("gpus", "8")], []) == []
    assert [one.fact.value for one in whole([CODE], [held("gpus", "auto"), held("gpus", "1")], [held("gradient_accumulation", "0.5")])] == []
