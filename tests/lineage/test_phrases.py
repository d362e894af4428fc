"""Phrases are found whatever the hyphens; numbers stay whole."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lineage.text.phrases import Phrases, phrase, words


def test_hyphens_underscores_and_capitals_do_not_matter() -> None:
    table = Phrases({phrase("fine-tuned"): "tuned", phrase("batch size"): "batch"})
    assert list(table.found(words("Fine tuned with a BATCH_SIZE; it was fine_tuned."))) == ["tuned", "batch", "tuned"]


def test_numbers_are_one_word_in_any_form() -> None:
    assert [word.text for word in words("1e-4, 4,096 of 150k at .5 and 10% of 224x224, no 3d") if word.number] == [
        "1e-4",
        "4,096",
        "150k",
        ".5",
        "10%",
        "224x224",
    ]


def test_overlapping_phrases_are_all_found() -> None:
    table = Phrases({phrase("learning rate"): 1, phrase("learning rate decay"): 2})
    assert sorted(tag for _, _, tag in table.places(words("learning rate decay"))) == [1, 2]


@given(st.text(max_size=300))
def test_words_lie_in_order_inside_any_text(text: str) -> None:
    found = words(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
