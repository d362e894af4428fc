"""Bytes to text: encodings, newlines, and line numbers that hold."""

from __future__ import annotations

import pytest

from indexer.parsers.decode import decode


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1"])
def test_every_encoding_gives_the_same_text(encoding: str) -> None:
    text = "name = 'Müller'\nprint(name, 'and some more words')\n"
    assert decode(text.encode(encoding)) == text


def test_a_coding_cookie_is_believed() -> None:
    assert decode("# -*- coding: cp1251 -*-\ns = 'привет'\n".encode("cp1251")).endswith("s = 'привет'\n")


def test_a_cookie_that_names_no_character_encoding_is_ignored() -> None:
    assert decode(b"# coding: zlib\n\xe9\n") == "# coding: zlib\né\n"


@pytest.mark.parametrize(("data", "text"), [(b"a\r\nb\n", "a\nb\n"), (b"a\rb\r", "a\nb\n"), (b"a\rb\nc", "a b\nc")])
def test_newlines_become_one_kind_without_moving_lines(data: bytes, text: str) -> None:
    assert decode(data) == text


def test_no_nul_and_no_lone_surrogate_leaves() -> None:
    assert decode(b"a\0b \xed\xa0\x80") == "a b í\xa0\x80"
