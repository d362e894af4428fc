"""Frames between the two processes: whole ones come through, anything else is a `BrokenFrame`."""

from __future__ import annotations

import io

import pytest

from indexer.sandbox.guards import BrokenFrame, frame, read_frame


def read(data: bytes) -> tuple[dict[str, object], bytes] | None:
    found = read_frame(io.BytesIO(data).read)
    return (found[0], bytes(found[1])) if found else None


def test_a_header_and_its_parts_come_through() -> None:
    assert read(b"".join(frame({"files": [["a", 2]]}, [b"xy", b"z"]))) == ({"files": [["a", 2]]}, b"xyz")


def test_the_end_of_the_pipe_is_none() -> None:
    assert read(b"") is None


@pytest.mark.parametrize(
    "data", [b"\0", b"\xff" * 8, b"\0\0\0\5\0\0\0\2ab", b"\0\0\0\2\0\0\0\2{]", b"\0\0\0\2\0\0\0\2[]", b"".join(frame({"a": 1}, [b"xyz"]))[:-1]]
)
def test_what_is_short_or_malformed_is_broken(data: bytes) -> None:
    with pytest.raises(BrokenFrame):
        read(data)
