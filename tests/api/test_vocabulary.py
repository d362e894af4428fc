"""The user's own words join the packaged ones through a setting."""

import json

import pytest

from lineage.errors import SettingsError
from tests.demo import Demo


def test_a_file_of_the_users_own_bridges_its_words_to_code(tmp_path, upstream):
    own = tmp_path / "words.json"
    own.write_text(json.dumps({"aspects": {"marsupials": [{"asked": ["quokka"], "code": ["NeighbourhoodMask"]}]}}))
    demo = Demo(tmp_path / "home", upstream.url, vocabulary=own)
    demo.build(papers=1, repos=2)
    hits = demo.service.query("where is the quokka?", k=10, kind="code").hits
    assert any(reason.of[:1] == ("marsupials",) for hit in hits for reason in hit.why)


def test_a_file_that_is_no_vocabulary_is_refused_by_name(tmp_path, upstream):
    own = tmp_path / "words.json"
    own.write_text("{]")
    demo = Demo(tmp_path / "home", upstream.url, vocabulary=own)
    demo.build(papers=0, repos=0)
    with pytest.raises(SettingsError, match=r"words\.json"):
        demo.service.query("how is it initialised?")
