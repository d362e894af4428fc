"""Stages, names and places of values."""

from __future__ import annotations

import pytest

from retrieval.audit.value_scope import Names, stages, stages_agree


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("fine-tuning the encoder", {"fine-tuning"}),
        ("linear_probe.py", {"probing"}),
        ("sampling batch size", {"evaluation"}),
        ("pretrain/main.py", {"pretraining"}),
        ("the batch size is set", set()),
        ("latest checkpoint", set()),
    ],
)
def test_stages_are_told_by_words(text, found):
    assert stages(text) == found


def test_a_value_for_one_stage_is_none_of_another():
    train, tune, test = frozenset(), frozenset({"fine-tuning"}), frozenset({"evaluation"})
    assert stages_agree(train, train, train, False)
    assert not stages_agree(test, train, train, False)
    assert stages_agree(test, train, train, True)
    assert not stages_agree(tune, train, train, False)
    assert stages_agree(tune, train, tune, False)
    assert not stages_agree(tune, test, tune, False)


@pytest.mark.parametrize(
    ("name", "text", "used"),
    [
        ("CIFAR-10", "datasets.CIFAR10('data')", True),
        ("CIFAR-10", "datasets.CIFAR100('data')", False),
        ("ViT-B", "vit_base_patch16_224", True),
        ("ViT-L", "vit_base_patch16_224", False),
        ("ImageNet 64×64", "FractalMAR on ImageNet 64x64", True),
        ("LLaMA 7B", "vit_base_patch16_224", False),
    ],
)
def test_a_repository_uses_a_name_in_its_own_spelling(name, text, used):
    assert Names([text]).names(name) is used
