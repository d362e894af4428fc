"""What to write beside a claim: where exactly a piece of evidence stands, in one short string."""

from __future__ import annotations

import re
from dataclasses import replace

from lineage.model import Chunk, Hit, Work
from lineage.visible import visible


def citation(hit: Hit) -> str:
    """What to write beside a claim: `github.com/O/N/path#L9-L68@e9e926a6`, `arXiv:2006.10726v3#4.1`."""
    chunk, work = hit.chunk, hit.work
    if work.kind == "code":
        commit = str(work.meta.get("commit") or "")[:8]
        lines = f"{chunk.path}#L{chunk.start_line}-L{chunk.end_line}"
        return f"{name(work)}/{lines}" + (f"@{commit}" if commit else "")
    return name(work) + (f"#{place}" if (place := _paper_place(hit)) else "")


def pinpoint(hit: Hit) -> str:
    """The citation of the lines that answer, where they are known, and of the whole chunk where they are not."""
    if hit.focus is None or hit.work.kind != "code":
        return citation(hit)
    return citation(replace(hit, chunk=replace(hit.chunk, start_line=hit.focus.start_line, end_line=hit.focus.end_line)))


def name(work: Work) -> str:
    """A work in a citation: `arXiv:2006.10726v3`, `github.com/O/N`, else its identifier."""
    scheme, _, rest = work.id.partition(":")
    if scheme == "arxiv":
        version = str(work.meta.get("version") or "").removeprefix("v")
        return f"arXiv:{rest}" + (f"v{version}" if version else "")
    return rest if scheme == "repo" else str(work.id)


_NUMBER = re.compile(r"\s*((?:\d{1,3}|[A-Z])(?:\.\d{1,3}){0,4})\.?(?:\s|\Z)")

_LABEL = re.compile(r"(?:\d{1,3}|[A-Z])(?:\.\d{1,3}){0,4}\Z")


def _paper_place(hit: Hit) -> str:
    """The innermost section number, else the innermost title, else the page."""
    titles = numbered(hit.chunk)
    for title in reversed(titles):
        if found := _NUMBER.match(title):
            return found[1]
    if titles:
        return visible(titles[-1])[0]
    return f"page={hit.chunk.page}" if hit.chunk.page else ""


def numbered(chunk: Chunk) -> list[str]:
    """Section titles with their printed numbers: those of LaTeX stand in the label, those of a PDF in the title."""
    parts = chunk.label.split(".") if _LABEL.match(chunk.label) else []
    numbers = [".".join(parts[:n]) for n in range(1, len(parts) + 1)]
    told = [title if title[:1].isdigit() else f"{number} {title}" for number, title in zip(numbers, chunk.section, strict=False)]
    return [*told, *chunk.section[len(told) :]]
