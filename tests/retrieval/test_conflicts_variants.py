"""Values of a paper for one size of its model against the code of that size."""

from __future__ import annotations

import pytest

from lineage.insight import Conflict, Held
from lineage.model import Chunk, Fact, Hit, Work, WorkId
from lineage.ontology import ontology
from retrieval.conflicts import Terms, conflicts, loosely
from retrieval.variants import sizes

TARGET = Work(WorkId("arxiv:2401.00001"), title="The Target")
OWN = Work(WorkId("repo:github.com/target/own"), "code", "own")
TERMS = Terms(lambda name: name, lambda name: 0.9, loosely(ontology().same))


def row(value: str, scope: str, name: str = "hidden_size") -> Held:
    chunk = Chunk("c_table", TARGET.id, "main.tex", "paper", "table", "", "", 0, 2, 1, 20, section=("Model sizes",))
    return Held(Fact(name, value, "", TARGET.id, chunk.id, "table", 5, scope=scope), Hit(1, 1.0, chunk, TARGET, from_target=True))


def code(value: str, scope: str, name: str = "embedding_dim", path: str = "models.py") -> Held:
    chunk = Chunk(f"c_{path}", OWN.id, path, "code", "function", "", "", 0, 2, 1, 90)
    return Held(Fact(name, value, "", OWN.id, chunk.id, "call", 5, "emb_dim", value, scope), Hit(1, 1.0, chunk, OWN, from_target=True))


def found(*some: Held) -> list[Conflict]:
    held: dict[str, list[Held]] = {}
    for one in some:
        held.setdefault(one.fact.name, []).append(one)
    return list(conflicts(held, TARGET.id, (), TERMS))


SEVEN, LARGE = code("4096", "get_config.llama2_7b:Config"), code("8192", "get_config.llama2_34b:Config")


def test_a_row_is_held_against_the_branch_of_its_own_size_alone() -> None:
    (one,) = found(row("4096", "LLaMA 7B"), row("8196", "LLaMA 34B"), SEVEN, LARGE)
    assert [side.fact.value for side in one.sides] == ["8196", "8192"]
    assert one.why.startswith("both speak of “LLaMA 34B”; ")


def test_rows_of_one_value_are_told_once() -> None:
    (one,) = found(row("4096", "LLaMA 7B"), row("8196", "LLaMA 34B"), row("8196", "LLaMA 70B"), SEVEN, LARGE, code("8192", "llama2_70b:Config"))
    assert one.why.startswith("both speak of “LLaMA 34B”, “LLaMA 70B”; ")


def test_without_a_size_on_which_both_agree_the_code_may_be_of_another_experiment() -> None:
    assert [one for one in found(row("512", "LLaMA 7B"), row("8196", "LLaMA 34B"), SEVEN, LARGE) if one.why.startswith("both speak")] == []


def test_a_value_of_any_branch_of_the_size_is_enough_for_peace() -> None:
    assert found(row("4096", "LLaMA 7B"), SEVEN, code("2048", "get_config.llama3_7b_4k:Config")) == []


def test_a_size_in_the_name_of_a_file_counts() -> None:
    files = [code("5", "model", "layers", f"configs/eomt_{size}_640.yaml") for size in ("giant", "large")]
    (one,) = found(row("5", "EoMT-g", "layers"), row("4", "EoMT-L", "layers"), *files)
    assert [side.fact.value for side in one.sides] == ["4", "5"]


def test_sizes_of_other_families_are_compared_with_nothing() -> None:
    assert found(row("4096", "LLaMA 7B"), row("512", "OPT 34B"), SEVEN, LARGE) == []


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("ViT-B, LN (original)", ("vit", "base")),
        ("vit_base_patch16:VisionTransformer", ("vit", "base")),
        ("SiT_XL_2:SiT", ("sit", "xl")),
        ("mamba_9.8b.model_config", ("mamba", "9.8b")),
        ("34B and 70B", ("", "70b")),
    ],
)
def test_a_size_has_one_form_in_text_and_in_code(text: str, size: tuple[str, str]) -> None:
    assert size in sizes(text)


@pytest.mark.parametrize("text", ["base_lr", "transformer_fever", "large batches", "main.small", "Baseline", ""])
def test_words_of_size_without_a_family_are_none(text: str) -> None:
    assert sizes(text) == frozenset()
