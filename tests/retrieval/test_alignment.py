"""Values of a paper against the run of the own code that its words and its other values choose."""

from __future__ import annotations

import pytest

from lineage.hyperparameters.ontology import ontology
from lineage.records import Chunk, Fact, Hit, Work, WorkId
from lineage.results import FactOccurrence
from retrieval.contradictions.detect import DetailTerms, conflicts, loosely

TARGET = Work(WorkId("arxiv:2401.00001"), title="The Target")
OWN = Work(WorkId("repo:github.com/target/own"), "code", "own")
TERMS = DetailTerms(lambda name: name, lambda name: 0.9, loosely(ontology().same))
SECTION = ("Model implementation details", "Training the RationaleSelection module")
FILES = [
    f"training/{stage}/transformer_{data}.py" for stage in ("rationale_selection", "label_prediction") for data in ("fever", "snopes", "scifact")
]


def paper(name: str, value: str, text: str, said: str, scope: str = "", section: tuple[str, ...] = SECTION) -> FactOccurrence:
    chunk = Chunk(f"c_{text}", TARGET.id, "main.tex", "paper", "paragraph", text, "", 0, len(text), 7, 7, section=section)
    return FactOccurrence(
        Fact(name, value, "", TARGET.id, chunk.id, "prose", 7, said=said, scope=scope), Hit(1, 1.0, chunk, TARGET, from_target=True)
    )


def code(name: str, value: str, path: str, scope: str = "") -> FactOccurrence:
    chunk = Chunk(f"c_{path}", OWN.id, path, "code", "module", "", "", 0, 2, 1, 20)
    return FactOccurrence(Fact(name, value, "", OWN.id, chunk.id, "default", 5, name, value, scope), Hit(1, 1.0, chunk, OWN, from_target=True))


def found(name: str, *some: FactOccurrence) -> list[tuple[str, ...]]:
    return [tuple(side.fact.value for side in one.sides) for one in conflicts({name: some}, TARGET.id, TERMS)]


EPOCHS = "We only train the model for 3 epochs on Fever and 5 epochs on Snopes because they are larger; it takes 20 epochs in all."


def test_each_clause_is_held_against_the_file_that_it_names() -> None:
    rows = [paper("epochs", "3", EPOCHS, "3 epochs on Fever"), paper("epochs", "5", EPOCHS, "5 epochs on Snopes")]
    agreeing = paper("epochs", "20", EPOCHS, "20 epochs in all")
    assert found("epochs", *rows, agreeing, *(code("epochs", "20", path) for path in FILES)) == [("3", "20"), ("5", "20")]


def test_the_reason_names_the_file() -> None:
    rows = [paper("epochs", "3", EPOCHS, "3 epochs on Fever"), paper("epochs", "20", EPOCHS, "20 epochs in all")]
    (one,) = conflicts({"epochs": [*rows, *(code("epochs", "20", path) for path in FILES)]}, TARGET.id, TERMS)
    assert one.kind == "paper-code"
    assert one.why == f"likely: {FILES[0]} is its run: the text names it (fever, rational, selection)"


@pytest.mark.parametrize(
    ("text", "said", "section"),
    [
        ("For Fever + SciFact, the rate is set for pre-training on Fever and fine-tuning on SciFact to 0.3.", "0.3.", SECTION),
        ("For models trained on Fever, we set the rate to 0.3.", "0.3.", ("Model implementation details",)),
        ("We set the rate to 0.3.", "0.3.", SECTION),
    ],
)
def test_words_that_name_two_files_or_none_name_nothing(text: str, said: str, section: tuple[str, ...]) -> None:
    agreeing = paper("learning_rate", "0.1", "The rate is 0.1.", "0.1.", section=("Setup",))
    rows = (paper("learning_rate", "0.3", text, said, section=section), agreeing)
    assert found("learning_rate", *rows, *(code("learning_rate", "0.1", path) for path in FILES)) == []


def test_a_part_of_its_own_is_held_against_the_option_of_that_part_only() -> None:
    text = "For models trained on Fever, we set the learning rate to 0.1 for the base and 0.5 for the linear layer."
    rows = (paper("learning_rate", "0.1", text, "0.1 for the base"), paper("learning_rate", "0.5", text, "0.5 for the linear", "linear layer"))
    options = [one for path in FILES for one in (code("learning_rate", "0.1", path), code("learning_rate", "0.3", path, "linear"))]
    assert found("learning_rate", *rows, *options) == [("0.5", "0.3")]


def column(name: str, value: str, head: str) -> FactOccurrence:
    chunk = Chunk("c_table", TARGET.id, "main.tex", "paper", "table", "", "", 0, 2, 1, 20, section=("Hyperparameters",))
    return FactOccurrence(
        Fact(name, value, "", TARGET.id, chunk.id, "table", 7, said=value, scope=head), Hit(1, 1.0, chunk, TARGET, from_target=True)
    )


def test_the_head_of_a_column_names_the_file_of_its_values() -> None:
    rows = [column("batch_size", "64", "Fuzzy logic"), column("batch_size", "128", "Raven"), column("batch_size", "256", "Language modeling")]
    files = [code("batch_size", value, f"configs/{stem}.py", "model_config") for stem, value in (("logic", "128"), ("raven", "128"), ("wiki", "256"))]
    assert found("batch_size", *rows, *files) == [("64", "128")]
