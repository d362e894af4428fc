"""Frames between the process that asks and the child that parses: a length, a JSON header, raw bytes.

Nothing here trusts the other side: lengths are bounded, and what is short or malformed raises `BrokenFrame`.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from typing import Any

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
