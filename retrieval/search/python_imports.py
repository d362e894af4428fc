"""Which Python files a program loads when it starts: the imports at the level of modules, followed from file to file. Pure.

An import inside a function is not followed: what only an option of a program loads is no part of every run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

_LINE = re.compile(r"^(?:(?P<block>[^\s#)\]}\"'@][^\n]{0,400})|[ \t]{1,40}(?P<inner>(?:from|import)[ \t][^\n]{0,400}))", re.MULTILINE)
_FROM = re.compile(r"from[ \t]{1,9}(\.{0,9})([\w.]{0,200})[ \t]{1,9}import[ \t]{1,9}([^\n#]{0,400})")
_NAME = re.compile(r"(\.{0,9})([A-Za-z_][\w.]{0,200})")
_AS = re.compile(r"\bas[ \t]{1,9}\w{1,100}")
_WORD = re.compile(r"[A-Za-z_]\w{0,100}")
_GUARDS = ("try", "except", "else", "finally", "if", "elif", "with")
_LISTED = re.compile(r"^from[ \t]{1,9}(\.{0,9}[\w.]{0,200})[ \t]{1,9}import[ \t]{0,9}\(([^()]{0,4000})\)", re.MULTILINE)


def reached(paths: Iterable[str], text: Callable[[str], str], programs: Iterable[str]) -> frozenset[str]:
    """The files that programs load, themselves included: what their modules import, at whatever distance."""
    known = frozenset(path for path in paths if path.endswith(".py"))
    modules, todo = set[str](), [path for path in programs if path in known]
    while todo:
        path = todo.pop()
        if path not in modules:
            modules.add(path)
            todo += [other for other in _loaded(path, text(path), known) if other not in modules]
    return frozenset(modules)


def _loaded(path: str, text: str, known: frozenset[str]) -> Iterator[str]:
    """The files of the same repository that a file loads: modules, and the packages on the way to them."""
    for dots, name in imported(text):
        yield from _files(path, dots, tuple(filter(None, name.split("."))), known)


def imported(text: str) -> frozenset[tuple[int, str]]:
    """(dots, name) of each import at the level of the module, in a `try` or an `if` too; what is imported from a package may be a module."""
    modules = set[tuple[int, str]]()
    guarded = False
    for line in _LINE.finditer(text):
        if line["block"]:
            guarded = line["block"].startswith(_GUARDS)
        if line["block"] or guarded:
            modules |= set(_said(line["block"] or line["inner"]))
    for listed in _LISTED.finditer(text):
        modules |= set(_said(f"from {listed[1]} import {' '.join(listed[2].split())}"))
    return frozenset(modules)


def _said(line: str) -> Iterator[tuple[int, str]]:
    if match := _FROM.match(line):
        yield len(match[1]), match[2]
        yield from ((len(match[1]), f"{match[2]}.{name}".lstrip(".")) for name in _WORD.findall(_AS.sub("", match[3])))
    elif line.startswith("import "):
        yield from ((0, name[2]) for name in _NAME.finditer(_AS.sub("", line.partition("#")[0][7:])))


def _files(path: str, dots: int, name: tuple[str, ...], known: frozenset[str]) -> Iterator[str]:
    """The files of a dotted name, looked for from the nearest folder on: nobody says where a program is started."""
    folders = tuple(path.split("/")[:-1])
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
