"""Tokens are counted by a tokenizer that is named."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from lineage.errors import SettingsError
from retrieval.budget import Estimate, FileTokens

PACKAGED = Path(str(files("indexer"))) / "embedders" / "granite30m" / "tokenizer.json"


def test_the_estimate_is_three_bytes_a_token_and_says_so():
    assert Estimate().count("") == 0
    assert Estimate().count("abcd") == 2
    assert Estimate().count("ä") == 1
    assert Estimate().name == "estimate, one token for 3 bytes of UTF-8"


def test_a_tokenizer_file_counts_without_special_tokens_and_without_an_end():
    tokens = FileTokens(PACKAGED, "packaged")
    assert tokens.count("") == 0
    assert tokens.count("learning rate") == 2
    assert tokens.count("learning rate\n" * 2000) > 4000
    assert tokens.count("lone \ud800 surrogate") > 0


@pytest.mark.parametrize("text", ["", "{}", '{"model": 3}', "[]", "not json"])
def test_what_is_no_tokenizer_is_refused_in_words(tmp_path, text):
    path = tmp_path / "tokenizer.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"tokenizer\.json"):
        FileTokens(path, "mine").count("x")


def test_a_tokenizer_that_is_not_there_is_refused_in_words(tmp_path):
    with pytest.raises(SettingsError, match="cannot be read"):
        FileTokens(tmp_path / "none.json", "mine").count("x")
