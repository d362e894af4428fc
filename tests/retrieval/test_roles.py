"""Stages, names and places of values."""

from __future__ import annotations

import pytest

from retrieval.audit.expectations import stages


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
