"""Values of different experiments, of libraries and of sister names contradict nobody."""

from __future__ import annotations

import pytest

from lineage.hyperparameters.ontology import ontology
from lineage.records import Chunk, Fact, Hit, Work, WorkId
from lineage.results import FactOccurrence
from retrieval.contradictions.detect import DetailTerms, conflicts, loosely
from retrieval.decisions.experiments import Experiments, compatible, is_parameter, telling
from tests.fakes.profiles import profiled

TARGET = Work(WorkId("arxiv:2401.00001"), title="The Target")
OWN = Work(WorkId("repo:github.com/target/own"), "code", "own")
OTHER = Work(WorkId("repo:github.com/other/base"), "code", "base")
TERMS = DetailTerms(lambda name: name.replace("_", " "), lambda name: 0.9, loosely(ontology().same))
LISTED = ("CIFAR-10", "ImageNet", "IWSLT14")


def said(name: str, value: str, *section: str, kind: str = "table", line: int = 5, scope: str = "") -> FactOccurrence:
    chunk = Chunk(f"c_{section}{line}", TARGET.id, "main.tex", "paper", "table", value, "", 0, 2, 1, 20, section=section)
    return FactOccurrence(Fact(name, value, "", TARGET.id, chunk.id, kind, line, scope=scope), Hit(1, 1.0, chunk, TARGET, from_target=True))  # type: ignore[arg-type]


def coded(
    name: str, value: str, work: Work = OWN, *, kind: str = "config", scope: str = "", path: str = "train.py", symbol: str = "", line: int = 5
) -> FactOccurrence:
    chunk = Chunk(f"c_{work.id}{path}{line}", work.id, path, "code", "function", "", "", 0, 2, 1, 20, symbol=symbol)
    fact = Fact(name, value, "", work.id, chunk.id, kind, line, name, value, scope)  # type: ignore[arg-type]
    return FactOccurrence(fact, profiled(Hit(1, 1.0, chunk, work, from_target=work is OWN)))


def found(*some: FactOccurrence) -> list[tuple[str, str]]:
    held: dict[str, list[FactOccurrence]] = {}
    for one in some:
        held.setdefault(one.fact.name, []).append(one)
    return [(one.kind, one.name) for one in conflicts(held, TARGET.id, TERMS)]


def listed(name: str, *values: str) -> list[FactOccurrence]:
    """A value in each section of a list of experiments."""
    return [said(name, value, "Experimental Setup", title) for title, value in zip(LISTED, values, strict=True)]


def test_what_is_listed_for_an_experiment_holds_for_code_that_names_it_only() -> None:
    values = listed("warmup_steps", "100", "200", "4000")
    assert found(*values, coded("warmup_steps", "500", path="src/train.py")) == []
    assert found(*values, coded("warmup_steps", "500", path="iwslt14/train.py")) == [("paper-code", "warmup_steps")]


def test_two_sections_with_values_are_no_list() -> None:
    values = listed("warmup_steps", "100", "200", "4000")[:2]
    assert Experiments.of({"warmup_steps": values}, TARGET.id).listed == frozenset()
    assert found(*values, coded("warmup_steps", "500")) == []
    assert found(values[0], coded("warmup_steps", "500")) == [("paper-code", "warmup_steps")]


@pytest.mark.parametrize(
    ("scope", "symbol", "parameter"),
    [
        ("AdamWScheduleFree", "AdamWScheduleFree.__init__", True),
        ("AdamWScheduleFree", "AdamWScheduleFree", True),
        ("euler_sampler", "euler_sampler", True),
        ("TrainConfig", "TrainConfig", False),
        ("parse_args", "parse_args", False),
        ("main", "main", False),
        ("linear", "get_args", False),
        ("", "", False),
    ],
)
def test_a_default_in_a_signature_is_no_setting_of_a_run(scope: str, symbol: str, parameter: bool) -> None:
    default = coded("warmup_steps", "0", kind="default", scope=scope, symbol=symbol)
    assert is_parameter(default) is parameter
    assert found(said("warmup_steps", "4000", "Setup"), default) == ([] if parameter else [("paper-code", "warmup_steps")])


