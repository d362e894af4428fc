"""The report of gaps over the demonstration: what the target leaves to others is found where they say it."""

from __future__ import annotations

import json

import pytest

from api.cli import display_gaps
from api.wire.encode import to_json, view
from api.wire.insight import GapsView
from lineage.errors import UsageError
from lineage.results import Gap, Gaps, Specification


@pytest.fixture(scope="module")
def found(built) -> Gaps:
    return built.service.gaps()


def row(found: Gaps, name: str) -> Gap:
    return next(gap for gap in found.gaps if gap.detail.name == name)


def test_the_target_is_taken_for_what_it_is(found):
    assert found.domains[:2] == ("selfsupervised", "training")
    assert "masked image modelling" in found.notes[0]


def test_what_the_table_sets_is_specified_with_its_value_and_place(found):
    gap = row(found, "learning_rate")
    assert (gap.state, gap.facts[0].fact.value, gap.suggestions) == (Specification.SPECIFIED, "0.00015", ())
    assert gap.stated[0].from_target


def test_the_warm_up_that_nobody_names_comes_from_the_work_that_is_pointed_to(found):
    gap = row(found, "warmup")
    assert gap.state is Specification.PARTIALLY_SPECIFIED
    best = gap.suggestions[0]
    assert (best.held[0].fact.name, best.value) == ("warmup_epochs", "40")
    assert best.chain[0].startswith("target defers (“the one of”): “The learning rate schedule is the one of PatchMask")
    assert best.chain[1].startswith("target cites PatchMask: Learning by Predicting What the Neighbours Hide as")
    assert "patchmask/scripts/pretrain.sh#L10-L10@" in best.chain[-1]


def test_the_initialisation_is_unspecified_and_offered(found):
    gap = row(found, "initialisation")
    assert gap.state is Specification.UNSPECIFIED
    assert ("init_std", "0.02") in {(one.held[0].fact.name, one.value) for one in gap.suggestions if one.held}


def test_every_offer_has_a_grade_with_its_reason(found):
    offers = [one for gap in found.gaps for one in gap.suggestions]
    assert {one.grade for one in offers} <= {"strong", "fair", "weak"}
    assert all(one.reason for one in offers)


def test_the_first_value_is_of_the_first_name_that_the_lineage_has(found):
    for gap in found.gaps:
        names = [one.held[0].fact.name for one in gap.suggestions if one.held and not one.held[0].fact.end_line]
        places = [gap.detail.facts.index(name) for name in names]
        assert places == sorted(places)


def test_open_details_stand_first(found):
    states = [gap.state is Specification.SPECIFIED for gap in found.gaps]
    assert states == sorted(states)


def test_rows_of_one_state_and_one_topic_can_be_chosen(built):
    some = built.service.gaps(state="unspecified", topic="optimiser").gaps
    assert some == built.service.gaps(state="unspecified", topic=" Optimizer").gaps
    assert some
    assert {(gap.state, gap.detail.topic) for gap in some} == {(Specification.UNSPECIFIED, "optimizer")}
    with pytest.raises(UsageError, match="there is no state 'open'"):
        built.service.gaps(state="open")
    with pytest.raises(UsageError, match="no detail has the topic 'weather'"):
        built.service.gaps(topic="weather")


def test_the_report_can_be_told_as_json_and_to_people(found):
    said = to_json(view(found, GapsView))
    assert json.loads(json.dumps(said))["gaps"][0]["state"] == "UNSPECIFIED"
    text = display_gaps.gaps(found)
    assert "UNSPECIFIED" in text
    assert "\x1b" not in text
