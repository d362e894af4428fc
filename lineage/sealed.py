"""Records as JSON values, and JSON files that notice damage: canonical bytes with a SHA-256 over all the rest, the `seal`.

One form for manifests, remembered answers and whatever else a build depends on; a reader either gets the values that
were written or learns that they are not there.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")
_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def adapter(kind: type[T]) -> TypeAdapter[T]:
    """What reads and writes records of a kind as JSON, made once."""
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


class Kept:
    """A dataclass that a catalogue keeps as JSON values."""

    def as_meta(self) -> dict[str, Any]:
        """Its values by field."""
        return dict(adapter(type(self)).dump_python(self, mode="json"))

    @classmethod
    def from_meta(cls, values: Mapping[str, Any]) -> Self:
        """What `as_meta` gave; raises `ValueError` for values of other types."""
        return adapter(cls).validate_python(values)


def sealed(value: Mapping[str, Any], indent: int | None = 1) -> bytes:
    """The file's bytes: the values in order of their names, and the seal over them; without `indent` one line."""
    seal = hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
    return json.dumps({**value, "seal": seal}, indent=indent, sort_keys=True, ensure_ascii=False).encode() + b"\n"


def unsealed(content: bytes, indent: int | None = 1) -> dict[str, Any]:
    """The values that `sealed` wrote with that `indent`; raises `ValueError` for anything else, down to one bit."""
    try:
        value = json.loads(content)
        del value["seal"]
        intact = sealed(value, indent) == content
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("no sealed file") from error
    if not intact:
        raise ValueError("not what was written")
    return value  # type: ignore[no-any-return]


def keep(path: Path, value: Mapping[str, Any]) -> None:
    """Write a sealed file whole or not at all, but not forced to the disk: what a power cut takes counts as absent."""
    part = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        part.write_bytes(sealed(value))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


# -- large files that had their hash when they were last read


def is_known(memory: Path | None, path: Path, about: os.stat_result) -> bool:
    """Whether the file at `path`, of which the system says `about`, had its hash when `memory` was written; no without one."""
    if memory is None:
        return False
    try:
        return bool(unsealed(memory.read_bytes())[str(path)] == _seen(about))
    except (OSError, ValueError, KeyError):
        return False


def remember(memory: Path | None, path: Path, about: os.stat_result) -> None:
    """Write into `memory`, which is of this file alone, that it had its hash."""
    if memory is None:
        return
    with suppress(OSError):
        memory.parent.mkdir(mode=0o700, exist_ok=True)
        keep(memory, {str(path): _seen(about)})


def _seen(about: os.stat_result) -> list[int]:
    return [about.st_ino, about.st_size, about.st_mtime_ns]
