"""arXiv's Atom entries, as the `arxiv` package reads them, as records (pure)."""

from __future__ import annotations

import re
from typing import Any

from indexer.sources.fields import arxiv, doi, ordered, text
from lineage import ids
from lineage.records import Scalar, Work, WorkId

SOURCE = "arxiv"
_WITHDRAWN = re.compile(
    r"\b(?:paper|article|submission|manuscript|preprint|version)\b[^.]{0,60}\bwithdrawn\b"
    r"|^\W*withdrawn\b|\bwithdrawn by (?:the |arxiv|author)",
    re.IGNORECASE,
)
_ERROR = re.compile(rb"arxiv\.org/api/errors#([^<\"\s]{0,200})")


def parse_entry(result: Any) -> Work | None:
    """An `arxiv.Result` as a work, or None where its address holds no identifier.

    `meta` has version (a number), comment, journal_ref, categories, published, updated, pdf_url and withdrawn.
    """
    name = str(result.entry_id).partition("/abs/")[2]
    id_and_version = ids.arxiv_id(name)
    if not id_and_version:
        return None
    identifiers = ordered((id_and_version[0], doi(result.doi)))
    comment, abstract = text(result.comment), text(result.summary)
    meta: dict[str, Scalar] = {
        "version": int(id_and_version[1].removeprefix("v") or 0) or None,
        "comment": comment,
        "journal_ref": text(result.journal_ref),
        "categories": " ".join(result.categories),
        "published": result.published.date().isoformat(),
        "updated": result.updated.date().isoformat(),
        "pdf_url": text(result.pdf_url),
        "links": " ".join(sorted({link.href for link in result.links if link.title != "pdf" and "/abs/" not in link.href})),
        "withdrawn": is_withdrawn(comment, abstract) or None,
    }
    return Work(
        id=identifiers[0],
        title=text(result.title),
        authors=tuple(text(author.name) for author in result.authors if text(author.name)),
        year=result.published.year,
        venue=text(result.journal_ref),
        abstract=abstract,
        aliases=identifiers[1:],
        license=next((link.href for link in result.links if link.rel == "license"), None),
        said_by=(SOURCE,),
        meta={key: value for key, value in meta.items() if value not in (None, "")},
    )


def is_withdrawn(comment: str, abstract: str) -> bool:
    """Whether a submission says of itself that it was withdrawn; abstracts only count in their beginning."""
    return bool(_WITHDRAWN.search(comment[:2000]) or _WITHDRAWN.search(abstract[:160]))


def error_entry(feed: bytes) -> str | None:
    """What arXiv says is wrong, where a feed is an error in disguise (it comes with status 200); else None."""
    match = _ERROR.search(feed)
    return match[1].decode("utf-8", "replace").replace("_", " ") if match else None


def wanted(works: Any) -> list[WorkId]:
    """The arXiv identifiers among some, each once."""
    return [work for work in dict.fromkeys(works) if work.startswith("arxiv:") and arxiv(work)]
