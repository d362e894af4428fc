"""Semantic Scholar's JSON as records (pure): papers, and lists of references with what is missing in them.

"missing/ambiguous/incorrect data could be present for any field" (its FAQ), so nothing here trusts a type, and every
row of a list becomes an entry: with its work, without one, or as a note that it cannot be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from indexer.sources.fields import arxiv, doi, items, mapping, names, number, ordered, text, year
from lineage import ids
from lineage.records import BibEntry, ListedReference, Mention, ReferenceList, Scalar, Status, Work, WorkId
from lineage.references.join_works import true_year

SOURCE = "semantic_scholar"
PAPER_FIELDS = (
    *("externalIds", "title", "authors", "year", "venue", "abstract", "url", "referenceCount", "citationCount"),
    *("isOpenAccess", "openAccessPdf", "publicationDate", "publicationTypes", "corpusId"),
)
EDGE_FIELDS = ("contexts", "intents", "isInfluential", "contextsWithIntent")
CITED_FIELDS = ("externalIds", "title", "authors", "year", "venue", "abstract", "corpusId", "openAccessPdf", "publicationDate")


def parse_paper(raw: Any) -> Work | None:
    """A paper, or None for what has no usable identifier; `meta` holds counts, dates and what the publisher held back."""
    row = mapping(raw)
    identifiers = _identifiers(row)
    if not identifiers:
        return None
    access = mapping(row.get("openAccessPdf"))
    return Work(
        id=identifiers[0],
        title=text(row.get("title")),
        authors=names(row.get("authors")),
        year=true_year(year(row.get("year")) or year(row.get("publicationDate")), identifiers),
        venue=text(row.get("venue")) or text(mapping(row.get("publicationVenue")).get("name")) or text(mapping(row.get("journal")).get("name")),
        abstract=text(row.get("abstract")),
        aliases=identifiers[1:],
        license=text(access.get("license")) or None,
        said_by=(SOURCE,),
        meta=_meta(row, access),
    )


def _identifiers(row: Mapping[str, Any]) -> tuple[WorkId, ...]:
    external = mapping(row.get("externalIds"))
    corpus = number(row.get("corpusId")) or number(external.get("CorpusId"))
    acl = text(external.get("ACL"))
    return ordered(
        (
            arxiv(external.get("ArXiv")),
            doi(external.get("DOI")),
            ids.s2_id(text(row.get("paperId"))),
            WorkId(f"s2:CorpusId:{corpus}") if corpus else None,
            WorkId(f"acl:{acl}") if acl else None,
        )
    )


def _meta(row: Mapping[str, Any], access: Mapping[str, Any]) -> dict[str, Scalar]:
    meta_fields: dict[str, Scalar] = {
        "referenceCount": number(row.get("referenceCount")),
        "citationCount": number(row.get("citationCount")),
        "publicationDate": text(row.get("publicationDate")),
        "publicationTypes": ", ".join(names(row.get("publicationTypes"))),
        "pdf_url": text(access.get("url")),
        "notice": text(access.get("disclaimer")),
        "matchScore": text(row.get("matchScore")),
    }
    return {name: value for name, value in meta_fields.items() if value not in (None, "")}


def with_target(work: Work, asked: WorkId | None) -> Work:
    """The work under all its names: what it was asked by is one of them, though the service may not list it."""
    identifiers = ordered((work.id, *work.aliases, asked))
    return replace(work, id=identifiers[0], aliases=identifiers[1:])


def parse_references(rows: Sequence[Any], expected: int | None, status: Status = Status.OK, detail: str = "") -> ReferenceList:
    """Every row as an entry, `s2-1` onwards; a work that is listed twice is one entry with the mentions of both.

    OK becomes PARTIAL when fewer rows came than `expected`, which is what the paper's own record claims.
    """
    entries: dict[str, ListedReference] = {}
    for place, row in enumerate(rows, start=1):
        entry = parse_reference(row, f"s2-{place}")
        name = entry.work.id if entry.work else entry.entry.key
        entries[name] = _joined(entries[name], entry) if name in entries else entry
    words = [detail] if detail else []
    if status is Status.OK and expected is not None and len(rows) < expected:
        status = Status.PARTIAL
        words.append(f"{len(rows)} of the {expected} references that it counts")
    if len(entries) < len(rows):
        words.append(f"{len(rows) - len(entries)} listed more than once")
    unknown = sum(not entry.work for entry in entries.values())
    if unknown:
        words.append(f"{unknown} without an identifier")
    return ReferenceList(SOURCE, tuple(entries.values()), expected, status, "; ".join(words))


def _joined(first: ListedReference, again: ListedReference) -> ListedReference:
    more = tuple(replace(mention, key=first.entry.key) for mention in again.mentions)
    fresh = tuple(mention for mention in more if mention not in first.mentions)
    return replace(first, mentions=first.mentions + fresh, influential=first.influential or again.influential)


def parse_reference(raw: Any, key: str) -> ListedReference:
    """One row: the work it was resolved to, the entry as the service has it, and the sentences that cite it."""
    row = mapping(raw)
    cited = mapping(row.get("citedPaper"))
    work = parse_paper(cited)
    external = mapping(cited.get("externalIds"))
    work_ids = arxiv(external.get("ArXiv")), doi(external.get("DOI"))
    title, authors = text(cited.get("title")), names(cited.get("authors"))
    when, where = year(cited.get("year")), text(cited.get("venue"))
    entry_parts = (", ".join(authors[:3]) + (" et al." if len(authors) > 3 else ""), title, where, str(when or ""))
    entry = BibEntry(
        key=key,
        raw=". ".join(part for part in entry_parts if part),
        title=title,
        authors=authors,
        year=when,
        venue=where,
        arxiv=work_ids[0].removeprefix("arxiv:") if work_ids[0] else None,
        doi=work_ids[1].removeprefix("doi:") if work_ids[1] else None,
        fields_by=SOURCE,
        note="" if work else "without an identifier" if title else "without a title or an identifier",
    )
    return ListedReference(work, entry, _mentions(row, key), row.get("isInfluential") is True)


def _mentions(row: Mapping[str, Any], key: str) -> tuple[Mention, ...]:
    """The sentences of `contexts`, each with the intents given for it, or those of the whole row."""
    own = {text(mapping(pair).get("context")): names(mapping(pair).get("intents")) for pair in items(row.get("contextsWithIntent"))}
    sentences = dict.fromkeys([*(text(context) for context in items(row.get("contexts"))), *own])
    general = names(row.get("intents"))
    return tuple(Mention(key, sentence, said_by=SOURCE, intents=own.get(sentence) or general) for sentence in sentences if sentence)
