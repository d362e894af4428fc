"""How long a stage still takes is told once its rate is known."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from api.cli.progress import _Live, _table, remaining, watching
from lineage.progress import Stage, Waiting


@pytest.mark.parametrize(
    ("done", "total", "seconds", "left"),
    [
        *((0, 4000, 60, ""), (256, 4000, 0.5, ""), (4000, 4000, 60, ""), (10, 20, 60, "")),
        *((1000, 4000, 10, "about 30 s left"), (400, 4000, 60, "about 9 min left"), (100, 10_000, 100, "about 2 h 45 min left")),
        (3999, 4000, 100, "about 1 s left"),
    ],
)
def test_the_time_left_is_estimated_from_the_rate_so_far(done, total, seconds, left):
    assert remaining(done, total, seconds) == left


def test_a_log_gets_plain_lines_now_and_then(capsys):
    with watching() as watch:
        for done in range(0, 1025, 256):
            watch(Stage("embed", done, 1024))
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["embed        0/1,024", "embed        1,024/1,024"]


def test_a_narrow_terminal_keeps_count_and_time_and_cuts_the_note():
    console = Console(file=StringIO(), width=80, force_terminal=True, color_system=None)
    rows = _table(console)
    watch = _Live(rows)
    for event in (
        Stage("gaps", note="comparing"),
        Stage("papers", 3, 20, "A title. " * 20),
        Waiting("waiting 3 s for arXiv"),
        Stage("embed", 5, 5, "x"),
    ):
        watch(event)
    with console.capture() as shown:
        console.print(rows.get_renderable())
    gaps, papers, embed = shown.get().splitlines()
    assert max(map(len, (gaps, papers, embed))) <= 80
    assert gaps.startswith("✓ gaps")
    assert "3/20 0:00:00 waiting 3 s for arXiv" in papers
    assert embed.startswith("✓ embed")
    assert embed.rstrip().endswith("5/5 0:00:00")
