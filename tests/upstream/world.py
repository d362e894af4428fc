"""Everything the loopback upstream knows: papers and repositories out of a folder with `upstream.json`.

The file holds facts, not answers: services in this package turn them into what each public API would say. Sources and
repositories are plain folders beside it, packed on demand and always into the same bytes.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.upstream.archives import Member, folder_members, gz, tar_gz

VERSION = re.compile(r"v([1-9]\d{0,2})\Z")
RepoState = str
"""`ok`, `empty` (no commit yet: 409), `dmca` (451) or `rate_limited` (403)."""


@dataclass(frozen=True)
class Citation:
    """One reference of a paper as Semantic Scholar lists it: `cited` is a key of this world, or None with `title` alone."""

    cited: str | None
    title: str = ""
    contexts: tuple[str, ...] = ()
    intents: tuple[str, ...] = ()
    influential: bool = False


@dataclass(frozen=True)
class Paper:
    """One paper. `key` is its Semantic Scholar id (40 hex digits); `references` is None where a publisher had the list elided."""

    key: str
    title: str
    corpus: int
    arxiv: str = ""
    doi: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    published: str = ""
    venue: str = ""
    abstract: str = ""
    licence: str | None = None
    categories: tuple[str, ...] = ("cs.LG",)
    comment: str = ""
    versions: int = 1
    source: str = ""
    pdf: str = ""
    references: tuple[Citation, ...] | None = ()
    former: Mapping[str, str] = field(default_factory=dict)
    """Sources of former versions, by version (`v1`)."""


@dataclass(frozen=True)
class Repository:
    """One repository, its head, the names it had before, the fork it is of (`root`: where the forks began), and the folders of former
    commits (`past`, by commit)."""

    full_name: str
    number: int
    sha: str
    date: str
    created: str
    default_branch: str = "main"
    licence: str | None = None
    description: str = ""
    stars: int = 0
    former: tuple[str, ...] = ()
    parent: str = ""
    root: str = ""
    folder: str = ""
    links: Mapping[str, str] = field(default_factory=dict)
    state: RepoState = "ok"
    past: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The part after the owner."""
        return self.full_name.split("/")[1]


