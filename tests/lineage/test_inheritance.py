"""What a sentence says is taken over, and what it does not."""

import time

import pytest

from lineage.records import Mention
from lineage.references.inheritance import by_part, section_weight, takeovers, total, use_probability
from lineage.references.signals import Part


def said(sentence, section=("Method",), together=("key",), own=""):
    return list(takeovers([Mention("key", sentence, section, together=together)], own))


@pytest.mark.parametrize(
    ("sentence", "part"),
    [
        ("We initialize the encoder from RoBERTa-large [key].", Part.CHECKPOINT),
        ("RoBERTa-large [key] is used as the sentence encoder.", Part.MODEL),
        ("For all supervised experiments we follow the training recipes from ConvNeXt [key].", Part.TRAINING),
        ("We adopt the same loss function as Mask2Former [key].", Part.LOSS),
        ("To construct our corpus, we use documents from S2ORC [key].", Part.DATA),
        ("We follow the evaluation protocol of ADM [key] for all metrics.", Part.EVALUATION),
        ("For sampling, we use the solver of EDM [key] with temperature 1.", Part.SAMPLING),
    ],
)
def test_what_we_take_over_is_told_by_part(sentence, part):
    (one,) = said(sentence)
    assert one.weight > 0.4
    assert max(one.parts, key=lambda pair: pair[1])[0] is part


@pytest.mark.parametrize(
    "sentence",
    [
        "We compare with MAE [key] in all experiments.",
        "Unlike MAE [key], we use no decoder.",
        "MAE [key] uses an asymmetric decoder.",
        "Our method outperforms MAE [key] by a large margin.",
        "We use MAE [key] as a baseline.",
    ],
)
def test_a_comparison_is_no_inheritance(sentence):
    assert total(said(sentence)) < 0.1


def test_our_own_subject_counts_more_than_that_of_others():
    ours, others = said("We build upon DiT [key]."), said("Several works build upon DiT [key].")
    assert ours[0].weight > 5 * (others[0].weight if others else 0.0)


def test_a_name_that_ends_in_a_verb_is_no_verb():
    assert total(said("We calculate the speed of ViT-Adapter [key] + M2F.", ("Results",))) < 0.3


def test_method_speaks_louder_than_related_work_and_results():
    assert section_weight(("3 Method",)) == 1.0
    assert section_weight(("2 Related Work",)) < section_weight(("5 Results",)) < 1.0


def test_a_crowd_shares_what_is_taken():
    alone = said("Following [key], we split the data.")[0].weight
    assert said("Following [key; a; b], we split the data.", together=("key", "a", "b"))[0].weight < alone / 2


def test_done_on_a_work_is_done_on_data():
    assert by_part(said("We train on the Pick-a-Pic [key] data.")).keys() == {Part.DATA}
    assert by_part(said("We evaluate all models on ImageNet [key].")).keys() == {Part.EVALUATION}


def test_own_name_is_we():
    sentence = "TabDiff employs the second-order correction introduced in EDM [key]."
    assert said(sentence, own="TabDiff")[0].weight > 2 * said(sentence)[0].weight


@pytest.mark.parametrize("sentence", ["( " * 2000 + "[key]", "same " * 1500 + "[key]", "we use " * 800 + "[key]", "taken from " * 700 + "[key]"])
def test_hostile_sentences_take_no_time(sentence):
    start = time.thread_time()
    said(sentence[:4000] + " [key]")
    assert time.thread_time() - start < 2


@pytest.mark.parametrize(
    ("sentence", "part"),
    [
        ("We train the model with the AdamW optimizer [key].", Part.TRAINING),
        ("We train our transformer encoder on the ImageNet [key] dataset.", Part.DATA),
        ("We report the quality of our model by the FID metric [key].", Part.EVALUATION),
    ],
)
def test_what_is_cited_beside_its_kind_is_an_ancestor_of_that_part_only(sentence, part):
    assert by_part(said(sentence)).keys() == {part}


def test_all_cues_of_a_sentence_tell_use_from_mention():
    used, mentioned, compared = (
        use_probability(Mention("key", sentence))
        for sentence in (
            "For our experiments we use the tagger of [key], following their setup.",
            "Many approaches have been proposed for this task (a; [key]; b).",
            "Our method outperforms [key] by a large margin.",
        )
    )
    assert used > 0.7 > 0.4 > max(mentioned, compared)


def test_a_sentence_without_a_known_phrase_still_takes_over():
    assert said("On top of the tokenizer of RQ [key] we then train our own prior.")[0].weight > 0.1
