"""Asks an engine the questions of a gold file, one by one as a user would, and judges what comes back."""

from __future__ import annotations

import time
from collections.abc import Sequence

from lineage.records import Query
from retrieval.evaluation.measures import Case, Evaluation, QueryScore, evaluation, judged
from retrieval.search.engine import Engine
from retrieval.search.query import beginning, make_query


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
