"""Draw what a command shows on a terminal as SVG.

script -qec "lineage gaps arxiv:2410.20626 --no-target-code" /dev/null | python -m docs.terminal_picture > docs/pictures/gaps.svg
"""

from __future__ import annotations

import re
import sys

from rich.console import Console
from rich.text import Text

LINES = 24


def svg(shown: str) -> str:
    """The last screen of a recording, without what was drawn over."""
    last = re.sub(r"\x1b\[[0-9;?]*[A-LN-Za-ln-z]", "", shown.replace("\r", "")).rsplit("\x1b[2K", 1)[-1]
    lines = [line for line in last.splitlines() if "⠋" not in line and "comparing the paper" not in line][:LINES]
    console = Console(record=True, width=max(len(Text.from_ansi(line)) for line in lines), file=sys.stderr)
    console.print(Text.from_ansi("\n".join(lines)))
    return console.export_svg(title="lineage gaps")


if __name__ == "__main__":
    sys.stdout.write(svg(sys.stdin.read()))
