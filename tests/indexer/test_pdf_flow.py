"""Lines to running text, rows to columns, marks to footnotes: the pure parts of PDF reading."""

from __future__ import annotations

import pytest

from indexer.parsers.pdf.blocks import _CAPTION, Block, Style, _block
from indexer.parsers.pdf.fields import full_stops
from indexer.parsers.pdf.flow import PageWords, glue, words_of
from indexer.parsers.pdf.layout import find_gutter, in_order
from indexer.parsers.pdf.outline import _merged
from indexer.parsers.pdf.page import Line, joined, without_marks

WORDS = PageWords(frozenset({"scibert", "cnn", "lstm", "context", "enhanced", "task"}), frozenset({"pre-trained"}))


def line(text: str, x: float = 60, base: float = 100, size: float = 10, **how: object) -> Line:
    xs = tuple(x + 5 * n for n in range(len(text)))
    return Line(1, (x, base - size, x + 5 * len(text), base + 2), base, text, xs, size, **how)


@pytest.mark.parametrize(
    ("before", "after", "made"),
    [
        ("a hyphen-", "ated word", "a hyphenated word"),
        ("uses SCIB-", "ERT here", "uses SCIBERT here"),
        ("a CNN-", "LSTM model", "a CNN-LSTM model"),
        ("the pre-", "trained model", "the pre-trained model"),
        ("automatically-", "detected spans", "automatically-detected spans"),
        ("context-", "enhanced search", "context-enhanced search"),
        ("multi-", "task learning", "multi-task learning"),
        ("see Smith-", "Jones et al.", "see Smith-Jones et al."),
        ("two plain", "lines", "two plain lines"),
        ("at https://github.com/ada/", "engine now", "at https://github.com/ada/engine now"),
        ("at https://github.com/ada/engine-", "notes now", "at https://github.com/ada/engine-notes now"),
        ("at https://github.com/ada/engine.", "We thank", "at https://github.com/ada/engine. We thank"),
        ("at https://github.com/ada/engi", "ne2Notes", "at https://github.com/ada/engine2Notes"),
        ("at https://github.com/ada/engine", "2023.", "at https://github.com/ada/engine 2023."),
        ("at https://github.com/ada/engine", "task.", "at https://github.com/ada/engine task."),
        ("see https:", "//ai.meta.com/llama/.", "see https://ai.meta.com/llama/."),
    ],
)
def test_lines_are_joined_as_they_were_written(before: str, after: str, made: str) -> None:
    between, drop = glue(before, after, WORDS)
    assert (before[:-1] if drop else before) + between + after == made


def test_the_rest_of_an_address_is_no_word_of_the_document() -> None:
    rows = [line("a task at https://github.com/ada/engi"), line("ne2"), line("ne of words")]
    assert words_of(rows).whole == {"a", "task", "at", "https", "github", "com", "ada", "engi", "ne", "of", "words"}


def test_pieces_of_a_row_are_joined_with_their_raised_marks() -> None:
    made = joined([line("as shown"), line("3", x=100, base=96, size=6), line("before", x=112)])
    assert made.text == "as shown3 before"
    assert made.raised == ((8, 9),)
    assert len(made.xs) == len(made.text)


def test_marks_of_footnotes_are_taken_out_and_exponents_stay() -> None:
    row = line("our code7 has x2", raised=((8, 9), (15, 16)))
    clean = without_marks(row, frozenset({"7"}))
    assert clean.text == "our code has x2"
    assert clean.notes == (("7", 8),)
    assert clean.raised == ((14, 15),)
    assert len(clean.xs) == len(clean.text)


def columns() -> list[Line]:
    left = [line(f"left column text row number {n:02d} long", 60, 100 + 12 * n) for n in range(12)]
    right = [line(f"right column text row number {n:02d} is", 320, 100 + 12 * n) for n in range(12)]
    return [row for pair in zip(left, right, strict=True) for row in pair]


def test_a_gutter_is_found_between_two_columns_and_only_there() -> None:
    gutter = find_gutter(columns(), 595)
    assert gutter is not None
    assert 250 < gutter < 322
    single = [line("one column of text that is wide enough to cross the middle of it all", 60, 100 + 12 * n) for n in range(20)]
    assert find_gutter(single, 595) is None


def test_a_line_across_the_page_parts_the_columns() -> None:
    across = line("a heading that runs across both of the columns from side to side of it", 60, 170)
    lower = [row for row in columns() if row.base > 180]
    upper = [row for row in columns() if row.base < 165]
    texts = [row.text for row in in_order([*lower, across, *upper], 595)]
    assert texts.index(across.text) == len(upper)
    assert texts[0].startswith("left column text row number 00")
    assert texts[-1].startswith("right column text row number 11")


def test_captions_are_told_from_words_that_look_like_them() -> None:
    assert _CAPTION.match("Table 3: Results")
    assert _CAPTION.match("Figure A.1. An overview")
    assert not _CAPTION.match("tables and keywords can be accessed")
    assert not _CAPTION.match("Figures show that")


def test_a_caption_is_called_what_is_printed_and_a_table_belongs_to_the_nearer_one() -> None:
    style = Style(10, 12, {})
    above, below = (_block([line(text, base=base)], style, False) for text, base in (("Table 1: One", 100), ("Supplementary Table 2: Two", 215)))
    rows = Block("table", (line("lr  0.1", base=200),))
    assert [(block.role, block.label) for block in _merged([above, rows, below])] == [
        ("caption", "Table 1"),
        ("table", "Supplementary Table 2"),
        ("caption", "Supplementary Table 2"),
    ]


def test_full_stops_are_told_from_initials_and_abbreviations() -> None:
    text = "K. He. Deep nets. Phys. Rev. D."
    assert [text[: stop + 1] for stop in full_stops(text, 5)] == ["K. He.", "K. He. Deep nets."]
