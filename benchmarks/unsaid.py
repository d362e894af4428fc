"""SciReplicate's `missing` and `mismatched`: is the function reached by the report of gaps and conflicts, without being asked for?

    python -m benchmarks.unsaid --data DIR --corpora DIR [--embedder packaged|none] [--cache DIR] [--show]

One lineage a paper: its text is what the rows give of it (the passages of kind `latex`: a method section in parts, no
settings), its code the files that the gold points into. The report is made once a paper and knows no question. Printed: the
share of rows whose function (half of its lines, at least) is among the evidence of a row of the report or a side of a conflict,
beside the share of the functions of the paper's code that the report names at all, which is what chance would give.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.evidence import embedded, embedder_of, rows, scorer  # noqa: E402
from benchmarks.gaps import engine_of, material  # noqa: E402
from benchmarks.parts import run_benchmark  # noqa: E402
from benchmarks.rubric_papers import Source, _parsed, _source  # noqa: E402
from indexer.extraction.extract import derive, settings  # noqa: E402
from indexer.store.computed_cache import VectorCache  # noqa: E402
from indexer.store.generations import Store  # noqa: E402
from lineage.ports import Embedder  # noqa: E402
from lineage.records import Chunk, CodeLink, Document, Hit, Span, Tier, Work, WorkId  # noqa: E402
from lineage.results import Gaps  # noqa: E402
from retrieval.gaps.report import report  # noqa: E402
from retrieval.search.query import plain  # noqa: E402

_UNITS = {"function", "method"}


def paper_of(questions: Iterable[dict[str, Any]], target: WorkId, title: str) -> Document:
    """The passages that the rows give, under one section."""
    passages = [" ".join(plain(row["query"]).split()) for row in questions if row["kind"] == "latex"]
    spans, at = [], 0
    for passage in passages:
        spans.append(Span(at, at + len(passage), "paragraph", ("Method",)))
        at += len(passage) + 2
    text = "\n\n".join(passages)
    return Document(target, "passages.tex", text, tuple(spans), "benchmark@1", "paper", blob=hashlib.sha256(text.encode()).hexdigest(), title=title)


def code_of(folder: Path, work: WorkId) -> Source:
    found = ((path.relative_to(folder.parent), path.read_bytes()) for path in sorted(folder.rglob("*")) if path.is_file())
    return _source(work, [document for name, data in found if (document := _parsed(str(name), data, work))])


def build(home: Path, name: str, title: str, sources: list[Source], embedder: Embedder | None, cache: Path) -> None:
    target, code = sources[0].work, sources[1].work
    chunks = [chunk for source in sources for chunk in source.chunks]
    with Store(home).writing(name) as writing, writing.draft() as draft:
        with draft.catalog() as catalog:
            works, links = [Work(target, title=title), Work(code, "code", name)], [CodeLink(target, code, Tier.OFFICIAL, ("benchmark",))]
            catalog.add_works(works)
            catalog.add_links(links)
            for source in sources:
                for document in source.documents:
                    catalog.add_document(document)
            catalog.add_chunks(chunks)
            catalog.add_facts(fact for source in sources for fact in source.facts)
            documents = [document for source in sources for document in source.documents]
            derive(catalog, documents, works, links, settings(documents, chunks))
            catalog.finish()
        if embedder:
            draft.vectors(embedded(embedder, chunks, VectorCache(cache)), embedder.id)
        draft.commit(target=target, fingerprint=name)


def named(found: Gaps, first: bool) -> Iterator[Chunk]:
    """Chunks of code that the report puts before its reader: evidence of gaps (or only the `first` of each row), sides of conflicts."""
    hits: list[Hit] = [held.evidence for conflict in found.conflicts for held in conflict.sides]
    for gap in found.gaps:
        evidence = [hit for one in gap.suggestions for hit in one.evidence]
        hits += evidence[:1] if first else evidence
    yield from {hit.chunk.id: hit.chunk for hit in hits if hit.work.kind == "code"}.values()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--embedder", default="none")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    score, embedder = scorer(options.data), embedder_of(options.embedder)
    by_paper: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows(options.data / "code" / "scireplicate.jsonl"):
        by_paper[row["paper"]].append(row)
    with tempfile.TemporaryDirectory() as folder:
        reached: dict[tuple[str, bool], list[bool]] = defaultdict(list)
        shares: dict[bool, list[float]] = {True: [], False: []}
        for paper, some in sorted(by_paper.items()):
            target, code = WorkId(f"local:{paper}"), WorkId(f"repo:github.com/benchmark/{paper}")
            said = _source(target, [paper_of(some, target, some[0]["title"])])
            sources = [said, code_of(options.corpora / "scireplicate" / paper, code)]
            build(Path(folder), paper, some[0]["title"], sources, embedder, options.cache or Path(folder))
            with engine_of(Path(folder), paper, embedder) as engine:
                made = report(material(engine, False))
            units = [c for c in sources[1].chunks if c.role in _UNITS]
            for first in (False, True):
                chunks = list(named(made, first))
                shares[first].append(sum(c.id in {one.id for one in chunks} for c in units) / max(1, len(units)))
                for row in some:
                    if row["kind"] in {"missing", "mismatched"}:
                        found = any(score.finds(c.path, c.start_line, c.end_line, row) for c in chunks)
                        reached[row["kind"], first].append(found)
                        if options.show and first:
                            print(f"{'+' if found else '-'} {row['id']} {row['gold']['path']}:{row['gold']['start']} {row['query'][:120]!r}")
            print(f"# {paper}: {len(units)} functions, named {shares[False][-1]:.2f} of them, first of a row {shares[True][-1]:.2f}", flush=True)
    for (kind, first), values in sorted(reached.items()):
        print(f"{kind:12s} {'first of a row' if first else 'any evidence':14s} n={len(values)}  reached {sum(values) / len(values):.3f}")
    for first, values in shares.items():
        print(f"functions named by the reports ({'first of a row' if first else 'any evidence'}): {sum(values) / len(values):.3f} (mean of papers)")


if __name__ == "__main__":
    run_benchmark(main)
