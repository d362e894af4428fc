"""Steps that the text takes and the own code does not: switched off, or named nowhere."""

from __future__ import annotations

import time

import pytest

from lineage.insight import Conflict, Held
from lineage.model import Chunk, Fact, Hit, Work, WorkId
from retrieval.gaps.text import Said, TargetText
from retrieval.kinship import Kin, Kinship
from retrieval.steps import conflicts

TARGET = Work(WorkId("arxiv:2401.00001"), title="Drifting Forests")
OWN = Work(WorkId("repo:github.com/target/drift"), "code", "drift")
KINSHIP = Kinship({OWN.id: Kin(OWN, TARGET, from_target=True)})
TRAINING = "def train(model, batches, optimizer):\n    for batch in batches:\n        model(batch).backward()\n        optimizer.step()"
SAMPLING = "def sample(logits):\n    probs = softmax(logits)\n    return torch.multinomial(probs, 1)"


def passage(text: str, path: str = "train.py", kind: str = "code") -> Chunk:
    return Chunk(f"c_{path}", OWN.id, path, kind, "function", text, "", 0, len(text), 10, 10 + text.count("\n"))  # type: ignore[arg-type]


def saying(text: str, weight: float = 1.0, role: str = "paragraph", section: tuple[str, ...] = ("Training",)) -> TargetText:
    chunk = Chunk("c_p", TARGET.id, "main.tex", "paper", role, text, "", 0, len(text), 3, 3, section=section)
    return TargetText(TARGET, (Said(text, chunk, 3, weight),), True)


def setting(name: str, value: str, path: str = "train.py", work: Work = OWN, kind: str = "config") -> Held:
    chunk = Chunk(f"c_{path}", work.id, path, "code" if work is OWN else "paper", "function", "", "", 0, 0, 1, 20)
    return Held(Fact(name, value, "", work.id, chunk.id, kind, 5, name, value), Hit(1, 1.0, chunk, work, from_target=True))  # type: ignore[arg-type]


def found(said: TargetText, *code: Chunk, held: tuple[Held, ...] = ()) -> list[Conflict]:
    by_name: dict[str, list[Held]] = {}
    for one in held:
        by_name.setdefault(one.fact.name, []).append(one)
    return list(conflicts(said, code, KINSHIP, by_name))


CLIPPED = "We train for 100 epochs with AdamW and use gradient clipping."


def test_a_step_that_no_line_names_is_told_beside_the_place_that_would_take_it() -> None:
    (one,) = found(saying("To mitigate this issue, we apply top-p sampling on the logits."), passage(SAMPLING, "sample.py"), passage(TRAINING))
    assert (one.kind, one.title, [side.fact.value for side in one.sides]) == ("paper-code", "Top-p sampling", ["top-p sampling", "none"])
    assert (one.sides[1].evidence.chunk.path, one.sides[1].fact.line) == ("sample.py", 12)


@pytest.mark.parametrize("name", ["clip_grad_norm_(model.parameters(), 1.0)", "max_norm: 1.0", "# the gradient is not clipped here"])
def test_any_name_of_it_anywhere_in_the_repository_will_do(name: str) -> None:
    assert found(saying(CLIPPED), passage(TRAINING), passage(name, "run.yaml", "config")) == []
    assert found(saying(CLIPPED), passage(TRAINING))


@pytest.mark.parametrize("name", ["self.ema = AveragedModel(model)", "from helpers import ModelEMA", "polyak: 0.999"])
def test_a_short_name_may_end_a_word_in_capitals(name: str) -> None:
    assert found(saying("We maintain an exponential moving average of the weights."), passage(TRAINING + name)) == []


@pytest.mark.parametrize("name", ["schema = read()", "cinema = 1"])
def test_a_short_name_inside_another_word_is_none(name: str) -> None:
    assert found(saying("We maintain an exponential moving average of the weights."), passage(TRAINING + name))


@pytest.mark.parametrize(
    "plain",
    [
        "We train without gradient clipping.",
        "The baselines use gradient clipping.",
        "We compare with models that use gradient clipping.",
        "We use AdamW, which needs no gradient clipping.",
        "We use a scheme that makes gradient clipping superfluous.",
        "Gradient clipping is known to help.",
        "Gradient clipping may be used.",
    ],
)
def test_a_sentence_that_does_not_say_outright_that_it_is_done_counts_for_nothing(plain: str) -> None:
    assert found(saying(plain), passage(TRAINING)) == []


@pytest.mark.parametrize(
    "plain", [CLIPPED, "Gradient clipping is applied in all runs.", "All models are trained with dropout-free layers and gradient clipping."]
)
def test_the_forms_in_which_a_sentence_says_that_it_is_done(plain: str) -> None:
    assert [one.title for one in found(saying(plain), passage(TRAINING))] == ["Gradient clipping"]


def test_related_work_tables_and_captions_take_no_steps() -> None:
    for said in (saying(CLIPPED, weight=0.2), saying(CLIPPED, role="table"), saying(CLIPPED, role="caption")):
        assert found(said, passage(TRAINING)) == []


def test_a_trainer_or_a_library_may_take_the_step_by_itself() -> None:
    assert found(saying(CLIPPED), passage(TRAINING), passage("args = TrainingArguments()", "main.py")) == []
    nucleus = saying("We use nucleus sampling for all answers.")
    assert found(nucleus, passage(SAMPLING), passage("from transformers import AutoModel", "main.py")) == []


def test_code_that_trains_nowhere_or_in_tests_only_is_silent() -> None:
    assert found(saying(CLIPPED), passage("def score(a, b): ...")) == []
    assert found(saying(CLIPPED), passage(TRAINING, "tests/train.py")) == []


def test_a_step_whose_settings_are_all_off_is_told_with_them() -> None:
    (one,) = found(saying(CLIPPED), passage(TRAINING + "clip"), held=(setting("gradient_clip", "0"),))
    assert ([side.fact.value for side in one.sides], one.why) == (
        ["gradient clipping", "0"],
        "the text says that it is done; the own code switches it off",
    )


def test_a_setting_that_is_on_a_stated_value_and_a_baselines_setting_are_no_contradiction() -> None:
    off, code = setting("gradient_clip", "0"), passage(TRAINING + "clip")
    assert found(saying(CLIPPED), code, held=(off, setting("gradient_clip", "1.0", "other.py"))) == []
    assert found(saying(CLIPPED), code, held=(off, setting("gradient_clip", "1.0", work=TARGET))) == []
    assert found(saying(CLIPPED), code, held=(setting("gradient_clip", "0", "baselines/gan.py"),)) == []
    assert found(saying("We apply dropout to all layers."), code, held=(setting("dropout", "0", kind="call"),)) == []


def test_a_step_of_a_listed_experiment_is_held_against_code_of_that_experiment_only() -> None:
    listed = tuple(
        Held(
            Fact("epochs", "5", "", TARGET.id, "c", "table", 1),
            Hit(1, 1.0, Chunk(f"c_{name}", TARGET.id, "main.tex", "paper", "table", "", "", 0, 0, 1, 9, section=("Setup", name)), TARGET),
        )
        for name in ("CIFAR", "ImageNet", "Wikitext")
    )
    said = saying(CLIPPED, section=("Setup", "Wikitext"))
    assert found(said, passage(TRAINING), held=listed) == []
    assert found(said, passage(TRAINING, "wikitext/train.py"), held=listed)


def test_a_hostile_sentence_ends_quickly() -> None:
    began = time.perf_counter()
    found(saying("we use " * 20_000 + "is used " * 20_000), passage(TRAINING))
    assert time.perf_counter() - began < 2
