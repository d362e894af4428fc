"""What to write beside a claim: where exactly a piece of evidence stands, in one short string."""

from __future__ import annotations

import re
from dataclasses import replace

from lineage.records import Chunk, Hit, Work
from lineage.text.hidden_text import inline, visible


def citation(hit: Hit) -> str:
    """What to write beside a claim: `github.com/O/N/path#L9-L68@e9e926a6`, `arXiv:2006.10726v3#4.1`, `arXiv:2006.10726v3#4.1, Table 3`.

    Lines of a folder on disk are cited by its name, with commit and remote where it is a git checkout: `rcg/main.py#L1-L9@e9e926a6 (github.com/O/N)`.
    """
    chunk, work = hit.chunk, hit.work
    if work.kind == "code":
        commit = str(work.meta.get("commit") or "")[:8]
        lines = f"{chunk.path}#L{chunk.start_line}-L{chunk.end_line}"
        remote = str(work.meta.get("remote") or "")
        return inline(f"{name(work)}/{lines}" + (f"@{commit}" if commit else "") + (f" ({remote})" if remote else ""))
    place = ", ".join(part for part in (_paper_place(hit), *floats(chunk)) if part)
    return inline(name(work) + (f"#{place}" if place else ""))


def pinpoint(hit: Hit) -> str:
    """The citation of the lines that answer, where they are known, and of the whole chunk where they are not."""
    if hit.focus is None or hit.work.kind != "code":
        return citation(hit)
    return citation(replace(hit, chunk=replace(hit.chunk, start_line=hit.focus.start_line, end_line=hit.focus.end_line)))


def short(hit: Hit) -> str:
    """The citation in as few words as reading takes: `mar/main_mar.py:81-82`; who and which commit that is, `owner` says."""
    if hit.work.kind != "code":
        return ",".join(citation(hit).split(",")[:2])
    first, last = hit.chunk.start_line, hit.chunk.end_line
    return inline(f"{name(hit.work).rpartition('/')[2]}/{hit.chunk.path}:{first}" + (f"-{last}" if last > first else ""))


def owner(work: Work) -> str:
    """A repository with its owner and commit: `LTH14/mar@fe470ac2`; the title of a paper."""
    commit = str(work.meta.get("commit") or "")[:8]
    return inline(name(work).removeprefix("github.com/") + (f"@{commit}" if commit else "")) if work.kind == "code" else inline(work.title)


def name(work: Work) -> str:
    """A work in a citation: `arXiv:2006.10726v3`, `github.com/O/N`, the name of a file or folder on disk, else its identifier."""
    scheme, _, identifier = work.id.partition(":")
    if scheme == "arxiv":
        version = str(work.meta.get("version") or "").removeprefix("v")
        return f"arXiv:{identifier}" + (f"v{version}" if version else "")
    if scheme == "local":
        return inline(str(work.meta.get("file") or work.title)) or str(work.id)
    return identifier if scheme == "repo" else str(work.id)


_NUMBER = re.compile(r"\s*((?:\d{1,3}|[A-Z](?! [a-z]))(?:\.\d{1,3}){0,4})\.?(?:\s|\Z)")  # "A priori bounds" has no number

_LABEL = re.compile(r"(?:\d{1,3}|[A-Z])(?:\.\d{1,3}){0,4}\Z")


_FLOATS = {"table", "caption", "algorithm"}
_FLOAT = re.compile(
    r"(supplementary |extended data )?(tab|fig|algo|listing|chart|scheme)[a-z]{0,7}\.?\s{0,3}"
    r"((?:[A-Z]{1,2}[.-]?)?\d{1,3}(?:[.-]\d{1,3}){0,3}|(?-i:[A-Z]|[IVX]{1,6}))(?![\w.-]*\w)",
    re.IGNORECASE,
)
_PRINTED = {"tab": "Table", "fig": "Figure", "algo": "Algorithm"}


def floats(chunk: Chunk) -> list[str]:
    """The printed label of a table, caption or algorithm (`Table 3`), all of adjacent captions; empty if unknown."""
    own = _called(chunk.label) if chunk.role in _FLOATS else ""
    if not own or chunk.role != "caption":
        return [own] if own else []
    # What stands behind the number tells a caption from a sentence that ended in "Table 4." and was cut there.
    text_by_float = {_called(block): _behind(block) for block in chunk.text.split("\n\n")}
    return [name for name, sign in text_by_float.items() if name and sign == text_by_float[own]] if own in text_by_float else [own]


def _behind(text: str) -> str:
    match = _FLOAT.match(text)
    return text[match.end() : match.end() + 1] if match else ""


def _called(text: str) -> str:
    match = _FLOAT.match(text)
    if not match:
        return ""
    kind = _PRINTED.get(match[2].lower(), match[2].capitalize())
    return f"{(match[1] or '').capitalize()}{kind.lower() if match[1] else kind} {match[3].upper()}"


def _paper_place(hit: Hit) -> str:
    """The innermost section number, else the innermost title, else the page."""
    titles = numbered(hit.chunk)
    for title in reversed(titles):
        if match := _NUMBER.match(title):
            return match[1]
    if titles:
        return visible(titles[-1])[0]
    return f"page={hit.chunk.page}" if hit.chunk.page else ""


def numbered(chunk: Chunk) -> list[str]:
    """Section titles with their printed numbers: those of LaTeX stand in the label, those of a PDF in the title."""
    parts = chunk.label.split(".") if _LABEL.match(chunk.label) else []
    numbers = [".".join(parts[:n]) for n in range(1, len(parts) + 1)]
    numbered_titles = [title if title[:1].isdigit() else f"{number} {title}" for number, title in zip(numbers, chunk.section, strict=False)]
    return [*numbered_titles, *chunk.section[len(numbered_titles) :]]
