"""Whether what a question is about is there as an idea."""

from __future__ import annotations

import pytest

from lineage.hyperparameters.ontology import ontology
from lineage.text.tokens import tokens
from retrieval.search.concepts import FAR, FARTHEST, NAMELESS, UNASKED, Asked, Field, asked_areas, concepts, distance
from retrieval.search.query import vocabulary
from retrieval.search.question_subject import names_of
from tests.fakes import small_lineage as small

TRAINS = "def train(net):\n    trunc_normal_(encoder.weight)\n    optimizer.zero_grad()"
NONE = "class SetEncoder(json.JSONEncoder):\n    initialized = True"


def words_of(chunk):
    return frozenset(tokens(f"{chunk.text} {chunk.header} {chunk.path} {chunk.symbol}"))


def seen(question: str, *texts: str, **shares: float):
    passages = {row: small.chunk(small.REPO, "a.py", text) for row, text in enumerate(texts)}
    asked = Asked(question, ["encoder", "initializ"], names_of(question, ontology()), vocabulary().crossed(question))
    field = Field(
        1000,
        {"encoder": 20, "initializ": 30},
        {"training": 0.1, "images": 0.1, **shares},
        {},
        passages,
        {row: words_of(chunk) for row, chunk in passages.items()},
    )
    return concepts(asked, [(row, 9.0 - row) for row in passages], None, field)


def test_one_passage_must_hold_the_words_and_not_two_of_them():
    assert seen("how is the encoder initialized?", NONE).covered == 1.0
    assert seen("how is the encoder initialized?", "encoder", "initialized").covered < 0.6


def test_code_speaks_of_an_idea_by_its_identifiers():
    assert seen("how is the encoder initialized?", TRAINS).spoken > seen("how is the encoder initialized?", NONE).spoken == 0.0
    assert seen("what now?", NONE).spoken == UNASKED


def test_a_name_must_stand_in_a_passage_or_be_its_work():
    assert seen("how does TiTok initialize its encoder?", TRAINS).named == 0.0
    assert seen("how does TiTok initialize its encoder?", "TiTok: " + TRAINS).named == 1.0
    assert seen("how is it initialized?", TRAINS).named == NAMELESS


@pytest.mark.parametrize(
    ("question", "areas"),
    [("How is the encoder initialized?", ["training"]), ("How are images cropped?", ["images"]), ("Who wrote the paper?", [])],
)
def test_a_question_is_of_the_areas_whose_phrases_it_has(question, areas):
    assert asked_areas(question) == areas


def test_a_lineage_that_trains_nothing_is_far_from_training():
    assert seen("how is the encoder initialized?", NONE, training=0.001).outside >= FAR
    assert seen("how is the encoder initialized?", NONE, training=0.0).outside == FARTHEST
    assert seen("how is the encoder initialized?", NONE).outside == distance([], {}) == 0.0