def test_a_default_in_a_signature_may_still_agree() -> None:
    default = coded("warmup_steps", "4000", kind="default", scope="AdamW", symbol="AdamW", line=9)
    assert found(said("warmup_steps", "4000", "Setup"), coded("warmup_steps", "500"), default) == []


def test_steps_that_count_epochs_contradict_no_other_steps() -> None:
    paper = [said("steps", "50", "Setup", kind="prose"), said("epochs", "8000", "Setup", kind="prose", line=6)]
    same = [said("learning_rate", "0.1", "Setup", kind="prose"), coded("learning_rate", "0.1")]
    assert found(paper[0], coded("steps", "8000"), *same) == [("paper-code", "steps")]
    assert found(*paper, coded("steps", "8000"), *same) == []


def spoken(name: str, value: str, text: str, said_: str, scope: str = "") -> FactOccurrence:
    chunk = Chunk("c_spoken", TARGET.id, "main.tex", "paper", "paragraph", text, "", 0, 2, 5, 5, section=("Setup",))
    fact = Fact(name, value, "", TARGET.id, chunk.id, "prose", 5, said=said_, scope=scope)
    return FactOccurrence(fact, Hit(1, 1.0, chunk, TARGET, from_target=True))


@pytest.mark.parametrize(
    ("text", "silent"),
    [
        ("Throughput is in images per second, with a batch size of 32.", True),
        ("We use an H100 and a batch size of 32. The FLOPs are counted by a tool.", True),
        ("We train with a batch size of 32. The FLOPs are counted by a tool.", False),
        ("We use a batch size of 32. Nothing more is said. The FLOPs are counted by a tool.", False),
    ],
)
def test_the_conditions_of_a_measurement_of_speed_are_no_settings(text: str, silent: bool) -> None:
    paper = spoken("batch_size", "32", text, "batch size of 32.")
    assert found(paper, coded("batch_size", "5")) == ([] if silent else [("paper-code", "batch_size")])


def test_the_machine_of_a_command_and_a_toy_contradict_nothing() -> None:
    assert found(said("gpus", "16", "Setup"), coded("gpus", "8", kind="command")) == []
    assert found(said("optimizer", "adamw", "Setup"), coded("optimizer", "adam", path="train_toymodel.py")) == []
    assert found(said("optimizer", "adamw", "Setup"), coded("optimizer", "adam", path="train_model.py")) == [("paper-code", "optimizer")]


def configured(name: str, value: str, scope: str = "") -> FactOccurrence:
    chunk = Chunk("c_yaml", OWN.id, "config.yaml", "config", "block", "", "", 0, 2, 1, 20)
    return FactOccurrence(Fact(name, value, "", OWN.id, chunk.id, "config", 3, name, value, scope), Hit(1, 1.0, chunk, OWN, from_target=True))


def test_what_a_configuration_chooses_among_is_not_run() -> None:
    calls = [coded("optimizer", value, kind="call", scope="build", line=line) for line, value in ((5, "adam"), (7, "sgd"))]
    paper = said("optimizer", "sgd", "Setup")
    assert found(paper, *calls) == []
    assert found(paper, *calls, configured("optimizer", "adam")) == [("paper-code", "optimizer")]
    apart = [coded("optimizer", "sgd", kind="call", scope="probe"), calls[0]]
    assert found(paper, *apart, configured("optimizer", "adam")) == []


def test_titles_tell_what_they_are_about_and_scopes_of_programs_nothing() -> None:
    assert telling("Implementation Details") == telling("Experimental Setup") == frozenset()
    assert telling("IWSLT14") & telling("src/iwslt14/train.py")
    assert telling("SciFact") & telling("transformer_scifact.py")
    assert compatible("Baseline", "config")
    assert compatible("model_args", "ViT-B")
    assert not compatible("imagenet", "cifar")
