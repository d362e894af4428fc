"""`lineage doctor`: what would be used and why, found out by looking and without sending anything."""

from __future__ import annotations

import os
import platform
import shutil
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from lineage import generation as layout
from lineage import registry
from lineage.errors import LineageError
from lineage.settings import Settings, config_file

_PACKAGES = (
    *("paper-lineage", "semanticscholar", "arxiv", "pymupdf", "faiss-cpu"),
    *("onnxruntime", "tokenizers", "sentence-transformers", "torch", "openai"),
)


def examine(settings: Settings) -> dict[str, dict[str, Any]]:
    """Sections of (name, finding): store, embedder, upstreams, settings, versions."""
    return {
        "store": _store(settings.home),
        "embedder": _embedder(settings),
        "upstreams": _upstreams(settings),
        "settings": {name: _shown(value) for name, value in settings.model_dump().items()} | {"config file": _config()},
        "versions": {"python": platform.python_version(), "platform": platform.platform()} | {name: _version(name) for name in _PACKAGES},
    }


def _store(home: Path) -> dict[str, Any]:
    there = next(path for path in (home, *home.absolute().parents) if path.exists())
    free = shutil.disk_usage(there).free
    lineages = layout.names(home)
    writable = os.access(there, os.W_OK)
    return {"home": home, "writable": writable, "free": f"{free / 1e9:.1f} GB", "lineages": ", ".join(lineages) or "none yet"}


def _embedder(settings: Settings) -> dict[str, Any]:
    name, _, model = settings.embedder.partition(":")
    known = ", ".join(registry.names("embedders"))
    try:
        made = registry.load("embedders", name)(model, settings, None)
    except LineageError as error:
        return {"chosen": settings.embedder, "usable": f"no: {error}", "hint": error.hint, "known": known}
    return {"chosen": settings.embedder, "id": made.id, "dimensions": made.dim, "usable": "yes", "known": known}


def _upstreams(settings: Settings) -> dict[str, Any]:
    return {
        "mode": "offline" if settings.offline else f"through {settings.mirror}" if settings.mirror else "direct",
        "semantic scholar": "with key, 1 request/s" if settings.s2_api_key.get_secret_value() else "without key, 1 request/3 s",
        "github": "with token, 5,000 requests/h" if settings.github_token.get_secret_value() else "without token, 60 requests/h",
        "arxiv": "1 request/3 s, one connection",
    }


def _shown(value: Any) -> Any:
    secret = getattr(value, "get_secret_value", None)
    return ("set" if secret() else "not set") if secret else value


def _config() -> str:
    path = config_file()
    return f"{path} ({'read' if path.exists() else 'not there'})"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
