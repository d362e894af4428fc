"""The one place that loads a tree-sitter grammar.

semble-grammars carries its grammars in the wheel and unpacks each one, hash-checked, into the user's cache folder when
it is first asked for. Where that folder cannot be written the caller falls back to cutting by lines, and says so.
"""

from __future__ import annotations

import time
from functools import cache

from tree_sitter import Language, Parser, Tree

from lineage.registry import load_object

SECONDS = 5.0
"""Time for one tree; honest files of a megabyte take one second, some hostile ones make a grammar quadratic."""

_BLOCK = 65536


@cache
def get_parser(grammar: str) -> Parser | None:
    """The parser of a grammar, or None if it is not to be had on this machine."""
    if not grammar:
        return None
    if ":" in grammar:
        return Parser(Language(load_object(grammar, f"the grammar {grammar}")()))
    import semble_grammars

    try:
        parser: Parser = semble_grammars.get_parser(grammar)
    except (semble_grammars.GrammarLoadError, semble_grammars.LanguageNotFoundError, semble_grammars.UnsupportedPlatformError):
        return None
    return parser


def parse(parser: Parser, data: bytes) -> Tree:
    """The tree of a whole file; raises `TimeoutError` where the grammar does not finish in `SECONDS`."""
    deadline = time.monotonic() + SECONDS
    try:
        return parser.parse(lambda offset, _: data[offset : offset + _BLOCK], progress_callback=lambda *_: time.monotonic() > deadline)
    except ValueError as error:
        parser.reset()
        raise TimeoutError(f"the grammar did not finish in {SECONDS:g} s") from error


def warm(*grammars: str) -> None:
    """Load grammars now, while this process may still write the cache."""
    for grammar in grammars:
        get_parser(grammar)
