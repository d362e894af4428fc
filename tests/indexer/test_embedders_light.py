"""What an installation without the hub's packages says."""

from __future__ import annotations

import pytest

from indexer.embedders import sentence_transformers
from lineage import registry
from lineage.errors import SettingsError
from lineage.settings import Settings


def test_a_hub_model_without_its_packages_is_a_setting_that_cannot_be_used_and_names_the_command(monkeypatch, tmp_path):
    monkeypatch.setattr(sentence_transformers, "NEEDED", ("no_such_package_anywhere",))
    with pytest.raises(SettingsError, match="not installed") as raised:
        registry.load("embedders", "sentence-transformers")("owner/name", Settings(home=tmp_path), None)
    assert "pip install 'paper-lineage[hub]'" in raised.value.hint
