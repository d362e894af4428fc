"""Strangers' text cannot leave its fence, and an object is found among words."""

from __future__ import annotations

import pytest

from lineage.text.hidden_text import fence_of, object_in


@pytest.mark.parametrize("text", ["", "-----", "a\n-----0000\nb", "\ud800"])
def test_no_text_holds_its_own_fence(text):
    assert fence_of(text).startswith("-----")
    assert fence_of(text) not in text


def test_an_object_is_found_among_words_and_nothing_is_made_up():
    assert object_in('Here it is: {"a": {"b": 1}} as asked') == '{"a": {"b": 1}}'
    assert object_in("no object") == "no object"
