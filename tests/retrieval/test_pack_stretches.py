"""Which stretches of code a pack lists: those that say most, and where a model chose places no work at the cost of all others."""

from __future__ import annotations

import pytest

from lineage.records import Chunk, Fact, Hit, Work, WorkId
from lineage.results import Detail, FactOccurrence, Gap, Specification, Suggestion
from retrieval.context.records import stretches

LARGE, SMALL = Work(WorkId("repo:a/large"), "code"), Work(WorkId("repo:b/small"), "code")


def chosen(number, work, weight, grade):
    chunk = Chunk(f"c{number}", work.id, f"file{number}.py", "code", "function", "x = 1", "", 0, 5, 5, 5)
    fact = Fact(f"d{number}", "x = 1", "", work.id, chunk.id, "call", 5, "x = 1", "x = 1", end_line=5)
    held = (FactOccurrence(fact, Hit(1, 1.0, chunk, work)),)
    detail = Detail(f"d{number}", f"decision {number}", "procedure", "which?", weight=weight)
    return Gap(detail, Specification.UNSPECIFIED, suggestions=(Suggestion("x = 1", "", grade, "why", held),))


@pytest.mark.parametrize(("grade", "place"), [("model", 4), ("strong", 9)])
def test_a_work_of_few_choices_is_not_behind_all_of_one_that_has_many(grade, place):
    gaps = [*(chosen(n, LARGE, 0.9, grade) for n in range(9)), chosen(9, SMALL, 0.8, grade)]
    works = [stretch.work for stretch in stretches(gaps, lambda *_: False)]
    assert works.index(SMALL.id) == place
    assert len(works) == 10
