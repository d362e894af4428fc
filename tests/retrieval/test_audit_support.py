"""What the text beside a detail's name may say of it."""

from __future__ import annotations

from retrieval.audit.inputs import beside


def test_only_words_near_a_name_are_beside_it() -> None:
    far = "word " * 20
    words = set(beside(f"We train for 50 epochs {far}with ResNet 101", [["epochs"]]))
    assert "50" in words
    assert "101" not in words
