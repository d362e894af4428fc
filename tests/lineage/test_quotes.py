"""What several witnesses quote of one place is one mention."""

from __future__ import annotations

import pytest

from lineage.records import Mention
from lineage.references.same_work import MOST, join_mentions

SENTENCE = "We follow the masked modelling of earlier work and train with AdamW."


def test_a_quotation_cut_at_its_ends_is_the_same_mention_and_adds_its_intents() -> None:
    one, other = Mention("a", SENTENCE, intents=("uses",)), Mention("b", SENTENCE[10:50], intents=("background",))
    (joined,) = join_mentions([[one], [other]])
    assert (joined.key, joined.sentence, joined.intents) == ("a", SENTENCE, ("uses", "background"))


def test_two_mentions_of_one_witness_stay_two() -> None:
    assert len(join_mentions([[Mention("a", SENTENCE), Mention("a", SENTENCE)]])) == 2


def test_witnesses_that_quote_without_end_are_read_soon() -> None:
    made = [[Mention(str(side), f"Sentence {n} of witness {side} says something of its own.") for n in range(20_000)] for side in range(2)]
    assert len(join_mentions(made)) == 2 * MOST


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (SENTENCE, "We follow the masked modelling [12] of earlier (Smith, 2020) work and train with AdamW.", True),
        (SENTENCE, SENTENCE.upper(), True),
        (SENTENCE, "masked modelling of earlier work", True),
        (SENTENCE, "of earlier work", False),
        (SENTENCE, "We follow the masked modelling of later work and train with AdamW.", False),
        ("Short one.", "short one", True),
        ("Short one.", "Short on", False),
        ("", "", False),
        ("[1, 2]", "(3)", False),
        ("(" * 50 + SENTENCE, ")" * 50 + SENTENCE, False),
    ],
)
def test_quotations_are_one_place_by_their_words_outside_brackets(one, other, same) -> None:
    assert len(join_mentions([[Mention("a", one)], [Mention("b", other)]])) == (1 if same else 2)


def test_a_third_witness_is_held_against_the_first_two_and_order_stays() -> None:
    other = "Their tokenizer is used as it is, without any change to it."
    joined = join_mentions(
        [[Mention("a", SENTENCE)], [Mention("b", other)], [Mention("c", other, intents=("x",)), Mention("c", SENTENCE, intents=("y",))]]
    )
    assert [(mention.key, mention.intents) for mention in joined] == [("a", ("y",)), ("b", ("x",))]
