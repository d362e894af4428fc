"""Where code says that it comes from."""

from __future__ import annotations

import pytest

from lineage.code_reuse.derivation import Origins, Said, taken
from lineage.records import Document, WorkId

ONE, OTHER = (WorkId(f"repo:github.com/a/{name}") for name in ("one", "other"))
LIBRARY = "https://github.com/big/Library"


def common(source: str, taker: str, readme: str = "", *more: Document) -> str:
    """What two files have in common by their heads and the taker's README."""
    files = (Document(ONE, "a.py", source, (), "p", "code"), Document(OTHER, "b.py", taker, (), "p", "code"))
    return Origins.of((*files, Document(OTHER, "README.md", readme, (), "p", "docs"), *more)).common(ONE, "a.py", OTHER, "b.py")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"Based on the code base\n* {LIBRARY}/blob/main/train.py", ["big/library"]),
        (f"The script is adapted from [the library]({LIBRARY}.git).", ["big/library"]),
        (f"We build on {LIBRARY} and github.com/x/y.", ["big/library", "x/y"]),
        (f"Modified by us.\n\n{LIBRARY}", []),
        (f"See {LIBRARY}", []),
        ("adapted from notgithub.com/x/y", []),
    ],
)
def test_an_origin_is_a_repository_in_the_paragraph_that_says_so(text, found):
    assert [one.origin for one in taken(text)] == found


def test_the_words_of_it_are_kept_as_they_are_compared():
    assert list(taken("taken from github.com/x/y.")) == [Said("x/y", "takenfromgithubcomxy")]


def test_two_files_of_one_origin_that_nobody_holds_have_it_in_common():
    assert common(f"# Based on {LIBRARY}", "", f"Adapted from {LIBRARY}.") == "big/library"
    assert common(f"# Based on {LIBRARY}", f"# modified from {LIBRARY}") == "big/library"


def test_what_both_say_in_the_same_words_came_with_the_copy():
    assert common(f"# Based on {LIBRARY}", f"# Based on {LIBRARY}") == ""


def test_a_taker_that_names_the_source_has_it_from_there():
    assert common(f"# Based on {LIBRARY}", f"# modified from {LIBRARY}", "Thanks to https://github.com/a/one.") == ""
    assert common(f"# Based on {LIBRARY}", f"# modified from {LIBRARY} and https://github.com/a/one") == ""


def test_an_origin_that_is_held_or_that_one_side_names_alone_is_none():
    held = Document(WorkId("repo:github.com/big/library"), "c.py", "", (), "p", "code")
    assert common(f"# Based on {LIBRARY}", "", f"Adapted from {LIBRARY}.", held) == ""
    assert common("", f"# Based on {LIBRARY}") == ""


def test_only_the_readme_at_the_top_speaks_for_all_files():
    beside = Document(OTHER, "docs/README.md", f"Adapted from {LIBRARY}", (), "p", "docs")
    assert common(f"# Based on {LIBRARY}", "", "", beside) == ""
