"""Two places of one paper that disagree."""

from __future__ import annotations

import pytest

from lineage.hyperparameters.ontology import ontology
from lineage.records import Chunk, Fact, Hit, Work, WorkId
from lineage.results import FactOccurrence
from retrieval.contradictions.claims import miscounted, stated_twice
from retrieval.decisions.target_text import of_chunks

TARGET = Work(WorkId("arxiv:2401.00001"), title="The Target")


def paragraph(text: str, *section: str) -> Chunk:
    return Chunk(f"c_{section}", TARGET.id, "main.tex", "paper", "paragraph", text, "", 0, len(text), 1, 1, section=section)


def stated(value: str, *section: str, written: str = "context length") -> FactOccurrence:
    chunk = paragraph(f"{written} of {value}", *section)
    return FactOccurrence(Fact("max_length", value, "", TARGET.id, chunk.id, "prose", 1, written, value), Hit(1, 1.0, chunk, TARGET))


def twice(*some: FactOccurrence) -> list[tuple[str, str]]:
    return [(one.fact.value, other.fact.value) for one, other in stated_twice({"max_length": some}, ontology().same)]


def test_sections_of_one_title_state_one_setting_once() -> None:
    rows = (stated("30", "Experiments", "Commons Harvest"), stated("15", "Appendix", "Commons Harvest"))
    assert twice(*rows) == [("30", "15")]
    assert twice(rows[0], stated("30", "Appendix", "Commons Harvest")) == []


def test_other_titles_and_names_of_one_word_are_other_things() -> None:
    assert twice(stated("30", "Experiments", "Commons Harvest"), stated("15", "Appendix", "Coin Game")) == []
    assert (
        twice(stated("30", "Experiments", "Commons Harvest", written="length"), stated("15", "Appendix", "Commons Harvest", written="length")) == []
    )


def counted(text: str) -> list[tuple[int, int]]:
    return [(count, listed) for _, count, listed, _ in miscounted(of_chunks([paragraph(text, "Experiments")], ()))]


def test_a_list_has_as_many_items_as_its_count() -> None:
    assert counted("We use three tabular datasets – Adult, Default, Magic, and News – from one repository.") == [(3, 4)]
    assert counted("We use four tabular datasets – Adult, Default, Magic, and News – from one repository.") == []


@pytest.mark.parametrize(
    "text",
    [
        "We use three tabular datasets: Adult and others that are listed in the appendix.",
        "We compare five models (such as Adult, Default, Magic) on all of the tasks.",
        "We compare three models—Adult, Default, and our Magic—on all of the tasks.",
    ],
)
def test_open_lists_and_full_ones_are_no_contradiction(text: str) -> None:
    assert counted(text) == []
