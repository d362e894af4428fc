"""A parser taken over by its input: what a file says is tried from inside the sandbox, and the outcome told."""

from __future__ import annotations

import ctypes
import importlib
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from lineage.errors import ParseError
from lineage.records import Document, Status, WorkId


def parse(first: str | Mapping[str, bytes], *rest: object) -> Document:
    """Act on the content of the one file; a refusal of the system becomes the document's text."""
    act = (next(iter(first.values())) if isinstance(first, Mapping) else rest[0]).decode()  # type: ignore[attr-defined]
    name, _, argument = act.partition(" ")
    try:
        said = ACTS[name](argument)
    except OSError as error:
        said = f"denied: {type(error).__name__}"
    return Document(WorkId("forged"), "forged", said or "", (), "hostile@1", "docs", blob="forged")


def _spin(_: str) -> None:
    while True:
        pass


def _recurse(_: str) -> None:
    _recurse(_)


def _say(said: str) -> str:
    return said


def _connect(port: str) -> str:
    with socket.create_connection(("127.0.0.1", int(port)), timeout=2):
        return "connected"


def _refuse(said: str) -> None:
    raise ParseError(Status.ENCRYPTED, said)


def _in_a_thread(_: str) -> str:
    said: list[str] = []
    thread = threading.Thread(target=lambda: said.append("a thread ran"))
    thread.start()
    thread.join()
    return said[0]


def _fork(_: str) -> str:
    return str(os.fork())


def _flood(size: str) -> str:
    return "x" * int(size)


def _loads(module: str) -> str:
    try:
        return str(importlib.import_module(module))
    except ImportError:
        return "not to be had"


ACTS: dict[str, Callable[[str], str | None]] = {
    "say": _say,
    "loads": _loads,
    "connect": _connect,
    "udp": lambda _: str(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)),
    "write": lambda path: str(Path(path).write_text("owned")),
    "append": lambda path: str(os.open(path, os.O_WRONLY | os.O_APPEND)),
    "remove": lambda path: Path(path).unlink(),
    "read": lambda path: Path(path).read_text(),
    "fork": _fork,
    "exec": lambda _: os.execv(sys.executable, [sys.executable, "-c", "0"]),
    "kill": lambda _: os.kill(os.getppid(), 9),
    "trace": lambda _: "traced" if ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) == 0 else "denied: ptrace",
    "alloc": lambda size: str(len(bytearray(int(size)))),
    "sleep": lambda seconds: time.sleep(float(seconds)),
    "spin": _spin,
    "crash": lambda _: str(ctypes.string_at(1)),
    "exit": lambda code: os._exit(int(code)),
    "recurse": _recurse,
    "flood": _flood,
    "refuse": _refuse,
    "thread": _in_a_thread,
    "environment": lambda _: " ".join(os.environ) + " ".join(os.environ.values()),
    "bug": lambda key: {}[key],
}
