"""What the report of gaps prints is known to those who ask for one detail: by its title, with values that no fact of the lineage is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from lineage.errors import NotFound, UsageError
from lineage.hyperparameters.ontology import ontology
from lineage.records import MECHANISM, Fact
from lineage.results import Detail, FactOccurrence, Gap, Gaps, Specification, Suggestion
from retrieval.decisions.decision_check import _stated
from retrieval.decisions.fact_index import FactIndex
from retrieval.decisions.provenance import evidence
from retrieval.gaps.rows import row_of, values, with_offers
from tests.retrieval.test_gaps_settings import KINSHIP, OWN, TARGET, passage

CALL = passage("optimizer = torch.optim.Adam(net.parameters())")
RISE = passage("elif step < 3000:\n    lr = base * step / 3000", "loop.py")


def offer(name: str, value: str, chunk: Any, last: int = 0) -> Suggestion:
    held = FactOccurrence(Fact(name, value, "", OWN.id, chunk.id, "call", 1, name, "", "", end_line=last), evidence(chunk, KINSHIP, 1))
    return Suggestion(value, "", "strong", "read in the target's own code", (held,), chain=("calls Adam",))


def row(name: str, title: str, facts: tuple[str, ...] = (), *offers: Suggestion) -> Gap:
    return Gap(Detail(name, title, "optimizer", "", facts), Specification.UNSPECIFIED, suggestions=offers)


REPORT = Gaps(
    "drift",
    "1",
    TARGET,
    (),
    (
        row("optimizer_constants", "Momentum, betas, epsilon", ("momentum", "adam_betas"), offer("adam_betas", "[0.9, 0.999]", CALL)),
        row("weight_decay", "Weight decay", ("weight_decay",), offer("weight_decay", "0", CALL)),
        row(MECHANISM + "warmup_and_floor", "Warmup start and length", (), offer("warmup_and_floor", RISE.text.replace("\n   ", ""), RISE, 2)),
        row("splits", "Splits"),
    ),
    (),
)
HOLDERS = FactIndex("drift", "1", TARGET, {"learning_rate": ()})


def found(name: str) -> Any:
    return values(HOLDERS, name, ontology(), lambda: REPORT)


def test_what_a_library_sets_is_a_value_and_no_note_says_that_nobody_states_it() -> None:
    assert [(value.value, value.inherited) for value in found("weight decay").values] == [("0", True)]
    assert found("weight decay").notes == ()


@pytest.mark.parametrize("gap", REPORT.gaps, ids=lambda gap: gap.detail.title)
def test_every_title_that_the_report_prints_can_be_asked_for(gap: Gap) -> None:
    asked = found(gap.detail.title)
    assert [value.value for value in asked.values] == [suggestion.value for suggestion in gap.suggestions]
    assert asked.values or asked.notes


def test_a_title_as_a_table_cuts_it_is_the_title_and_what_the_report_does_not_know_is_nothing() -> None:
    assert row_of(REPORT.gaps, "Momentum, betas…") == 0
    assert row_of(REPORT.gaps, "…") is None
    with pytest.raises(NotFound):
        found("no such thing")


def test_facts_stand_where_no_report_can_be_made() -> None:
    def fails() -> Gaps:
        raise UsageError("no embedder")

    assert values(HOLDERS, "weight decay", ontology(), fails).values == ()
    with pytest.raises(NotFound):
        values(HOLDERS, "Splits", ontology(), fails)


@pytest.mark.parametrize(
    ("name", "value", "chunk", "problem"),
    [
        ("adam_betas", "[0.9, 0.999]", CALL, ""),
        ("adam_betas", "[0.9, 0.99]", CALL, "neither the detail nor the value stands there"),
        (MECHANISM + "warmup_and_floor", "3000", RISE, ""),
        (MECHANISM + "warmup_and_floor", "500", RISE, "neither the detail nor the value stands there"),
    ],
)
def test_a_decision_may_cite_the_evidence_that_the_report_prints(name: str, value: str, chunk: Any, problem: str) -> None:
    facts = with_offers(HOLDERS, REPORT, [name])
    engine: Any = SimpleNamespace(ontology=ontology())
    assert _stated(engine, facts.of(name), name, value, chunk)[1] == problem
    if not problem:
        assert _stated(engine, (), name, value, chunk)[1]
