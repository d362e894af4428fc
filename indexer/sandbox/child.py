"""The process in which files of strangers are parsed: `python -m indexer.sandbox.child`.

It is a zygote: a fresh interpreter without threads that loads parsers once and forks for every job, so that a job costs
milliseconds, sees only its own input, and can be killed. It never looks at what a job's child writes; the asking
process checks that. Where there is no `fork` to rely on (macOS, Windows) it does one job itself and ends.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import sysconfig
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from indexer import units
from indexer.parsers import stored
from indexer.parsers.stored import document_to_json
from indexer.read_document import Wanted
from indexer.sandbox.guards import BrokenFrame, confine, frame, limit, read_frame
from lineage import registry
from lineage.errors import ParseError, SettingsError
from lineage.records import Document, Status, WorkId

FORKS = sys.platform == "linux"
_NEEDS = {"pdf": ("pymupdf",)}
_SPARED = "pymupdf.layout"
"""PyMuPDF 2 loads a model of page layouts when it is imported, which no parser asks for: .8 s of processor time and 56 MB a child."""
_FAILURES = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, AssertionError, OSError, RuntimeError, ImportError)
Job = dict[str, Any]


def main() -> None:
    """Serve jobs from standard input until it closes."""
    request_fd, reply_fd = os.dup(0), os.dup(1)
    _silence()
    if sys.platform == "win32":
        import msvcrt

        for fd in (request_fd, reply_fd):
            msvcrt.setmode(fd, os.O_BINARY)
    stored.prepare()
    sys.modules[_SPARED] = None  # type: ignore[assignment]  # an import of it fails, as where it is not installed
    _write(reply_fd, frame({"ready": True}))
    try:
        while job := read_frame(lambda n: os.read(request_fd, n)):
            header, body = job
            if missing := _prepare(header):
                _write(reply_fd, frame({"end": "closed", "code": 0}, [missing]))
                continue
            if not FORKS:
                _alone(header, body, reply_fd)
                return
            _write(reply_fd, _supervised(header, body, request_fd))
    except (BrokenFrame, BrokenPipeError):
        return


def _silence() -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)


def _prepare(job: Job) -> bytes:
    """Load what the job needs while files may still be read and written; a line of results if that cannot be had."""
    try:
        for module in _NEEDS.get(job["parser"], ()):
            import_module(module)
        prepare = getattr(_parser(job), "prepare", None)
    except (ImportError, SettingsError) as error:
        return f"E{Status.PARSE_ERROR} no parser {job['parser']}: {error}\n".encode() * (len(job["files"]) if job["each"] else 1)
    if prepare:
        prepare([name for name, _ in job["files"]])
    if job["wanted"]:
        units.prepare(job["wanted"]["ontology"])
    return b""


def _parser(job: Job) -> ModuleType:
    """The module of a parser: a registered one by its short name, or any other by its full name."""
    name: str = job["parser"]
    return import_module(name if "." in name else registry.module_of("parsers", name))


def _supervised(job: Job, body: memoryview, asked: int) -> list[bytes]:
    """Fork, gather what the child writes within its limits, kill what is left of it, and say how it ended."""
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            os.dup2(into, 3)
            os.closerange(4, 4096)
            _work(job, body, 3)
            os._exit(0)
        finally:
            os._exit(70)
    os.close(into)
    data, end = _gather(out, asked, job["wall"], job["most"])
    os.close(out)
    return frame(_ended(pid, end), [data])


def _gather(out: int, asked: int, wall: float, most: int) -> tuple[bytes, str]:
    """Read the pipe until it closes, time runs out, the limit is reached or the caller gives up."""
    deadline = time.monotonic() + wall
    data = bytearray()
    poll = select.poll()
    poll.register(out, select.POLLIN)
    poll.register(asked, 0)
    while (left := deadline - time.monotonic()) > 0:
        for fd, _ in poll.poll(left * 1000):
            if fd == asked:
                return b"", "abandoned"
            block = os.read(out, 1 << 20)
            data += block
            if not block:
                return bytes(data), "closed"
            if len(data) > most:
                return bytes(data), "too much"
    return bytes(data), "timeout"


def _ended(pid: int, end: str) -> dict[str, Any]:
    """Reap the child and whatever it started; its exit code or signal, and its seconds of processor time."""
    if end == "closed" and not _exits(pid, 0.5):
        end = "timeout"
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    _, status, usage = os.wait4(pid, 0)
    return {"end": end, "code": os.waitstatus_to_exitcode(status), "cpu": usage.ru_utime + usage.ru_stime}


def _exits(pid: int, seconds: float) -> bool:
    """Whether a child that closed its pipe ends by itself."""
    handle = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    done = bool(poll.poll(seconds * 1000))
    os.close(handle)
    return done


def _alone(job: Job, body: memoryview, out: int) -> None:
    """One job in this very process; the pipe to the asker takes the place of the child's."""
    lines = b"".join(_lines(job, body, limit(job["cpu"], job["memory"])))
    _write(out, frame({"end": "closed", "code": 0}, [lines[: job["most"]]]))


