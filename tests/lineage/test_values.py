"""Values as sources write them, to one form; what computes is never run."""

import pytest

from lineage.values import Expression, read, shown


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


@pytest.mark.parametrize(
    "written", ["args.lr", "lr * 256", "float(x)", "9**9**9", "1e9**120", "10**400", "${lr}", "[i for i in range(3)]", "x" * 500]
)
def test_what_computes_or_is_out_of_proportion_is_an_expression(written):
    with pytest.raises(Expression):
        read(written, code=True)


def test_a_minus_between_numbers_of_code_is_arithmetic_and_no_exponent():
    assert read("10-4", code=True) == 6


def test_deep_nesting_is_refused_and_not_followed():
    with pytest.raises(Expression):
        read("(" * 150 + "1" + ")" * 150 + "+x", code=True)
    with pytest.raises(Expression):
        read("+".join(["1"] * 60), code=True)
