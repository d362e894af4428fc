"""What several witnesses quote of one place is one mention."""

from __future__ import annotations

from lineage.model import Mention
from lineage.quotes import MOST, join_mentions

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
