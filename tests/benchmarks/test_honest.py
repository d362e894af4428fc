"""Real lineages, built both ways by `benchmarks.honest`: nothing is lost, nothing leaks. Skips where there are none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.honest import WITH, WITHOUT, read
from lineage import generation as layout
from tests.test_honest import chunks

HOME = Path(os.environ.get("REAL_LINEAGES", "nowhere"))
"""The home that the benchmark was run over."""
BUILT = [name.removeprefix(WITH) for name in layout.names(HOME) if name.startswith(WITH) and name.replace(WITH, WITHOUT) in layout.names(HOME)]
FEWEST = 6


@pytest.mark.skipif(len(BUILT) < FEWEST, reason="REAL_LINEAGES names no home with six lineages of benchmarks.honest")
@pytest.mark.parametrize("slug", BUILT)
def test_a_real_lineage_without_the_targets_code_loses_nothing_and_leaks_nothing(slug):
    rows, leaks = read(HOME, slug)
    assert [line for line, right in rows if not right] == []
    assert leaks == ()


def test_the_comparison_tells_a_loss_and_a_leak(honest, monkeypatch):
    """Over the smallest lineage: as it is; with the lineage that has everything in place of the one without; and the other way round."""
    monkeypatch.setattr("benchmarks.honest.WITH", "with")
    monkeypatch.setattr("benchmarks.honest.WITHOUT", "without")
    rows, leaks = read(honest.home, "")
    assert ({right for _, right in rows}, leaks) == ({True}, ())
    monkeypatch.setattr("benchmarks.honest.WITHOUT", "with")
    rows, leaks = read(honest.home, "")
    assert len([line for line, right in rows if not right]) == len(set(chunks(honest, "with")) - set(chunks(honest, "without"))) + 1
    assert any("lab/quillnet" in leak for leak in leaks)
