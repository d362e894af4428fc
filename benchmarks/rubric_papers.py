"""PaperBench's papers as lineages: Markdown of the paper, repositories beside it, and what its rubric asks by detail.

Used by `benchmarks/gaps.py`. The papers' Markdown is one file a paper, `PAPERS/<paper>.md`; repositories are bare git copies
`REPOS/<owner>+<name>/repo`. Nothing of either is part of the project.
"""

from __future__ import annotations

import gzip
import hashlib
import html
import io
import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from indexer.chunking.chunker import chunks as chunks_of
from indexer.extraction.extract import extract
from indexer.parsers.select import by_name, select
from lineage.errors import ParseError
from lineage.hyperparameters.ontology import ontology
from lineage.records import Chunk, Document, Fact, Span, WorkId

MOST_FILES, MOST_BYTES = 600, 120_000
_HEADING = re.compile(r"(#{1,6})\s+(.+)")
_NUMBERED = re.compile(r"(\d+(?:\.\d+)*|[A-Z](?:\.\d+)*)\.?\s")
_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
_ROW = re.compile(r"<tr>(.*?)</tr>", re.DOTALL)
_CELL = re.compile(r"<td[^>]*>(.*?)</td>", re.DOTALL)
_MATH = re.compile(r"\$([^$]{1,400})\$")
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")


@dataclass(frozen=True)
class Source:
    """One work of a paper's lineage: its documents, their chunks and their facts."""

    work: WorkId
    documents: tuple[Document, ...]
    chunks: tuple[Chunk, ...]
    facts: tuple[Fact, ...]


def paper(path: Path, work: WorkId) -> Source:
    """The paper itself, without its bibliography."""
    document = paper_document(path.read_text("utf-8"), work, path.stem)
    return _source(work, [document])


def paper_document(text: str, work: WorkId, title: str) -> Document:
    """A document of Markdown as document parsers write it: tables as HTML, formulas with a space between all signs."""
    lines: list[str] = []
    spans: list[Span] = []
    path: list[str] = []
    at = 0
    for block in re.split(r"\n\s*\n", _IMAGE.sub("", text)):
        block, role = _block(block.strip())
        if not block:
            continue
        if heading := _HEADING.match(block):
            path = _under(path, heading[2])
        if not re.match(r"references\b", "".join(path[:1]), re.IGNORECASE):
            label = number[1] if path and (number := _NUMBERED.match(path[-1])) else ""
            spans.append(Span(at, at + len(block), role, tuple(path), label=label))
            lines.append(block)
            at += len(block) + 2
    blob = hashlib.sha256(text.encode()).hexdigest()
    return Document(
        work, f"{title}.md", "\n\n".join(lines), tuple(spans), "benchmark@1", "paper", blob=blob, title=text.split("\n", 1)[0].lstrip("# ")
    )


def _under(path: Sequence[str], title: str) -> list[str]:
    """The title path by the numbers of the titles."""
    number = _NUMBERED.match(title)
    above = [one for one in path if (other := _NUMBERED.match(one)) and number and number[1].startswith(other[1] + ".")]
    return [*above, title]


def _block(block: str) -> tuple[str, str]:
    if _TABLE.search(block):
        rows = [" | ".join(_plain(cell) for cell in _CELL.findall(row)) for row in _ROW.findall(block)]
        return "\n".join(row for row in rows if row.strip(" |")), "table"
    role = "caption" if re.match(r"(Table|Figure) \S{1,4}[.:]", block) else "paragraph"
    return "\n".join(_plain(line) for line in block.split("\n")), role


def _plain(text: str) -> str:
    return _MATH.sub(lambda found: "$" + _closed(found[1]) + "$", html.unescape(text)).strip()


def _closed(formula: str) -> str:
    """`1 0 ^ { - 4 }` as `10^{-4}`."""
    formula = re.sub(r"\\(?:mathrm|mathbf|mathit|mathcal|bf|rm|it|text)\b", "", formula)
    formula = re.sub(r"(?<=[\d.])\s+(?=[\d.])", "", formula)
    formula = re.sub(r"\s*([{}^_])\s*", r"\1", formula)
    formula = re.sub(r"(?<=\d)\s*e\s*([-+])\s*(?=\d)", r"e\1", formula)
    formula = re.sub(r"(?<=[{\s(-])-\s+(?=\d)", "-", formula)
    return re.sub(r"\{([\w.]+)\}(?![_^])", lambda f: f[0] if formula[max(0, f.start() - 1)] in "^_" else f[1], formula)


def repository(copy: Path, work: WorkId) -> Source:
    """A repository at its newest commit, through the product's own parsers; data files and very large trees are cut."""
    documents: list[Document] = []
    for name, data in _files(copy):
        if len(documents) < MOST_FILES and (document := _parsed(name, data, work)):
            documents.append(document)
    return _source(work, documents)


def _files(copy: Path) -> Iterator[tuple[str, bytes]]:
    """(path, content) of the files worth reading; blobs that the copy lacks are left out."""
    named: dict[str, str] = {}
    for line in _git(copy, b"", "ls-tree", "-r", "HEAD").decode("utf-8", "replace").splitlines():
        meta, _, name = line.partition("\t")
        if not by_name(name, 1):
            named[name] = meta.split()[2]
    out = io.BytesIO(_git(copy, "\n".join(named.values()).encode() + b"\n", "cat-file", "--batch"))
    for name in named:
        words = out.readline().split()
        if words[-1] == b"missing":
            continue
        data = out.read(int(words[2]))
        out.read(1)
        if len(data) <= MOST_BYTES:
            yield name, data


def _git(copy: Path, given: bytes, *words: str) -> bytes:
    environment = {**os.environ, "GIT_NO_LAZY_FETCH": "1"}
    ran = subprocess.run(["git", "-C", str(copy), *words], input=given, check=True, capture_output=True, env=environment)
    return ran.stdout


def _parsed(name: str, data: bytes, work: WorkId) -> Document | None:
    choice = select(name, data)
    if not choice.parser or choice.parser == "pdf":
        return None
    try:
        module = import_module(f"indexer.parsers.{choice.parser}")
        found: Document = module.parse(name, data, work, hashlib.sha256(data).hexdigest())
    except ParseError:
        return None
    return found


def _source(work: WorkId, documents: Sequence[Document]) -> Source:
    chunks: list[Chunk] = []
    facts: list[Fact] = []
    for document in documents:
        some = chunks_of(document)
        chunks += some
        facts += extract(document, some, ontology()).facts
    return Source(work, tuple(documents), tuple(chunks), tuple(facts))


def leaves(data: Path) -> Iterator[dict[str, str]]:
    """The rubrics' code-development leaves."""
    with gzip.open(data / "rubrics" / "leaves.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from (row for row in map(json.loads, lines) if row["category"] == "Code Development")


def named_repositories(data: Path) -> dict[str, tuple[str, ...]]:
    """Repositories that each paper's rubric names, the paper's own apart."""
    found: dict[str, dict[str, None]] = {}
    for line in (data / "rubrics" / "required_repos.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["repo"] and not row["own_repo"]:
            found.setdefault(row["paper"], {})[row["repo"]] = None
    return {name: tuple(repos) for name, repos in found.items()}
