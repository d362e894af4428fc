"""What the store holds, as every door gives it: builds, jobs, changes by updates, references, overview and completeness of a lineage, its graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from json import loads
from typing import TYPE_CHECKING, Any

from api.rest import PREFIX
from api.server.journal import Job, State
from api.wire.bibliography import RankedReference, bibliography
from api.wire.encode import view
from api.wire.hits import Box
from api.wire.markup import Rendered
from indexer.plan import BuildReport
from lineage.catalog.reader import Catalog
from lineage.code_links.links import RepositoryState
from lineage.code_reuse.derivation import Derivation
from lineage.code_reuse.reuse import Shared
from lineage.file_roles import ASIDE
from lineage.generation import Manifest
from lineage.hyperparameters.values import worded
from lineage.records import UNKNOWN, CodeLink, FileRole, LedgerRow, Provenance, Reference, Status, Work, WorkId
from lineage.references.signals import TitledAncestor
from lineage.text.hidden_text import inline, shortened
from retrieval.search.missing_software import MissingSoftware

if TYPE_CHECKING:
    from indexer.lock.form import Pinned
    from lineage.catalog.reader import Catalog, StoredDocument
    from lineage.results import Gaps


@dataclass(frozen=True)
class Loss(LedgerRow):
    """A ledger row of a failed or incomplete item; `retryable` if another run may fix it."""

    retryable: bool = False

    @classmethod
    def from_record(cls, row: LedgerRow) -> Loss:
        """A row, and whether its status is one that changes."""
        return view(row, cls, retryable=row.status.retryable)


@dataclass(frozen=True)
class BuildReportView(BuildReport):
    """The result of a build, as in `lineage build --json`."""

    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True)
class StoredLineage(Manifest):
    """The manifest of a stored lineage (`id` is its generation), with the title of its target."""

    title: str = ""
    provenance: Provenance = UNKNOWN


@dataclass(frozen=True)
class Completeness:
    """Completeness of a lineage: in = ok + degraded + failed + excluded by kind, and every failed or incomplete item."""

    lineage: str
    generation: str
    sums: Mapping[str, Mapping[str, int]]
    losses: tuple[Loss, ...]
    title: str = ""
    provenance: Provenance = UNKNOWN


@dataclass(frozen=True)
class RankedReferences:
    """References of one work, best first, of `total`; `coverage` is how many each source listed."""

    target: Work
    total: int
    references: tuple[RankedReference, ...]
    coverage: Mapping[str, Any]

    def text(self, form: str) -> str:
        """The references as `bibtex`, `csl-json` or `ris`."""
        return bibliography(self.references, form)


@dataclass(frozen=True)
class RepositoryStateView:
    """What became of a linked repository, in fields and in `words`."""

    status: Status | None
    detail: str
    archived: bool
    fork: bool
    fork_of: str
    renamed_from: tuple[str, ...]
    undescribed: bool
    words: tuple[str, ...]


@dataclass(frozen=True)
class LinkedRepository(CodeLink):
    """A code link with the state of its repository."""

    state: RepositoryStateView | None = None
    repository: Work | None = None


@dataclass(frozen=True)
class IndexedText:
    """A work with indexed text; searches can be restricted to it. Of a repository the language of most files, and the main programs."""

    work: str
    kind: str
    title: str
    files: int = 0
    characters: int = 0
    language: str = ""
    main: tuple[str, ...] = ()


@dataclass(frozen=True)
class Overview:
    """Summary of a lineage: report, ranked references, code links, code that repositories share, works with indexed text,
    example questions that it supports, and the ancestors of each part."""

    report: BuildReportView
    references: tuple[RankedReference, ...]
    links: tuple[LinkedRepository, ...]
    shared_code: tuple[Shared, ...]
    derivations: tuple[Derivation, ...]
    texts: tuple[IndexedText, ...]
    questions: tuple[str, ...]
    ancestors: tuple[TitledAncestor, ...]
    missing: tuple[MissingSoftware, ...] = ()
    provenance: Provenance = UNKNOWN

    def brief(self, query: str) -> str:
        """What an agent needs to begin: parts and their ancestors, repositories and their programs, missing software, and the next step (`query`)."""
        target, texts = self.report.target, [text for text in self.texts if text.work != self.report.target.id]
        parts: dict[str, list[str]] = {}
        for ancestor in self.ancestors:
            parts.setdefault(_called(ancestor.title, ancestor.work), []).append(ancestor.part)
        papers = [_called(text.title, text.work) for text in texts if text.kind == "paper"]
        lines = [f"{self.report.lineage}: {shortened(target.title or target.id, 100)}; {len(self.references)} references"]
        lines += [f"origin: {self.provenance.words}"] if self.provenance.words else []
        lines += ["takes from: " + "; ".join(f"{name} ({', '.join(taken)})" for name, taken in list(parts.items())[:_ANCESTORS])] if parts else []
        lines += [_repository(text) for text in texts if text.kind == "code"] or ["no repository"]
        lines += (
            [f"papers: {'; '.join(papers[:_PAPERS])}" + (f" and {len(papers) - _PAPERS} more" if len(papers) > _PAPERS else "")] if papers else []
        )
        add, named = f"suggest: lineage add {self.report.lineage}", [software for software in self.missing if software.named]
        lines += [f"not here, though the target names it: {software.name}; {add} {software.address or _SOMEWHERE}" for software in named]
        rest = [software.address.removeprefix("https://github.com/") for software in self.missing if not software.named]
        lines += [f"not here, though imported: {', '.join(rest)}" + ("" if named else f"; {add} {_SOMEWHERE}")] if rest else []
        return "\n".join(map(inline, [*lines, query]))


_ANCESTORS, _PAPERS, _MAIN = 6, 4, 3
_SOMEWHERE = "https://github.com/OWNER/NAME"
_CODE = (".py", ".ipynb", ".jl", ".r", ".cpp", ".cc", ".rs", ".go", ".java", ".js", ".ts", ".lua", ".m")


def _called(title: str, work: str) -> str:
    return shortened(title.partition(":")[0], 40) or work


def _repository(text: IndexedText) -> str:
    """`mar (LTH14, python, 31 files): main_mar.py, engine_mar.py`."""
    name = text.work.rpartition("/")[2]
    about = ", ".join(filter(None, (text.work.removeprefix("repo:github.com/").partition("/")[0], text.language, f"{text.files} files")))
    return f"{name} ({about}): {', '.join(text.main)}"


def indexed_texts(catalog: Catalog, works: Mapping[WorkId, Work]) -> tuple[IndexedText, ...]:
    """The works that have texts, with the size of each, and of a repository the programs that it is run by, of training first."""
    documents = sorted(catalog.documents(), key=lambda document: document.work)
    return tuple(_indexed(catalog, works[id_], list(some)) for id_, some in groupby(documents, key=lambda document: document.work) if id_ in works)


def _indexed(catalog: Catalog, work: Work, documents: Sequence[StoredDocument]) -> IndexedText:
    languages = Counter(document.language for document in documents if document.kind == "code" and document.language)
    size = sum(document.length for document in documents)
    return IndexedText(
        work.id, work.kind, work.title, len(documents), size, *languages.most_common(1)[0][:1] if languages else ("",), _main(catalog, work)
    )


def _main(catalog: Catalog, work: Work) -> tuple[str, ...]:
    files = catalog.files(work.id).values() if work.kind == "code" else ()
    programs = [file for file in files if FileRole.PROGRAM in file.roles and ASIDE.isdisjoint(file.roles) and file.path.endswith(_CODE)]
    programs.sort(key=lambda file: (file.path.count("/") - 2 * (FileRole.TRAINING in file.roles), file.path))
    return tuple(file.path for file in programs[:_MAIN])


@dataclass(frozen=True)
class GraphView(Rendered):
    """The lineage as a graph with positions: x = year, in pixels within `box`; `columns` are the years."""

    schema_version: str
    target: str
    nodes: tuple[Mapping[str, Any], ...]
    edges: tuple[Mapping[str, Any], ...]
    columns: tuple[Mapping[str, Any], ...]
    box: Box

    @classmethod
    def from_record(cls, text: str) -> GraphView:
        """The graph out of its JSON."""
        return cls(**loads(text))


@dataclass(frozen=True)
class JobError:
    """Why a build failed and how to fix it."""

    type: str
    message: str
    hint: str


@dataclass(frozen=True)
class JobView:
    """A build job. `links` point to the job, its events and its lineage."""

    id: str
    request: Mapping[str, Any]
    lineage: str
    state: State
    created: str
    started: str
    ended: str
    attempts: int
    report: Mapping[str, Any] | None
    error: JobError | None
    cancelling: bool
    links: Mapping[str, str]

    @classmethod
    def from_record(cls, job: Job) -> JobView:
        """A job with links to itself, its events and its lineage."""
        links = {"self": f"{PREFIX}/jobs/{job.id}", "events": f"{PREFIX}/jobs/{job.id}/events"}
        if job.lineage:
            links["lineage"] = f"{PREFIX}/lineages/{job.lineage}"
        error = JobError(**{name: str(job.error.get(name, "")) for name in ("type", "message", "hint")}) if job.error else None
        return view(job, cls, request=job.request.as_meta(), error=error, links=links)


@dataclass(frozen=True)
class Locked:
    """A written lock file: its size in bytes, what it pins, and the requests that had no response during the build."""

    path: str
    size: int
    lineage: str
    content_hash: str
    papers: tuple[Pinned, ...]
    repositories: tuple[Pinned, ...]
    answers: int
    open: tuple[str, ...] = ()


def ranked(references: Iterable[Reference], works: Mapping[WorkId, Work]) -> tuple[RankedReference, ...]:
    """References with their works."""
    return tuple(RankedReference(**vars(reference), work=works.get(reference.cited)) for reference in references)


def linked(links: Iterable[CodeLink], works: Mapping[WorkId, Work], states: Mapping[WorkId, RepositoryState]) -> tuple[LinkedRepository, ...]:
    """Code links with their repositories and what became of these."""
    views = {repo: RepositoryStateView(**vars(state), words=state.words) for repo, state in states.items()}
    return tuple(LinkedRepository(**vars(link), state=views.get(link.repo), repository=works.get(link.repo)) for link in links)


VERSION_HOSTS = ("export.arxiv.org", "api.github.com")
"""Hosts that know of new versions and commits."""


@dataclass(frozen=True)
class Change:
    """A statement before and after; "" where there was or is none."""

    of: str
    before: str
    after: str


@dataclass(frozen=True)
class Updated:
    """A lineage before and after: its generation, the versions and commits of its works, the values that details get.

    `note` says why a lineage could not be updated.
    """

    lineage: str
    generation: str
    works: tuple[Change, ...] = ()
    values: tuple[Change, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Sayings:
    """What a generation states, by subject."""

    generation: str
    works: Mapping[str, str]
    values: Mapping[str, str]

    @classmethod
    def of(cls, catalog: Catalog, gaps: Gaps) -> Sayings:
        """Read from a catalog and its report."""
        works = {str(work.id): str(work.meta.get("commit") or work.meta.get("version") or "") for work in catalog.works()}
        values = {gap.detail.title: _value(worded(offer.value, offer.unit) for offer in gap.suggestions[:1]) or gap.state.value for gap in gaps.gaps}
        return cls(gaps.generation, works, values)

    def since(self, before: Sayings, lineage: str) -> Updated:
        """The differences from an earlier generation."""
        return Updated(lineage, self.generation, _changes(before.works, self.works), _changes(before.values, self.values))


def _value(parts: Iterable[str]) -> str:
    return " / ".join(part.strip() for part in parts)


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[Change, ...]:
    every = sorted(before.keys() | after.keys())
    return tuple(Change(name, before.get(name, ""), after.get(name, "")) for name in every if before.get(name, "") != after.get(name, ""))
