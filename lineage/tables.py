"""Tables of words and weights that a package ships under `data/`."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def packaged(name: str, package: str = "lineage") -> Any:
    """The value of `data/NAME.json`, which nobody changes."""
    return json.loads(files(package).joinpath(f"data/{name}.json").read_text("utf-8"))
