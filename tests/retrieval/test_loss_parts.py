"""Formulas of a paper that weigh the parts of a loss otherwise than the settings of its own code."""

from __future__ import annotations

import pytest

from lineage.insight import Held
from lineage.model import Chunk, Fact, Hit, Work, WorkId
from lineage.ontology import ontology
from retrieval.conflicts import Terms, conflicts, loosely

TARGET = Work(WorkId("arxiv:2401.00001"), title="The Target")
OWN = Work(WorkId("repo:github.com/target/own"), "code", "own")
TERMS = Terms(lambda name: name, lambda name: 0.6, loosely(ontology().same))


def formula(value: str, scope: str = "", text: str = "", section: str = "Method") -> Held:
    chunk = Chunk(f"c_{value}{scope}", TARGET.id, "main.tex", "paper", "paragraph", text or value, "", 0, 2, 1, 20, section=(section,))
    return Held(Fact("loss", value, "", TARGET.id, chunk.id, "prose", 5, "L", value, scope, False), Hit(1, 1.0, chunk, TARGET, from_target=True))


def weighed(written: str, value: str, path: str = "configs/vae.yaml") -> Held:
    name = "kl_weight" if written.startswith("kl") else "loss_weight"
    chunk = Chunk(f"c_{path}", OWN.id, path, "config", "block", "", "", 0, 2, 1, 20)
    return Held(Fact(name, value, "", OWN.id, chunk.id, "config", 5, written, value, "losses"), Hit(1, 1.0, chunk, OWN, from_target=True))


def found(*some: Held) -> list[tuple[str, ...]]:
    held: dict[str, list[Held]] = {}
    for one in some:
        held.setdefault(one.fact.name, []).append(one)
    return sorted((one.name, *(side.fact.value for side in one.sides)) for one in conflicts(held, TARGET.id, (), TERMS))


SUM = "KL + MSE + GAN"


def test_an_unweighted_part_is_against_its_setting_under_either_of_its_names() -> None:
    settings = (weighed("kl_weight", "0.000001"), weighed("discriminator_weight", "0.1"), weighed("perceptual_weight", "0.5"))
    assert found(formula(SUM), *settings) == [("kl_weight", SUM, "0.000001"), ("loss_weight", SUM, "0.1")]


def test_a_number_in_the_formula_is_the_weight() -> None:
    assert found(formula("ce + 0.1·kl"), weighed("kl_weight", "0.1")) == []
    assert found(formula("ce + 10^-1·kl"), weighed("kl_weight", "0.5")) == [("kl_weight", "ce + 10^-1·kl", "0.5")]
    assert found(formula(SUM), weighed("kl_weight", "0.01")) == [("kl_weight", SUM, "0.01")]


@pytest.mark.parametrize(
    "paper",
    [
        (formula("ce + lambda·KL"),),
        (formula(SUM), formula("ce + beta·KL")),
        (formula(SUM, text=f"{SUM}. The KL term is scaled by 1e-6."),),
        (formula(SUM, "REG"), formula("ce + eta·REG")),
        (formula(SUM, section="Related work"),),
        (formula("ce + mse"),),
    ],
)
def test_what_is_weighed_by_a_symbol_or_stated_elsewhere_contradicts_nothing(paper: tuple[Held, ...]) -> None:
    assert found(*paper, weighed("kl_weight", "0.000001")) == []


def test_the_parts_of_a_scaled_sum_may_differ_among_one_another_only() -> None:
    scaled = (formula(SUM, "REG"), formula("ce + eta·REG"))
    assert found(*scaled, weighed("kl_weight", "0.1"), weighed("gan_weight", "0.1")) == []
    assert len(found(*scaled, weighed("kl_weight", "0.1"), weighed("gan_weight", "0.5"))) == 2


def test_a_part_that_is_off_and_a_file_that_agrees_are_silent() -> None:
    assert found(formula(SUM), weighed("kl_weight", "0")) == []
    assert found(formula(SUM), weighed("kl_weight", "0.1"), weighed("kl_weight", "1", "configs/plain.yaml")) == []