@dataclass(frozen=True)
class World:
    """Papers by key, repositories by lower-case name, code links of Hugging Face papers by arXiv id."""

    root: Path
    papers: Mapping[str, Paper] = field(default_factory=dict)
    repositories: Mapping[str, Repository] = field(default_factory=dict)
    hub: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def load(cls, root: Path) -> World:
        """The world of a folder that holds `upstream.json`."""
        return cls.of(json.loads((root / "upstream.json").read_text("utf-8")), root)

    @classmethod
    def of(cls, facts: Mapping[str, Any], root: Path = Path()) -> World:
        """The world of the facts themselves; folders named in them lie under `root`."""
        papers = [_paper(row) for row in facts.get("papers", [])]
        repositories = [_repository(row) for row in facts.get("repositories", [])]
        return cls(
            root,
            {paper.key: paper for paper in papers},
            {repository.full_name.lower(): repository for repository in repositories},
            {row["arxiv"]: row for row in facts.get("hugging_face", [])},
        )

    @cached_property
    def _names(self) -> dict[str, str]:
        names: dict[str, str] = {}
        for key, paper in self.papers.items():
            forms = (key, f"corpusid:{paper.corpus}", f"arxiv:{paper.arxiv}", f"doi:{paper.doi}", f"title:{normal(paper.title)}")
            names |= {form.lower(): key for form in forms if not form.endswith(":")}
        return names

    def paper(self, name: str) -> Paper | None:
        """The paper that any Semantic Scholar identifier names."""
        prefix, _, rest = name.partition(":")
        if prefix.lower() == "url":
            found = re.search(r"arxiv\.org/(?:abs|pdf|html)/(\d{4}\.\d{4,5})", rest) or re.search(r"/([0-9a-f]{40})\b", rest)
            return (self.by_arxiv(found[1]) or self.papers.get(found[1])) if found else None
        if prefix.lower() == "arxiv":
            return self.by_arxiv(rest)
        if rest.lower().startswith("10.48550/arxiv.") or name.lower().startswith("10.48550/arxiv."):
            return self.by_arxiv(name.lower().partition("arxiv.")[2])
        return self.papers.get(self._names.get((f"doi:{name}" if name.startswith("10.") else name).lower(), ""))

    def by_arxiv(self, name: str) -> Paper | None:
        """The paper of an arXiv identifier, with or without a version that exists."""
        found = VERSION.search(name)
        paper = self.papers.get(self._names.get("arxiv:" + VERSION.sub("", name).lower(), ""))
        return paper if paper and (not found or int(found[1]) <= paper.versions) else None

    def by_title(self, title: str) -> Paper | None:
        """The paper whose title has the same words."""
        return self.papers.get(self._names.get(f"title:{normal(title)}", ""))

    def citing(self, key: str) -> list[Paper]:
        """The papers that list `key` among their references."""
        return [paper for paper in self.papers.values() if any(c.cited == key for c in paper.references or ())]

    def repository(self, full_name: str) -> Repository | None:
        """The repository of a current name."""
        return self.repositories.get(full_name.lower())

    def renamed(self, full_name: str) -> Repository | None:
        """The repository that had this name before."""
        return next((r for r in self.repositories.values() if full_name.lower() in {name.lower() for name in r.former}), None)

    def numbered(self, number: int) -> Repository | None:
        """The repository of a numeric id."""
        return next((r for r in self.repositories.values() if r.number == number), None)

    def eprint(self, paper: Paper, version: str = "") -> tuple[bytes, str] | None:
        """What arXiv hands out as the source: (bytes, `tar.gz` | `gz` | `pdf`), or None where there is nothing."""
        source = paper.former.get(version, paper.source)
        path = self.root / source
        if source and path.is_dir():
            return tar_gz(folder_members(path)), "tar.gz"
        if source:
            return gz(path.read_bytes()), "gz"
        pdf = self.pdf(paper)
        return (pdf, "pdf") if pdf else None

    def pdf(self, paper: Paper) -> bytes | None:
        """The PDF of a paper, or None."""
        return (self.root / paper.pdf).read_bytes() if paper.pdf else None

    def tarball(self, repository: Repository, commit: str = "") -> bytes:
        """The repository as codeload sends it at its head or a former commit: everything under `NAME-SHA/`."""
        sha = commit if commit in repository.past else repository.sha
        top = f"{repository.name}-{sha}/"
        members = folder_members(self.root / repository.past.get(sha, repository.folder), repository.links, top)
        folders = {top} | {f"{parent}/" for m in members for parent in _parents(m.name)}
        time = int(datetime.fromisoformat(repository.date).timestamp())
        return tar_gz([*members, *(Member(name) for name in folders)], comment=sha, mtime=time)


class _Repacked(World):
    def tarball(self, repository: Repository, commit: str = "") -> bytes:
        return gzip.compress(gzip.decompress(super().tarball(repository, commit)), 1)


def repacked(world: World) -> World:
    """The same services, whose archives hold the same files in other bytes."""
    return _Repacked(**{one.name: getattr(world, one.name) for one in fields(world)})


def normal(title: str) -> str:
    """Letters and digits of a title in lower case."""
    return " ".join(re.findall(r"[a-z0-9]+", title.lower()))


def _parents(name: str) -> list[str]:
    parts = name.split("/")[:-1]
    return ["/".join(parts[: i + 1]) for i in range(len(parts))]


def _tuples(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}


def _paper(row: Mapping[str, Any]) -> Paper:
    listed = row.get("references", [])
    references = None if listed is None else tuple(Citation(**_tuples(c)) for c in listed)
    return Paper(**(_tuples(row) | {"references": references}))


def _repository(row: Mapping[str, Any]) -> Repository:
    return Repository(**_tuples(row))
