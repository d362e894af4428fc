"""Precision and recall of contradictions against readers' lists, for papers laid beside their own code.

    python -m benchmarks.contradictions --home HOME [--show]
    python -m benchmarks.contradictions --papers DIR --clones DIR [--show]

`contradictions.jsonl` holds what readers found in ten papers before any program was asked: paths, lines and a short reason each. The
halves are of the papers in the order of the SHA-256 of their identifiers: rules are written on the first, the second is counted and not
read. HOME holds lineages built with the target's own code. With folders instead nothing is built, and nobody is followed: that of
the papers has the e-print's sources of each paper in a folder of its arXiv identifier, that of the clones bare repositories as
OWNER+NAME/repo. A finding is right if it points at the lines of a row, or, where a row has none or a technique is missing, names
what the row names.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from api.bootstrap import Parts
from indexer.chunking.chunker import chunks
from indexer.extraction.extract import extract
from indexer.parsers.latex.parser import parse as parse_latex
from indexer.parsers.select import select
from indexer.repo_profile import profiles
from lineage import settings
from lineage.errors import ParseError
from lineage.hyperparameters.ontology import ontology
from lineage.records import Chunk, Document, Fact, Focus, Hit, Work, WorkId
from lineage.results import Conflict, FactOccurrence
from retrieval.contradictions.detect import DetailTerms, conflicts, loosely
from retrieval.contradictions.techniques import Reading
from retrieval.decisions.fact_index import standing
from retrieval.decisions.target_text import TargetText, of_chunks

HERE = Path(__file__).parent
_SOURCES = {".tex", ".bbl", ".sty", ".cls", ""}
_LARGEST = 1_000_000
Row = Mapping[str, Any]


def documents(paper: Path, clone: Path, target: WorkId, own: WorkId) -> Iterator[Document]:
    """The paper and every file of the repository that a parser reads."""
    members = (path for path in sorted(paper.rglob("*")) if path.is_file() and path.suffix in _SOURCES and not path.name.startswith((".", "_")))
    yield parse_latex({str(path.relative_to(paper)): path.read_bytes() for path in members}, target, "0" * 64)
    for line in _git(clone, "ls-tree", "-r", "-l", "HEAD").decode().splitlines():
        meta, path = line.split("\t", 1)
        size = meta.split()[-1]
        if size.isdigit() and int(size) < _LARGEST:
            yield from _parsed(path, _git(clone, "show", f"HEAD:{path}"), own)


def _git(clone: Path, *words: str) -> bytes:
    return subprocess.run(["git", "--git-dir", str(clone), *words], capture_output=True, check=True).stdout


def _parsed(path: str, data: bytes, own: WorkId) -> Iterator[Document]:
    choice = select(path, data)
    if choice.parser in {"code", "config", "plain", "notebook"}:
        name = f"indexer.parsers.{choice.parser}" + (".parser" if choice.parser == "code" else "")
        try:
            yield import_module(name).parse(path, data, own, hashlib.sha256(data).hexdigest())
        except ParseError:
            return


def findings(paper: Path, clone: Path, arxiv: str, repo: str) -> tuple[Conflict, ...]:
    """Every contradiction that is reported of a paper and its own code."""
    terms, target, own = ontology(), WorkId(f"arxiv:{arxiv}"), WorkId(f"repo:github.com/{repo}")
    works = {target: Work(target), own: Work(own, "code", repo)}
    read = list(documents(paper, clone, target, own))
    files = {profile.path: profile for profile in profiles(read, works.values(), ())}
    by_name: dict[str, list[FactOccurrence]] = defaultdict(list)
    passages: dict[WorkId, list[Chunk]] = defaultdict(list)
    statements: list[Fact] = []

    def evidence(chunk: Chunk, line: int) -> Hit:
        return Hit(1, 1.0, chunk, works[chunk.work], focus=Focus(line, line), from_target=True, file=files.get(chunk.path))

    for document in read:
        parts = {chunk.id: chunk for chunk in chunks(document)}
        passages[document.work].extend(parts.values())
        extracted = extract(document, list(parts.values()), terms)
        statements += extracted.mechanisms
        for fact in extracted.facts:
            by_name[fact.name].append(FactOccurrence(fact, evidence(parts[fact.chunk], fact.line)))
    text = TargetText(works[target], tuple(of_chunks(passages[target], ())), True)
    reading = Reading(text, passages[own], evidence, statements)
    held = {name: standing(some) for name, some in by_name.items()}
    return conflicts(held, target, DetailTerms(terms.title, lambda name: 0.5, loosely(terms.same)), reading)


def is_right(finding: Conflict, row: Row) -> bool:
    """Whether a finding is what a row of the reader says."""
    places = [(path, range(int(first), int(last or first) + 1)) for path, first, last in re.findall(r"([\w./-]+):(\d+)(?:-(\d+))?", row["code"])]
    if any(side.evidence.chunk.path == path and side.fact.line in lines for side in finding.sides for path, lines in places):
        return True
    wanted = {word for name in row["names"] for word in name.lower().split("_")} - {"num"}
    named = set(re.findall(r"[a-z]+", " ".join((finding.name, finding.title, *(side.fact.value for side in finding.sides))).lower()))
    return bool(named & wanted) and finding.rule == "technique"


def halves(rows: Iterable[Row]) -> dict[str, list[str]]:
    """The papers in two halves by the hash of their identifiers."""
    papers = sorted({_arxiv(row) for row in rows}, key=lambda arxiv: hashlib.sha256(arxiv.encode()).hexdigest())
    middle = (len(papers) + 1) // 2
    return {"first": papers[:middle], "second": papers[middle:]}


def main() -> None:
    """Print precision and recall of each half, and what was found, missed and wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--papers", type=Path)
    parser.add_argument("--clones", type=Path)
    parser.add_argument("--show", action="store_true", help="print every finding")
    options = parser.parse_args()
    rows = [json.loads(line) for line in (HERE / "contradictions.jsonl").read_text("utf-8").splitlines()]
    for half, papers in halves(rows).items():
        _print_half(half, papers, rows, options)


