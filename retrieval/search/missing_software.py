"""Software that a lineage mentions but lacks: imported by its repositories, named by the target or linked from its texts."""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineage.code_links.links import addresses
from lineage.hyperparameters.terms import fold
from lineage.records import ChunkKind

if TYPE_CHECKING:
    from lineage.catalog.reader import Catalog

_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z][\w-]{2,60}")
_MOST, _USERS = 6, 2
_PLAIN = 4
"""Letters from which on a plain word of the target may be a package: `six` is a number."""
_CODE: tuple[ChunkKind, ...] = ("code",)


@dataclass(frozen=True)
class MissingSoftware:
    """A package by its name in imports, the repositories that import it, whether the target names it, its address where a text has one."""

    name: str
    users: tuple[str, ...]
    named: bool
    address: str = ""


def missing_software(catalog: Catalog, target: str) -> tuple[MissingSoftware, ...]:
    """Packages without a repository in the lineage that the target names, or that several repositories import and a text has the address of."""
    here, known = _held(catalog), _addresses(catalog)
    spoken, written = _spoken(catalog, target)
    missing = []
    for name, users in _imports(catalog).items():
        key = fold(name)
        address = known.get(key, "")
        named = key in written or (key in spoken and bool(address) and len(key) >= _PLAIN)
        if name.lower() not in here and (named or (address and len(users) >= _USERS)):
            missing.append(MissingSoftware(name, tuple(sorted(users)), named, address))
    return tuple(sorted(missing, key=lambda software: (not software.named, not software.address, -len(software.users), software.name))[:_MOST])


def _held(catalog: Catalog) -> frozenset[str]:
    """Names that an import may mean here: the standard library, and every repository, folder and file."""
    paths = [(document.work, document.path) for document in catalog.documents() if document.work.startswith(("repo:", "local:"))]
    parts = {part.rpartition(".")[0] or part for _, path in paths for part in path.split("/")}
    return frozenset(name.lower() for name in (*sys.stdlib_module_names, *parts, *(work.rpartition("/")[2] for work, _ in paths)))


def _imports(catalog: Catalog) -> Mapping[str, set[str]]:
    """The works whose code imports a package, by its name."""
    rows = catalog.texts("import", words=["import"], kinds=_CODE)
    outlines = catalog.outlines([row for row, _ in rows])
    used: dict[str, set[str]] = defaultdict(set)
    for row, text in rows:
        for match in _IMPORT.finditer(text):
            used[match[1]].add(outlines[row].chunk.work)
    return used


def _spoken(catalog: Catalog, target: str) -> tuple[frozenset[str], frozenset[str]]:
    """The folded words of the target's text, and those of them that are written as names are: with a second capital, a digit or a sign."""
    texts = (catalog.document_text(target, document.path) or "" for document in catalog.documents(target))
    words = frozenset(word for text in texts for word in _WORD.findall(text))
    return frozenset(map(fold, words)), frozenset(fold(word) for word in words if not word[1:].isalpha() or not word[1:].islower())


def _addresses(catalog: Catalog) -> Mapping[str, str]:
    """The address that the texts of a lineage have most often of a repository, by its name."""
    seen = Counter(_linked(catalog))
    return {fold(address.rpartition("/")[2]): f"https://{address}" for address, _ in reversed(seen.most_common())}


def _linked(catalog: Catalog) -> Iterator[str]:
    for _, text in catalog.texts("github.com/", any_case=True, words=["github"]):
        yield from (repo.removeprefix("repo:") for repo, _ in addresses(text))
