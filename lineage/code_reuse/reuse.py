"""Code that repositories of a lineage share word for word: who took what from whom, and what that says. Pure.

Files and definitions are told apart by a hash of their text without its white space, so a pair is never compared and
10^5 definitions take seconds. What occurs in many repositories, or lies in both among third-party packages, says
nothing of either.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lineage.records import Document, Span, WorkId
from lineage.sealed import Kept
from lineage.text.tokens import counted

LINES = 5
"""Lines from which on a definition, or a file, can tell."""
LETTERS = 120
"""Characters besides white space that it must have."""
HOMES = 3
"""Repositories that may hold a text; with more it is common property."""
EXAMPLES = 5
_DEFINITIONS = {"function", "method", "class"}
_VENDORED = frozenset(
    (
        *("third_party", "thirdparty", "third-party", "3rdparty", "vendor", "vendored", "external", "extern", "externals"),
        *("submodules", "site-packages", "node_modules"),
    )
)
_BOILERPLATE = ("license", "setup.py", "setup.cfg", "conftest.py", "versioneer.py", "tox.ini", "requirements", "environment", "pyproject.toml")


@dataclass(frozen=True)
class Shared(Kept):
    """What two repositories have in common: whole files, and definitions outside of them; `examples` are places in `one`."""

    one: WorkId
    other: WorkId
    files: int
    definitions: int
    examples: tuple[str, ...] = ()

    @property
    def weight(self) -> float:
        """How much it is: a file counts as three definitions."""
        return 3.0 * self.files + self.definitions

    def words(self) -> str:
        """`3 files and 12 functions`."""
        parts = [counted(n, thing) for n, thing in ((self.files, "file"), (self.definitions, "function")) if n]
        return " and ".join(parts)


@dataclass(frozen=True)
class _Home:
    """Where a text stands: a file (`symbol` empty) or a definition in characters [start, end) of it."""

    work: WorkId
    path: str
    symbol: str = ""
    start: int = 0
    end: int = 0

    @property
    def vendored(self) -> bool:
        return is_vendored(self.path)


def shared(documents: Iterable[Document]) -> tuple[Shared, ...]:
    """Every pair of works with common code, most in common first."""
    files: dict[bytes, list[_Home]] = defaultdict(list)
    definitions: dict[bytes, list[_Home]] = defaultdict(list)
    for document in documents:
        if document.kind not in {"code", "config"} or is_boilerplate(document.path):
            continue
        if (whole := _mark(document.text)) and has_lines(document.text):
            files[whole].append(_Home(document.work, document.path))
        for key, home in _definitions(document):
            definitions[key].append(home)
    in_files, in_code = _pairs(files), _pairs(definitions)
    shareds = [_shared(pair, in_files.get(pair, []), in_code.get(pair, [])) for pair in sorted({*in_files, *in_code})]
    return tuple(sorted((s for s in shareds if s.files or s.definitions), key=lambda s: (-s.weight, s.one, s.other)))


def is_vendored(path: str) -> bool:
    """Whether a file lies among third-party packages."""
    return any(part.lower() in _VENDORED for part in path.split("/")[:-1])


def is_boilerplate(path: str) -> bool:
    """Whether a file is one that every repository has: a licence, a setup script, hidden configuration."""
    parts = path.lower().split("/")
    return parts[-1].startswith(_BOILERPLATE) or any(part.startswith(".") for part in parts)


def has_lines(text: str) -> bool:
    """Whether a text has enough lines to tell."""
    return sum(1 for line in text.split("\n", 4 * LINES) if line.strip()) >= LINES


def _mark(text: str) -> bytes:
    """A hash of the text without its white space, empty for what is too short to tell."""
    bare = "".join(text.split())
    return hashlib.blake2b(bare.encode("utf-8", "surrogatepass"), digest_size=16).digest() if len(bare) >= LETTERS else b""


def compared(document: Document) -> tuple[Span, ...]:
    """The spans of a repository's document that comparing repositories looks at."""
    return tuple(span for span in document.spans if span.role in _DEFINITIONS and has_lines(document.text[span.start : span.end]))


def _definitions(document: Document) -> Iterator[tuple[bytes, _Home]]:
    for span in document.spans:
        text = document.text[span.start : span.end] if span.role in _DEFINITIONS else ""
        if text and has_lines(text) and (key := _mark(text)):
            yield key, _Home(document.work, document.path, ".".join(span.path), span.start, span.end)


def _pairs(homes: Mapping[bytes, Sequence[_Home]]) -> dict[tuple[WorkId, WorkId], list[tuple[_Home, _Home]]]:
    """For each pair of works the places where they have the same text, by the first place in each."""
    pairs: dict[tuple[WorkId, WorkId], list[tuple[_Home, _Home]]] = defaultdict(list)
    for same_text_homes in homes.values():
        first: dict[WorkId, _Home] = {}
        for home in same_text_homes:
            first_home = first.get(home.work)
            if first_home is None or (first_home.vendored and not home.vendored):
                first[home.work] = home
        if 2 <= len(first) <= HOMES:
            named = [first[work] for work in sorted(first)]
            for n, named_home in enumerate(named):
                for other in named[n + 1 :]:
                    if not (named_home.vendored and other.vendored):
                        pairs[named_home.work, other.work].append((named_home, other))
    return pairs


def _shared(pair: tuple[WorkId, WorkId], files: Sequence[tuple[_Home, _Home]], definitions: Sequence[tuple[_Home, _Home]]) -> Shared:
    whole = {definition_home.path for definition_home, _ in files}
    counted_: list[_Home] = []
    inside: dict[str, int] = {}
    for definition_home in sorted(
        (definition_home for definition_home, _ in definitions if definition_home.path not in whole),
        key=lambda home: (home.path, home.start, -home.end),
    ):
        if definition_home.start >= inside.get(definition_home.path, 0):  # not within a class that is shared as a whole
            counted_.append(definition_home)
            inside[definition_home.path] = definition_home.end
    places = [
        *(definition_home.path for definition_home, _ in files),
        *(f"{definition_home.path}:{definition_home.symbol}" for definition_home in counted_),
    ]
    return Shared(*pair, len(files), len(counted_), tuple(sorted(places[:EXAMPLES])))
