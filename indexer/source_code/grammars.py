"""The one place that loads a tree-sitter grammar.

semble-grammars carries its grammars in the wheel and unpacks each one, hash-checked, into the user's cache folder when
it is first asked for. Where that folder cannot be written the caller falls back to cutting by lines, and says so.
"""

from __future__ import annotations

from functools import cache

from tree_sitter import Parser


@cache
def get_parser(grammar: str) -> Parser | None:
    """The parser of a grammar, or None if it is not to be had on this machine."""
    if not grammar:
        return None
    import semble_grammars

    try:
        parser: Parser = semble_grammars.get_parser(grammar)
    except (semble_grammars.GrammarLoadError, semble_grammars.LanguageNotFoundError, semble_grammars.UnsupportedPlatformError):
        return None
    return parser


def warm(*grammars: str) -> None:
    """Load grammars now, while this process may still write the cache."""
    for grammar in grammars:
        get_parser(grammar)
