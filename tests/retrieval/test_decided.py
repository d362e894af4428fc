"""Questions that name roles are matched to kinds of mechanisms, and these to the statements that settle them."""

from __future__ import annotations

import pytest

from lineage.hyperparameters.mechanisms import kinds
from lineage.hyperparameters.ontology import ontology
from lineage.reasons import _told
from lineage.records import Chunk, WorkId
from retrieval.decisions.mechanism_places import MechanismPlaces
from retrieval.decisions.settled import Making, SettledIndex, dumped
from retrieval.search.candidates import spells_code
from retrieval.search.decided import Deciders, asked_kinds, decided
from retrieval.search.fusion import Scored
from retrieval.search.priors import with_deciders
from tests.retrieval.test_gaps_mechanisms import ANCESTORS, CLIP, FAR, KINSHIP, NEAR, catalog_of, statement


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
    assert asked_kinds("Who wrote the preface?", None) == ()


@pytest.mark.parametrize(
    ("question", "spelled"),
    [("_weight_decay", True), ("what is clip_grad_norm for", True), ("where is forward() called?", True), ("Is AdamW's weight-decay 0.1?", False)],
)
def test_a_name_of_code_is_told_from_prose(question, spelled):
    assert spells_code(question) == spelled


def index_of(kept: bytes | None = None) -> SettledIndex:
    """What the works of CLIP hold, made when it is asked for unless it is `kept`."""
    catalog = catalog_of(CLIP)
    return SettledIndex(lambda: Making(catalog, KINSHIP, None, ontology(), MechanismPlaces(catalog, KINSHIP, ANCESTORS)), kept, "these")


def test_the_statement_of_the_ancestor_settles_more_than_that_of_others():
    found = decided(asked_kinds("Is the gradient clipped, and at which norm?", None), index_of(), frozenset())
    near, far = (found[row] for work in (NEAR, FAR) for row, (_, fact) in enumerate(CLIP) if fact.work == work.id)
    assert near.strength > far.strength > 0
    assert near.title == "Gradient clipping: rule and threshold"


def test_works_that_are_kept_out_settle_nothing():
    assert not decided(asked_kinds("Is the gradient clipped?", None), index_of(), frozenset((NEAR.id, FAR.id)))


def test_what_is_kept_settles_the_same_and_is_of_no_use_with_other_lists():
    making = index_of()._made
    (clip,) = (kind for kind in kinds() if kind.name == "gradient_clipping")
    stated = making.statements(clip)
    kept = index_of(dumped(making, (), kinds(), "these"))
    assert [(work, standing, [tuple(place) for place in places]) for work, standing, places in kept.statements(clip)] == [
        (work, standing, [tuple(place) for place in places]) for work, standing, places in stated
    ]
    assert kept._kept is not None
    assert index_of(dumped(index_of()._made, (), kinds(), "those"))._kept is None


def test_what_decides_much_what_trains_and_the_ancestor_speak_for_the_target():
    deciders = Deciders(catalog_of(CLIP, {"c_forestmodel.py5": 4}), KINSHIP)

    def settles(work, path):
        return deciders.worth(statement(work, "seeding", "seed(0)", path)[0])

    assert settles(NEAR, "model.py") > settles(NEAR, "layers.py") > settles(FAR, "layers.py")
    assert settles(FAR, "train.py") > settles(FAR, "layers.py") > settles(FAR, "tests/layers.py")


def test_code_changes_places_with_code_alone():
    prose = Chunk("p", WorkId("arxiv:1"), "a.tex", "paper", "paragraph", "", "", 0, 0, 1, 1)
    code = [statement(NEAR, "seeding", "seed(0)", f"{name}.py")[0] for name in "abc"]
    found = [Scored(row, score, chunk) for row, (score, chunk) in enumerate([(4.0, code[0]), (3.0, prose), (2.0, code[1]), (1.0, code[2])])]
    made = with_deciders(found, lambda chunk: 5.0 * (chunk is code[2]), 1.0)
    assert [(candidate.chunk, candidate.score) for candidate in made] == [(code[2], 4.0), (prose, 3.0), (code[0], 2.0), (code[1], 1.0)]
    told = [list(_told(candidate.why)) for candidate in made]
    assert told == [
        ["how much its code decides"],
        [],
        ["counts against it: how much its code decides"],
        ["counts against it: how much its code decides"],
    ]
    named = with_deciders(found, lambda chunk: 5.0 * (chunk is code[2]), 1.0, frozenset({0}))
    assert [candidate.chunk for candidate in named] == [code[0], prose, code[2], code[1]], "a rare word of the question names the first"
