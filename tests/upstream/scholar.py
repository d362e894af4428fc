"""Semantic Scholar's graph API, version 1: a paper, its references by pages, a batch, the match of a title."""

from __future__ import annotations

import json
from typing import Any

from tests.upstream.answer import Answer, Ask, json_answer
from tests.upstream.world import Citation, Paper, World

BATCH = 500
PAGE = 1000
EDGE = {"contexts", "intents", "contextsWithIntent", "isInfluential"}
FIELDS = {
    *("paperId", "corpusId", "externalIds", "url", "title", "abstract", "venue", "publicationVenue", "year"),
    *("referenceCount", "citationCount", "influentialCitationCount", "isOpenAccess", "openAccessPdf", "fieldsOfStudy"),
    *("s2FieldsOfStudy", "publicationTypes", "publicationDate", "journal", "citationStyles", "authors", "tldr"),
    *("embedding", "textAvailability", "references", "citations"),
}


def answer(world: World, ask: Ask) -> Answer:
    """What api.semanticscholar.org answers."""
    rest = ask.path.removeprefix("/graph/v1/paper/")
    if rest == ask.path:
        return json_answer({"message": "Not Found"}, 404)
    wanted = [f for f in ask.query.get("fields", "title").split(",") if f]
    unknown = [f for f in wanted if f.removeprefix("citedPaper.").split(".")[0] not in FIELDS | EDGE]
    if unknown:
        return _error(400, f"Unrecognized or unsupported fields: [{', '.join(unknown)}]")
    fields = {f.removeprefix("citedPaper.").split(".")[0] for f in wanted} | {"paperId"}
    if rest == "batch":
        return _batch(world, ask, fields)
    if rest == "search/match":
        return _match(world, ask, fields)
    if rest.endswith("/references"):
        return _references(world, ask, rest.removesuffix("/references"), fields)
    paper = world.paper(rest)
    return json_answer(shape(world, paper, fields)) if paper else _unknown(rest)


def _error(status: int, text: str) -> Answer:
    return json_answer({"error": text}, status)


def _unknown(name: str) -> Answer:
    return _error(404, f"Paper with id {name} not found")


def _batch(world: World, ask: Ask, fields: set[str]) -> Answer:
    try:
        ids = json.loads(ask.body or b"{}").get("ids")
    except (ValueError, AttributeError):
        return _error(400, "Bad Request")
    if ask.method != "POST" or not isinstance(ids, list) or not ids:
        return _error(400, "No paper ids given")
    if len(ids) > BATCH:
        return _error(400, f"Too many ids: at most {BATCH} are allowed")
    found = [world.paper(str(name)) for name in ids]
    return json_answer([shape(world, paper, fields) if paper else None for paper in found])


def _match(world: World, ask: Ask, fields: set[str]) -> Answer:
    paper = world.by_title(ask.query.get("query", ""))
    if not paper:
        return _error(404, "Title match not found")
    return json_answer({"data": [shape(world, paper, fields) | {"matchScore": 187.5}]})


def _references(world: World, ask: Ask, name: str, fields: set[str]) -> Answer:
    paper = world.paper(name)
    if not paper:
        return _unknown(name)
    offset, limit = ask.query.get("offset", "0"), ask.query.get("limit", "100")
    if not (offset.isdigit() and limit.isdigit() and 0 < int(limit) <= PAGE and int(offset) + int(limit) < 10_000):
        return _error(400, "Invalid offset or limit")
    if paper.references is None:
        return json_answer({"data": None, "citingPaperInfo": _elided(world, paper)})
    start, stop = int(offset), int(offset) + int(limit)
    rows = [_edge(world, citation, fields) for citation in paper.references[start:stop]]
    more = {"next": stop} if stop < len(paper.references) else {}
    return json_answer({"offset": start, **more, "data": rows})


def _elided(world: World, paper: Paper) -> dict[str, Any]:
    notice = "Notice: The following paper fields have been elided by the publisher: {'references'}."
    info = shape(world, paper, {"paperId", "title", "openAccessPdf"})
    return info | {"openAccessPdf": info["openAccessPdf"] | {"disclaimer": notice}}


def _edge(world: World, citation: Citation, fields: set[str]) -> dict[str, Any]:
    facts = {
        "contexts": list(citation.contexts),
        "intents": list(citation.intents),
        "contextsWithIntent": [{"context": text, "intents": list(citation.intents)} for text in citation.contexts],
        "isInfluential": citation.influential,
    }
    cited = world.papers.get(citation.cited or "")
    known = shape(world, cited, fields - EDGE) if cited else _stub(citation, fields)
    return {name: value for name, value in facts.items() if name in fields} | {"citedPaper": known}


def _stub(citation: Citation, fields: set[str]) -> dict[str, Any]:
    """A reference that Semantic Scholar could not resolve: a title and nulls."""
    return dict.fromkeys(sorted(fields - EDGE)) | {"paperId": None, "title": citation.title}


def shape(world: World, paper: Paper, fields: set[str]) -> dict[str, Any]:
    """The asked-for fields of a paper as the API writes them."""
    count = len(paper.references or ())
    listed = paper.references or ()
    facts: dict[str, Any] = {
        "paperId": paper.key,
        "corpusId": paper.corpus,
        "externalIds": _ids(paper),
        "url": f"https://www.semanticscholar.org/paper/{paper.key}",
        "title": paper.title,
        "abstract": paper.abstract or None,
        "venue": paper.venue,
        "year": paper.year,
        "referenceCount": count,
        "citationCount": len(world.citing(paper.key)),
        "influentialCitationCount": 0,
        "isOpenAccess": bool(paper.arxiv),
        "openAccessPdf": _open_access(paper),
        "fieldsOfStudy": ["Computer Science"],
        "s2FieldsOfStudy": [{"category": "Computer Science", "source": "external"}],
        "publicationTypes": ["JournalArticle"],
        "publicationDate": paper.published[:10] or None,
        "journal": {"name": "ArXiv", "volume": f"abs/{paper.arxiv}"} if paper.arxiv else None,
        "authors": [{"authorId": str(9_000_000 + sum(map(ord, name))), "name": name} for name in paper.authors],
        "references": [{"paperId": c.cited, "title": world.papers[c.cited].title if c.cited else c.title} for c in listed],
        "citations": [{"paperId": citing.key, "title": citing.title} for citing in world.citing(paper.key)],
    }
    return {name: facts.get(name) for name in sorted(fields & FIELDS)}


def _ids(paper: Paper) -> dict[str, Any]:
    ids = {"ArXiv": paper.arxiv, "DOI": paper.doi or (f"10.48550/arXiv.{paper.arxiv}" if paper.arxiv else "")}
    return {name: value for name, value in ids.items() if value} | {"CorpusId": paper.corpus}


def _open_access(paper: Paper) -> dict[str, Any]:
    url = f"https://arxiv.org/pdf/{paper.arxiv}" if paper.arxiv else ""
    return {"url": url, "status": "GREEN" if url else "CLOSED", "license": paper.licence, "disclaimer": ""}
