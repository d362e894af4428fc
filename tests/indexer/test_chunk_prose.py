"""Chunks of papers: paragraphs of one section together, tables and their like alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from indexer.chunking.chunker import chunks
from indexer.chunking.prose import _Sections
from lineage.records import Chunk, Document, Span, WorkId

Part = tuple[str, str, tuple[str, ...]]


def paper(*parts: Part, **more: object) -> Document:
    """A paper of (role, text, section path) parts, a blank line between them."""
    text, spans = "", []
    for role, body, path in parts:
        spans.append(Span(len(text), len(text) + len(body), role, path, page=1, box=(10.0, len(text), 90.0, len(text) + 5.0)))
        text += body + "\n\n"
    return Document(WorkId("arxiv:1"), "main.tex", text, tuple(spans), "latex@1", "paper", title="On Nets", **more)  # type: ignore[arg-type]


def words(count: int) -> str:
    return " ".join(["word"] * (count - 1)) + " end."


def sizes(found: list[Chunk]) -> list[tuple[str, tuple[str, ...], int]]:
    return [(chunk.role, chunk.section, len(chunk.text.split())) for chunk in found]


INTRO, SETUP = ("1 Intro",), ("2 Experiments", "2.1 Setup")


def test_short_paragraphs_of_a_section_are_joined_and_sections_are_not() -> None:
    document = paper(*[("paragraph", words(60), INTRO)] * 5, ("paragraph", words(20), SETUP))
    assert sizes(chunks(document)) == [("paragraph", INTRO, 180), ("paragraph", INTRO, 120), ("paragraph", SETUP, 20)]


def test_a_long_paragraph_stays_alone_and_one_beyond_the_limit_is_cut_at_sentences() -> None:
    document = paper(("paragraph", words(300), INTRO), ("paragraph", " ".join([words(10)] * 90), INTRO))
    found = chunks(document)
    assert all(len(chunk.text) <= 2_400 for chunk in found)
    assert all(chunk.text.endswith("end.") for chunk in found)
    assert sum(len(chunk.text.split()) for chunk in found) == 1_200


def test_tables_with_their_captions_figures_algorithms_and_footnotes_stand_alone() -> None:
    document = paper(
        ("paragraph", words(20), SETUP),
        ("table", "lr | 1e-4", SETUP),
        ("caption", "Table 1: settings.", SETUP),
        ("caption", "Figure 1: curves.", SETUP),
        ("algorithm", "for x do", SETUP),
        ("footnote", words(60), SETUP),
        ("footnote", words(70), SETUP),
        ("paragraph", words(20), SETUP),
    )
    found = chunks(document)
    assert [role for role, _, _ in sizes(found)] == ["paragraph", "table", "caption", "algorithm", "footnote", "paragraph"]
    assert found[1].text == "lr | 1e-4\n\nTable 1: settings."
    assert len(found[4].text.split()) == 130


def test_a_short_footnote_stays_with_the_text_around_it() -> None:
    document = paper(("paragraph", words(20), INTRO), ("footnote", "https://example.org/code", INTRO), ("paragraph", words(20), INTRO))
    assert sizes(chunks(document)) == [("paragraph", INTRO, 41)]


def test_a_long_footnote_inside_a_paragraph_is_a_chunk_as_well_and_a_caption_inside_a_table_is_not() -> None:
    note = words(60)
    text = f"Some words here. {note} More words.\n\nTable 1: x\na | b\n"
    table = text.index("Table")
    spans = (
        Span(0, table - 2, "paragraph"),
        Span(17, 17 + len(note), "footnote"),
        Span(table, len(text) - 1, "table"),
        Span(table, table + 10, "caption"),
    )
    document = Document(WorkId("w"), "p", text, spans, "latex@1", "paper")
    assert [(chunk.role, chunk.text) for chunk in chunks(document)] == [
        ("paragraph", text[: table - 2]),
        ("footnote", note),
        ("table", "Table 1: x\na | b"),
    ]


def test_the_header_is_title_and_section_and_a_cut_table_repeats_its_first_line() -> None:
    table = "name | lr | wd\n" + "row of values in it | 1e-4 | 0.05\n" * 120
    found = chunks(paper(("paragraph", words(30), SETUP), ("table", table, SETUP)))
    assert found[0].header == "On Nets > 2 Experiments > 2.1 Setup"
    assert len(found) > 2
    assert found[2].header == "On Nets > 2 Experiments > 2.1 Setup · name | lr | wd"


def test_page_and_box_are_those_of_everything_joined() -> None:
    (found,) = chunks(paper(("paragraph", words(10), INTRO), ("paragraph", words(10), INTRO)))
    assert (found.page, found.box) == (1, (10.0, 0.0, 90.0, 56.0))


def test_headings_go_with_the_paragraph_below_and_what_no_span_covers_is_kept() -> None:
    text = "A title\n\n1 Intro\n\nSome words.\n\nAn orphan at the end."
    spans = (Span(9, 29, "section", INTRO), Span(18, 29, "paragraph", INTRO))
    document = Document(WorkId("w"), "p", text, spans, "latex@1", "paper")
    assert [chunk.text for chunk in chunks(document)] == ["A title\n\n1 Intro\n\nSome words.", "An orphan at the end."]


def test_a_heading_above_a_table_goes_with_it() -> None:
    text = "2.1 Setup\n\nlr | 1"
    spans = (Span(0, 17, "section", SETUP), Span(0, 9, "heading", SETUP), Span(11, 17, "table", SETUP))
    assert [(chunk.role, chunk.text) for chunk in chunks(Document(WorkId("w"), "p", text, spans, "latex@1", "paper"))] == [("table", text)]


def test_a_paper_without_words_has_no_chunks() -> None:
    assert chunks(paper()) == []
    assert chunks(paper(("paragraph", "  ", INTRO))) == []


def grid(rows: int) -> str:
    body = "".join(f"{'ResNet' if n % 10 == 0 else ''} | setting {n} | 0.{n} | 9{n % 10}.5\n" for n in range(rows))
    return "Model | | Rate |\n| Name | train | test\n" + body.rstrip("\n")


def test_a_long_table_is_parted_between_rows_and_each_part_says_caption_heads_and_group() -> None:
    document = paper(("table", grid(50), SETUP), ("caption", "Table 4: Rates of all settings.", SETUP))
    found = chunks(document)
    assert [chunk.text.count("\n") + 1 for chunk in found] == [18, 17, 19]
    assert found[0].header == "On Nets > 2 Experiments > 2.1 Setup · Table 4: Rates of all settings."
    assert found[1].header == (
        "On Nets > 2 Experiments > 2.1 Setup · Table 4: Rates of all settings. · Model | | Rate | · | Name | train | test · ResNet"
    )
    assert found[2].text.endswith("| setting 49 | 0.49 | 99.5\n\nTable 4: Rates of all settings.")
    assert "Table 4" not in found[2].header
    assert all(chunk.text == document.text[chunk.start : chunk.end] for chunk in found)


def test_a_caption_goes_with_the_table_that_has_its_number_not_with_the_one_beside_it() -> None:
    text = "Figure 1: a view\n\na | 1\n\nTable 1: use\n\nTable 2: more\n\nb | 2"
    spans = (
        Span(0, 16, "caption", label="Figure 1"),
        Span(18, 23, "table", label="Table 1"),
        Span(25, 37, "caption", label="Table 1"),
        Span(39, 52, "caption", label="Table 2"),
        Span(54, 59, "table", label="Table 2"),
    )
    found = chunks(Document(WorkId("w"), "p", text, spans, "latex@1", "paper"))
    assert [(chunk.label, chunk.text) for chunk in found] == [
        ("Figure 1", "Figure 1: a view"),
        ("Table 1", "a | 1\n\nTable 1: use"),
        ("Table 2", "Table 2: more\n\nb | 2"),
    ]


def test_a_formula_stays_in_its_sentence() -> None:
    lead, rest = words(160), "where x is the input. " + words(20)
    document = paper(("paragraph", lead, SETUP), ("equation", "$$y = x^2$$ (1)", SETUP), ("paragraph", rest, SETUP), ("paragraph", words(30), SETUP))
    assert [chunk.text.split()[0] for chunk in chunks(document)] == ["word", "word"]
    assert "$$y = x^2$$ (1)\n\nwhere x" in chunks(document)[0].text


def test_an_algorithm_goes_with_the_caption_that_has_its_number_and_the_longest_unit_names_a_chunk() -> None:
    text = "Algorithm 1: Train\n\nfor x do\n  step\nend\n\nA note.\n\n" + words(30)
    at = text.index("A note.")
    spans = (
        Span(0, 18, "caption", label="Algorithm 1"),
        Span(20, at - 2, "algorithm", label="Algorithm 1"),
        Span(at, at + 7, "footnote", label="Footnote 1"),
        Span(at + 9, len(text), "paragraph", SETUP, label="2.1"),
    )
    found = chunks(Document(WorkId("w"), "p", text, spans, "latex@1", "paper"))
    assert [(chunk.role, chunk.label) for chunk in found] == [("algorithm", "Algorithm 1"), ("footnote", "Footnote 1"), ("paragraph", "2.1")]


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 30)), max_size=12), st.lists(st.integers(0, 60), min_size=2, max_size=12))
def test_the_section_of_a_gap_is_the_last_that_begins_before_its_end_and_reaches_past_its_start(
    sizes: list[tuple[int, int]], borders: list[int]
) -> None:
    spans = sorted(
        (Span(start, start + length, "section", (str(n),)) for n, (start, length) in enumerate(sizes)), key=lambda span: (span.start, -span.end)
    )
    sections = _Sections(Document(WorkId("w"), "a.tex", "x" * 80, tuple(spans), "latex@5", "paper"))
    for start, end in pairwise(sorted(set(borders))):
        inside = [span for span in spans if span.start < end and span.end > start]
        assert sections.around(start, end) == tuple(inside[-1:])


def test_a_table_of_one_long_row_at_the_very_end_is_cut_like_any_other() -> None:
    document = paper(("table", "System | " + "words of a prompt " * 300, ("A",)))
    document = replace(document, text=document.text.rstrip())
    found = chunks(replace(document, spans=tuple(replace(span, end=min(span.end, len(document.text))) for span in document.spans)))
    assert "".join(chunk.text for chunk in found).count("prompt") >= 300
