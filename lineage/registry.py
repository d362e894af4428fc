"""Plugins by name: `name -> "module:factory"`, imported when asked for.

Built-in plugins stand in the tables below; third parties add to them with entry points of the group
`lineage.<kind>`. Nothing is imported to list names, so start-up does not pay for what is not used.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from lineage.errors import SettingsError

BUILT_IN: dict[str, dict[str, str]] = {
    "embedders": {
        "packaged": "indexer.embedders.packaged:create",
        "sentence-transformers": "indexer.embedders.sentence_transformers:create",
        "openai": "indexer.embedders.openai:create",
        "static": "indexer.embedders.static:create",
    },
    "parsers": {
        "code": "indexer.parsers.code.parser:parse",
        "config": "indexer.parsers.config:parse",
        "html": "indexer.parsers.html.parser:parse",
        "latex": "indexer.parsers.latex.parser:parse",
        "member": "indexer.parsers.member:parse",
        "notebook": "indexer.parsers.notebook:parse",
        "pdf": "indexer.parsers.pdf.parser:parse",
        "plain": "indexer.parsers.plain:parse",
    },
    "vectors": {
        "faiss": "indexer.vectors.faiss:create",
        "flat": "indexer.vectors.flat:create",
    },
    "rerankers": {
        "cross-encoder": "retrieval.rerankers.cross_encoder:create",
        "llm": "retrieval.rerankers.chat:create",
    },
}


def names(kind: str) -> tuple[str, ...]:
    """Every known plugin of a kind, sorted."""
    return tuple(sorted({*BUILT_IN[kind], *(point.name for point in entry_points(group=f"lineage.{kind}"))}))


def load(kind: str, name: str) -> Callable[..., Any]:
    """The factory of a plugin; raises `SettingsError` with the known names, or with what to install."""
    where = BUILT_IN[kind].get(name) or next((point.value for point in entry_points(group=f"lineage.{kind}") if point.name == name), "")
    if not where:
        raise SettingsError(f"no {kind.removesuffix('s')} is called {name!r}", hint="known: " + ", ".join(names(kind)))
    module, _, factory = where.partition(":")
    try:
        plugin_factory: Callable[..., Any] = getattr(import_module(module), factory)
    except ImportError as error:
        raise SettingsError(f"{name} needs a package that is not installed: {error.name}", hint=f"pip install {error.name}") from error
    return plugin_factory
