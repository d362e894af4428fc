"""Where the time and the memory of a command went: one HTML page with a table of modules and, by pyinstrument, the calls as a tree and over time."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from api.cli.files import writable
from lineage.errors import UsageError

_EVERY = 0.01
"""Seconds between two looks: some thousands of them in a build, which take no time themselves."""
_ROWS = 30
_FONTS = re.compile(r"https://fonts\.googleapis\.com/[^\"')]*")
_NOTE = "Of the thread that builds; what it waits for others in (parsers in their own processes, the network) counts where it waits."


@contextmanager
def profiled(path: Path | None) -> Iterator[None]:
    """Write the page of what happens in the block to a file, also where it ends early; nothing without a path.

    Raises `UsageError` where pyinstrument is not installed (extra `profile`) or the file cannot be written.
    """
    if path is None:
        yield
        return
    try:
        from pyinstrument import Profiler
    except ImportError as error:
        raise UsageError("--profile-report needs pyinstrument", hint="pip install 'paper-lineage[profile]'") from error
    profiler, place = Profiler(interval=_EVERY, async_mode="disabled"), writable(path)
    profiler.start()
    try:
        yield
    finally:
        root = profiler.stop().root_frame()
        page = _FONTS.sub("", profiler.output_html())  # it is read offline too
        place.write_text(page.replace("<body>", f"<body>{_table(root)}", 1), encoding="utf-8")


def _table(root: Any) -> str:
    """Seconds by module of ours, with what it calls of others, most first, and the most memory that was held."""
    seconds: Counter[str] = Counter()
    frames = [(root, "python")] if root else []
    while frames:
        frame, caller = frames.pop()
        module = _module(frame.file_path_short or "") or caller
        seconds[module] += frame.total_self_time
        frames += [(child, module) for child in frame.children if not child.is_synthetic_leaf]
    total = seconds.total() or 1.0
    rows = "".join(f"<tr><td>{name}<td>{value:.2f} s<td>{value / total:.1%}" for name, value in seconds.most_common(_ROWS))
    return f"<table cellpadding=4><tr><th>module<th>time<th>share{rows}</table><p>{_memory()} {_NOTE}"


def _module(path: str) -> str:
    """The module of ours that a file is, or nothing."""
    parts = path.removesuffix(".py").replace("\\", "/").split("/")
    return ".".join(parts) if parts[0] in {"api", "indexer", "lineage", "retrieval"} else ""


def _memory() -> str:
    """The most memory that this process and the largest of its children held; nothing where the system does not say."""
    try:
        import resource
    except ImportError:
        return ""
    unit = 1 << (20 if sys.platform == "darwin" else 10)
    own, child = (resource.getrusage(who).ru_maxrss // unit for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return f"Most memory: {own:,} MB in this process, {child:,} MB in one that it started."
