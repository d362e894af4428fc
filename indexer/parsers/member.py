"""Any file of a repository to a `Document`: the parser that `select` names, imported by that name."""

from __future__ import annotations

from collections.abc import Iterable

from indexer.parsers.code.grammars import warm
from indexer.parsers.code.languages import language_of, languages
from indexer.parsers.select import select
from lineage import registry
from lineage.errors import ParseError
from lineage.records import Document, WorkId

PARSERS = ("code", "notebook", "config", "plain")


def parse(path: str, data: bytes, work: WorkId, blob: str) -> Document:
    """The document of one file; raises `ParseError` with the reason of `select` where no parser reads it."""
    choice = select(path, data)
    if not choice.parser:
        raise ParseError(choice.status, choice.detail)
    document: Document = registry.load("parsers", choice.parser)(path, data, work, blob)
    return document


def prepare(paths: Iterable[str]) -> None:
    """Load the parsers and the grammars that these files need, while grammars may still be unpacked."""
    for name in (*PARSERS, *registry.installed("parsers")):
        registry.load("parsers", name)
    used = {language_of(path) for path in paths} | {"python", "bash"}
    warm(*(languages()[language].grammar for language in sorted(used) if language in languages()))
