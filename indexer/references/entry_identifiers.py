"""arXiv numbers, DOIs and years inside a reference entry, from a `.bib`, a `\\bibitem` or a printed page."""

from __future__ import annotations

import re

_ARXIV = re.compile(
    r"(?:arxiv(?:\.org)?(?:[\s:,/]{0,9}(?:preprint|e-?prints?|abs|pdf|corr|arxiv)){0,4}[\s:/.,]{0,9}|\babs/|CoRR,?\s{0,9}(?:abs/)?)"
    r"(\d{4}\.\d{4,5}|[a-z-]{2,12}(?:\.[A-Z]{2})?/\d{7})(?!\d)",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"\[(\d{4}\.\d{4,5}|[a-z-]{2,12}(?:\.[A-Z]{2})?/\d{7})\]")
_BARE_ARXIV = re.compile(r"(\d{2}(?:0[1-9]|1[0-2])\.\d{4,5}|[a-z-]{2,12}(?:\.[A-Z]{2})?/\d{7})(?:v\d{1,2})?\Z")
_DOI = re.compile(r"\b(10\.\d{4,9}/[^\s\"<>{}\x00-\x1f]{1,200})")
_YEAR = re.compile(r"(?<![\d.:/-])((?:19|20)\d\d)(?=[a-z]?(?![\d]|\.\d|[:/]))")
_AFTER = ".,;:)]}>'”"
_MAX = 20_000


def arxiv_in(text: str) -> str | None:
    """The first arXiv number that the text calls one, or has in brackets (physics), without its version."""
    match = _ARXIV.search(text[:_MAX]) or _BRACKETED.search(text[:_MAX])
    return match[1] if match else None


def arxiv_alone(text: str) -> str | None:
    """The arXiv number that a field holds, with or without a prefix."""
    match = _BARE_ARXIV.match(re.sub(r"^\s*arxiv\s*:\s*", "", text.strip(), flags=re.IGNORECASE))
    return match[1] if match else arxiv_in(text)


def doi_in(text: str) -> str | None:
    """The first DOI in the text, unless it is arXiv's own."""
    for match in _DOI.finditer(text[:_MAX]):
        doi = match[1].rstrip(_AFTER)
        if not doi.lower().startswith("10.48550/arxiv"):
            return doi
    return None


def arxiv_doi(text: str) -> str | None:
    """The arXiv number inside one of arXiv's own DOIs."""
    match = re.search(r"10\.48550/arxiv\.(\d{4}\.\d{4,5})", text[:_MAX], re.IGNORECASE)
    return match[1] if match else None


def year_in(text: str, *, last: bool = True) -> int | None:
    """The last (or first) plausible year of publication in the text; parts of identifiers and page ranges are none."""
    years = [int(each) for each in _YEAR.findall(text[:_MAX]) if 1900 <= int(each) <= 2035]
    return (years[-1] if last else years[0]) if years else None
