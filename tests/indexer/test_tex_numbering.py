"""Counters as LaTeX counts them, references that point forward, and branches that are read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.parsers.latex.macros import Macro, Switches, decide, skip_branch
from indexer.parsers.latex.numbering import Counters, Form, LabelTarget, Resolved, letter, resolve, sentinel
from indexer.parsers.latex.reader import PAR, TexSource, TokenReader, written
from indexer.parsers.latex.stream import LatexCitation, LatexLink, Mark, TextStream


def test_sections_are_counted_by_level_and_start_anew_below() -> None:
    counters = Counters()
    levels = ["section", "subsection", "subsection", "subsubsection", "section", "subsection", "paragraph", "part"]
    assert [counters.section(level) for level in levels] == ["1", "1.1", "1.2", "1.2.1", "2", "2.1", "", ""]


def test_chapters_stand_before_sections_and_the_appendix_is_lettered_once() -> None:
    book = Counters()
    assert [book.section(level) for level in ("chapter", "section")] == ["1", "1.1"]
    paper = Counters()
    paper.section("section")
    paper.start_appendix()
    assert [paper.section(level) for level in ("section", "subsection")] == ["A", "A.1"]
    paper.start_appendix()
    assert paper.section("section") == "B"


def test_floats_are_counted_through_or_within_sections_and_printed_as_the_author_says() -> None:
    counters = Counters()
    counters.within["theorem"] = "section"
    counters.section("section")
    assert [counters.step("theorem"), counters.step("theorem"), counters.step("figure")] == ["1.1", "1.2", "1"]
    counters.section("section")
    assert [counters.step("theorem"), counters.step("figure")] == ["2.1", "2"]
    counters.forms |= {"table": Form("S"), "figure": Form(".", of_section=True), "scheme": Form(known=False)}
    assert [counters.printed(kind) for kind in ("table", "figure", "scheme", "equation")] == ["S1", "2.3", "", "1"]


@pytest.mark.parametrize(("count", "letters"), [(0, "A"), (1, "A"), (26, "Z"), (27, "AA"), (52, "AZ"), (53, "BA"), (702, "ZZ"), (703, "AAA")])
def test_letters_go_on_after_z(count: int, letters: str) -> None:
    assert letter(count) == letters


@given(st.integers(1, 10_000), st.integers(1, 10_000))
def test_letters_keep_the_order_of_numbers(one: int, other: int) -> None:
    def order(count: int) -> tuple[int, str]:
        return len(letter(count)), letter(count)

    assert (order(one) < order(other)) is (one < other)


LABELS = {"a": LabelTarget("Table", "3", "Results"), "b": LabelTarget("Table", "4"), "c": LabelTarget("Section", "", "Setup")}


@pytest.mark.parametrize(
    ("style", "names", "printed"),
    [
        ("n", "a", "3"),
        ("n", "a, b", "3, 4"),
        ("p", "a", "(3)"),
        ("k", "a,b", "Table 3, 4"),
        ("k", "c", "Section [ref]"),
        ("k", "x", "[ref]"),
        ("k", "x,b", "Table [ref], 4"),
        ("t", "a", "Results"),
        ("t", "b", "[ref]"),
        ("t", "x,c", "Setup"),
        ("n", "", "[ref]"),
    ],
)
def test_a_reference_is_printed_in_its_style(style: str, names: str, printed: str) -> None:
    assert resolve(f"see {sentinel(style, names)}.", LABELS) == f"see {printed}."


def test_the_first_use_of_a_label_counts() -> None:
    counters = Counters()
    counters.label("a", LabelTarget("Table", "1"))
    counters.label("a", LabelTarget("Table", "2"))
    assert counters.labels["a"].number == "1"


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.text(alphabet="ab ", max_size=6), st.sampled_from("npkt"), st.sampled_from(["a", "b", "x", "a,b"])), max_size=6))
def test_every_offset_outside_the_references_follows_its_letter(pieces: list[tuple[str, str, str]]) -> None:
    text = "".join(words + sentinel(style, name) for words, style, name in pieces) + "end"
    made = Resolved(text, LABELS)
    assert made.text == resolve(text, LABELS)
    at = 0
    for words, style, name in pieces:
        assert all(made.text[made.at(at + n)] == char for n, char in enumerate(words))
        at += len(words) + len(sentinel(style, name))
    assert made.text[made.at(at) :] == "end"


@pytest.mark.parametrize(
    ("source", "tokens"),
    [
        (r"\textbf  {a} b", [r"\textbf", "{", "a", "}", " b"]),
        ("a % comment\n  b", ["a ", "b"]),
        ("a\n\n\nb", ["a", PAR, "b"]),
        ("a %\n\nb", ["a ", PAR, "b"]),
        (r"100\% of $x_1^2$", ["100", r"\%", " of ", "$", "x", "_", "1", "^", "2", "$"]),
        ("$$x$$", ["$$", "x", "$$"]),
        ("#1##2 &~[]", ["#1", "##2", " ", "&", "~", "[", "]"]),
        (r"\a@b", [r"\a", "@b"]),
        ("one\ntwo", ["one\ntwo"]),
        ("\\", ["\\"]),
        ("", []),
    ],
)
def test_source_is_taken_apart(source: str, tokens: list[str]) -> None:
    scanner = TexSource(source)
    found = []
    while (token := scanner.next()) is not None:
        found.append(token)
    assert found == tokens


def test_a_scanner_goes_back_reads_addresses_and_passes_over_what_it_finds() -> None:
    scanner = TexSource(r"\x{a%b#c_{d}} rest |v#b| tail END after")
    assert [scanner.next(), scanner.address(), scanner.next()] == [r"\x", "a%b#c_{d}", " rest |v"]
    scanner.back()
    assert scanner.until("|") == " rest "
    assert scanner.until("missing") is None
    scanner.pos -= 1
    assert scanner.delimited() == "v#b"
    assert scanner.until("END") == " tail "
    scanner = TexSource(r"\a@b", at_letter=True)
    assert scanner.next() == r"\a@b"
    assert TexSource("{no end").address() is None
    assert TexSource("|over\na line|").delimited() is None
    assert TexSource("").delimited() is None


@given(st.text(alphabet="ab1\\{}$ ", max_size=30))
def test_tokens_written_again_are_the_same_tokens(source: str) -> None:
    def tokens(text: str) -> list[str]:
        scanner, found = TexSource(text), []
        while (token := scanner.next()) is not None:
            found.append(token)
        return found

    assert tokens(written(tokens(source))) == tokens(source) or "$" in source


def test_a_stream_writes_white_space_only_before_words_and_keeps_offsets() -> None:
    stream = TextStream(flowing=True)
    stream.write("  One\n two ")
    stream.space()
    at = stream.here()
    stream.write("three")
    assert (stream.text(), stream.text()[at:]) == ("One two three", "three")
    note = TextStream()
    note.write("A note.")
    note.cites.append(LatexCitation(("k",), 2, 6, ()))
    note.links.append(LatexLink("u", 0))
    note.whole("footnote", ("S",))
    stream.defer(note)
    stream.write(" more")
    stream.end_block()
    assert stream.text() == "One two three more\n\nA note."
    assert stream.marks == [Mark(0, 18, "paragraph"), Mark(20, 27, "footnote", ("S",))]
    assert (stream.cites[0].start, stream.cites[0].end, stream.links[0].start, stream.links[0].anchor) == (22, 26, 20, 13)
    inline = TextStream()
    inline.write("x y")
    inline.cites.append(LatexCitation(("k",), 0, 1, ()))
    stream.inline(inline)
    assert (stream.text()[-5:], stream.cites[-1].start) == ("\n\nx y", 29)


def condition(tok: str, text: str, switches: Switches, macros: dict[str, Macro]) -> bool | None:
    reader = TokenReader()
    reader.open(TexSource(text))
    return decide(tok, reader, switches, macros)


KNOWN = {r"\yes": Macro(("1",)), r"\also": Macro(("1",)), r"\no": Macro(("0",)), r"\long": Macro(("10",))}


@pytest.mark.parametrize(
    ("tok", "text", "first"),
    [
        (r"\iftrue", "", True),
        (r"\iffalse", "", False),
        (r"\ifpdf", "", True),
        (r"\ifmine", "", True),
        (r"\ifother", "", None),
        (r"\ifdefined", r"\yes", True),
        (r"\ifdefined", r" \nothing", False),
        (r"\ifx", r"\yes\also", True),
        (r"\ifx", r"\yes\no", False),
        (r"\ifx", r"\yes\nothing", False),
        (r"\ifx", r"\nothing\nothing", True),
        (r"\ifx", r"\nothing\else", False),
        (r"\ifx", r"\yes\undefined", False),
        (r"\ifx", r"\nothing\undefined", True),
        (r"\ifx", r"\csname name\endcsname\relax", True),
        (r"\if", "11", None),
        (r"\ifnum", r"\yes=1 ", None),
        (r"\ifvmode", "", None),
    ],
)
def test_which_branch_is_read(tok: str, text: str, first: bool | None) -> None:
    switches = Switches()
    switches.declare(r"\ifmine")
    switches.declare(r"\other")
    assert switches.assign(r"\minetrue")
    assert not switches.assign(r"\othertrue")
    assert condition(tok, text, switches, KNOWN) is first


def test_a_switch_is_off_until_it_is_set_and_declaring_it_again_changes_nothing() -> None:
    switches = Switches()
    switches.declare(r"\ifmine")
    assert switches.ifs == {r"\ifmine": False}
    switches.assign(r"\minetrue")
    switches.declare(r"\ifmine")
    assert switches.ifs == {r"\ifmine": True}
    switches.assign(r"\minefalse")
    assert switches.ifs == {r"\ifmine": False}


@pytest.mark.parametrize(
    ("text", "to_else", "ended", "rest"),
    [
        (r"a \else b \fi c", True, r"\else", "b "),
        (r"a \else b \fi c", False, r"\fi", "c"),
        (r"\iftrue a \else b \fi c \else d \fi e", True, r"\else", "d "),
        (r"\ifmine \fi c \fi e", False, r"\fi", "e"),
        (r"\ifunknown \fi c \fi e", False, r"\fi", "c "),
        (r"a \or b", True, r"\or", "b"),
        (r"a b", True, None, None),
    ],
)
def test_a_branch_is_passed_over_with_all_that_is_nested_in_it(text: str, to_else: bool, ended: str | None, rest: str | None) -> None:
    switches, reader = Switches(), TokenReader()
    switches.declare(r"\ifmine")
    reader.open(TexSource(text))
    assert skip_branch(reader, switches, to_else=to_else) == ended
    assert reader.next() == rest
