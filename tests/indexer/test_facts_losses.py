"""Sums of losses and the losses of roles, as papers write them."""

import time

import pytest

from indexer.extraction import formulas, prose
from indexer.extraction.collector import Sink
from lineage.hyperparameters.ontology import ontology


def said(text):
    sink = Sink(ontology(), "prose")
    prose.read(text, sink)
    return [(one.value, one.scope, one.literal) for one in sink.found if one.name == "loss"]


@pytest.mark.parametrize(
    ("text", "value", "scope"),
    [
        (r"It is $\mathcal{L}_{REG} = \mathcal{L}_{KL} + \mathcal{L}_{MSE} + \mathcal{L}_{GAN}$.", "KL + MSE + GAN", "REG"),
        (r"$$\mathcal{L}(\theta) = \mathcal{L}_{{DIFF}}(\theta) + \lambda\mathcal{L}_{{REP}}(\theta, \phi),$$", "DIFF + lambda·REP", ""),
        (r"$$\mathcal{L}_{{tot}} = \lambda_{{a}} \mathcal{L}_{{a}} + \lambda_{{b}} \mathcal{L}_{{b}},$$ (2)", "lambda_a·a + lambda_b·b", "tot"),
        (r"with $L = L_{ce} + 0.1 L_{kl}$ in all", "ce + 0.1·kl", ""),
        (r"$\mathcal{L} = \mathcal{L}_{\text{rec}} + 0.5 \cdot \mathcal L_\text{adv}$", "rec + 0.5·adv", ""),
    ],
)
def test_a_sum_of_losses_is_kept_as_an_expression(text, value, scope):
    assert said(text) == [(value, scope, False)]


@pytest.mark.parametrize(
    "text", [r"$L = L_{a}$.", r"$L = L_{a} + L_{b} \cdot x$", r"$L = L_{a} + \|w\|$", r"$\mathcal{F} = \mathcal{F}_{a} + \mathcal{F}_{b}$"]
)
def test_what_is_no_sum_of_losses_says_nothing(text):
    assert said(text) == []


def test_a_role_has_its_loss_and_the_name_of_a_loss_is_no_role():
    assert said(r"Reconstruction Losses ($\mathcal{L}_{{MSE}},\mathcal{L}_{{LPIPS}}$)") == [("mse", "reconstruction", True)]
    assert said(r"the pixel loss $\mathcal{L}_{L1}$") == [("mae", "pixel", True)]
    assert said(r"the GAN loss ($\mathcal{L}_{GAN}$)") == []
    assert not [one for one in said(r"cross-entropy loss ($\mathcal{L}_{MSE}$)") if one[1]]


HOSTILE = ["L = " + "L_{a} + " * 9_000, r"\mathcal{L}_{" * 9_000, "loss " * 9_000 + "L", "a loss ($L_{a}" * 9_000, "L(" * 30_000, "L = " * 30_000,
           r"L = \lambda_{" * 9_000, "L = " + "1" * 60_000, "= L_{a} + 0." * 9_000, "L_{a} = L_{b}" + r"+ \times" * 9_000]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_time_is_bounded_on_hostile_text(text):
    began = time.perf_counter()
    formulas.read_losses(text, 1, Sink(ontology(), "prose"))
    assert time.perf_counter() - began < 0.5
