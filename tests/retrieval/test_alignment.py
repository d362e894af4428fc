"""Values of a paper against the run of the own code that its words and its other values choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from lineage.hyperparameters.ontology import ontology
from lineage.records import Chunk, Fact, Hit, Work, WorkId
from lineage.results import FactOccurrence
from retrieval.audit.alignment import Alignment, Disagreement
from retrieval.audit.inputs import loosely
from retrieval.audit.runs import runs
from retrieval.decisions.experiments import Experiments

TARGET = Work(WorkId("arxiv:2401.00001"), title="The Target")
OWN = Work(WorkId("repo:github.com/target/own"), "code", "own")
SAME = loosely(ontology().same)
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


def disagreements(held: Mapping[str, Sequence[FactOccurrence]]) -> list[Disagreement]:
    own = [one for some in held.values() for one in some if one.fact.work == OWN.id]
    stated = {name: [one for one in some if one.fact.work == TARGET.id] for name, some in held.items()}
    return list(Alignment(runs(own), SAME, Experiments.of(held, TARGET.id)).disagreements(stated))


def found(name: str, *some: FactOccurrence) -> list[tuple[str, ...]]:
    return [(one.stated.fact.value, *(side.fact.value for side in one.settings)) for one in disagreements({name: some})]


EPOCHS = "We only train the model for 3 epochs on Fever and 5 epochs on Snopes because they are larger; it takes 20 epochs in all."


def test_each_clause_is_held_against_the_file_that_it_names() -> None:
    rows = [paper("epochs", "3", EPOCHS, "3 epochs on Fever"), paper("epochs", "5", EPOCHS, "5 epochs on Snopes")]
    agreeing = paper("epochs", "20", EPOCHS, "20 epochs in all")
    assert found("epochs", *rows, agreeing, *(code("epochs", "20", path) for path in FILES)) == [("3", "20"), ("5", "20")]


def test_the_reason_names_the_file() -> None:
    rows = [paper("epochs", "3", EPOCHS, "3 epochs on Fever"), paper("epochs", "20", EPOCHS, "20 epochs in all")]
    (one,) = disagreements({"epochs": [*rows, *(code("epochs", "20", path) for path in FILES)]})
    assert (one.grade, one.why) == ("likely", f"{FILES[0]} is its run: the text names it (fever, rational, selection)")


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


TRAINED = "The model is trained for 400 epochs with a batch size of 64, a learning rate of 0.5 and a warmup of 25%. No weight decay is applied."


def described(**values: str) -> dict[str, list[FactOccurrence]]:
    return {name: [paper(name, value, TRAINED, value, section=("Training",))] for name, value in values.items()}


def configured(path: str, **values: str) -> dict[str, FactOccurrence]:
    return {name: code(name, value, path) for name, value in values.items()}


def differing(stated: dict[str, list[FactOccurrence]], *runs: dict[str, FactOccurrence]) -> list[tuple[str, str]]:
    """Detail and grade of each stated value that its run has otherwise."""
    names = dict.fromkeys(name for some in (stated, *runs) for name in some)
    held = {name: [*stated.get(name, ()), *(run[name] for run in runs if name in run)] for name in names}
    return [(one.stated.fact.name, one.grade) for one in disagreements(held)]


def test_values_that_agree_choose_the_run_of_a_paragraph() -> None:
    stated = described(epochs="400", batch_size="64", learning_rate="0.5", weight_decay="0")
    own = configured("first.py", epochs="400", batch_size="64", learning_rate="0.5", weight_decay="0.05")
    other = configured("second.py", epochs="90", batch_size="32", learning_rate="0.1", weight_decay="0.05")
    assert differing(stated, own, other) == [("weight_decay", "sure")]


def test_a_paragraph_that_agrees_with_no_run_contradicts_none() -> None:
    stated = described(epochs="400", batch_size="64", weight_decay="0")
    run, other = (configured(path, epochs="90", batch_size="37", weight_decay="0.05") for path in ("first.py", "second.py"))
    assert differing(stated, run, other) == []


def test_a_share_of_warmup_is_held_against_the_steps_of_a_run() -> None:
    stated = described(batch_size="64", learning_rate="0.5", weight_decay="0", warmup_ratio="0.25")
    run = {"batch_size": "64", "learning_rate": "0.5", "weight_decay": "0", "steps": "2000"}
    assert differing(stated, configured("first.py", warmup_steps="500", **run)) == []
    assert differing(stated, configured("first.py", warmup_steps="200", **run)) == [("warmup_ratio", "sure")]


def test_whole_multiples_of_a_batch_are_devices_and_passes() -> None:
    stated = described(epochs="400", weight_decay="0", learning_rate="0.5", batch_size="512")
    run = configured("first.py", epochs="400", weight_decay="0", learning_rate="0.5", batch_size="64")
    assert differing(stated, run) == []
