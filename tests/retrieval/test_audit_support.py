"""What the text beside a detail's name may say of it, and numbers that only look like counts."""

from __future__ import annotations

from lineage.hyperparameters.values import number
from retrieval.audit.inputs import beside
from retrieval.audit.named_values import _TOKEN


def test_only_words_near_a_name_are_beside_it() -> None:
    far = "word " * 20
    words = set(beside(f"We train for 50 epochs {far}with ResNet 101", [["epochs"]]))
    assert "50" in words
    assert "101" not in words


def test_a_dimension_is_no_count() -> None:
    assert number(_TOKEN.findall("a 2D image")[1]) is None
    assert number(_TOKEN.findall("a 4M batch")[1]) == 4_000_000
