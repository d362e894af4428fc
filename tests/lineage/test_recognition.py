"""When a record found by its title is taken for the paper that was read, or for the work that a bibliography names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lineage.records import BibEntry, Document, Span, Work
from lineage.references.same_work import same_paper, same_work

ABSTRACT = "We hide whole neighbourhoods of patches and predict them, which leaves no texture to continue and makes features better for probing."
HEAD = "Rosa Lindqvist and Deniz Achterberg\nHarbour Institute"


def paper(title="PatchMask: Hiding the Neighbours", head=HEAD, abstract="", youngest=None):
    text = f"{head}\n\nAbstract\n\n{abstract}"
    cited = (BibEntry("a", "raw", year=youngest),) if youngest else ()
    return Document(
        "local:x", "main", text, (Span(len(head) + 2, len(text), "abstract"),), "pdf@1", "paper", title=title, abstract=abstract, bibliography=cited
    )


def record(title="PatchMask: hiding the neighbours", authors=("R. Lindqvist", "D. Achterberg"), year=2024, abstract=""):
    return Work("arxiv:9911.00102", title=title, authors=authors, year=year, abstract=abstract)


@pytest.mark.parametrize(
    ("document", "found", "words"),
    [
        (paper(), record(), "same title; first author Lindqvist on its first page"),
        (paper(head="Deniz Achterberg and Rosa Lindqvíst"), record(), "same title; first author Lindqvist on its first page"),
        (paper(head="", abstract=ABSTRACT), record(abstract=ABSTRACT + " More."), "same title; 100% of the abstract's words"),
        (paper(head="", youngest=2023), record(), "same title; it cites up to 2023, the record is of 2024"),
    ],
)
def test_a_record_is_taken_when_people_abstract_or_years_confirm_it(document, found, words):
    assert same_paper(document, found) == (True, words)


@pytest.mark.parametrize(
    ("document", "found", "words"),
    [
        (paper("PatchMask"), record(), "its title is another"),
        (paper(""), record(""), "its title is another"),
        (paper(head="Ada Byron and Grace Murray"), record(), "Lindqvist is not among its authors"),
        (paper(abstract=ABSTRACT, youngest=2024), record(year=1999), "it cites works of 2024, the record is of 1999"),
        (
            paper(head="", abstract=ABSTRACT),
            record(abstract=" ".join(f"word{n}" for n in range(40))),
            "its abstract is another",
        ),
        (paper(head=""), record(), "neither authors, abstract nor years confirm it"),
        (paper("Adam", head="", youngest=2023), record("Adam"), "neither authors, abstract nor years confirm it"),
    ],
)
def test_a_record_that_is_contradicted_or_confirmed_by_nothing_is_not_taken(document, found, words):
    assert same_paper(document, found) == (False, words)


def test_the_footnotes_of_a_latex_title_are_no_authors():
    document = replace(paper(head="Work done during an internship at the Harbour Institute", youngest=2024), parser="latex@2")
    assert same_paper(document, record()) == (True, "same title; it cites up to 2024, the record is of 2024")


def test_a_work_needs_the_same_title_and_people_or_years_that_agree():
    own = Work("ref:x", title="Plain Small Vision Transformers", authors=("A. Sato-Reyes",), year=2023)
    assert same_work(own, record("Plain small vision transformers", ("Aoki Sato-Reyes",), 2022)) == "same title and first author, 2023 and 2022"
    assert same_work(own, record("Plain small vision transformers", ("Ada Byron",), 2023)) == ""
    assert same_work(own, record("Plain small vision transformers", ("Aoki Sato-Reyes",), 2010)) == ""
    assert same_work(own, record("Plain small vision transformers for scenes", ("Aoki Sato-Reyes",), 2023)) == ""
    assert same_work(Work("ref:x"), record("", ("Aoki Sato-Reyes",))) == ""
