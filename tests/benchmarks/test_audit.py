"""Planting deviations in a copy, and telling whether an audit names them."""

from __future__ import annotations

import pytest

from benchmarks.audit import is_found, plant
from lineage.results import AuditFinding


def test_an_edit_is_made_and_its_line_is_known(tmp_path):
    (tmp_path / "train.py").write_text("import x\nlr = 0.1\n")
    places = plant(tmp_path, [{"name": "lr", "edits": [{"file": "train.py", "old": "lr = 0.1", "new": "lr = 3"}]}])
    assert places == [{"train.py#L2"}]
    assert (tmp_path / "train.py").read_text() == "import x\nlr = 3\n"
    with pytest.raises(SystemExit, match="is not in it"):
        plant(tmp_path, [{"name": "lr", "edits": [{"file": "train.py", "old": "lr = 0.1", "new": ""}]}])


def test_a_deviation_is_found_by_its_place_or_its_name():
    at = AuditFinding("experiment", "learning_rate", "learning rate", "deviation", "0.1", "3", "train.py#L2")
    missing = AuditFinding("method", "augmentation", "data augmentation", "missing", "horizontal_flip")
    assert is_found({"name": "lr"}, {"train.py#L2"}, [at])
    assert not is_found({"name": "lr"}, {"train.py#L9"}, [at])
    assert is_found({"name": "flip"}, set(), [missing])
