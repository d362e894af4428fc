"""A build that dies at a chosen point: `python -m tests.crash HOME MIRROR N` kills itself at its n-th durable step.

A durable step is whatever may leave a trace on the disk: a file opened for writing, made durable, renamed, linked,
removed; a folder made or removed; a database opened. N = 0 never dies and prints how many steps there were. Unlike
`strace`, which `benchmarks/crash.py` uses where it is there, this needs nothing but Python, and sees no write inside SQLite.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from tests.demo import TARGET, Demo

ROOT = Path(__file__).resolve().parent.parent
WANTED = {"papers": 1, "repos": 1}
_STEPS = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate", "os.chmod", "sqlite3.connect"}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
IN_FLIGHT = 4
"""Requests that a build may have under way at one moment: its threads."""


class Counter:
    """Counts durable steps in a home, and dies at the n-th."""

    def __init__(self, home: str, at: int) -> None:
        self.home, self.at, self.steps = home, at, 0
        self._lock = threading.Lock()

    def hear(self, event: str, args: tuple[object, ...]) -> None:
        """An audit hook (PEP 578)."""
        writes = event == "open" and isinstance(args[2], int) and bool(args[2] & _WRITES)
        if (writes or event in _STEPS) and str(args[0]).startswith(self.home):
            self.step()

    def step(self) -> None:
        """One step; the process ends here if it is the chosen one."""
        with self._lock:
            self.steps += 1
            if self.steps == self.at:
                os.kill(os.getpid(), signal.SIGKILL)


def killed(home: Path, mirror: str, at: int) -> dict[str, str | int]:
    """Build in a process that dies at step `at`; gives what a survivor says, nothing of a dead one."""
    command = [sys.executable, "-m", "tests.crash", str(home), mirror, str(at)]
    ended = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, timeout=100)
    if ended.returncode == -signal.SIGKILL:
        return {}
    assert ended.returncode == 0, ended.stderr
    said: dict[str, str | int] = json.loads(ended.stdout)
    return said


def violations(home: Path, mirror: str, wanted: str, old: str) -> list[str]:
    """What is wrong with the store after a crash: `old` or the new generation served, all of it sound, a build gives `wanted`."""
    found = []
    demo = Demo(home, mirror)
    listed = demo.service.lineages()
    served = [manifest.content_hash for manifest in listed]
    if served not in ([old] if old else [], [wanted]):
        found.append(f"served {served}")
    found += [f"check: {one.place}: {one.problem}" for one in demo.service.check(read_data=True)]
    if served and not demo.service.query("how is the encoder initialized?", k=1).hits:
        found.append("the old generation does not answer")
    for path in (path for path in home.rglob(".*") if path.is_file()):
        os.utime(path, (0, 0))  # a day goes by
    made = demo.build(**WANTED)
    if made.content_hash != wanted:
        found.append(f"resumed to {made.content_hash}, not {wanted}")
    found += [f"check after resuming: {one.place}: {one.problem}" for one in demo.service.check(read_data=True)]
    return found + [f"stays: {path.name}" for path in home.rglob(".*") if path.name not in {".writing", ".writer.json"}]


def children(pid: int) -> list[int]:
    """Processes under a process, by what Linux says."""
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    own = [int(word) for word in listed.read_text().split()] if listed.exists() else []
    return own + [one for child in own for one in children(child)]


def gone(pid: int) -> bool:
    """Whether a process has ended."""
    try:
        return "State:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True


def run(home: str, mirror: str, at: int) -> dict[str, str | int]:
    """Build in this process, dying on the way if asked to; how many steps there were, and the content hash."""
    counter = Counter(home, at)
    fsync = os.fsync

    def counted(handle: int) -> None:
        counter.step()
        fsync(handle)

    os.fsync = counted
    sys.addaudithook(counter.hear)
    made = Demo(Path(home), mirror).build(TARGET, **WANTED)
    return {"steps": counter.steps, "content_hash": made.content_hash}


def main() -> None:
    """The command."""
    home, mirror, at = sys.argv[1:]
    print(json.dumps(run(home, mirror, int(at))))


if __name__ == "__main__":
    main()
