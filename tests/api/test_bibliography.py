"""References for reference managers: what is written is read back by parsers of each form, whatever strangers put into it."""

from __future__ import annotations

import json
import re

import pytest

from api.wire.bibliography import RankedReference, bibliography
from indexer.parsers.latex.bibtex import bib_entry, records
from lineage.records import Work
from tests.demo import NAME

TORTURE = 'A {T}o $x^2$ & "50%" of #1 \\input{/etc/passwd} ~ é\n@misc{evil, title={x}}\nER  - \x1b[31m }}} {'
FLAT = re.sub(r"\s+", " ", TORTURE.replace("\x1b", "")).strip()


def reference(key="wang21", cited="arxiv:2006.10726", **work):
    return RankedReference("arxiv:2401.00001", cited, key, "Raw, 2020.", work=Work(cited, **work) if work else None)


def of_bibtex(text):
    return [bib_entry(record, record.fields, "") for record in records(text) if not record.broken]


def words(text):
    """What our reader of TeX keeps of a text: it drops braces and ties."""
    return re.sub(r"[{}~]", "", text).split()


def of_ris(text):
    """Records of RIS (https://en.wikipedia.org/wiki/RIS_(file_format)) as pairs of tag and value."""
    rows = [re.fullmatch(r"([A-Z][A-Z0-9])  - (.*)", line) for line in text.splitlines() if line]
    assert all(rows)
    return [[(row[1], row[2]) for row in rows]]


def test_a_work_comes_back_from_every_form():
    work = reference(
        title="Tent: Fully", authors=("Dequan Wang", "Jan van der Berg", "Ann O'Hara Jr."), year=2021, venue="International Conference on X"
    )
    (entry,) = of_bibtex(bibliography([work], "bibtex"))
    assert (entry.key, entry.title, entry.year, entry.venue, entry.arxiv) == (
        "wang21",
        "Tent: Fully",
        2021,
        "International Conference on X",
        "2006.10726",
    )
    assert [author.split()[-1].strip(",") for author in entry.authors][:2] == ["Wang", "Berg"]
    (item,) = json.loads(bibliography([work], "csl-json"))
    assert item["author"][1:] == [{"family": "van der Berg", "given": "Jan"}, {"family": "O'Hara", "given": "Ann", "suffix": "Jr."}]
    assert (item["type"], item["issued"], item["number"]) == ("paper-conference", {"date-parts": [[2021]]}, "arXiv:2006.10726")
    (rows,) = of_ris(bibliography([work], "ris"))
    assert rows[0] == ("TY", "CONF")
    assert [value for tag, value in rows if tag == "AU"] == ["Wang, Dequan", "van der Berg, Jan", "O'Hara, Ann, Jr."]
    assert rows[-1] == ("ER", "")


def test_what_strangers_wrote_stays_in_its_field():
    works = [reference(title=TORTURE, authors=("A and B {", "The \\x Team"), venue="J} , url={evil", year=2020), reference(key="other", title="Next")]
    entries = of_bibtex(bibliography(works, "bibtex"))
    assert [entry.key for entry in entries] == ["wang21", "other"]
    assert words(entries[0].title) == words(FLAT)
    assert [item["title"] for item in json.loads(bibliography(works, "csl-json"))] == [FLAT, "Next"]
    (rows,) = of_ris(bibliography(works, "ris"))
    assert [value for tag, value in rows if tag == "TI"] == [FLAT, "Next"]
    assert [tag for tag, _ in rows].count("ER") == 2


@pytest.mark.parametrize("key", ["", "ref-7", "a b", "x}", "ключ"])
def test_what_is_no_key_becomes_one_and_every_key_is_there_once(key):
    some = [reference(key=key, title="Tent", authors=("Wang, D.",), year=2021)] * 2
    keys = [entry.key for entry in of_bibtex(bibliography(some, "bibtex"))]
    assert keys == ["wang2021tent", "wang2021tent-2"]


def test_a_reference_that_nobody_knows_keeps_its_own_words():
    (entry,) = of_bibtex(bibliography([reference(cited="ref:0123")], "bibtex"))
    assert entry.title == "Raw, 2020"


def test_all_references_of_a_lineage_come_in_every_form(built):
    listed = built.service.references(NAME)
    assert len(of_bibtex(listed.text("bibtex"))) == len(json.loads(listed.text("csl-json"))) == listed.text("ris").count("ER  - ") == listed.total
