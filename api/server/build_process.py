"""A queued build in a process of its own: of low priority, ended at once when it is told to stop.

What passes between the two is lines of JSON: settings and request one way; events, then a report or an error, the other. The
child ends with its parent, whose end of the pipe closes. A kill loses nothing: what was fetched, parsed and embedded
is kept piece by piece, and a generation is there or is not.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, Protocol

from pydantic import SecretStr, TypeAdapter

from api.wire.encode import to_json
from indexer.plan import BuildReport, BuildRequest
from lineage import errors
from lineage.errors import LineageError
from lineage.progress import Event, Note, Stage, Waiting
from lineage.settings import Settings

if TYPE_CHECKING:
    from api.operations import Service

NICE = 10
LOOK = 0.2
"""Seconds between two looks at whether the build is to stop."""
_EVENTS: dict[str, type[Event]] = {kind.__name__: kind for kind in (Stage, Waiting, Note)}
_DIED = "what was printed says why; without that it was killed (memory, perhaps), and the same build goes on from where it was"


class JobWatch(Protocol):
    """Hears the events of a build; both raise `Cancelled` when the build is to stop."""

    def __call__(self, event: Event) -> None:
        """An event."""

    def check(self) -> None:
        """Nothing new."""


def builder(settings: Settings) -> Callable[[BuildRequest, JobWatch], BuildReport]:
    """Builds with these settings, each in a process of its own; raises what the build raised."""

    def build(request: BuildRequest, watch: JobWatch) -> BuildReport:
        child = _started()
        try:
            asked = {"settings": _plain(settings), "request": request.as_meta()}
            _pipe(child.stdin).write(json.dumps(asked).encode() + b"\n")
            _pipe(child.stdin).flush()
            return _followed(child, watch)
        except BrokenPipeError:
            raise LineageError("the process of the build does not start", hint="`lineage doctor` checks the installation") from None
        finally:
            _end(child)

    return build


def here(service: Service) -> Callable[[BuildRequest, JobWatch], BuildReport]:
    """Builds in this process, for a service of the caller's own making: told to stop, they end at their next event."""
    return lambda request, watch: service.build(request, watch=watch)


def _started() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-m", "api.server.build_process"]
    paths = os.pathsep.join(filter(None, sys.path))
    surroundings = {**os.environ, "PYTHONPATH": paths}
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=surroundings, start_new_session=True)  # noqa: S603 - our own


def _plain(settings: Settings) -> dict[str, Any]:
    """The settings as JSON values, keys included: they go through a pipe to a process of ours and nowhere else."""
    values = settings.model_dump(mode="json")
    secrets = {name: value.get_secret_value() for name in values if isinstance(value := getattr(settings, name), SecretStr)}
    return {**values, **secrets}


def _followed(child: subprocess.Popen[bytes], watch: JobWatch) -> BuildReport:
    """The report, after every event was told."""
    for message in _lines(_pipe(child.stdout), watch.check):
        if "event" in message:
            watch(_EVENTS[message["event"]](**message["values"]))
        elif "error" in message:
            raise _error(message["error"])
        else:
            return TypeAdapter(BuildReport).validate_python(message["report"])
    raise LineageError("the process of the build ended without an answer", hint=_DIED)


def _lines(pipe: IO[bytes], check: Callable[[], None]) -> Iterator[dict[str, Any]]:
    """What the child says, line by line until it ends; `check` is called at least every `LOOK` seconds."""
    arrived: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read() -> None:
        with suppress(OSError, ValueError):  # the pipe of a child that was ended
            for line in pipe:
                arrived.put(line)
        arrived.put(b"")

    threading.Thread(target=read, name="build events", daemon=True).start()
    while True:
        check()
        with suppress(queue.Empty):
            line = arrived.get(timeout=LOOK)
            if not line:
                return
            yield json.loads(line)


def _error(info: dict[str, str]) -> LineageError:
    """An error of the child as one of this process, with its type as far as that is made of words alone."""
    kind = getattr(errors, info["type"], LineageError)
    with suppress(TypeError):
        made = kind(info["message"], hint=info["hint"])
        if isinstance(made, LineageError):
            return made
    return errors.UpstreamError(info["message"], hint=info["hint"]) if info["upstream"] else LineageError(info["message"], hint=info["hint"])


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill the child, if it lives; its sandbox dies with it (the child of a dead parent reads the end of its pipe)."""
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        with suppress(OSError):
            _pipe(pipe).close()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101
    return pipe


def main() -> None:
    """The child: read what is asked, build it, tell what happens; nothing but lines of JSON goes to its standard output."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    if hasattr(os, "nice"):
        os.nice(NICE)
    asked = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    lock = threading.Lock()

    def tell(**message: Any) -> None:
        with lock, suppress(BrokenPipeError):
            out.write(json.dumps(message).encode() + b"\n")
            out.flush()

    try:
        report = _built(asked, lambda event: tell(event=type(event).__name__, values=to_json(event)))
    except LineageError as error:
        upstream = isinstance(error, errors.UpstreamError)
        tell(error={"type": type(error).__name__, "message": str(error), "hint": error.hint, "upstream": upstream})
    else:
        tell(report=TypeAdapter(BuildReport).dump_python(report, mode="json"))
    out.flush()
    os._exit(0)


def _built(asked: dict[str, Any], watch: Callable[[Event], None]) -> BuildReport:
    from api.bootstrap import Parts
    from api.operations import Service
    from lineage.settings import load

    return Service(Parts(load(**asked["settings"]))).build(BuildRequest.from_meta(asked["request"]), watch=watch)


def _leave_with_parent() -> None:
    """End when the parent does: its end of the pipe closes with it."""
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    main()
