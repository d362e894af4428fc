"""Results that notebooks show as HTML, in the way that `api.notebook` registers for their type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

renderers: dict[type, Callable[[Any], str]] = {}


class Rendered:
    """A result that a notebook shows by its renderer; without one it is shown as it prints."""

    def _repr_html_(self) -> str | None:
        render = renderers.get(type(self))
        return render(self) if render else None
