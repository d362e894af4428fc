from __future__ import annotations

import pytest

from lineage.licenses import CUSTOM, called, of_text, shown, terms


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


MIT = "Permission is hereby granted, free of charge, to any person obtaining a copy of this software. "
NOTICE = "The above copyright notice and this\n permission notice shall be included in all copies."
BSD = "Redistribution and use in source and binary forms, with or without modification, are permitted provided that: "


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f"Copyright (c) 2024 A. Uthor\n\n{MIT}{NOTICE}", "MIT"),
        (MIT, "MIT-0"),
        ("\n   Apache License\n   Version 2.0, January 2004\n   http://www.apache.org/licenses/", "Apache-2.0"),
        (f"{BSD}1. keep the notice 2. in binary form too", "BSD-2-Clause"),
        (f"{BSD}3. Neither the name of the holder nor", "BSD-3-Clause"),
        ("GNU GENERAL PUBLIC LICENSE\n Version 3, 29 June 2007", "GPL-3.0"),
        ("GNU LESSER GENERAL PUBLIC LICENSE Version 2.1, February 1999", "LGPL-2.1"),
        ("GNU AFFERO GENERAL PUBLIC LICENSE Version 3, 19 November 2007", "AGPL-3.0"),
        ("\nAttribution-NonCommercial 4.0 International\n\n=====", "CC-BY-NC-4.0"),
        ("Creative Commons Attribution-NonCommercial-ShareAlike 4.0 International Public License", "CC-BY-NC-SA-4.0"),
        ("Attribution 4.0 International", "CC-BY-4.0"),
        ("Creative Commons Legal Code\n\nCC0 1.0 Universal", "CC0-1.0"),
    ],
)
def test_the_text_of_a_licence_file_says_which_it_is(text, name):
    assert of_text(text) == name
    assert terms(name).allowed


@pytest.mark.parametrize(
    "text",
    [
        f"{MIT}{NOTICE} The software may be used for non-commercial purposes only.",
        f"{BSD}it serves research purposes only",
        "# License\n\n## Claims\n\nAll claims are released under CC BY-NC 4.0.",
        "ask us",
        "permission " * 100_000,
    ],
)
def test_a_licence_of_ones_own_or_one_with_limits_is_custom_and_allows_nothing(text):
    assert of_text(text) == CUSTOM
    assert not terms(of_text(text)).allowed


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (None, "unknown"),
        ("", "unknown"),
        ("NOASSERTION", "unknown"),
        ("mit", "MIT"),
        ("GPL-3.0-or-later", "GPL-3.0-or-later"),
        ("AGPL-3.0", "AGPL-3.0"),
        ("MIT-or-later", "custom"),
        ("http://creativecommons.org/licenses/by/4.0/", "CC-BY-4.0"),
        ("http://creativecommons.org/licenses/by-nc-nd/4.0/", "CC-BY-NC-ND-4.0"),
        ("http://arxiv.org/licenses/nonexclusive-distrib/1.0/", "custom"),
        ("CCBY", "custom"),
        ("# License ## Claims All claims and evidence annotations --", "custom"),
        ("x" * 100_000, "custom"),
    ],
)
def test_a_licence_is_shown_as_an_spdx_identifier_or_custom_or_unknown(written, name):
    assert shown(written) == name


def test_a_licence_file_without_a_word_names_none():
    assert shown(of_text(" \n")) == "unknown"


def test_in_a_sentence_a_licence_without_an_identifier_is_called_what_it_is():
    assert [called(name) for name in ("MIT", "ask us", None)] == ["MIT", "custom license", "license unknown"]
