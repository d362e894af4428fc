"""What the sandbox's child may do, which the kernel enforces (no network, writing or processes), and the frames it speaks in.

Each guard is tried on its own and named if it holds; several overlap, so that a kernel or container that lacks one is
still left with others (RELIABILITY T3). Linux has them all; macOS keeps the resource limits, Windows has none and
relies on the wall clock in the parent.

Sources: landlock(7), seccomp(2), user_namespaces(7), setrlimit(2); syscall numbers from the kernel's tables.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import platform
import struct
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

CPU, MEMORY = "cpu", "memory"
_CLONE_NEWUSER, _CLONE_NEWNET, _CLONE_NEWIPC, _CLONE_THREAD = 0x10000000, 0x40000000, 0x08000000, 0x00010000
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP = 1, 4, 38, 22
_READ = 0b1100
"""LANDLOCK_ACCESS_FS_READ_FILE | READ_DIR."""
_FS_BITS = {1: 13, 2: 14, 3: 15, 4: 15}
_DENIED: dict[str, tuple[int, dict[str, int], tuple[int, ...]]] = {
    "x86_64": (
        0xC000003E,
        {"clone": 56, "clone3": 435, "tgkill": 234},
        (41, 42, 49, 53, 57, 58, 59, 62, 101, 165, 166, 200, 248, 249, 250, 272, 298, 308, 310, 311, 321, 322, 323, 424, 425),
    ),
    "aarch64": (
        0xC00000B7,
        {"clone": 220, "clone3": 435, "tgkill": 131},
        (39, 40, 97, 117, 129, 130, 198, 199, 200, 203, 217, 218, 219, 221, 241, 268, 270, 271, 280, 281, 282, 424, 425),
    ),
}
"""Per machine: audit architecture, numbers looked at more closely, and numbers refused outright: sockets, fork, exec,
kill, ptrace, mount, keys, namespaces, perf, bpf, userfaultfd, other processes' memory, io_uring."""


def limit(cpu_seconds: int, memory: int) -> list[str]:
    """Resource limits for this process: CPU seconds, bytes of address space, no files, no core. Names those that hold."""
    if sys.platform == "win32":
        return []
    import resource

    wanted = {
        CPU: (resource.RLIMIT_CPU, cpu_seconds),
        MEMORY: (resource.RLIMIT_AS, memory),
        "file size": (resource.RLIMIT_FSIZE, 0),
        "open files": (resource.RLIMIT_NOFILE, 64),
        "no core": (resource.RLIMIT_CORE, 0),
        "no processes": (resource.RLIMIT_NPROC, 0),
    }
    active_limits: list[str] = []
    for name, (kind, value) in wanted.items():
        try:
            resource.setrlimit(kind, (value, value))
            active_limits.append(name)
        except (ValueError, OSError):
            continue
    return active_limits


def confine(readable: Iterable[Path]) -> list[str]:
    """Cut this process off from network, other processes and the file system outside `readable`. Names what holds.

    Linux only, and for good: none of it can be undone. The process must have one thread.
    """
    if sys.platform != "linux":
        return []
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    active_limits = ["network namespace"] if _own_namespaces(libc) else []
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        active_limits += ["landlock"] if _landlock(libc, readable) else []
        active_limits += ["seccomp"] if _seccomp(libc) else []
    return active_limits


def _own_namespaces(libc: ctypes.CDLL) -> bool:
    flags = _CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWIPC
    return bool(libc.unshare(flags) == 0)