def _work(job: Job, body: memoryview, into: int) -> None:
    active_limits = confine(_readable())
    active_limits = limit(job["cpu"], job["memory"]) + active_limits
    for line in _lines(job, body, active_limits):
        _write(into, [line])


def _readable() -> list[Path]:
    """Where Python's modules and the system's libraries lie."""
    paths = {*map(Path, filter(None, sys.path)), *map(Path, sysconfig.get_paths().values()), Path(sys.prefix), Path(sys.base_prefix)}
    system = map(Path, ("/usr/lib", "/usr/lib64", "/usr/share", "/usr/local/lib", "/lib", "/lib64", "/etc/ld.so.cache", "/dev/null", "/dev/urandom"))
    return [*(path for path in paths if path != Path("/")), *system]


def _lines(job: Job, body: memoryview, guards: list[str]) -> Iterator[bytes]:
    """One line a result: `G` guards, `D` a document, `E` status and message of a file that could not be read."""
    yield b"G" + ";".join(guards).encode() + b"\n"
    at = 0
    files: list[tuple[str, bytes]] = []
    for name, size in job["files"]:
        files.append((name, bytes(body[at : at + size])))
        at += size
    wanted = Wanted(**job["wanted"]) if job["wanted"] else None
    for group in [[item] for item in files] if job["each"] else [files]:
        yield _line(job, group, wanted)


def _line(job: Job, files: list[tuple[str, bytes]], wanted: Wanted | None) -> bytes:
    try:
        document = _parsed(job, files)
        return b"D" + document_to_json(units.read(document, wanted) if wanted else document) + b"\n"
    except ParseError as error:
        status, words = error.status, str(error)
    except RecursionError:
        status, words = Status.PARSE_ERROR, "nested too deeply"
    except MemoryError:
        status, words = Status.PARSE_OOM, "more memory was asked for than is allowed"
    except _FAILURES as error:
        status, words = Status.PARSE_ERROR, f"the parser failed ({type(error).__name__}: {str(error)[:200]})"
    return f"E{status} {words}".replace("\n", " ").encode("utf-8", "replace") + b"\n"


def _parsed(job: Job, files: list[tuple[str, bytes]]) -> Document:
    work, blob, parser = WorkId(job["work"]), job["blob"], _parser(job)
    if not job["each"]:
        return parser.parse(dict(files), work, blob)  # type: ignore[no-any-return]
    ((path, data),) = files
    return parser.parse(path, data, work, blob)  # type: ignore[no-any-return]


def _write(fd: int, parts: list[bytes]) -> None:
    for part in parts:
        view = memoryview(part)
        while view:
            view = view[os.write(fd, view) :]


if __name__ == "__main__":
    main()