def _reported(arxiv: str, rows: Sequence[Row], options: argparse.Namespace) -> tuple[Conflict, ...]:
    """The contradictions of a paper: those of its lineage, or of its sources beside its clone."""
    repo = rows[0]["repo"]
    if not options.home:
        return findings(options.papers / arxiv, options.clones / repo.replace("/", "+") / "repo", arxiv, repo)
    parts = Parts(settings.load(home=options.home))
    with parts.engine(f"arxiv-{arxiv}") as engine:
        return parts.report(engine).conflicts


def _print_half(half: str, papers: Sequence[str], rows: Sequence[Row], options: argparse.Namespace) -> None:
    right, reported, caught, listed = 0, 0, 0, 0
    for arxiv in papers:
        mine = [row for row in rows if _arxiv(row) == arxiv]
        some = _reported(arxiv, mine, options)
        verdicts = [(one, any(is_right(one, row) for row in mine)) for one in some]
        right, reported, listed = right + sum(ok for _, ok in verdicts), reported + len(verdicts), listed + len(mine)
        caught += sum(any(is_right(one, row) for one in some) for row in mine)
        for line in _lines(arxiv, verdicts) if options.show else ():
            print(line)
    precision = f"{right / reported:.2f}" if reported else "-"
    print(f"{half:<6} precision {precision} ({right} of {reported} findings)  recall {caught / listed:.2f} ({caught} of {listed} rows)")


def _arxiv(row: Row) -> str:
    return str(row["arxiv"])


def _lines(arxiv: str, verdicts: Iterable[tuple[Conflict, bool]]) -> Iterator[str]:
    for one, ok in verdicts:
        sides = " | ".join(f"{side.fact.value} at {side.evidence.chunk.path}:{side.fact.line}" for side in one.sides[:2])
        yield f"  {'right' if ok else 'WRONG'} {arxiv} {one.rule} {one.name}: {sides} ({one.why})"


if __name__ == "__main__":
    main()
