"""OpenAlex and Crossref: what they list of a paper's references; OpenAlex by arXiv id or DOI, Crossref by DOI alone."""

from __future__ import annotations

from typing import Any

from tests.upstream.answer import Answer, Ask, json_answer
from tests.upstream.world import Citation, Paper, World


def openalex(world: World, ask: Ask) -> Answer:
    """What api.openalex.org answers: a work, or the works of a filter."""
    name = ask.path.removeprefix("/works/doi:")
    if name == ask.path:
        numbers = ask.query.get("filter", "").removeprefix("openalex:").split("|")
        named = {f"W{paper.corpus}": paper for paper in world.papers.values()}
        return json_answer({"results": [_work(named[number]) for number in numbers if number in named]})
    paper = world.paper(name)
    if not paper:
        return json_answer({"error": "404 Not Found"}, 404)
    cited = [_address(world.papers[row.cited]) for row in paper.references or () if row.cited]
    return json_answer({"id": _address(paper), "referenced_works": cited, "referenced_works_count": len(cited)})


def crossref(world: World, ask: Ask) -> Answer:
    """What api.crossref.org answers for a DOI."""
    doi = ask.path.removeprefix("/works/")
    paper = world.paper(doi)
    if not paper:
        return json_answer({"message": "Resource not found."}, 404)
    rows = [_deposited(world, row) for row in paper.references or ()]
    return json_answer({"status": "ok", "message": {"DOI": doi, "reference-count": len(rows), "reference": rows}})


def _address(paper: Paper) -> str:
    return f"https://openalex.org/W{paper.corpus}"


def _work(paper: Paper) -> dict[str, Any]:
    page = f"https://arxiv.org/abs/{paper.arxiv}" if paper.arxiv else None
    doi = f"https://doi.org/{paper.doi or f'10.48550/arxiv.{paper.arxiv}'}"
    return {
        "id": _address(paper),
        "doi": doi,
        "title": paper.title,
        "publication_year": paper.year,
        "authorships": [{"author": {"display_name": name}} for name in paper.authors],
        "primary_location": {"landing_page_url": page},
    }


def _deposited(world: World, row: Citation) -> dict[str, Any]:
    paper = world.papers.get(row.cited or "")
    return {"DOI": paper.doi or f"10.48550/arXiv.{paper.arxiv}", "article-title": paper.title} if paper else {"unstructured": row.title}
