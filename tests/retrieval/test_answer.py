"""Answers claim a value that the target states in one way, and quote everything else."""

from __future__ import annotations

import pytest

from lineage.generation import open_generation
from lineage.hyperparameters.ontology import ontology
from lineage.records import Chunk, Fact, Hit, Query, Work
from lineage.results import FactOccurrence
from retrieval.answers import answered, stated
from retrieval.decisions.fact_index import FactIndex
from retrieval.search.engine import Engine
from retrieval.search.question_subject import asked_details
from tests.fakes import small_lineage as small

QUESTION = "how are encoders initialised from a truncated normal distribution?"
NOTHING = FactIndex("small", "1", Work(small.TARGET), {})


@pytest.fixture
def engine(tmp_path):
    small.build(tmp_path)
    with Engine(open_generation(tmp_path, "small")) as found:
        yield found


def fact(value, text, *, name="learning_rate", work=small.TARGET, scope="", section=("4 Training",)):
    place = Chunk(f"c_{abs(hash(text))}", work, "main.tex", "paper", "paragraph", text, "", 0, len(text), 1, 1, section=section)
    said = next(part for part in text.split(". ") if value in part)
    return FactOccurrence(Fact(name, value, "", work, place.id, "prose", 1, "rate", said, scope), Hit(1, 1.0, place, Work(work)))


def claimed(question, *facts):
    return [one.text for one in stated(question, FactIndex("small", "1", Work(small.TARGET), {"learning_rate": facts}), ontology())]


RATE = "We train with a learning rate of 0.001 throughout."


def test_a_value_is_claimed_where_the_target_states_it_in_one_way(engine):
    question = "which learning rate is used?"
    assert claimed(question, fact("0.001", RATE)) == [RATE]
    index = FactIndex("small", "1", Work(small.TARGET), {"learning_rate": (fact("0.001", RATE),)})
    found = answered(engine, Query(question), index)
    assert ([one.text for one in found.sentences], found.quotes, found.nearest) == ([RATE], (), ())


def test_nothing_is_claimed_of_several_values_of_other_works_and_of_what_is_not_asked_for():
    other = fact("0.1", "The learning rate is 0.1 for tuning.")
    assert claimed("which learning rate is used?", fact("0.001", RATE), other) == []
    assert claimed("which learning rate is used?", fact("0.001", RATE, work=small.CITED)) == []
    assert claimed("how is the learning rate warmed up?", fact("0.001", RATE)) == []


def test_of_several_values_that_of_what_the_question_names_is_claimed():
    llama, vit = "The learning rate is 0.0003 for LLaMA.", "The learning rate is 0.004 for ViT-B."
    facts = (fact("0.0003", llama), fact("0.004", vit))
    assert claimed("which learning rate does LLaMA use?", *facts) == [llama]
    assert claimed("which learning rate does BERT use?", *facts) == []
    named = fact("0.002", "We pretrain BERT. The learning rate is 0.002 in all runs.")
    assert claimed("which learning rate does BERT use?", *facts, named) == ["The learning rate is 0.002 in all runs."]


def test_everything_else_is_quoted_word_for_word(engine):
    found = answered(engine, Query(QUESTION), NOTHING)
    assert found.sentences == ()
    assert found.quotes[0].text == small.STATED
    assert found.quotes[0].evidence[0].work.id == small.TARGET


def test_lines_of_code_are_quoted_with_their_symbol(engine):
    found = answered(engine, Query("trunc_normal_ std for Linear weights in _init_weights"), NOTHING)
    assert any(one.text.startswith("`_init_weights`:\n") and "trunc_normal_(module.weight, std=0.02)" in one.text for one in found.quotes)


def test_nothing_supported_says_so_with_the_nearest_misses(engine):
    found = answered(engine, Query("which discriminator does the adversarial generator of images use for loss?"), NOTHING)
    assert (found.sentences, found.quotes) == ((), ())
    assert len(found.nearest) > 0


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("which optimizer and weight decay does fine-tuning use?", ("optimizer", "weight_decay")),
        ("what are the default temperature and timeout for writing?", ("temperature", "timeout")),
        ("for how many epochs is the model trained?", ("epochs",)),
        ("What is the peak learning rate?", ("learning_rate",)),
        ("default batch size", ("batch_size",)),
        ("which parameters are excluded from weight decay?", ()),
        ("how is the learning rate warmed up?", ()),
        ("activation", ()),
        ("what, which, how many", ()),
        ("", ()),
    ],
)
def test_the_details_whose_value_a_question_asks_for(question, asked):
    assert asked_details(question, ontology()) == asked
