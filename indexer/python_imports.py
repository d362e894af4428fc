"""Which Python files a program loads when it starts: the imports at the level of modules, followed from file to file. Pure.

An import inside a function is not followed: what only an option of a program loads is no part of every run.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable, Iterator

_BLOCKS = (ast.Try, ast.If, ast.With)


def reached(paths: Iterable[str], text: Callable[[str], str], programs: Iterable[str]) -> frozenset[str]:
    """The files that programs load, themselves included: what their modules import, at whatever distance."""
    known = frozenset(path for path in paths if path.endswith(".py"))
    modules, todo = set[str](), [path for path in programs if path in known]
    while todo:
        path = todo.pop()
        if path not in modules:
            modules.add(path)
            todo += [other for dots, name in imported(text(path)) for other in _files(path, dots, name, known) if other not in modules]
    return frozenset(modules)


def imported(text: str) -> frozenset[tuple[int, str]]:
    """(dots, name) of each import at the level of the module, in a `try` or an `if` too; what is imported from a package may be a module."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    return frozenset(name for statement in _statements(tree) for name in _names(statement))


def _statements(module: ast.Module) -> Iterator[ast.stmt]:
    """The statements of a module, those of its blocks too, without functions and classes."""
    todo: list[ast.AST] = [*module.body]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.stmt):
            yield node
        if isinstance(node, (*_BLOCKS, ast.ExceptHandler)):
            todo += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt | ast.ExceptHandler)]


def _names(statement: ast.stmt) -> Iterator[tuple[int, str]]:
    if isinstance(statement, ast.Import):
        yield from ((0, alias.name) for alias in statement.names)
    elif isinstance(statement, ast.ImportFrom):
        module = statement.module or ""
        yield statement.level, module
        yield from ((statement.level, f"{module}.{alias.name}".lstrip(".")) for alias in statement.names)


def _files(path: str, dots: int, dotted: str, known: frozenset[str]) -> Iterator[str]:
    """The files of a dotted name, looked for from the nearest folder on: nobody says where a program is started."""
    folders, name = tuple(path.split("/")[:-1]), tuple(filter(None, dotted.split(".")))
    if dots:
        if dots - 1 <= len(folders):
            yield from _under(folders[: len(folders) - dots + 1], name, known)
        return
    for depth in range(len(folders), -1, -1):
        for base in (folders[:depth], (*folders[:depth], "src")):
            if some := list(_under(base, name, known)):
                yield from some
                return


def _under(base: tuple[str, ...], name: tuple[str, ...], known: frozenset[str]) -> Iterator[str]:
    for end in range(0 if not name else 1, len(name) + 1):
        place = "/".join((*base, *name[:end]))
        yield from (path for path in (f"{place}.py", f"{place}/__init__.py") if path in known)
