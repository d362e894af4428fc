"""Measure a lineage on questions with known answers, and list the answers that it does not contain."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from api.bootstrap import Parts
from api.cli.files import cases
from lineage.catalog.reader import Catalog
from lineage.records import Chunk, Hit, Query, Work
from retrieval.evaluation import Astray, Case, CheckedEvaluation, Evaluation, Gold, QueryScore, evaluation, finds, judged
from retrieval.search.engine import Engine
from retrieval.search.query import beginning, make_query


def measured(parts: Parts, path: Path, lineage: str, k: int) -> CheckedEvaluation:
    """The scores of a lineage on a gold file; raises `UsageError` that names the line."""
    asked = cases(path, lineage)
    with parts.engine(lineage) as engine:
        lost = tuple(_astray(asked, engine.generation.catalog))
        return CheckedEvaluation(**vars(trial(engine, asked, k)), astray=lost)


def _astray(asked: Sequence[Case], catalog: Catalog) -> Iterator[Astray]:
    """Answers with no place in the lineage."""
    places = list(_places(catalog))
    for case in asked:
        for answer in case.gold:
            if not any(_held(gold, places, catalog) for gold in answer):
                gold = answer[0]
                yield Astray(case.id, gold.chunk or ":".join(filter(None, (gold.repo or gold.work, gold.path))) or gold.quote)


def _held(gold: Gold, places: Sequence[Hit], catalog: Catalog) -> bool:
    """Whether the lineage has the file or work of an answer; a quote without either may be anywhere."""
    somewhere = replace(gold, start=0, end=0, quote="")
    return any(finds(place, somewhere) for place in places) or bool(gold.chunk and catalog.chunk(gold.chunk))


def _places(catalog: Catalog) -> Iterator[Hit]:
    """One hit per document: everything that a search can find."""
    works = {work.id: work for work in catalog.works()}
    for stored_document in catalog.documents():
        chunk = Chunk("", stored_document.work, stored_document.path, stored_document.kind, "", "", "", 0, 0, 0, 0)
        yield Hit(0, 0.0, chunk, works.get(stored_document.work) or Work(stored_document.work))


def trial(engine: Engine, cases: Sequence[Case], k: int = 20) -> Evaluation:
    """The scores of an engine; what loads only once (the model) is loaded before the clock starts. Raises `UsageError`."""
    queries = [make_query(beginning(case.query)[0], k=k) for case in cases]
    for query in queries[:1]:
        engine.ask(query)
    manifest = engine.generation.manifest
    rows = [_asked(engine, case, query) for case, query in zip(cases, queries, strict=True)]
    return evaluation(manifest.lineage, manifest.id, manifest.embedder, rows)


def _asked(engine: Engine, case: Case, query: Query) -> QueryScore:
    start = time.perf_counter()
    answer = engine.ask(query)
    return judged(case, answer.hits, time.perf_counter() - start)
