"""Tokens are counted by a tokenizer that is named."""

from __future__ import annotations

from functools import partial
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.errors import SettingsError
from retrieval.context.token_budget import FileTokens, TokenEstimator, tokenizer_of

PACKAGED = Path(str(files("indexer"))) / "embedders" / "granite30m" / "tokenizer.json"


def test_the_estimate_is_three_bytes_a_token_and_says_so():
    assert TokenEstimator().count("") == 0
    assert TokenEstimator().count("abcd") == 2
    assert TokenEstimator().count("ä") == 1
    assert TokenEstimator().name == "estimate, one token for 3 bytes of UTF-8"


def test_a_tokenizer_file_counts_without_special_tokens_and_without_an_end():
    tokens = FileTokens(partial(tokenizer_of, PACKAGED), "packaged")
    assert tokens.count("") == 0
    assert tokens.count("learning rate") == 2
    assert tokens.count("learning rate\n" * 2000) > 4000
    assert tokens.count("lone \ud800 surrogate") > 0


@pytest.mark.parametrize("text", ["", "{}", '{"model": 3}', "[]", "not json"])
def test_what_is_no_tokenizer_is_refused_in_words(tmp_path, text):
    path = tmp_path / "tokenizer.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"tokenizer\.json"):
        FileTokens(partial(tokenizer_of, path), "mine").count("x")


def test_a_tokenizer_that_is_not_there_is_refused_in_words(tmp_path):
    with pytest.raises(SettingsError, match="cannot be read"):
        FileTokens(partial(tokenizer_of, tmp_path / "none.json"), "mine").count("x")


@pytest.mark.parametrize("text", ['{"model": {}}', '{"model": {"type": "BPE"}}', "[" * 100_000, '{"model": {"type": "WordPiece", "vocab": 3}}'])
def test_a_damaged_tokenizer_is_refused_as_one_that_is_none(tmp_path, text):
    path = tmp_path / "tokenizer.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"tokenizer\.json"):
        FileTokens(partial(tokenizer_of, path), "mine").count("x")


def test_a_tokenizer_is_read_when_it_is_first_needed_and_then_kept(tmp_path):
    path = tmp_path / "tokenizer.json"
    tokens = FileTokens(partial(tokenizer_of, path), "mine")
    path.write_text('{"model": {"type": "WordLevel", "vocab": {"rate": 0}, "unk_token": "rate"}}', encoding="utf-8")
    assert tokens.count("rate") == 1
    path.unlink()
    assert (tokens.count("rate"), tokens.name) == (1, "mine")


@given(st.text(max_size=80), st.text(max_size=80))
@settings(max_examples=25, deadline=None)
def test_two_texts_together_are_estimated_at_no_more_than_each_alone_and_no_less_than_either(one, other):
    count = TokenEstimator().count
    assert max(count(one), count(other)) <= count(one + other) <= count(one) + count(other)
    assert count(one) >= len(one) / 3
