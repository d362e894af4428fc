"""How each work of a lineage is related to its target: the graph's part in an answer, looked up once per generation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lineage.catalog.reader import Catalog
from lineage.code_links.exclusion import Exclusion
from lineage.errors import NotFound
from lineage.records import CodeLink, Hit, Reference, Tier, Work, WorkId
from retrieval.search.vendored import RepositoryFiles, vendored

_VENDORED = "vendored"
"""Under which word a repository's `meta` has the folders that are other people's packages, one a line: hits carry it to whoever asks."""
_HEAD = 3
"""Words before the colon of a title that may be a name."""


@dataclass(frozen=True)
class WorkRelation:
    """A work with the paper it belongs to and how surely, the edge that brought it in, and whether it is the target's own."""

    work: Work
    paper: Work | None = None
    reference: Reference | None = None
    from_target: bool = False
    tier: Tier | None = None


@dataclass(frozen=True)
class WorkRelations:
    """`WorkRelation` by work."""

    kin: Mapping[WorkId, WorkRelation] = field(default_factory=dict)

    @classmethod
    def read(cls, catalog: Catalog, target: WorkId) -> WorkRelations:
        """The relations of all works of a catalogue to `target`."""
        works = {work.id: work for work in catalog.works()}
        edges: dict[WorkId, Reference] = {}
        for edge in sorted(catalog.references(), key=lambda edge: edge.distance):  # the nearest says how a work came in
            edges.setdefault(edge.cited, edge)
        known = Exclusion.of(no_target_code=True, target=works.get(target), works=works.values()).knowing(all_links := tuple(catalog.links()))
        links: dict[WorkId, list[CodeLink]] = {}
        for link in all_links:
            if link.paper != target or link.repo.lower() not in known.others:
                links.setdefault(link.repo, []).append(link)
        kin = {id_: _kin(work, works, edges, links.get(id_, []), target) for id_, work in works.items()}
        kin |= {id_: _told(relation, catalog) for id_, relation in kin.items() if relation.from_target and relation.work.kind == "code"}
        return cls(kin)

    def of(self, work: WorkId) -> WorkRelation:
        """The relation of a work; one that is not catalogued stands alone."""
        return self.kin.get(work) or WorkRelation(Work(work))

    def work(self, named: str) -> WorkId:
        """The work of an identifier, an alias, or OWNER/NAME of a repository, letters of either size; raises `NotFound`."""
        wanted = named.lower()
        for id_, relation in self.kin.items():
            if wanted in {id_.lower(), *(alias.lower() for alias in relation.work.aliases), id_.lower().partition("/")[2] or None}:
                return id_
        raise NotFound(f"this lineage has no work {named[:80]!r}", hint="`lineage show` names them; an alias or OWNER/NAME will do")


def is_vendored(hit: Hit) -> bool:
    """Whether a hit stands in a folder of the target's own code that is a copy of somebody else's package."""
    folders = str(hit.work.meta.get(_VENDORED) or "").splitlines()
    return any(hit.chunk.path.startswith(f"{folder}/") for folder in folders)


def _told(kin: WorkRelation, catalog: Catalog) -> WorkRelation:
    """The relation of the target's own code, which folders of it are others' said in its `meta`."""
    work, title = kin.work, kin.paper.title if kin.paper else ""
    head = title.partition(":")[0] if ":" in title else ""
    names = (work.id.rpartition("/")[2], *([head] if 0 < len(head.split()) <= _HEAD else []))
    paths = frozenset(document.path for document in catalog.documents(work.id))
    folders = vendored(RepositoryFiles(paths, lambda path: catalog.document_text(work.id, path) or "", names))
    return replace(kin, work=replace(work, meta={**work.meta, _VENDORED: "\n".join(sorted(folders))})) if folders else kin


def _kin(work: Work, works: Mapping[WorkId, Work], edges: Mapping[WorkId, Reference], links: list[CodeLink], target: WorkId) -> WorkRelation:
    if work.kind == "paper":
        return WorkRelation(work, reference=edges.get(work.id), from_target=work.id == target)
    best = max(links, key=lambda link: _weight(link, edges, target), default=None)
    if best is None or (best.tier is Tier.MENTIONED and work.id in edges):  # added by hand: no mention is needed to bring it in
        return WorkRelation(work, reference=edges.get(work.id))
    own = best.paper == target and best.tier.own
    return WorkRelation(work, works.get(best.paper), edges.get(best.paper) or edges.get(work.id), own, best.tier)


def _weight(link: CodeLink, edges: Mapping[WorkId, Reference], target: WorkId) -> tuple[int, bool, float, str]:
    """Orders the papers a repository is linked to: surest link, then the target, then the heaviest reference."""
    edge = edges.get(link.paper)
    return (-link.tier.rank, link.paper == target, edge.score if edge else 0.0, link.paper)
