"""Prose by heading path."""

from __future__ import annotations

import pytest

from indexer.parsers import plain
from lineage.errors import ParseError
from lineage.records import Document, Status, WorkId


def parse(path: str, text: str) -> Document:
    return plain.parse(path, text.encode(), WorkId("w"), "b")


def sections(document: Document) -> list[tuple[tuple[str, ...], str]]:
    return [(span.path, document.text[span.start : span.end]) for span in document.spans]


def test_markdown_is_cut_at_its_headings_with_their_path() -> None:
    text = "intro\n# [Net](x) *fast*\nwords\n## Train\nrun\n```sh\n# no heading\n```\n### Deep ##\n## Eval\nlast"
    assert sections(parse("README.md", text)) == [
        ((), "intro"),
        (("Net fast",), "# [Net](x) *fast*\nwords"),
        (("Net fast", "Train"), "## Train\nrun\n```sh\n# no heading\n```"),
        (("Net fast", "Train", "Deep"), "### Deep ##"),
        (("Net fast", "Eval"), "## Eval\nlast"),
    ]


def test_headings_in_html_and_underlined_ones_count() -> None:
    text = '<h1 align="center">Net <b>v2</b></h1>\nx\n\nUse\n---\ny\n'
    assert [path for path, _ in sections(parse("README.md", text))] == [("Net v2",), ("Net v2", "Use")]


def test_restructured_text_orders_its_levels_by_first_use() -> None:
    text = "Top\n===\na\n\nPart\n----\nb\n\nDeep\n~~~~\nc\n\nNext\n----\nd\n"
    assert [path for path, _ in sections(parse("a.rst", text))] == [("Top",), ("Top", "Part"), ("Top", "Part", "Deep"), ("Top", "Next")]


def test_plain_text_is_one_section_and_keeps_every_character() -> None:
    assert sections(parse("LICENSE", "MIT\n# not a heading\n")) == [((), "MIT\n# not a heading\n")]


def test_the_header_says_path_and_headings() -> None:
    assert parse("docs/a.md", "# A\n## B\n").spans[1].header == "docs/a.md > A > B"


def test_no_words_are_a_parse_error() -> None:
    with pytest.raises(ParseError) as caught:
        parse("a.md", " \n\n")
    assert caught.value.status is Status.EMPTY


@pytest.mark.parametrize("text", ["#" * 5_000, "```\n" * 2_000, "<h1" * 3_000, "[" * 9_000, "=\n" * 3_000, "<" * 9_000])
def test_torture_stays_within_the_text(text: str) -> None:
    document = parse("a.md", text)
    assert document.text == text
