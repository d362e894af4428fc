"""What kind of statement a question asks for, and which sentences make one."""

from __future__ import annotations

import pytest

from retrieval.answers.answer_type import AnswerType, Kind, answer_type, states


@pytest.mark.parametrize(
    ("question", "kind", "noun"),
    [
        ("How many claims does the dataset contain?", Kind.COUNT, ("claim",)),
        ("On how many tokens is it trained?", Kind.COUNT, ("token",)),
        ("What batch size is used?", Kind.QUANTITY, ("batch", "siz")),
        ("What is the learning rate?", Kind.QUANTITY, ("learn", "rat")),
        ("How long does training take?", Kind.DURATION, ()),
        ("What share of abstracts has evidence?", Kind.SHARE, ()),
        ("Why is it removed?", Kind.REASON, ("remov",)),
        ("Which optimizer is used?", Kind.NAME, ("optimiz",)),
        ("Is warmup needed?", Kind.POLAR, ()),
        ("What happens without it?", Kind.MANNER, ()),
        ("", Kind.MANNER, ()),
    ],
)
def test_what_a_question_asks_for(question, kind, noun):
    assert answer_type(question) == AnswerType(kind, noun)


CLAIMS = "How many claims does the dataset contain?"


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        (CLAIMS, "The dataset consists of 1,409 scientific claims.", "The dataset contains claims in 3 files."),
        (CLAIMS, "There are three claims.", "Figure 2 shows claims [Lo2019]."),
        ("What batch size is used?", "We use a batch size of 256.", "The batch size is given below."),
        ("How long does it take to train?", "Training takes 150 minutes.", "It takes 20 epochs."),
        ("What share has evidence?", "Evidence was found in 63% of them.", "Evidence was found in 63 of them."),
        ("Why is it removed?", "It is removed because it hurts.", "It is removed."),
        ("Which encoder is used?", "The encoder is RoBERTa-large.", "The encoder is used."),
    ],
)
def test_a_sentence_that_makes_the_statement_stands_above_one_that_does_not(question, right, wrong):
    asked = answer_type(question)
    assert states(right, asked, question) > states(wrong, asked, question)
