"""Kill a build at every durable step, or at so many, and look at what is left (RELIABILITY A1).

    python -m benchmarks.crash --points 0            every step that Python sees (`tests/crash.py`)
    python -m benchmarks.crash --points 60 --strace  so many system calls of the main thread, writes inside SQLite included

After each death: the old generation or the new one is served and answers, `check --read-data` finds nothing, the same
build resumes and gives the content of an undisturbed one, and no more requests are sent again than were under way.
Half of the points start from a store that has an older generation, half from nothing.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.crash import IN_FLIGHT, ROOT, WANTED, killed, violations
from tests.demo import DEMO, Demo
from tests.upstream import Upstream, World

CALLS = "openat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdir,link,linkat,ftruncate"
_MOST_CALLS = 12_000


@dataclass(frozen=True)
class Stage:
    """What every point starts from and is held against."""

    folder: Path
    upstream: Upstream
    wanted: str
    old: str
    requests: int


def prepare(folder: Path, upstream: Upstream) -> Stage:
    """An old generation to start from, and an undisturbed build."""
    old = Demo(folder / "old", upstream.url).build(papers=0, repos=0).content_hash
    upstream.forget()
    whole = Demo(folder / "whole", upstream.url).build(**WANTED).content_hash
    return Stage(folder, upstream, whole, old, len(upstream.requests))


def traced(home: Path, mirror: str, at: int) -> bool:
    """Build under strace, which kills at the n-th of `CALLS`; whether it came to that."""
    inject = ["strace", "-qq", "-o", "/dev/null", "-e", f"trace={CALLS}", "-e", f"inject={CALLS}:signal=KILL:when={at}"]
    command = [*inject, sys.executable, "-m", "tests.crash", str(home), mirror, "0"]
    ended = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, timeout=300)
    return ended.returncode in {-signal.SIGKILL, 128 + signal.SIGKILL}


def point(stage: Stage, at: int, strace: bool, fresh: bool) -> tuple[bool, list[str], int]:
    """One death: whether it happened, what was wrong afterwards, how many requests were sent again."""
    home = stage.folder / "home"
    shutil.rmtree(home, ignore_errors=True)
    if not fresh:
        shutil.copytree(stage.folder / "old", home)
    stage.upstream.forget()
    died = traced(home, stage.upstream.url, at) if strace else not killed(home, stage.upstream.url, at)
    wrong = violations(home, stage.upstream.url, stage.wanted, "" if fresh else stage.old)
    asked = Counter((request.method, request.host, request.path, request.query) for request in stage.upstream.requests)
    again = sum(count - 1 for count in asked.values())
    return died, wrong + ([f"{again} requests sent again"] if again > IN_FLIGHT else []), again


def _steps_later(stage: Stage) -> int:
    """Durable steps of a build that starts from the older generation."""
    home = stage.folder / "later"
    shutil.copytree(stage.folder / "old", home)
    return int(killed(home, stage.upstream.url, 0)["steps"])


def main() -> None:
    """Sweep and print a line a violation, then the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=0, help="how many, by chance (0: every step)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--strace", action="store_true")
    args = parser.parse_args()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, Upstream(World.load(DEMO)) as upstream:
        stage = prepare(Path(folder), upstream)
        steps = _MOST_CALLS if args.strace else int(killed(Path(folder) / "counted", upstream.url, 0)["steps"])
        later = steps if args.strace else _steps_later(stage)
        points = range(1, steps + 1)
        chosen = sorted(random.Random(args.seed).sample(points, args.points)) if 0 < args.points < steps else list(points)
        deaths, bad, resent = 0, 0, []
        for n, at in enumerate(chosen):
            fresh = n % 2 == 1
            died, wrong, again = point(stage, at if fresh else 1 + at * later // (steps + 1), args.strace, fresh)
            deaths, bad = deaths + died, bad + bool(wrong)
            resent.append(again)
            for words in wrong:
                print(f"step {at}: {words}", flush=True)
    how = "system calls" if args.strace else "durable steps"
    print(f"{len(chosen)} of {steps:,} {how} tried, {deaths} deaths, {bad} with violations; requests sent again: most {max(resent)}, ", end="")
    print(f"mean {sum(resent) / len(resent):.2f}; {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
