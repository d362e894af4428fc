"""Tables of words and weights: those that a package ships under `data/`, and a user's own of the same form."""

from __future__ import annotations

import hashlib
import json
import logging
from base64 import urlsafe_b64encode
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
MAX_BYTES = 4 * 1024 * 1024
REINSTALL = "install paper-lineage again; answers may depend on it"


@cache
def packaged(name: str, package: str = "lineage") -> Any:
    """The value of `data/NAME.json`; one that was altered since it was installed is told on standard error."""
    path = Path(str(files(package).joinpath(f"data/{name}.json")))
    if is_altered(path):
        logging.getLogger(__name__).warning("%s is not the table that was installed: %s", path, REINSTALL)
    return json.loads(path.read_text("utf-8"))


@cache
def _recorded() -> dict[Path, str]:
    try:
        recorded = distribution("paper-lineage").files or ()
    except PackageNotFoundError:
        return {}
    return {Path(str(file.locate())).resolve(): file.hash.value for file in recorded if file.suffix == ".json" and file.hash}


def is_altered(path: Path) -> bool:
    """Whether a packaged table differs from what the installation recorded, which a source tree does not."""
    recorded = _recorded().get(path.resolve())
    return bool(recorded) and urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).decode().rstrip("=") != recorded


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
