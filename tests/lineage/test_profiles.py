"""Profiles say how much a build takes in."""

from lineage.settings import PROFILES


def test_profiles_grow_from_fast_to_deep():
    assert list(PROFILES) == ["fast", "default", "deep"]
    fast, deep = PROFILES["fast"], PROFILES["deep"]
    assert (fast.papers, fast.repos, fast.depth) == (8, 5, 1)
    assert (deep.papers, deep.repos, deep.depth) == (60, 30, 2)


def test_the_default_profile_is_what_the_settings_say():
    assert PROFILES["default"].words(20, 12) == "20 papers, 12 repositories, depth 1: what most questions need"
    assert PROFILES["deep"].words(20, 12).startswith("60 papers, 30 repositories, depth 2")
