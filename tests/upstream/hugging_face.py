"""Hugging Face papers: what the hub knows of an arXiv paper, its code link above all."""

from __future__ import annotations

from tests.upstream.answer import Answer, Ask, json_answer
from tests.upstream.world import World


def answer(world: World, ask: Ask) -> Answer:
    """What huggingface.co answers."""
    name = ask.path.removeprefix("/api/papers/")
    row = world.hub.get(name)
    paper = world.by_arxiv(name)
    if name == ask.path or row is None:
        return json_answer({"error": "Paper not found"}, 404)
    known = {"id": name, "title": paper.title, "summary": paper.abstract, "publishedAt": paper.published} if paper else {"id": name}
    more = {key: value for key, value in row.items() if key != "arxiv"}
    return json_answer(known | {"authors": [{"name": n} for n in (paper.authors if paper else ())], "upvotes": 3} | more)
