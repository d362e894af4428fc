"""Sentences of scholarly prose: abbreviations, initials, decimals and citations end nothing by themselves."""

from __future__ import annotations

import pytest

from indexer.parsers.sentences import MAX_CLIPPED, Sentences, sentence_starts


def split(text: str) -> list[str]:
    starts = sentence_starts(text)
    return [part for start, end in zip(starts, [*starts[1:], len(text)], strict=True) if (part := text[start:end].strip())]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One here. Two there! Three?", ["One here.", "Two there!", "Three?"]),
        ("As Kim et al. (2019) say in Fig. 3 of Sec. 2, i.e. here.", ["As Kim et al. (2019) say in Fig. 3 of Sec. 2, i.e. here."]),
        ("We use lr 0.1 by J. Smith. Then 0.01.", ["We use lr 0.1 by J. Smith.", "Then 0.01."]),
        ("It works. [kim] The next.", ["It works. [kim]", "The next."]),
        ("It works. [kim] propose it.", ["It works.", "[kim] propose it."]),
        ("It works.[kim] The next.", ["It works.[kim]", "The next."]),
        ("We do this. Then that! Why? Because.", ["We do this.", "Then that!", "Why?", "Because."]),
        ("See Fig. 3 and Eq. Two of Smith et al. Here.", ["See Fig. 3 and Eq. Two of Smith et al. Here."]),
        ("J. R. Smith wrote it. He did.", ["J. R. Smith wrote it.", "He did."]),
        ("It grows by 3.5 points. New line", ["It grows by 3.5 points.", "New line"]),
        ("It ends [12]. Another one. [3] Third.", ["It ends [12].", "Another one. [3]", "Third."]),
        ("It ends.12 Another one.", ["It ends.12", "Another one."]),
        ("“It ends.” Another.", ["“It ends.”", "Another."]),
        ("i.e. lower case goes on. and on", ["i.e. lower case goes on. and on"]),
        ("One paragraph\n\nanother one", ["One paragraph", "another one"]),
        ("rows | one\nrows | two", ["rows | one", "rows | two"]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, sentences: list[str]):
    assert split(text) == sentences


def test_a_sentence_without_end_is_clipped_to_whole_words_around_the_place():
    text = "word " * 2000
    start, end = Sentences(text).around(5000)
    assert start <= 5000 < end
    assert end - start <= MAX_CLIPPED
    assert text[start:end].startswith("word")
    assert text[start:end].endswith("word")