def _landlock(libc: ctypes.CDLL, readable: Iterable[Path]) -> bool:
    """Reading below `readable` and nothing else; TCP and signals to others as well where the kernel knows them."""
    version = libc.syscall(444, None, 0, 1)
    if version < 1:
        return False
    handled = struct.pack("QQQ", (1 << _FS_BITS.get(version, 16)) - 1, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = libc.syscall(444, ctypes.c_char_p(handled), size, 0)
    if rules < 0:
        return False
    for path in readable:
        _allow(libc, rules, path)
    is_enforced = libc.syscall(446, rules, 0) == 0
    os.close(rules)
    return bool(is_enforced)


def _allow(libc: ctypes.CDLL, rules: int, path: Path) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        return
    rights = _READ if path.is_dir() else _READ & 0b100
    libc.syscall(445, rules, 1, ctypes.c_char_p(struct.pack("=Qi", rights, fd)), 0)
    os.close(fd)


def _seccomp(libc: ctypes.CDLL) -> bool:
    """A filter that lets no socket, process, signal or namespace be made; threads of this process may be."""
    denied_calls = _DENIED.get(platform.machine())
    if denied_calls is None:
        return False
    code = b"".join(_program(*denied_calls))
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(buffer))
    return bool(libc.prctl(_PR_SET_SECCOMP, 2, ctypes.c_char_p(program), 0, 0) == 0)


def _program(architecture: int, special: dict[str, int], denied: tuple[int, ...]) -> Iterable[bytes]:
    """BPF for the filter; offsets 0, 4 and 16 of seccomp_data are number, architecture and first argument."""
    yield from (_load(4), _jump(0x15, architecture, 1, 0), _refuse(errno.EPERM), _load(0))
    yield from (_jump(0x35, 0x40000000, 0, 1), _refuse(errno.EPERM))
    for number in denied:
        yield from (_jump(0x15, number, 0, 1), _refuse(errno.EPERM))
    yield from (_jump(0x15, special["clone3"], 0, 1), _refuse(errno.ENOSYS))
    yield from (_jump(0x15, special["tgkill"], 0, 3), _load(16), _jump(0x15, os.getpid(), 1, 0), _refuse(errno.EPERM), _load(0))
    yield from (_jump(0x15, special["clone"], 0, 3), _load(16), _jump(0x45, _CLONE_THREAD, 1, 0), _refuse(errno.EPERM))
    yield struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000)


def _load(offset: int) -> bytes:
    return struct.pack("HBBI", 0x20, 0, 0, offset)


def _jump(code: int, value: int, then: int, otherwise: int) -> bytes:
    return struct.pack("HBBI", code, then, otherwise, value)


def _refuse(number: int) -> bytes:
    return struct.pack("HBBI", 0x06, 0, 0, 0x00050000 | number)


MOST = 1 << 30
_LENGTHS = struct.Struct(">II")
"""Bytes of the header, bytes of the whole."""


class BrokenFrame(Exception):
    """The other side is gone, or speaks nonsense."""


def frame(header: dict[str, Any], parts: Sequence[bytes] = ()) -> list[bytes]:
    """The buffers to write, in order, for a header and the parts it describes."""
    text = json.dumps(header).encode()
    return [_LENGTHS.pack(len(text), len(text) + sum(map(len, parts))), text, *parts]


def read_frame(read: Callable[[int], bytes]) -> tuple[dict[str, Any], memoryview] | None:
    """Header and body of the next frame from a blocking `read(n)`, None at a clean end; raises `BrokenFrame`."""
    start = _exactly(read, _LENGTHS.size, at_start=True)
    if not start:
        return None
    header_size, size = _LENGTHS.unpack(start)
    if not header_size <= size <= MOST:
        raise BrokenFrame("impossible lengths")
    try:
        header = json.loads(_exactly(read, header_size))
    except ValueError as error:
        raise BrokenFrame("the header is no JSON") from error
    if not isinstance(header, dict):
        raise BrokenFrame("the header is no object")
    return header, memoryview(_exactly(read, size - header_size))


def _exactly(read: Callable[[int], bytes], size: int, *, at_start: bool = False) -> bytes:
    parts: list[bytes] = []
    left = size
    while left:
        block = read(min(left, 1 << 20))
        if not block:
            if at_start and left == size:
                return b""
            raise BrokenFrame("ended inside a frame")
        parts.append(block)
        left -= len(block)
    return b"".join(parts)
