"""The syntax tree of Python that others wrote: parsed in silence, never run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What text raises that this Python cannot parse."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


def module(text: str) -> ast.Module:
    """The tree of a module; raises one of `UNREADABLE`. Warnings about others' escapes and comparisons are not shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def defaults(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    """The parameters that have a default, with it."""
    positional = [*arguments.posonlyargs, *arguments.args]
    yield from zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True)
    yield from ((argument, default) for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is not None)
