"""Values held against what a detail may be: what fits is one text, what does not is None."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.hyperparameters.ontology import agree, close, fitted, numbers, ontology, schedule
from lineage.hyperparameters.terms import Term
from lineage.hyperparameters.values import Expression, read


def term(type_: str, **more: object) -> Term:
    return Term("x", "x", str(more.pop("topic", "model")), type_, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("detail", "value", "text"),
    [
        (term("number", range=(0.0, 1.0)), 0, "0"),
        (term("number", range=(0.0, 1.0)), 1, "1"),
        (term("number", range=(0.0, 1.0)), 1.0000001, None),
        (term("number", range=(0.0, 1.0)), -1e-9, None),
        (term("number"), True, None),
        (term("number"), float("nan"), None),
        (term("number"), float("inf"), None),
        (term("number"), "0.1", None),
        (term("number"), 2.0, "2"),
        (term("integer"), 2.0, "2"),
        (term("integer"), 2.5, None),
        (term("boolean"), 1, "true"),
        (term("boolean"), False, "false"),
        (term("boolean"), 2, None),
        (term("boolean"), "true", None),
        (term("number"), [], None),
        (term("number"), None, None),
        (term("number"), [0.9, 0.95], "[0.9, 0.95]"),
        (term("number"), [0.9, None], None),
        (term("number"), [0.9, [0.95]], None),
        (term("number"), list(range(16)), "[" + ", ".join(map(str, range(16))) + "]"),
        (term("number"), list(range(17)), None),
        (term("boolean"), [True], None),
        (term("list"), ["q_proj", "v_proj"], '["q_proj", "v_proj"]'),
        (term("list", range=(1.0, 64.0)), ["q_proj"], None),
        (term("list", range=(1.0, 64.0)), [64, 128], None),
        (term("list", range=(1.0, 64.0)), [64, 32], "[64, 32]"),
    ],
)
def test_a_value_fits_by_type_and_range_with_both_ends(detail: Term, value: object, text: str | None) -> None:
    assert fitted(detail, value) == text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("written", "hours"),
    [("36 seconds", "0.01"), ("90 min", "1.5"), ("about 8 hours", "8"), ("2 days", "48"), ("1 week", "168"), ("1 month", "720"), ("~3h", "3")],
)
def test_durations_are_hours(written: str, hours: str) -> None:
    assert fitted(term("number", durations=True), written) == hours
    assert fitted(term("number"), written) is None


def test_a_duration_without_a_unit_or_of_another_thing_is_none() -> None:
    assert [fitted(term("number", durations=True), text) for text in ("8 epochs", "soon", "-3 days", "")] == [None] * 4


@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("bert-base-uncased", True),
        ("ViT B/16", False),
        ("/data/train", False),
        ("./model", False),
        ("~/model", False),
        ("train.jsonl", False),
        ("weights.pt", False),
        ("PATH_TO_MODEL", False),
        ("your-model", False),
        ("Your/Model", False),
        ("string", False),
        ("List", False),
        ("$MODEL", False),
        ("%s", False),
        ("a=b", False),
        ("123", False),
        ("m" * 120, True),
        ("m" * 121, False),
    ],
)
def test_a_name_of_a_model_is_told_from_a_path_a_pattern_and_a_placeholder(name: str, fits: bool) -> None:
    assert (fitted(term("text"), name) is not None) is fits


def test_names_of_data_may_have_spaces_but_no_sentence() -> None:
    data = term("text", topic="data")
    assert fitted(data, "  Penn   Treebank ") == "Penn Treebank"
    assert fitted(data, "one two three four five") == "one two three four five"
    assert fitted(data, "one two three four five six") is None


CHOICE = term("choice", values={"adamw": ("AdamW", "torch.optim.AdamW"), "16": ("fp16", "16-mixed")})


@pytest.mark.parametrize(
    ("written", "choice"),
    [
        ("AdamW", "adamw"),
        ("adam_w", "adamw"),
        ("optim.AdamW", "adamw"),
        (16, "16"),
        (17, None),
        (True, None),
        ("Lion", "lion"),
        ("my.pkg.Lion", "lion"),
        ("x", None),
        ("two words", None),
        ("train.py", None),
        ("str", None),
        ("a" * 40, "a" * 40),
        ("a" * 41, None),
    ],
)
def test_a_choice_is_known_by_any_spelling_and_an_unknown_word_stands_for_itself(written: object, choice: str | None) -> None:
    assert fitted(CHOICE, written) == choice  # type: ignore[arg-type]


def test_a_schedule_is_its_kind_and_its_numbers_in_one_order() -> None:
    kind = term("schedule", values={"cosine": ("CosineAnnealingLR",)})
    assert fitted(kind, "CosineAnnealingLR") == schedule("cosine") == '{"kind": "cosine"}'
    assert fitted(kind, '{"type": "cosine", "b": 2, "a": 1, "on": true, "of": "x"}') == '{"kind": "cosine", "a": 1, "b": 2}'
    assert fitted(kind, '{"name": "OneCycle", "max": 1}') == '{"kind": "onecycle", "max": 1}'
    assert [fitted(kind, text) for text in ('{"a": 1}', "{broken", "{}")] == [None] * 3


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("0.1", "0.10000000000000001", True),
        ("[0.9, 0.95]", "[0.9, 0.95]", True),
        ("[0.9]", "0.9", True),
        ("[0.9]", "[0.9, 0.95]", False),
        ("[0.9, 0.95]", "[0.95, 0.9]", False),
        ("0.1", "0.2", False),
        ("adam", "adam", False),
        ('"a"', '"a"', False),
        ("1" + "0" * 400, "1.5", False),
        ("null", "null", False),
    ],
)
def test_numbers_are_close_whatever_their_digits_and_words_never(one: str, other: str, same: bool) -> None:
    assert close(numbers(one), numbers(other)) is close(numbers(other), numbers(one)) is same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (schedule("cosine"), schedule("cosine", warmup_steps=100), True),
        (schedule("cosine", warmup_steps=100), schedule("cosine", warmup_steps=200), False),
        (schedule("cosine"), schedule("linear"), False),
        (schedule("cosine", warmup_steps=100), schedule("linear", warmup_steps=100), False),
        ("cosine", "cosine", True),
        ("1", "1.0", False),
        ("cosine", schedule("cosine"), False),
    ],
)
def test_schedules_agree_where_nothing_that_both_state_differs(one: str, other: str, same: bool) -> None:
    assert agree(one, other) is agree(other, one) is same


TERMS = tuple(ontology().terms.values())


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(TERMS), st.text(max_size=60) | st.floats().map(repr) | st.integers().map(str) | st.lists(st.integers(), max_size=4).map(str))
def test_whatever_a_source_writes_fits_or_does_not_and_what_fits_fits_again(detail: Term, text: str) -> None:
    try:
        value = read(text)
    except Expression:
        return
    found = fitted(detail, value)
    if found is None or detail.type == "text":
        return
    again = json.loads(found) if detail.type not in {"choice", "schedule"} or found[:1] == "[" else found
    assert fitted(detail, again) == found


@pytest.mark.parametrize(
    ("detail", "value", "text"),
    [
        (term("number", range=(0.0, 1000.0)), 5000, "5000"),
        (term("integer", range=(1.0, 64.0)), 128, "128"),
        (term("number", range=(0.0, 1000.0)), -1, None),
        (term("fraction", range=(0.0, 1.0)), 50, None),
    ],
)
def test_under_its_own_name_no_value_is_too_high_but_what_is_below_the_range_is_unset(detail: Term, value: object, text: str | None) -> None:
    assert fitted(detail, value, own=True) == text  # type: ignore[arg-type]
