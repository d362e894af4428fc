"""Settings: flags over environment over file, secrets unseen, mistakes in words."""

import pytest

from lineage import settings
from lineage.errors import SettingsError


@pytest.fixture(autouse=True)
def _alone(monkeypatch, tmp_path):
    for name in ("LINEAGE_HOME", "LINEAGE_MIRROR", "LINEAGE_OFFLINE", "LINEAGE_PAPERS", "S2_API_KEY", "LINEAGE_S2_API_KEY"):
        monkeypatch.delenv(name, raising=False)
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
