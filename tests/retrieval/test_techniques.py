"""Techniques that a paper claims against the signs of them in its own code."""

from __future__ import annotations

import pytest

from lineage.records import Chunk, Fact, WorkId
from retrieval.contradictions.techniques import missing
from retrieval.decisions.target_text import of_chunks

TARGET, OWN = WorkId("arxiv:2401.00001"), WorkId("repo:github.com/target/own")
MODEL = "class Net(nn.Module):\n    pass\n"
TRAIN = "loss.backward()\noptimizer.step()\n"


def code(path: str, text: str, kind: str = "code") -> Chunk:
    return Chunk(f"c_{path}", OWN, path, kind, "module", text, "", 0, len(text), 1, text.count("\n") + 1)  # type: ignore[arg-type]


def claimed(text: str, *some: Chunk) -> list[tuple[str, str, str]]:
    """Technique, the place in the code, and what stands there instead."""
    chunk = Chunk("c_paper", TARGET, "main.tex", "paper", "paragraph", text, "", 0, len(text), 1, 1, section=("Experiments", "Details"))
    rows = missing(list(of_chunks([chunk], ())), [code("model.py", MODEL), code("train.py", TRAIN), code("util.py", "x = 1\n"), *some])
    return [(row.technique.name, f"{row.chunk.path}:{row.line}", row.instead) for row in rows]


NUCLEUS = "We apply top-p sampling with a threshold of 0.0001 on the logits of each token."


def test_a_technique_without_a_sign_is_missing_where_another_of_its_kind_stands() -> None:
    sampler = code("sample.py", "def sample(logits):\n    probs = softmax(logits)\n    mask = probs < threshold\n")
    assert claimed(NUCLEUS, sampler) == [("top-p sampling", "sample.py:3", "a threshold on each probability")]


def test_a_sign_anywhere_in_the_code_is_enough() -> None:
    sampler = code("sample.py", "def sample(logits, top_p):\n    mask = probs < threshold\n")
    assert claimed(NUCLEUS, sampler) == []


def test_a_comment_is_no_sign() -> None:
    sampler = code("sample.py", "def sample(logits):\n    # no nucleus here\n    mask = probs < threshold\n")
    assert [row[0] for row in claimed(NUCLEUS, sampler)] == ["top-p sampling"]


@pytest.mark.parametrize(
    "text",
    [
        "Previous works apply top-p sampling to the logits of each token.",
        "We do not use top-p sampling on the logits of each token.",
        "Top-p sampling could be applied to the logits of each token.",
    ],
)
def test_what_is_not_said_to_be_done_is_no_claim(text: str) -> None:
    assert claimed(text, code("sample.py", "def sample(logits):\n    pass\n")) == []


def test_nothing_is_missing_where_the_stage_is_not_published_or_is_a_frameworks() -> None:
    text = "We apply gradient clipping to stabilize the training of the model."
    assert [row[0] for row in claimed(text)] == ["gradient clipping"]
    assert claimed(text, code("run.py", "class Mine(Trainer):\n    pass\nMine(model).train()\n")) == []
    assert claimed(text, code("run.py", "Trainer(model).train()\n")) == []
    assert [row[0] for row in claimed(text, code("run.py", "class Trainer:\n    pass\nTrainer(model).train()\n"))] == ["gradient clipping"]
    assert claimed(NUCLEUS) == []


def test_what_configurations_choose_counts_even_if_the_code_can_do_both() -> None:
    text = "We use the MSE loss to reconstruct the input of the encoder in our experiments."
    losses = code("losses.py", "if kind == 'l1':\n    F.l1_loss(a, b)\nelse:\n    F.mse_loss(a, b)\n")
    assert claimed(text, losses) == []
    chosen = code("configs/base.yaml", 'losses:\n  reconstruction_loss: "l1"\n', "config")
    assert claimed(text, losses, chosen) == [("mean squared error", "configs/base.yaml:2", "mean absolute error")]


def test_a_formula_claims_what_is_predicted() -> None:
    text = r"$$\mathcal{L} = \mathbb{E}_{t} \| \mu_\theta(x_t, t) - \epsilon\|_2^2$$"
    loss = code("diffusion.py", "def loss(out, y, sigma):\n    target = y\n    return (out - target) ** 2\n")
    assert claimed(text, loss) == [("the noise", "diffusion.py:2", "the clean data")]
    assert claimed(text, code("diffusion.py", "def loss(out, noise, sigma):\n    target = noise\n")) == []


def test_what_the_authors_do_without_and_their_code_does_contradicts() -> None:
    text = "We train all models without dropout and a batch size of 64 on one machine."
    assert claimed(text, code("net.py", "self.drop = nn.Dropout(0.1)\n")) == [("dropout", "net.py:1", "dropout")]
    assert claimed(text, code("net.py", "self.drop = nn.Dropout(0.0)\n")) == []
    assert claimed("Unlike prior work, models without dropout can be used.", code("net.py", "nn.Dropout(0.1)\n")) == []


def test_a_constant_rate_has_no_schedule() -> None:
    text = "We use the Adam optimizer with a constant learning rate of 1e-4."
    assert claimed(text, code("train2.py", "s = CosineAnnealingLR(optimizer, 10)\n")) == [
        ("a schedule of the learning rate", "train2.py:1", "a schedule of the learning rate")
    ]


def test_the_file_that_the_sentence_names_is_shown() -> None:
    text = "We train on ImageNet with a fixed learning rate of 0.0002 for all models."
    setting = "lr_config = dict(policy='fixed', warmup='linear')\n"
    rows = claimed(text, code("configs/checkerboard.py", setting), code("configs/imagenet.py", setting))
    assert ("a warmup of the learning rate", "configs/imagenet.py:1", "a warmup of the learning rate") in rows


COSINE = "We use a cosine learning rate schedule for the training of all our models."


def decided(text: str, statement: str, *some: Chunk) -> list[tuple[str, str]]:
    """Technique and what stands instead, where `statement` of the first file decides on the learning rate."""
    said = Chunk("c_paper", TARGET, "main.tex", "paper", "paragraph", text, "", 0, len(text), 1, 1, section=("Experiments", "Details"))
    fact = Fact("mechanism:lr_schedule", statement, "", OWN, some[0].id, "call", 1)
    every = [code("model.py", MODEL), code("train.py", TRAIN), code("util.py", "x = 1\n"), *some]
    return [(row.technique.name, row.instead) for row in missing(list(of_chunks([said], ())), every, [fact])]


def test_what_a_statement_decides_outweighs_signs_in_other_files() -> None:
    steps, angles = "scheduler = StepLR(optimizer, 30)", code("angles.py", "x = torch.cos(t)\n")
    assert decided(COSINE, steps, code("sched.py", steps), angles) == [("a cosine schedule", "a step decay")]
    assert decided(COSINE, steps, code("sched.py", f"{steps}\nother = CosineAnnealingLR(optimizer)\n"), angles) == []
    assert decided(COSINE, "scheduler.step()", code("sched.py", "scheduler.step()\n"), angles) == []


def test_a_sign_begins_a_part_of_a_name() -> None:
    assert decided(COSINE, "", code("sched.py", "runs_on = 'macOS'\n")) == [("a cosine schedule", "")]
    assert decided(COSINE, "", code("sched.py", "lr = getCosineLr(step)\n")) == []
