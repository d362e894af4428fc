"""The lines of code that answer, by the kind of line that a question asks for."""

from __future__ import annotations

import numpy as np

from lineage.records import Focus
from lineage.text.tokens import stem
from retrieval.search.focus import MOST
from retrieval.search.line_scores import focus_of_code, likelihoods, signs

POOL = """def pool(hidden, mask, dim=1):
    # mean of the hidden states
    if mask.ndim != 2:
        raise ValueError("mask must have two axes")
    total = (hidden * mask[..., None]).sum(dim)
    count = mask.sum(dim, keepdim=True).clamp(min=1)
    return total / count"""
MASK = {"mask": 2.0}


def named(name: str, text: str, worth: dict[str, float], question: str = "mask") -> list[float]:
    return [round(float(value), 3) for value in signs(text.split("\n"), worth, question)[name]]


def holds(line: int, worth: dict[str, float], question: str) -> bool:
    found = focus_of_code(POOL, 10, worth, question)
    return found is not None and found.start_line <= line <= found.end_line and found.end_line - found.start_line < 4


def test_a_question_about_what_is_refused_is_answered_by_the_line_that_raises() -> None:
    assert holds(13, MASK, "which masks are rejected as invalid?")


def test_a_word_on_few_lines_tells_them_apart() -> None:
    assert holds(15, {"mask": 2.0, "clamp": 2.0}, "mask count clamp")


def test_there_is_no_focus_without_a_word_of_the_question() -> None:
    assert focus_of_code(POOL, 10, {"dropout": 3.0}, "dropout") is None
    assert focus_of_code("", 10, MASK, "mask") is None


def test_where_a_decision_is_asked_for_statements_that_take_it_tell_and_their_neighbors_belong_to_them() -> None:
    far = "\n".join(["mask = mask + 1"] + [f"step_{at}()" for at in range(20)] + ["clip_grad_norm_(model, 1.0)", "optimizer.step()"])
    found = focus_of_code(far, 10, MASK, "is the mask clipped?", decided={31: 1.0})
    assert found is not None
    assert found.start_line <= 31 <= found.end_line
    assert 1 < found.end_line - found.start_line + 1 <= MOST
    assert focus_of_code(far, 10, {"dropout": 3.0}, "dropout", decided={}) is None


def test_a_focus_of_code_has_at_most_fifteen_lines_and_no_blank_border() -> None:
    found = focus_of_code("\n".join(["mask = mask + 1"] * 80), 1, MASK, "mask")
    assert found is not None
    assert found.end_line - found.start_line < MOST
    assert focus_of_code("\n\nmask\n\n", 5, MASK, "mask") == Focus(7, 7)


def test_kinds_of_lines_are_told() -> None:
    assert named("raises", POOL, MASK) == [0, 0, 0, 1, 0, 0, 0]
    assert named("assigns", POOL, MASK) == [0, 0, 0, 0, 1, 1, 0]
    assert named("comments +1", POOL, MASK) == [1, 0, 0, 0, 0, 0, 0]
    assert named("indent", POOL, MASK) == [0, 1, 1, 2, 1, 1, 1]
    assert named("parameters", "@f\ndef f(\n    a=1,\n):\n    return a", MASK) == [0, 1, 1, 1, 0]


def test_words_count_as_shares_of_what_the_unit_holds() -> None:
    worth = {"mask": 1.0, stem("count"): 3.0, "absent": 4.0}
    assert named("worth", "mask\ncount\n0", worth) == [0.25, 0.75, 0]
    assert named("asked", "mask\ncount\n0", worth) == [0.125, 0.375, 0]
    assert named("apart +1", "mask\ncount\n0", worth) == [0.75, 0, 0]
    assert named("around 1", "mask\ncount\n0", worth) == [1, 1, 0.75]


def test_a_line_agrees_with_a_question_that_asks_for_its_kind() -> None:
    assert named("asked numbers", "a = 1\nb = c", MASK, "the default value") == [1, 0]
    assert named("asked numbers", "a = 1\nb = c", MASK, "mask") == [0, 0]
    assert named("asked returns", POOL, MASK, "what does it return") == [0, 0, 0, 0, 0, 0, 1]


def test_likelihoods_are_finite_whatever_the_lines_are() -> None:
    for text in ("mask", "mask\n" * 500, "mask " + "a" * 5_000, '"""\nmask', "x[" * 3_000 + "mask", "\t\n \n"):
        found = likelihoods(text.split("\n"), MASK, "mask")
        assert found.shape == (text.count("\n") + 1,)
        assert np.isfinite(found).all()
        assert ((found >= 0) & (found <= 1)).all()
