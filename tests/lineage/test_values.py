"""Values as sources write them, to one form; what computes is never run."""

import ast
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.hyperparameters.values import Expression, literal, number, read, shown


def computed(code):
    return literal(ast.parse(code, mode="eval").body)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        *[(text, "0.0001") for text in ("1e-4", "0.0001", "1×10⁻⁴", "10^{-4}", "1 × 10−4", "1 \\times 10^{-4}", "$10^{-4}$", "1e−4", "10−4")],
        ("4,096", "4096"),
        ("4k", "4000"),
        ("1.5B", "1500000000"),
        ("2**16", "65536"),
        ("2^{16}", "65536"),
        ("3 * 1e-4", "0.0003"),
        ("1/256", "0.00390625"),
        ("10%", "0.1"),
        (".95", "0.95"),
        ("1_000_000", "1000000"),
        ("1e-12", "1e-12"),
        ("(0.9, 0.95)", "[0.9, 0.95]"),
        ("[0.9, .999]", "[0.9, 0.999]"),
        ("yes", "true"),
        ("null", "none"),
        ("torch.optim.AdamW", "torch.optim.AdamW"),
        ("16-mixed", "16-mixed"),
        ("30,", "30"),
    ],
)
def test_the_forms_of_papers_and_settings_are_one(written, value):
    assert shown(read(written)) == value


@pytest.mark.parametrize("written", ["args.lr", "lr * 256", "float(x)", "9**9**9", "1e9**120", "10**400", "[i for i in range(3)]", "x" * 500])
def test_what_computes_or_is_out_of_proportion_is_an_expression(written):
    with pytest.raises(Expression):
        computed(written)


def test_a_minus_between_numbers_of_code_is_arithmetic_and_no_exponent():
    assert computed("10-4") == 6


def test_deep_nesting_is_refused_and_not_followed():
    with pytest.raises(Expression):
        read("(" * 150 + "1" + ")" * 150 + "+x")
    with pytest.raises(Expression):
        read("+".join(["1"] * 60))


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1", "1"),
        ("0", "0"),
        ("-0.0", "0"),
        ("-3", "-3"),
        ("+3", "3"),
        ("−3", "-3"),
        ("1e21", "1e21"),
        ("123456789012345678901", "123456789012345678901"),
        ("0.0000001", "1e-7"),
        ("0.00000015", "1.5e-7"),
        ("-2^10", "-1024"),
        ("e^2", "7.38905609893"),
        ("1.5 million", "1500000"),
        ("3 thousand", "3000"),
        ("2 billion", "2000000000"),
        ("5 percent", "0.05"),
        ("5\\%", "0.05"),
        ("1{,}024", "1024"),
        ("1\\,024", "1024"),
        ("TRUE", "true"),
        ("Off", "false"),
        ("~", "none"),
        ("", "none"),
        ("[1, x, yes]", '[1, "x", true]'),
        ("['a', null]", '["a", none]'),
        ("a/b-c", "a/b-c"),
        ("'quoted'", "quoted"),
        ("[ä]", '["ä"]'),
        ("10×", "10×"),
    ],
)
def test_signs_suffixes_and_words_are_read_as_they_are_meant(written, value):
    assert shown(read(written)) == value


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("7 // 2", 3),
        ("7 % 4", 3),
        ("1 + 2 - 4", -1),
        ("-(2 + 3)", -5),
        ("+2", 2),
        ("2 ** 128", 2**128),
        ("None", None),
        ("'adam'", "adam"),
        ("True", True),
        ("(1, 'a', None, False)", [1, "a", None, False]),
        ("[-1, 2 * 3]", [-1, 6]),
        ("[" + "1, " * 31 + "1]", [1] * 32),
    ],
)
def test_arithmetic_of_literals_is_worked_out(code, value):
    assert computed(code) == value


@pytest.mark.parametrize(
    "code",
    [
        "2 ** 129",
        "1000001 ** 2",
        "1 << 2",
        "1 @ 2",
        "1 / 0",
        "7 % 0",
        "not 1",
        "~1",
        "True + 1",
        "(-8) ** 0.5",
        "1e200 * 1e200",
        "b'bytes'",
        "...",
        "1j",
        "[[1], [2]]",
        "{1: 2}",
        "[" + "1, " * 33 + "]",
        "lr",
        "'a' 'b' % 1",
    ],
)
def test_what_is_no_literal_of_bounded_size_is_an_expression(code):
    with pytest.raises(Expression):
        computed(code)


@pytest.mark.parametrize("written", ["${oc.env:LR}", "{{ lr }}", "%(lr)s", "max(1, 2)", "2 * 3 * x"])
def test_a_setting_that_is_put_together_elsewhere_is_an_expression(written):
    with pytest.raises(Expression):
        read(written)


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e250, max_value=1e250) | st.integers(1 - 10**21, 10**21 - 1))
def test_a_number_reads_back_from_what_is_shown_of_it(value):
    again = number(shown(value))
    assert again == value or math.isclose(again, value, rel_tol=1e-11)
    assert shown(again) == shown(value)


@given(st.text(max_size=120))
def test_any_text_is_a_value_or_an_expression(text):
    try:
        value = read(text)
    except Expression:
        return
    assert isinstance(shown(value), str)


@pytest.mark.parametrize("text", ["", "abc", "e", "k", ".", "1.2.3", "1,23", "12,3456", "1e", "e5", "1" * 81, "4k4", "²"])
def test_what_is_no_number_gives_none(text):
    assert number(text) is None
