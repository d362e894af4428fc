"""Plugins by name: `name -> "module:object"`, imported when asked for.

Built-in plugins stand in the tables below; other packages add to them with entry points of the group `lineage.<kind>`
(`CONTRIBUTING.md` has a recipe for each kind). Nothing is imported to list names, so start-up does not pay for what is not used.
A built-in name cannot be taken over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
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
        "latex": "indexer.parsers.latex.parser:parse",
        "member": "indexer.parsers.select:parse",
        "notebook": "indexer.parsers.notebook:parse",
        "pdf": "indexer.parsers.pdf.parser:parse",
        "plain": "indexer.parsers.plain:parse",
    },
    "languages": {},
    "renderers": {
        "dot": "lineage.graph.exports:dot",
        "graphml": "lineage.graph.exports:graphml",
        "html": "lineage.graph.exports:html",
        "json": "lineage.graph.exports:as_json",
        "svg": "lineage.graph.exports:svg",
    },
    "sources": {
        "crossref": "indexer.sources.crossref:Crossref",
        "openalex": "indexer.sources.openalex:OpenAlex",
    },
    "vectors": {
        "faiss": "indexer.vectors.faiss:create",
        "flat": "indexer.vectors.flat:create",
        "pgvector": "indexer.vectors.pgvector:create",
    },
    "rerankers": {
        "cross-encoder": "retrieval.rerankers.cross_encoder:create",
    },
}


@cache
def installed(kind: str) -> dict[str, str]:
    """The plugins of a kind that other installed packages register."""
    return {point.name: point.value for point in entry_points(group=f"lineage.{kind}") if point.name not in BUILT_IN[kind]}


def names(kind: str) -> tuple[str, ...]:
    """Every known plugin of a kind, sorted."""
    return tuple(sorted({*BUILT_IN[kind], *installed(kind)}))


def load(kind: str, name: str) -> Callable[..., Any]:
    """The factory of a plugin; raises `SettingsError` with the known names, or with what to install."""
    plugin: Callable[..., Any] = load_object(_address(kind, name), name)
    return plugin


def load_installed(kind: str) -> Iterator[tuple[str, Any]]:
    """(name, object) of every plugin of a kind that another package registers; raises `SettingsError` for one that cannot be imported."""
    for name, address in installed(kind).items():
        yield name, load_object(address, name)


def module_of(kind: str, name: str) -> str:
    """The module of a plugin; raises `SettingsError`."""
    return _address(kind, name).partition(":")[0]


def load_object(address: str, name: str) -> Any:
    """Import `module:object`; raises `SettingsError` that says which package is missing for `name`."""
    module, _, attribute = address.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except AttributeError:
        raise SettingsError(f"{name} is registered as {address}, which does not exist") from None
    except ImportError as error:
        raise SettingsError(f"{name} needs a package that is not installed: {error.name}", hint=f"pip install {error.name}") from error


def _address(kind: str, name: str) -> str:
    address = BUILT_IN[kind].get(name) or installed(kind).get(name)
    if not address:
        raise SettingsError(f"no {kind.removesuffix('s')} is called {name!r}", hint="known: " + ", ".join(names(kind)))
    return address
