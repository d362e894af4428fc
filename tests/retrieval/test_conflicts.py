"""Sources that disagree, and those that only seem to."""

from __future__ import annotations

from lineage.hyperparameters.ontology import ontology
from lineage.records import Chunk, Fact, Hit, Work, WorkId
from lineage.results import FactOccurrence
from retrieval.contradictions.detect import DetailTerms, conflicts, loosely
from tests.fakes.profiles import profiled

TARGET = Work(WorkId("arxiv:2401.00001"), title="The Target")
OWN = Work(WorkId("repo:github.com/target/own"), "code", "own")
OTHER = Work(WorkId("repo:github.com/other/base"), "code", "base")
TERMS = DetailTerms(lambda name: name.replace("_", " "), lambda name: 0.9, loosely(ontology().same))


def held(value: str, work: Work, kind: str, scope: str = "", path: str = "train.py", line: int = 5, written: str = "lr") -> FactOccurrence:
    chunk = Chunk(f"c_{work.id}{path}{line}", work.id, path, "paper" if work.kind == "paper" else "code", "function", "lr", "", 0, 2, 1, 20)
    fact = Fact("learning_rate", value, "", work.id, chunk.id, kind, line, written, value, scope)  # type: ignore[arg-type]
    return FactOccurrence(fact, profiled(Hit(1, 1.0, chunk, work, from_target=work is not OTHER)))


def found(*some: FactOccurrence) -> list[tuple[str, float]]:
    return [(one.kind, one.severity) for one in conflicts({"learning_rate": some}, TARGET.id, TERMS)]


def test_a_paper_and_its_code_with_no_value_in_common_are_in_conflict() -> None:
    assert [kind for kind, _ in found(held("0.001", TARGET, "prose"), held("0.1", OWN, "config"))] == ["paper-code"]


def test_one_value_in_common_is_enough_for_peace_whatever_its_form() -> None:
    assert found(held("1e-3", TARGET, "table"), held("0.001", OWN, "command"), held("0.5", OWN, "default", line=9)) == []


def test_values_of_different_parts_are_no_conflict() -> None:
    assert found(held("0.001", TARGET, "prose", "imagenet"), held("0.1", OWN, "config", "cifar")) == []


def test_code_with_many_values_contradicts_nothing_that_names_none_of_its_runs() -> None:
    paper = held("0.001", TARGET, "prose")
    assert found(paper, held("0.1", OWN, "default"))
    assert found(paper, *(held(str(n / 10), OWN, "config", line=n) for n in range(1, 4))) == []


def test_one_of_several_values_for_the_one_is_no_conflict() -> None:
    assert found(held("0.001", TARGET, "prose"), held("[0.001, 0.01]", OWN, "config")) == []


def test_what_documentation_tells_beside_the_code_is_no_code() -> None:
    assert found(held("0.001", TARGET, "prose"), held("0.1", OWN, "prose", path="README.md")) == []


def test_values_in_tests_of_the_code_contradict_nobody() -> None:
    assert found(held("0.001", TARGET, "prose"), held("0.1", OWN, "call", path="tests/test_train.py")) == []
