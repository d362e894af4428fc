"""What is asked, checked before any work is done for it: a report takes seconds, a wrong word in a request none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineage.errors import UsageError
from lineage.hyperparameters.checklist import checklist
from lineage.records import Work, WorkId
from lineage.results import Detail, Gap, Gaps, Specification

if TYPE_CHECKING:
    from lineage.results import Stage
    from lineage.settings import Settings

LEAST_TOKENS = 100
"""The frame of a pack (title, generation, notice, one heading) takes most of these; no piece of evidence fits into fewer."""
_COMPONENTS = "method"
"""The topic of rows on the paper's own components, which no list of details knows beforehand."""


def check_rows(state: str, topic: str, settings: Settings) -> None:
    """Raise `UsageError` for a state or topic that no report can have; it names those that one can."""
    from retrieval.gaps.stored_report import chosen

    if not (state or topic):
        return
    details = (*(need.detail for need in checklist(settings.details).needs), Detail("", "", _COMPONENTS, ""))
    blank = Gaps("", "", Work(WorkId("")), (), tuple(Gap(detail, Specification.UNSPECIFIED) for detail in details))
    chosen(blank, state, topic)


def stage_of_task(task: str, tokens: int, stage: str) -> Stage | None:
    """The stage that a task is packed for; raises `UsageError` for a task, budget or stage that cannot be."""
    from retrieval.context.compose import stage_of
    from retrieval.context.pack import check

    check(task, tokens)
    if tokens < LEAST_TOKENS:
        raise UsageError(f"a budget of {tokens} tokens holds no whole piece of evidence", hint=f"at least {LEAST_TOKENS} tokens are needed")
    return stage_of(stage)
