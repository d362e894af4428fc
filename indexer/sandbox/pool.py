"""Parsers in a killable child, so that a hostile file costs one ledger row and nothing else (RELIABILITY T3, C10).

`Sandbox` keeps one zygote per worker (`indexer.sandbox.child`), a fresh interpreter that forks for every job; jobs have
limits on wall time, CPU, memory and results, no network, no files to write, no processes to start. What comes back is
JSON, checked like any other input. On macOS and Windows each job is a process of its own with the limits that the
system knows, always the wall clock; `guards` says what held.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from types import TracebackType
from typing import IO, Any, Protocol

from indexer.parsers.stored import document_from_json, document_to_json
from indexer.read_document import ReadDocument, Wanted, check_units
from indexer.sandbox.guards import BrokenFrame, frame, read_frame
from indexer.work_budget import WorkBudget
from lineage.errors import LineageError, ParseError
from lineage.records import Document, Status, WorkId

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


MIB = 1024 * 1024
GRACE = 20.0
"""Seconds beyond the wall limit, for loading a parser, after which a child that does not answer is killed from here."""


@dataclass(frozen=True)
class Limits:
    """Of one job: seconds on the wall and of CPU, bytes of memory and of results."""

    wall: float = 120.0
    cpu: int = 30
    memory: int = 1024 * MIB
    result: int = 128 * MIB


WORKERS = min(8, max(2, os.cpu_count() or 2))
"""Children that parse at a time."""
Parsed = ReadDocument | ParseError
_BATCH = 256
"""Documents that one child is given at a time."""


@dataclass(frozen=True)
class _Outcome:
    """What a job gave: results in order, and why there are no more of them."""

    found: tuple[Parsed, ...]
    failure: ParseError | None = None


class Child(Protocol):
    """What runs jobs: a `Zygote`, or one on another machine."""

    def job(self, buffers: list[bytes], seconds: float) -> tuple[dict[str, Any], memoryview]:
        """As `Zygote.job`."""

    def reusable(self) -> bool:
        """As `Zygote.reusable`."""

    def close(self) -> None:
        """As `Zygote.close`."""


class Sandbox:
    """Parse in up to `workers` children at a time; safe to use from several threads, to be closed as a context."""

    def __init__(self, workers: int = WORKERS, limits: Limits | None = None, child: Callable[[], Child] | None = None) -> None:
        self.limits = limits or Limits()
        self.guards: frozenset[str] = frozenset()
        """What held in the last job: `cpu`, `memory`, `file size`, `no core`, `network namespace`, `landlock`, `seccomp` ..."""
        self._child, self._workers = child or Zygote, workers
        self._idle: queue.LifoQueue[Child | None] = queue.LifoQueue()
        for _ in range(workers):
            self._idle.put(None)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def is_idle(self) -> bool:
        """Whether nothing is being parsed."""
        return self._idle.qsize() == self._workers

    def close(self) -> None:
        """End the children that are idle; those at work end with their job."""
        idle: list[Child | None] = []
        with suppress(queue.Empty):
            while True:
                idle.append(self._idle.get_nowait())
        for zygote in idle:
            if zygote:
                zygote.close()
            self._idle.put(None)

    def paper(self, parser: str, files: Mapping[str, bytes], work: WorkId, blob: str, wanted: Wanted | None = None) -> ReadDocument:
        """The document that `indexer.parsers.<parser>` makes of a paper's files, with the units that are wanted; raises `ParseError`.

        `parser` is `latex`, `pdf` or `html`, or the full name of a module with such a `parse`. Besides the parser's own
        statuses: `parse_timeout`, `parse_oom`,
        `parse_signal`, `parse_error`, `too_large` (results).
        """
        outcome = self._run(parser, list(files.items()), work, blob, wanted, each=False)
        result = outcome.found[0] if outcome.found else outcome.failure
        if isinstance(result, ReadDocument):
            return replace(result, work=work, blob=blob)
        raise result or ParseError(Status.PARSE_ERROR, "the parser gave no result")

    def members(
        self,
        items: Sequence[tuple[str, bytes]],
        work: WorkId,
        blob: str,
        parser: str = "member",
        budget: WorkBudget | None = None,
        wanted: Wanted | None = None,
    ) -> list[Parsed]:
        """A document with the units that are wanted, or the reason there is none, for each (path, bytes), in order, within a budget.

        All are parsed in one child. If it dies, what it had finished is kept, the file it died at is tried once alone,
        and the others go on in a new child: only the culprit is lost.
        """
        parsed_members: list[Parsed] = []
        while len(parsed_members) < len(items):
            if words := budget.refusal("seconds") if budget else "":
                parsed_members += [ParseError(Status.PARSE_TIMEOUT, words)] * (len(items) - len(parsed_members))
                break
            rest = items[len(parsed_members) :]
            outcome = self._run(parser, rest, work, blob, wanted, each=True, budget=budget)
            parsed_members.extend(outcome.found)
            if len(outcome.found) < len(rest):
                rest = rest[len(outcome.found) : len(outcome.found) + 1]
                alone = self._run(parser, rest, work, blob, wanted, each=True, budget=budget)
                missing = alone.failure or ParseError(Status.PARSE_ERROR, "the parser gave no result")
                parsed_members.append(alone.found[0] if alone.found else missing)
        return [_of(result, path, work, blob) for result, (path, _) in zip(parsed_members, items, strict=True)]

    def documents(self, documents: Sequence[Document], wanted: Wanted) -> list[Parsed]:
        """The units that are wanted of documents that no file of a repository or paper holds."""
        parsed: list[Parsed] = []
        for start in range(0, len(documents), _BATCH):
            batch = documents[start : start + _BATCH]
            items = [(document.path, document_to_json(document)) for document in batch]
            parsed += map(_with_units, batch, self.members(items, WorkId(""), "", "indexer.parsers.stored", wanted=wanted))
        return parsed

    def _run(
        self,
        parser: str,
        files: Sequence[tuple[str, bytes]],
        work: WorkId,
        blob: str,
        wanted: Wanted | None = None,
        *,
        each: bool,
        budget: WorkBudget | None = None,
    ) -> _Outcome:
        limits = self.limits
        caps = {"wall": limits.wall, "cpu": limits.cpu, "memory": limits.memory, "most": limits.result}
        header = caps | {"parser": parser, "each": each, "work": work, "blob": blob, "files": [[name, len(data)] for name, data in files]}
        header["wanted"] = asdict(wanted) if wanted else None
        idle_zygote = self._idle.get()
        zygote = None
        start, seconds = time.monotonic(), 0.0
        try:
            zygote = idle_zygote or self._child()
            ended, data = zygote.job(frame(header, [data for _, data in files]), limits.wall + GRACE)
            seconds = _seconds(ended, time.monotonic() - start)
        except BrokenFrame:
            seconds = time.monotonic() - start
            return _Outcome((), ParseError(Status.PARSE_TIMEOUT, f"no answer within {limits.wall:g} s; the process was killed"))
        finally:
            if budget:
                budget.spend("seconds", seconds)
            self._idle.put(zygote if zygote and zygote.reusable() else None)
        return self._outcome(ended, data, len(files) if each else 1)

    def _outcome(self, ended: dict[str, Any], data: memoryview, expected: int) -> _Outcome:
        parsed_members: list[Parsed] = []
        for line in bytes(data).split(b"\n")[:-1]:
            if line[:1] == b"G":
                self.guards = frozenset(line[1:500].decode("ascii", "replace").split(";"))
            elif len(parsed_members) < expected:
                parsed_members.append(_result(line))
        return _Outcome(tuple(parsed_members), None if len(parsed_members) == expected else _failure(ended, self.limits))


def _seconds(ended: dict[str, Any], wall: float) -> float:
    """Processor time of a job as its child tells it, or all of its time where it does not."""
    seconds = ended.get("cpu")
    return float(seconds) if isinstance(seconds, float) and 0 <= seconds < wall + 1 else wall


def _of(result: Parsed, path: str, work: WorkId, blob: str) -> Parsed:
    """The result as belonging to the file that was asked about, whatever the child says."""
    return replace(result, path=path, work=work, blob=blob) if isinstance(result, ReadDocument) else result


def _with_units(document: Document, made: Parsed) -> Parsed:
    """A document with the units that a child made of it, checked against its own text."""
    if isinstance(made, ParseError):
        return made
    read = ReadDocument(**{**vars(document), "cuts": made.cuts, "stated": made.stated})
    try:
        check_units(read)
    except ParseError as error:
        return error
    return read


def _result(line: bytes) -> Parsed:
    if line[:1] == b"D":
        try:
            return document_from_json(line[1:])
        except ParseError as error:
            return error
    status, _, words = line[1:2000].decode("utf-8", "replace").partition(" ")
    statuses = {str(known_status): known_status for known_status in Status}
    return ParseError(statuses.get(status, Status.PARSE_ERROR), words or "the parser gave no reason")


def _failure(ended: dict[str, Any], limits: Limits) -> ParseError:
    """How a child ended that did not finish."""
    end, code = ended.get("end"), ended.get("code")
    if end == "too much":
        return ParseError(Status.TOO_LARGE, f"more than {limits.result:,} bytes of results")
    if end == "timeout":
        return ParseError(Status.PARSE_TIMEOUT, f"more than {limits.wall:g} s")
    if sys.platform != "win32" and code in (-signal.SIGXCPU, -signal.SIGKILL):
        # The kernel kills at the hard CPU limit; an out-of-memory kill looks the same and is rarer under RLIMIT_AS.
        return ParseError(Status.PARSE_TIMEOUT, f"more than {limits.cpu} s of CPU")
    if isinstance(code, int) and code < 0:
        return ParseError(Status.PARSE_SIGNAL, f"the parser was ended by {_signal_name(-code)}")
    return ParseError(Status.PARSE_ERROR, f"the parser ended without a result (exit code {code})")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
