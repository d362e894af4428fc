"""`.bib` files entry by entry: what is read, what is inherited, and what a broken entry costs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.parsers.latex.bibitems import bibtex_people, turn
from indexer.parsers.latex.bibtex import MAX_VALUE, bib_entry, inherit, records
from lineage.records import BibEntry


def entries(text: str) -> dict[str, dict[str, str]]:
    return {record.key: dict(record.fields) for record in records(text)}


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("@article{k, title = {A {B} c}, year = 2020}", {"title": "A {B} c", "year": "2020"}),
        ('@article(k, title = "A {"}quoted{"} b", Year = "2020")', {"title": 'A {"}quoted{"} b', "year": "2020"}),
        ("@article{k, month = jan, note = nope}", {"month": "January", "note": "nope"}),
        ('@string{NIPS = "Neural " # {Systems}} @article{k, journal = nips # { 33}}', {"journal": "Neural Systems 33"}),
        ("@preamble{ {@article{x, title={no}}} } @article{k, year = 2020}", {"year": "2020"}),
        ("@comment{ignored} @article{k, year = 2020}", {"year": "2020"}),
        ("@article{k, title = {first}, title = {second}}", {"title": "first"}),
        ("@article{k, title = {a \\} b}}", {"title": "a \\} b"}),
        ("@article{k,\n, , title={x},, year={2020}}", {"title": "x", "year": "2020"}),
        ("@ARTICLE { k , title={x}}", {"title": "x"}),
        ("@article{k}", {}),
    ],
)
def test_values_in_braces_quotes_names_and_joined_ones(text: str, fields: dict[str, str]) -> None:
    assert entries(text) == {"k": fields}


def test_a_broken_entry_costs_itself_and_the_next_is_read() -> None:
    text = "@article{a, title = {never closed,\n  year = 2020,\n@article{b, title = {fine}}\n@article{, title={nameless}}\n"
    text += "@book{c, x = }\n@misc{d, year=1}"
    found = list(records(text))
    assert [(record.key, record.broken) for record in found] == [("a", True), ("b", False), ("c", True), ("d", False)]
    assert found[1].fields == {"title": "fine"}
    assert [record.kind for record in found] == ["article", "article", "book", "misc"]
    assert text[found[1].start :].startswith("@article{b")


def test_a_bomb_of_joined_strings_ends() -> None:
    text = (
        "@string{a = {"
        + "x" * 1000
        + "}}\n@string{b = "
        + " # ".join(["a"] * 90)
        + "}\n@misc{k, t = "
        + " # ".join(["b"] * 90)
        + "}\n@misc{l, t = 1}"
    )
    assert [len(fields["t"]) for fields in entries(text).values()] == [MAX_VALUE, 1]
    assert [record.broken for record in records("@misc{k, t = " + " # ".join(["a"] * 200) + "}")] == [True]


def test_an_entry_inherits_what_it_lacks_and_the_title_is_the_books() -> None:
    book, paper, own = records(
        "@book{Book, title={The Book}, year=2020, publisher={P}}"
        "@inproceedings{a, crossref={BOOK}, title={Mine}} @misc{b, crossref={b}, booktitle={Own}, title={T}}"
    )
    known = {"book": book, "b": own}
    assert inherit(paper, known) == {"year": "2020", "publisher": "P", "booktitle": "The Book", "crossref": "BOOK", "title": "Mine"}
    assert inherit(own, known) == dict(own.fields)
    assert inherit(book, {}) == dict(book.fields)


def of(fields: str) -> BibEntry:
    (record,) = records(f"@misc{{k, {fields}}}")
    return bib_entry(record, record.fields, "raw  text")


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        ("eprint={1706.03762v2}", "arxiv", "1706.03762"),
        ("eprint={1706.03762}, archivePrefix={arXiv}", "arxiv", "1706.03762"),
        ("eprint={1706.03762}, eprinttype={jstor}", "arxiv", None),
        ("journal={arXiv preprint arXiv:1706.03762}", "arxiv", "1706.03762"),
        ("journal={CoRR}, volume={abs/1706.03762}", "arxiv", "1706.03762"),
        ("doi={10.48550/arXiv.1706.03762}", "arxiv", "1706.03762"),
        ("doi={10.48550/arXiv.1706.03762}", "doi", None),
        ("doi={https://doi.org/10.1000/A_b}", "doi", "10.1000/A_b"),
        ("doi={10.1000/a\\_b}", "doi", "10.1000/a_b"),
        ("url={https://doi.org/10.1000/x}", "doi", "10.1000/x"),
        ("howpublished={\\url{https://github.com/a/b\\_c}.}", "url", "https://github.com/a/b_c"),
        ("note={See www.example.org.}", "url", "www.example.org"),
        ("title={No address}", "url", None),
        ("year={in press 2021}, date={2019}", "year", 2021),
        ("date={2019-05-01}", "year", 2019),
        ("booktitle={B}, journal={J}", "venue", "J"),
        ("school={S}, publisher={P}", "venue", "S"),
        ("title={{The} \\emph{Title}.}", "title", "The Title"),
        ("author={Lovelace, Ada and others}", "authors", ("Ada Lovelace",)),
        ("editor={Ada Lovelace}", "authors", ("Ada Lovelace",)),
        ("author={}, editor={Ada Lovelace}", "authors", ("Ada Lovelace",)),
    ],
)
def test_fields_of_an_entry(fields: str, name: str, value: object) -> None:
    assert getattr(of(fields), name) == value
    assert of(fields).raw == "raw text"


@given(st.text(alphabet='@{}",=# \nabk\\1()', max_size=80))
def test_any_file_has_entries_that_lie_in_it_in_order(text: str) -> None:
    found = list(records(text))
    assert all(record.key and 0 <= record.start < record.end <= len(text) for record in found)
    assert [record.start for record in found] == sorted(record.start for record in found)


@settings(max_examples=20, deadline=None)
@given(st.dictionaries(st.from_regex(r"[a-z]{2,8}", fullmatch=True), st.from_regex(r"[A-Za-z0-9 ,=#@-]{0,20}", fullmatch=True), max_size=5))
def test_what_is_written_is_read_back(fields: dict[str, str]) -> None:
    written = "".join(f"\n  {name} = {{{value}}}," for name, value in fields.items())
    assert entries(f"@article{{the key,{written}\n}}\n") == {"the key": fields}


@pytest.mark.parametrize(
    ("value", "people"),
    [
        ("Lovelace, Ada and Babbage, Charles", ("Ada Lovelace", "Charles Babbage")),
        ("King, Jr., Martin Luther", ("Martin Luther King Jr.",)),
        ("{Barnes and Noble} and Ada Lovelace", ("Barnes and Noble", "Ada Lovelace")),
        ("Ada Lovelace AND\n Bob Smith and Others", ("Ada Lovelace", "Bob Smith")),
        ("Anders Anderson", ("Anders Anderson",)),
        ("", ()),
        (" and ", ()),
    ],
)
def test_a_name_list_of_bibtex(value: str, people: tuple[str, ...]) -> None:
    assert bibtex_people(value) == people


@pytest.mark.parametrize(
    ("name", "turned"), [("A, B", "B A"), ("A, Jr, B", "B A Jr"), ("B A", "B A"), (", B", "B"), ("A,", "A"), ("a, b, c, d", "a b c d")]
)
def test_a_name_is_turned_once(name: str, turned: str) -> None:
    assert turn(name) == turned
