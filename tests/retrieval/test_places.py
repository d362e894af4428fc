"""Where a value stands: its line, its sentence and its command, and which holders have one value."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lineage.hyperparameters.ontology import ontology
from lineage.records import Chunk, Fact, Focus, Hit, Work, WorkId
from lineage.results import FactOccurrence
from retrieval.decisions.provenance import by_value, evidence, is_own_code, is_policy, line_at, sentences_of
from retrieval.search.work_relations import WorkRelation, WorkRelations

OWN = Work(WorkId("repo:github.com/target/drift"), "code", "drift")
KINSHIP = WorkRelations({OWN.id: WorkRelation(OWN, from_target=True)})


def passage(text: str, line: int = 1) -> Chunk:
    return Chunk("c_1", OWN.id, "README.md", "docs", "text", text, "", 0, len(text), line, line + text.count("\n"))


def held(chunk: Chunk, line: int, value: str = "4", said: str = "") -> FactOccurrence:
    fact = Fact("batch_size", value, "", OWN.id, chunk.id, "prose", line, "batch", said)
    return FactOccurrence(fact, evidence(chunk, KINSHIP, line))


def test_a_passage_as_evidence_is_focused_on_its_line_if_one_is_given() -> None:
    whole = Hit(1, 1.0, passage("a"), OWN, from_target=True)
    assert evidence(passage("a"), KINSHIP) == whole
    assert evidence(passage("a"), KINSHIP, 1).focus == Focus(1, 1)
    assert is_own_code(held(passage("a"), 1))


@pytest.mark.parametrize(("path", "policy"), [("LICENSE", True), ("third/CODE-OF-CONDUCT.md", True), ("train.py", False), ("guide.md", False)])
def test_the_terms_of_a_repository_say_nothing_of_what_is_done_in_it(path: str, policy: bool) -> None:
    hit = evidence(replace(passage("a"), path=path), KINSHIP)
    assert is_policy(hit) is policy
    assert not is_policy(replace(hit, work=replace(OWN, kind="paper")))


def test_a_line_is_counted_in_its_file_and_one_outside_is_empty() -> None:
    chunk = passage("first\nsecond", line=10)
    assert [line_at(chunk, line) for line in (0, 9, 10, 11, 12)] == ["", "", "first", "second", ""]


def test_the_sentence_that_says_a_value_is_known_by_how_it_begins() -> None:
    chunk = passage("We train long. The batch has 4 images.\nElse.")
    said, here = sentences_of(held(chunk, 1, said="batch has 4 images. And so"))
    assert said[here] == "The batch has 4 images."
    assert sentences_of(held(chunk, 2, said="batch has 4"))[1] == -1


def test_values_that_are_one_are_held_together_in_the_order_they_come() -> None:
    chunk = passage("a")
    some = [held(chunk, 1, value) for value in ("16", "4", "16.0", "4")]
    assert [[one.fact.value for one in group] for group in by_value("batch_size", some, ontology().same)] == [["16", "16.0"], ["4", "4"]]
