from __future__ import annotations

import pytest

from lineage.licences import terms


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("MIT", "MIT"),
        ("apache-2.0", "Apache-2.0"),
        ("GPL-3.0-or-later", "GPL-3.0-or-later"),
        ("CCBY", "CC-BY"),
        ("CCBYNCSA", "CC-BY-NC-SA"),
        ("cc-by-4.0", "CC-BY-4.0"),
        ("http://creativecommons.org/licenses/by-sa/4.0/", "CC-BY-SA-4.0"),
        ("https://creativecommons.org/publicdomain/zero/1.0/", "CC0-1.0"),
    ],
)
def test_a_licence_that_lets_texts_be_passed_on_is_known_however_a_service_writes_it(written, name):
    said = terms(written)
    assert (said.name, said.allowed) == (name, True)
    assert said.condition


@pytest.mark.parametrize(
    "written",
    [
        None,
        "",
        "  ",
        "http://arxiv.org/licenses/nonexclusive-distrib/1.0/",
        "NOASSERTION",
        "other-oa",
        "CCBYNCND",
        "my own licence",
        "MIT-ish",
        "x" * 10_000,
    ],
)
def test_everything_else_stays_here(written):
    said = terms(written)
    assert not said.allowed
    assert said.condition


def test_a_condition_of_use_travels_with_the_text():
    assert "not for commercial purposes" in terms("CC-BY-NC-4.0").condition


def test_a_long_pretended_licence_takes_no_time():
    assert not terms("cc-" * 100_000).allowed
