"""Kill a build at every durable step, or at so many, and look at what is left (RELIABILITY A1).

    python -m benchmarks.crash --points 0            every step that Python sees (`tests/crash.py`)
    python -m benchmarks.crash --points 60 --strace  so many system calls of the main thread, writes inside SQLite included
    python -m benchmarks.crash --done FILE           only points that the file lacks, of the same version; adds them (several processes may share it)

After each death: the old generation or the new one is served and answers, `check --read-data` finds nothing, the same
build resumes and gives the content of an undisturbed one, and no more requests are sent again than were under way.
Half of the points start from a store that has an older generation, half from nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.parts import run_benchmark
from lineage.errors import LineageError
from tests.crash import IN_FLIGHT, ROOT, WANTED, killed, run, violations
from tests.demo import DEMO, Demo
from tests.upstream import Upstream, World

CALLS = "write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdir,link,linkat,ftruncate,fchmodat,chmod"
Point = tuple[str, int]
"""A system call (or "" for a durable step of `tests/crash.py`) and which of them."""


@dataclass(frozen=True)
class Stage:
    """What every point starts from and is held against."""

    folder: Path
    upstream: Upstream
    wanted: str
    old: str

    def home(self, fresh: bool) -> Path:
        """A home to start from: none, or one with the older generation; nothing has been asked yet."""
        home = self.folder / "home"
        shutil.rmtree(home, ignore_errors=True)
        if not fresh:
            shutil.copytree(self.folder / "old", home)
        self.upstream.forget()
        return home


def prepare(folder: Path, upstream: Upstream) -> Stage:
    """An old generation to start from, and an undisturbed build."""
    old = Demo(folder / "old", upstream.url).build(papers=0, repos=0).content_hash
    whole = Demo(folder / "whole", upstream.url).build(**WANTED).content_hash
    return Stage(folder, upstream, whole, old)


def traced(home: Path, mirror: str, log: Path, *options: str) -> bool:
    """Build under strace, whose log is kept; whether it was killed."""
    command = ["strace", "-qq", "-o", str(log), "-e", f"trace={CALLS}", *options, sys.executable, "-m", "tests.crash", str(home), mirror, "0"]
    ended = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, timeout=300)
    return ended.returncode in {-signal.SIGKILL, 128 + signal.SIGKILL}


def points(stage: Stage, fresh: bool, strace: bool) -> list[Point]:
    """Where a build can die, that starts from nothing (`fresh`) or from the older generation."""
    home, log = stage.home(fresh), stage.folder / "strace.log"
    if not strace:
        return [("", n + 1) for n in range(int(killed(home, stage.upstream.url, 0)["steps"]))]
    traced(home, stage.upstream.url, log)
    made = Counter(line.partition("(")[0] for line in log.read_text(errors="replace").splitlines() if "(" in line)
    return [(call, n + 1) for call, count in sorted(made.items()) if call in CALLS.split(",") for n in range(count)]


def forked(home: Path, mirror: str, at: int) -> bool:
    """Build in a fork of this process, which has everything loaded; whether it died at the step."""
    pid = os.fork()
    if pid == 0:
        with suppress(Exception):
            run(str(home), mirror, at)
        os._exit(0)
    patience = threading.Timer(300, os.kill, (pid, signal.SIGTERM))
    patience.start()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    patience.cancel()
    return status == -signal.SIGKILL


def die(stage: Stage, at: Point, fresh: bool) -> tuple[bool, list[str], int]:
    """One death: whether it happened, what was wrong afterwards, how many requests were sent again."""
    (call, n), home = at, stage.home(fresh)
    if call:
        died = traced(home, stage.upstream.url, stage.folder / "strace.log", "-e", f"inject={call}:signal=KILL:when={n}")
    else:
        died = forked(home, stage.upstream.url, n)
    try:
        wrong = violations(home, stage.upstream.url, stage.wanted, "" if fresh else stage.old)
    except LineageError as error:
        wrong = [f"{type(error).__name__}: {error}"]
    asked = Counter((request.method, request.host, request.path, request.query) for request in stage.upstream.requests)
    again = sum(count - 1 for count in asked.values())
    return died, wrong + ([f"{again} requests sent again"] if again > IN_FLIGHT else []), again


def read_log(path: Path) -> dict[tuple[Point, bool], dict[str, Any]]:
    """The points that were tried, with what came of each."""
    rows = map(json.loads, path.read_text().splitlines() if path.exists() else ())
    return {((row["at"][0], row["at"][1]), row["fresh"]): row for row in rows}


def main() -> None:
    """Sweep and print a line a violation, then the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=0, help="how many, by chance (0: every step)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--strace", action="store_true")
    parser.add_argument("--done", type=Path, help="JSON lines of points that were tried")
    args = parser.parse_args()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, Upstream(World.load(DEMO)) as upstream:
        stage = prepare(Path(folder), upstream)
        every = [(at, fresh) for fresh in (True, False) for at in points(stage, fresh, args.strace)]
        chosen = random.Random(args.seed).sample(every, min(args.points or len(every), len(every)))
        log = args.done or Path(folder) / "done.jsonl"
        for at, fresh in chosen:
            if (at, fresh) in read_log(log):
                continue
            died, wrong, again = die(stage, at, fresh)
            with log.open("a") as lines:
                lines.write(json.dumps({"at": at, "fresh": fresh, "died": died, "violations": wrong, "sent again": again}) + "\n")
            for words in wrong:
                print(f"{at}, {'from nothing' if fresh else 'over an older one'}: {words}", flush=True)
        tried = read_log(log).values()
    how, resent = "system calls" if args.strace else "durable steps", [row["sent again"] for row in tried]
    print(f"{len(tried)} of {len(every):,} {how} tried, {sum(row['died'] for row in tried)} deaths, ", end="")
    print(f"{sum(bool(row['violations']) for row in tried)} with violations; requests sent again: most {max(resent)}, ", end="")
    print(f"mean {sum(resent) / len(resent):.2f}; {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    run_benchmark(main)
