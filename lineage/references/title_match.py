"""A paper found again by its title: what has to agree before a service's record is taken for it. Pure.

A title alone is not enough: two papers may share one, and a search answers with its best guess. So the titles must be
equal as normalised, and people, abstract or years must speak for it while none of them speaks against it.
"""

from __future__ import annotations

import unicodedata

from lineage.ids import normal_title
from lineage.records import Document, Work
from lineage.references.same_work import Facts, by_title, facts

HEAD = 3_000
"""Characters of a first page in which the authors stand."""
ALIKE, STRANGE, ENOUGH = 0.5, 0.2, 20
"""Shares of an abstract's words that two abstracts have in common, and the words from which on that tells."""
LATER = 3
"""Years for which a paper may be printed after the youngest work that it cites."""


def same_work(own: Work, record: Work) -> str:
    """Why a record is the work that a bibliography describes, in words, or the empty string; titles must be equal."""
    own_facts, other = facts(own), facts(record)
    return by_title(own_facts, other) if own_facts.key.compact and own_facts.key.compact == other.key.compact else ""


def same_paper(document: Document, record: Work) -> tuple[bool, str]:
    """Whether a record of the same title describes the paper that was read, and what spoke for it, or against it."""
    document_facts, other = facts(Work(record.id, title=document.title)), facts(record)
    if not document_facts.key.compact or document_facts.key.compact != other.key.compact:
        return False, "its title is another"
    judged = [_people(document, other), _abstract(document, record), _years(document, record)]
    against = [words for value, words in judged if value is False]
    spoken = [words for value, words in judged if value]
    if against:
        return False, "; ".join(against)
    alone = spoken == [judged[2][1]] and not document_facts.key.distinctive()
    if not spoken or alone:
        return False, "neither authors, abstract nor years confirm it"
    return True, "; ".join(["same title", *spoken])


def _people(document: Document, record: Facts) -> tuple[bool | None, str]:
    """By the first author, where the text begins with the authors; only PDFs do so for certain, LaTeX keeps footnotes to them at most."""
    end = next((span.start for span in document.spans if span.role in {"abstract", "heading", "section"}), 0)
    folded = unicodedata.normalize("NFKD", document.text[: min(end, HEAD)]).encode("ascii", "ignore").decode()
    words = set(normal_title(folded).split())
    if len(words) < 2 or not record.people:
        return None, ""
    if record.surname in words:
        return True, f"first author {record.surname.capitalize()} on its first page"
    if sum(person[0] in words for person in record.people) >= 2:
        return True, "its authors on its first page"
    return (False, f"{record.surname.capitalize()} is not among its authors") if document.parser.startswith("pdf") else (None, "")


def _abstract(document: Document, record: Work) -> tuple[bool | None, str]:
    document_words, other = (set(normal_title(text).split()) for text in (document.abstract, record.abstract))
    fewer = min(len(document_words), len(other))
    if fewer < ENOUGH:
        return None, ""
    share = len(document_words & other) / fewer
    if share >= ALIKE:
        return True, f"{share:.0%} of the abstract's words"
    return (False, "its abstract is another") if share < STRANGE else (None, "")


def _years(document: Document, record: Work) -> tuple[bool | None, str]:
    """By the youngest work that it cites: no paper is older than that, and few are much younger."""
    youngest = max((entry.year for entry in document.bibliography if entry.year), default=None)
    if youngest is None or record.year is None:
        return None, ""
    if record.year < youngest - 1:
        return False, f"it cites works of {youngest}, the record is of {record.year}"
    return (True, f"it cites up to {youngest}, the record is of {record.year}") if record.year <= youngest + LATER else (None, "")
