"""Lists of references: entries cut by what the whole list shows, fields read by the list's own form."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from indexer.parsers.pdf.bibliography import Region, entries, regions, starts
from indexer.parsers.pdf.blocks import Style
from indexer.parsers.pdf.citations import CitationSpan, _author_years, _in_parentheses, _numbers, _unlinked
from indexer.parsers.pdf.entry import Printed, parse_entries
from indexer.parsers.pdf.layout import Sheet, find_gutter
from indexer.parsers.pdf.page import Line, Pages
from lineage.records import BibEntry


def line(text: str, base: float, x: float = 60.0, right: float = 0.0) -> Line:
    xs = tuple(x + 4 * n for n in range(len(text)))
    return Line(1, (x, base - 10, right or x + 4 * len(text), base + 2), base, text, xs, 10.0)


ENTRIES = [
    ["Kingma, D. P. and Ba, J. Adam: A method for stochastic optimization,", "in International Conference on Learning, 2015."],
    ["Hinton, G. Training products of experts by minimizing divergence.", "Neural Computation, 14(8):1771-1800,", "2002. URL https://example.org/poe."],
    ["Sutton, R. S., Barto, A. G., Williams, R., Peng, J., Precup, D.,", "Singh, S., and Mansour, Y. Policy gradients are direct. Nature,", "1992."],
    ["Vapnik, V. Statistical learning theory. Wiley, New York, 1998."],
]  # fmt: skip


@pytest.mark.parametrize(("indent", "gap"), [(0, 0), (12, 0), (0, 6), (-12, 0)], ids=["flush", "hanging", "gaps", "first line"])
def test_entries_are_cut_whatever_the_list_marks_them_by(indent: int, gap: int) -> None:
    rows: list[Line] = []
    firsts = []
    base = 100.0
    for _ in range(3):
        for entry in ENTRIES:
            firsts.append(len(rows))
            for n, text in enumerate(entry):
                shift = indent if n and indent > 0 else -indent if not n and indent < 0 else 0
                full = n < len(entry) - 1
                rows.append(line(text, base, 60 + shift, 330.0 if full else 0.0))
                base += 12
            base += gap
    assert starts(rows) == firsts


def test_a_long_list_is_cut_in_linear_time() -> None:
    rows = [line("Smith, A. and Jones, B. A title. 2020." if n % 2 else "and more of it in words", 12.0 * n) for n in range(20_000)]
    begun = time.thread_time()
    assert len(starts(rows)) > 5_000
    assert time.thread_time() - begun < 30


def fields(raws: list[str], italic: tuple[tuple[int, int], ...] = ()) -> list[tuple[str, str, int | None]]:
    parsed = parse_entries([Printed(raw, f"k{n}", italic) for n, raw in enumerate(raws)])
    return [(entry.authors[0] if entry.authors else "", entry.title, entry.year) for entry in parsed]


def test_a_title_ends_where_its_neighbors_titles_end() -> None:
    raws = [
        "A. Ito and B. Roy, On the shape of lists, SIAM Review, 12 (1999), pp. 1-9.",
        "C. Fox, Words and phrases, revisited, Physica, 3 (2001), pp. 4-8.",
        "D. Kay and E. Lee, Reading with machines, Wiley, New York, 1989.",
    ]
    assert fields(raws) == [
        ("A. Ito", "On the shape of lists", 1999),
        ("C. Fox", "Words and phrases, revisited", 2001),
        ("D. Kay", "Reading with machines", 1989),
    ]


def test_italic_type_tells_title_and_venue_apart() -> None:
    raw = "Ito, A. Lists and shapes in Proceedings of Things (2010)."
    entry = parse_entries([Printed(raw, "k", ((8, 24), (28, 49)))])[0]
    assert (entry.title, entry.year) == ("Lists and shapes", 2010)


@pytest.mark.parametrize("dash", ["———, ", "———. ", ", ", "--- "])
def test_a_dash_repeats_the_authors(dash: str) -> None:
    raws = ["A. Ito and B. Roy, The shape of some lists, Nature 3 (1999), 1-9.", f"{dash}The shape of other lists, Nature 4 (2000), 1-9."]
    first, second = parse_entries([Printed(raw, f"k{n}") for n, raw in enumerate(raws)])
    assert second.authors == first.authors == ("A. Ito", "B. Roy")
    assert second.title == "The shape of other lists"


def test_names_with_accents_and_small_initials_end_where_the_title_begins() -> None:
    assert fields(["É. Peña, S. W.-t. Yih, and G. v. d. Berg. Trusting your evidence. Nature, 2020."])[0][1] == "Trusting your evidence"
    assert fields(["Ørsted É, Haar H ter, Łuk J. Trusting your evidence. Nature. 2020;3:1-9."])[0][1:] == ("Trusting your evidence", 2020)


def test_the_year_is_never_one_of_the_title() -> None:
    assert fields(["A. Ito. Findings of the 2014 shared task on lists, 2019b. URL https://example.org/x."])[0][2] == 2019


def test_labels_at_the_edge_of_the_second_column_belong_to_it() -> None:
    left = [line("left", 12.0 * n, 60.0, 301.0) for n in range(30)]
    right = [line("right", 12.0 * n, 338.0, 540.0) for n in range(30)]
    labels = [line("[12]", 12.0 * n, 310.0, 328.0) for n in range(0, 30, 3)]
    gutter = find_gutter([*left, *right, *labels], 600.0)
    assert gutter is not None
    assert 301 <= gutter <= 310


def test_what_lies_inside_a_range_is_cited_though_only_its_ends_are_linked() -> None:
    labels = {str(n): f"ref-{n}" for n in range(1, 9)}
    assert {cite.key for cite in _numbers("As in [3]–[6].", labels)} == {"ref-3", "ref-4", "ref-5", "ref-6"}
    printed = [CitationSpan(4, 7, f"ref-{n}") for n in (2, 3, 4, 5)]
    linked = [CitationSpan(4, 5, "ref-2"), CitationSpan(6, 7, "ref-5")]
    assert [cite.key for cite in _unlinked(linked, printed, [])] == ["ref-3", "ref-4"]
    assert list(_unlinked([CitationSpan(4, 5, "other")], printed, [])) == []


def test_an_author_cited_with_initials_is_found_and_no_letter_of_the_sentence_before() -> None:
    cited = [BibEntry("a", "raw", authors=("Karl Ito",), year=1996), BibEntry("b", "raw", authors=("Ann Roy",))]
    text = "We look under. Here Ito (1996) and (K. Ito 1996; Roy n.d.)."
    found = list(_author_years(text, cited))
    assert [cite.key for cite in found] == ["a", "a", "b"]
    assert found[0].start >= text.index("Here")


def test_of_two_names_with_a_comma_between_the_first_finds_the_entry() -> None:
    cited = [BibEntry("a", "raw", authors=("Karl Ito",), year=1996)]
    assert [cite.key for cite in _author_years("It works (Ito, Roy 1996; Ito, K-H Roy 1996), in Berlin, Roy (1996) says.", cited)] == ["a", "a"]


def test_ranges_stand_in_round_brackets_too() -> None:
    labels = {str(n): f"ref-{n}" for n in range(1, 9)}
    assert [cite.key for cite in _in_parentheses("as before (2, 5-7) but", labels)] == ["ref-2", "ref-5", "ref-6", "ref-7"]


def test_raised_labels_touch_their_entries() -> None:
    rows = [
        line(f"{n}{name}, “A title of {n} words”, Nature {n}, 1-9 (2001).", 12.0 * n) for n, name in enumerate(["J. Ito", "A. C. Roy", "X. Fox"], 1)
    ]
    found = entries(Region(tuple(rows)), ())
    assert [entry.label for entry in found] == ["1", "2", "3"]
    parsed = parse_entries([Printed(entry.rows[0].text, entry.label, label=entry.label) for entry in found])
    assert [(entry.authors, entry.title) for entry in parsed[:2]] == [(("J. Ito",), "A title of 1 words"), (("A. C. Roy",), "A title of 2 words")]


def test_a_larger_row_of_an_entry_is_no_heading_but_the_appendix_behind_the_list_is() -> None:
    texts = [text for entry in ENTRIES * 3 for text in entry]
    rows = [line(text, 12.0 * n) for n, text in enumerate(texts)]
    rows.insert(2, replace(line("O. Opal: Offline primitive discovery for", 20.0), size=11.0))
    heading, appendix = (replace(line(text, 900.0), size=12.0, bold=True) for text in ("References", "A. Details"))
    prose = [line("All runs of 2020 took a day.", 900.0 + 12 * n) for n in range(30)]
    (region,) = regions([Sheet(800, (heading, *rows, appendix, *prose))], Style(10.0, 12.0, {}), Pages((), 1))
    assert region.rows == tuple(rows)
