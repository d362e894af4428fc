"""`--profile-report`: a page of where the time went, or a clear word on what it needs."""

import sys
import time

import pytest

from api.cli.build import profiled
from lineage.errors import UsageError


def wait_and_fail():
    time.sleep(0.05)
    return 1 / 0


def test_without_a_path_nothing_happens():
    with profiled(None):
        pass


def test_without_pyinstrument_it_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyinstrument", None)
    with pytest.raises(UsageError, match="needs pyinstrument") as refused, profiled(tmp_path / "p.html"):
        pass
    assert "paper-lineage[profile]" in refused.value.hint


def test_the_page_has_a_table_and_is_written_although_the_block_fails(tmp_path):
    pytest.importorskip("pyinstrument")
    with pytest.raises(ZeroDivisionError), profiled(tmp_path / "p.html"):
        wait_and_fail()
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "<th>module<th>time<th>share<tr>" in page
    assert "fonts.googleapis.com" not in page


def test_a_folder_that_is_not_there_is_named(tmp_path):
    pytest.importorskip("pyinstrument")
    with pytest.raises(UsageError, match="there is no folder"), profiled(tmp_path / "nothere" / "p.html"):
        pass
