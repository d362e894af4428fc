"""Questions that name roles are matched to kinds of mechanisms, and these to the statements that settle them."""

from __future__ import annotations

import pytest

from retrieval.decisions.mechanism_places import MechanismPlaces
from retrieval.search.decided import asked_kinds, decided
from tests.retrieval.test_gaps_mechanisms import ANCESTORS, CLIP, FAR, KINSHIP, NEAR, catalog_of


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Is the gradient clipped during training, and at which norm?", "gradient_clipping"),
        ("Which parameters are exempt from weight decay?", "weight_decay_exemption"),
        ("How is the random seed set in each of the processes?", "seeding"),
    ],
)
def test_a_question_asks_for_a_kind_of_decision(question, kind):
    (first, share), *_ = asked_kinds(question, None)
    assert (first.name, share > 0.2) == (kind, True)


def test_what_asks_for_no_decision_has_none():
    assert asked_kinds("Who wrote the preface?", None) == []


def test_the_statement_of_the_ancestor_settles_more_than_that_of_others():
    places = MechanismPlaces(catalog_of(CLIP), KINSHIP, ANCESTORS)
    found = decided("Is the gradient clipped, and at which norm?", places, None, frozenset())
    near, far = (found[chunk.id] for work in (NEAR, FAR) for chunk, fact in CLIP if fact.work == work.id)
    assert near.strength > far.strength > 0
    assert near.title == "Gradient clipping: rule and threshold"


def test_works_that_are_kept_out_settle_nothing():
    places = MechanismPlaces(catalog_of(CLIP), KINSHIP, ANCESTORS)
    assert not decided("Is the gradient clipped?", places, None, frozenset((NEAR.id, FAR.id)))
