"""Hugging Face papers: which repository the hub links to a paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from indexer.sources.fields import mapping, text
from indexer.transport.client import Transport
from lineage import ids
from lineage.errors import SourceError
from lineage.records import CodeLink, Status, Tier, WorkId

SOURCE = "huggingface"


class HuggingFace:
    """A code source (lineage.ports)."""

    name = SOURCE

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def links(self, paper: WorkId) -> Sequence[CodeLink]:
        """The repository that the hub links to an arXiv paper, if it does; raises `SourceError`."""
        if not paper.startswith("arxiv:"):
            return ()
        try:
            answer = self._transport.get(
                "https://huggingface.co/api/papers/" + paper.removeprefix("arxiv:"), shape=lambda row: bool(text(mapping(row).get("id")))
            )
        except SourceError as error:
            if error.status is Status.NOT_FOUND:
                return ()
            raise
        return parse_links(answer.json, paper)


def parse_links(raw: Any, paper: WorkId) -> tuple[CodeLink, ...]:
    """The link in the hub's record of a paper.

    The hub lets the paper's claimants and its users set it, so it is the author's word at best: tier AUTHOR.
    """
    row = mapping(raw)
    url = text(row.get("githubRepo"))
    repo = ids.repo_id(url) if url else None
    if not repo:
        return ()
    return (CodeLink(paper, repo, Tier.AUTHOR, (SOURCE,), (f"huggingface.co/papers/{paper.removeprefix('arxiv:')} links {url}",)),)
