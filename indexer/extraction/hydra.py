"""Defaults lists of hydra configurations: which files a file is composed of, and circles among them.

Only followed to say what is wrong with them; every file's facts are read from the file itself, so a circle costs
nothing but a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import PurePosixPath

from lineage.records import Document, WorkId

_DEFAULTS = re.compile(r"^defaults:[ \t]*(\[[^\]\n]{0,400}\])?[ \t]*(?:\n((?:[ \t]*(?:- [^\n]{0,200}|#[^\n]*)?(?:\n|\Z)){1,100}))?", re.MULTILINE)
_MOST_FILES = 2_000
_MOST_NOTES = 5


def circles(documents: Iterable[Document]) -> Iterator[str]:
    """A note for each circle of defaults among the YAML files of a repository, five at most each."""
    by_work: dict[WorkId, dict[str, str]] = {}
    for document in documents:
        if document.language == "yaml" and "defaults:" in document.text:
            by_work.setdefault(document.work, {})[document.path] = document.text
    for work, files in by_work.items():
        circular = _circles(files) if len(files) <= _MOST_FILES else iter(())
        for circle in islice(circular, _MOST_NOTES):
            yield f"{work}: circular defaults, {' → '.join(circle)}; each file is read by itself"


def _circles(files: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    edges = {path: tuple(_named(path, text, files)) for path, text in files.items()}
    done: set[str] = set()
    for start in sorted(edges):
        if start not in done and (circle := _circle(start, edges, done)):
            yield circle


def _named(path: str, text: str, files: Mapping[str, str]) -> Iterator[str]:
    """The files that a defaults list names: `- optimizer: adam` is `optimizer/adam.yaml` beside it, `- base` is `base.yaml`."""
    folder = PurePosixPath(path).parent
    for group, name in _entries(text):
        place = PurePosixPath(group.removeprefix("override ").partition("@")[0].strip("/ ")) / f"{name.strip('/')}.yaml"
        file = str(folder / place)
        if file in files:
            yield file


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """(group, name) of the items of a top-level `defaults:`, in a block or in brackets."""
    match = _DEFAULTS.search(text)
    if not match:
        return
    items = match[1].strip("[] ").split(",") if match[1] else [line.strip().removeprefix("- ") for line in (match[2] or "").split("\n")]
    for item in items:
        group, _, name = item.partition("#")[0].rpartition(":")
        if name.strip():
            yield group.strip("'\" "), name.strip("'\" ")


def _circle(start: str, edges: Mapping[str, tuple[str, ...]], done: set[str]) -> tuple[str, ...]:
    """The first circle that is met from a file on, () for none; without recursion, each file once."""
    trail: list[str] = []
    stack: list[tuple[str, int]] = [(start, 0)]
    while stack:
        path, depth = stack.pop()
        del trail[depth:]
        if path in trail:
            done.update(trail)
            return (*trail[trail.index(path) :], path)
        if path in done:
            continue
        trail.append(path)
        waiting = [(other, depth + 1) for other in edges[path] if other not in done or other in trail]
        stack.extend(reversed(waiting))
        if not waiting:
            done.add(path)
    done.update(trail)
    return ()
