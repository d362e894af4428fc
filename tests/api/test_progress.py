"""How long a stage still takes is told once its rate is known."""

from __future__ import annotations

import pytest

from api.cli.progress import remaining, watching
from lineage.progress import Stage


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
