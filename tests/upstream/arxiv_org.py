"""arXiv: the Atom query interface, e-prints and PDFs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from tests.upstream.answer import Answer, Ask, typed_answer
from tests.upstream.world import VERSION, Paper, World, normal

ID = re.compile(r"(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d{1,3})?\Z")
NAMESPACES = 'xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns="http://www.w3.org/2005/Atom"'
MEDIA = {"tar.gz": "application/gzip", "gz": "application/gzip", "pdf": "application/pdf"}


def answer(world: World, ask: Ask) -> Answer:
    """What export.arxiv.org and arxiv.org answer."""
    if ask.path == "/api/query":
        return _query(world, ask)
    kind, _, name = ask.path.lstrip("/").partition("/")
    paper = world.by_arxiv(name.removesuffix(".pdf"))
    if paper and kind in {"e-print", "src"}:
        return _eprint(world, paper, name)
    if paper and kind == "pdf":
        return _pdf(world, paper, name)
    return _missing()


def _missing() -> Answer:
    return typed_answer(b"<html><head><title>404 Not Found</title></head><body><h1>Not Found</h1></body></html>", "text/html; charset=utf-8", 404)


def _eprint(world: World, paper: Paper, name: str) -> Answer:
    version = VERSION.search(name)
    found = world.eprint(paper, version[0] if version else "")
    return _file(found[0], name, paper, found[1]) if found else _missing()


def _pdf(world: World, paper: Paper, name: str) -> Answer:
    body = world.pdf(paper)
    return _file(body, name.removesuffix(".pdf"), paper, "pdf") if body else _missing()


def _file(body: bytes, name: str, paper: Paper, form: str) -> Answer:
    version = name if re.search(r"v\d+$", name) else f"{name}v{paper.versions}"
    tag = hashlib.sha256(body).hexdigest()
    disposition = f'attachment; filename="arXiv-{version.replace("/", "-")}.{form}"'
    return typed_answer(body, MEDIA[form], ETag=f'"sha256:{tag}"', Content_Disposition=disposition)


def _query(world: World, ask: Ask) -> Answer:
    names = [name.strip() for name in ask.query.get("id_list", "").split(",") if name.strip()]
    bad = next((name for name in names if not ID.match(name)), None)
    if bad:
        return _feed([_error(bad)], 1, 0, 1, ask)
    numbers = ask.query.get("start") or "0", ask.query.get("max_results") or "10"
    if not all(number.isdigit() for number in numbers):
        return _feed([_error("/".join(numbers))], 1, 0, 1, ask)
    start, size = map(int, numbers)
    papers = _listed(world, names) if names else _searched(world, ask.query.get("search_query", ""))
    return _feed([_entry(paper) for paper in papers[start : start + size]], len(papers), start, size, ask)


def _listed(world: World, names: Sequence[str]) -> list[Paper]:
    return [paper for paper in (world.by_arxiv(name) for name in names) if paper]


def _searched(world: World, query: str) -> list[Paper]:
    """Every paper on arXiv whose title, or title and abstract for `all:`, has all words of the query."""
    words = set(normal(re.sub(r"\b(?:ti|all|abs|au):", " ", query)).split()) - {"and"}
    within = "title" if "ti:" in query else "all"
    return [paper for paper in world.papers.values() if paper.arxiv and words and words <= _words(paper, within)]


def _words(paper: Paper, within: str) -> set[str]:
    return set(normal(paper.title if within == "title" else f"{paper.title} {paper.abstract}").split())


def _feed(entries: Sequence[str], total: int, start: int, size: int, ask: Ask) -> Answer:
    title = escape("arXiv Query: " + "&".join(f"{k}={v}" for k, v in sorted(ask.query.items())))
    body = (
        f"<?xml version='1.0' encoding='UTF-8'?>\n<feed {NAMESPACES}>\n"
        f"  <id>https://arxiv.org/api/{hashlib.sha1(title.encode()).hexdigest()[:27]}</id>\n  <title>{title}</title>\n"
        f"  <updated>2026-11-20T00:00:00Z</updated>\n  <opensearch:itemsPerPage>{size}</opensearch:itemsPerPage>\n"
        f"  <opensearch:totalResults>{total}</opensearch:totalResults>\n  <opensearch:startIndex>{start}</opensearch:startIndex>\n"
    )
    return typed_answer((body + "".join(entries) + "</feed>\n").encode(), "application/atom+xml; charset=utf-8")


def _error(name: str) -> str:
    link = f"https://arxiv.org/api/errors#incorrect_id_format_for_{name}"
    return (
        f"  <entry>\n    <id>{escape(link)}</id>\n    <title>Error</title>\n    <updated>2026-11-20T00:00:00Z</updated>\n"
        f'    <link href={quoteattr(link)} rel="alternate" type="text/html"/>\n'
        f"    <summary>incorrect id format for {escape(name)}</summary>\n    <author><name>arXiv api core</name></author>\n  </entry>\n"
    )


def _entry(paper: Paper) -> str:
    name = f"{paper.arxiv}v{paper.versions}"
    authors = "".join(f"    <author>\n      <name>{escape(author)}</name>\n    </author>\n" for author in paper.authors)
    categories = "".join(f'    <category term="{c}" scheme="http://arxiv.org/schemas/atom"/>\n' for c in paper.categories)
    comment = f"    <arxiv:comment>{escape(paper.comment)}</arxiv:comment>\n" if paper.comment else ""
    doi = f"    <arxiv:doi>{escape(paper.doi)}</arxiv:doi>\n" if paper.doi else ""
    return (
        f"  <entry>\n    <id>http://arxiv.org/abs/{name}</id>\n    <title>{escape(paper.title)}</title>\n"
        f"    <updated>{paper.published}</updated>\n"
        f'    <link href="https://arxiv.org/abs/{name}" rel="alternate" type="text/html"/>\n'
        f'    <link href="https://arxiv.org/pdf/{name}" rel="related" type="application/pdf" title="pdf"/>\n'
        f"    <summary>{escape(paper.abstract)}</summary>\n{categories}    <published>{paper.published}</published>\n{comment}{doi}"
        f'    <arxiv:primary_category term="{paper.categories[0]}"/>\n{authors}  </entry>\n'
    )
