"""Settings: flags over environment over file, secrets unseen, mistakes in words."""

import pytest

from lineage import settings
from lineage.errors import SettingsError


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    for name in ("LINEAGE_HOME", "LINEAGE_MIRROR", "LINEAGE_OFFLINE", "LINEAGE_PAPERS", "S2_API_KEY", "LINEAGE_S2_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "lineage.toml").touch()
    monkeypatch.setenv("LINEAGE_CONFIG", str(tmp_path / "lineage.toml"))


def test_a_flag_wins_over_the_environment_and_that_over_the_file(monkeypatch, tmp_path):
    (tmp_path / "lineage.toml").write_text("papers = 5\nrepos = 6\nthreads = 7\n")
    monkeypatch.setenv("LINEAGE_PAPERS", "8")
    monkeypatch.setenv("LINEAGE_REPOS", "9")
    loaded = settings.load(papers=10)
    assert (loaded.papers, loaded.repos, loaded.threads) == (10, 9, 7)


def test_a_flag_that_was_not_given_changes_nothing():
    assert settings.load(papers=None).papers == 20


def test_a_key_is_never_shown(monkeypatch):
    monkeypatch.setenv("S2_API_KEY", "canary-1234")
    loaded = settings.load()
    assert loaded.s2_api_key.get_secret_value() == "canary-1234"
    assert "canary-1234" not in repr(loaded)


@pytest.mark.parametrize(("name", "value"), [("LINEAGE_PAPERS", "many"), ("LINEAGE_MIRROR", "ftp://x"), ("LINEAGE_THREADS", "-1")])
def test_a_wrong_value_names_its_setting(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=name.removeprefix("LINEAGE_").lower()):
        settings.load()


def test_a_config_file_that_is_no_toml_is_said_to_be_unreadable(tmp_path):
    (tmp_path / "lineage.toml").write_text("papers = = 5")
    with pytest.raises(SettingsError, match="config file"):
        settings.load()


def test_a_config_file_that_is_named_must_be_there(monkeypatch, tmp_path):
    for path in (tmp_path / "nothere.toml", tmp_path):
        monkeypatch.setenv("LINEAGE_CONFIG", str(path))
        with pytest.raises(SettingsError, match="there is no such file"):
            settings.load()


@pytest.mark.parametrize(
    ("key", "hint"), [("papper", "is papers meant?"), ("LINEAGE_PAPERS", "is papers meant?"), ("zzz", "`lineage doctor` lists the settings")]
)
def test_a_key_that_is_no_setting_is_named_with_the_nearest(tmp_path, key, hint):
    (tmp_path / "lineage.toml").write_text(f"{key} = 3\n")
    with pytest.raises(SettingsError, match=f"has {key}, and there is no such setting") as refused:
        settings.load()
    assert refused.value.hint == hint


def test_a_key_may_be_written_as_its_variable_where_other_programs_have_one_too(tmp_path):
    (tmp_path / "lineage.toml").write_text("GITHUB_TOKEN = 'canary-1234'\n")
    assert settings.load().github_token.get_secret_value() == "canary-1234"


def test_a_blank_token_is_none(monkeypatch):
    monkeypatch.setenv("LINEAGE_TOKEN", " \t")
    assert settings.load().token.get_secret_value() == ""
