"""Tables of words and weights: those that a package ships under `data/`, and a user's own of the same form."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
MAX_BYTES = 4 * 1024 * 1024


@cache
def packaged(name: str, package: str = "lineage") -> Any:
    """The value of `data/NAME.json`, which nobody changes."""
    return json.loads(files(package).joinpath(f"data/{name}.json").read_text("utf-8"))


def own(setting: str, path: Path, read: Callable[[Any], T], form: str) -> T:
    """What `read` makes of the JSON in a user's file; raises `SettingsError` with the `form` that it should have."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ValueError(f"more than {MAX_BYTES:,} bytes")
        return read(json.loads(data))
    except (OSError, ValueError, RecursionError) as error:
        from lineage.errors import SettingsError

        raise SettingsError(f"setting {setting}: {path} cannot be read: {error}", hint=form) from error
