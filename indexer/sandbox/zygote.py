"""The asking side of one sandbox child: starting it, one job and its answer, killing it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO, Any

from indexer.sandbox.frames import BrokenFrame, read_frame
from lineage.errors import LineageError

START = 60.0
"""Seconds a fresh interpreter may take to come up, on a machine under load."""

_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "XDG_CACHE_HOME", "SEMBLE_GRAMMARS_CACHE_DIR", "SYSTEMROOT", "LOCALAPPDATA", "USERPROFILE", "TEMP")
"""All of the environment that the child sees: no token, no proxy, no setting of ours."""


class Zygote:
    """A child process and its pipes; raises `LineageError` if it does not come up."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "indexer.sandbox.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
            start_new_session=True,
        )
        self._single = sys.platform != "linux"
        self._used = False
        try:
            self._answer([], START)
        except BrokenFrame as error:
            last_error_line = _open(self._process.stderr).read(4000).decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise LineageError(f"the parser process does not start: {last_error_line}", hint="`lineage doctor` checks the installation") from error

    def job(self, buffers: list[bytes], seconds: float) -> tuple[dict[str, Any], memoryview]:
        """Header and body of the answer to one job; raises `BrokenFrame` if none comes, the child being dead then."""
        self._used = True
        return self._answer(buffers, seconds)

    def reusable(self) -> bool:
        """Whether another job may be given to it."""
        return self._process.poll() is None and not (self._single and self._used)

    def kill(self) -> None:
        """End the child, whatever it is doing; what it forked dies with it."""
        self._process.kill()

    def close(self) -> None:
        """End the child and give its pipes back."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with suppress(OSError):  # what was not yet written to a child that is dead
                _open(pipe).close()

    def _answer(self, buffers: list[bytes], seconds: float) -> tuple[dict[str, Any], memoryview]:
        watchdog = threading.Timer(seconds, self.kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            for buffer in buffers:
                _open(self._process.stdin).write(buffer)
            _open(self._process.stdin).flush()
            answer = read_frame(_open(self._process.stdout).read)
        except (OSError, BrokenFrame) as error:
            self.kill()
            raise BrokenFrame("the child is gone") from error
        finally:
            watchdog.cancel()
        if answer is None:
            self.kill()
            raise BrokenFrame("the child is gone")
        return answer


def _environment() -> dict[str, str]:
    passed_variables = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return passed_variables | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101
    return pipe
