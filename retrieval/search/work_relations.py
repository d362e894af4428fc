"""How each work of a lineage relates to its target, looked up once per generation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from lineage.catalog.reader import Catalog
from lineage.code_links.exclusion import Exclusion
from lineage.errors import NotFound
from lineage.ids import normal_title
from lineage.records import Chunk, CodeLink, FileProfile, Focus, Hit, Reference, Tier, Work, WorkId

_BEGINS, _LONGEST = 3, 200
"""Letters from which on a name may be how a title begins, and of a name that near ones are looked for."""


@dataclass(frozen=True)
class WorkRelation:
    """A work with the paper it belongs to and how surely, the edge that brought it in, and whether it is the target's own."""

    work: Work
    paper: Work | None = None
    reference: Reference | None = None
    from_target: bool = False
    tier: Tier | None = None

    def hit(self, chunk: Chunk, focus: Focus | None = None) -> Hit:
        """A chunk of the work as evidence."""
        return Hit(1, 1.0, chunk, self.work, focus=focus, reference=self.reference, paper=self.paper, from_target=self.from_target)


@dataclass(frozen=True)
class WorkRelations:
    """`WorkRelation` by work; `files` gives the profile of a repository."""

    by_work: Mapping[WorkId, WorkRelation] = field(default_factory=dict)
    files: Callable[[WorkId], Mapping[str, FileProfile]] = field(default=lambda _: {}, compare=False)

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
        by_work = {id_: _relation(work, works, edges, links.get(id_, []), target) for id_, work in works.items()}
        return cls(by_work, catalog.files)

    def of(self, work: WorkId) -> WorkRelation:
        """The relation of a work; one that is not catalogued stands alone."""
        return self.by_work.get(work) or WorkRelation(Work(work))

    def file(self, chunk: Chunk) -> FileProfile | None:
        """The profile of the file that a chunk of a repository is of."""
        return self.files(chunk.work).get(chunk.path) if chunk.kind != "paper" else None

    def work(self, named: str) -> WorkId:
        """The work of an identifier or alias, with or without its scheme, of OWNER/NAME or NAME of a repository, of a title or how one begins.

        Letters of either size; raises `NotFound`, with the nearest names, for what is none of these or means several works.
        """
        wanted = normal_title(named)
        called = {id_: _called(relation.work) for id_, relation in self.by_work.items()}
        ways = ([id_ for id_, names in called.items() if wanted and wanted in names[way]] for way in range(2))
        begun = [id_ for id_, names in called.items() if len(wanted) >= _BEGINS and any(name.startswith(wanted) for name in names[1])]
        meant = next(filter(None, (*ways, begun)), [])
        if len(meant) == 1:
            return meant[0]
        spelled = {name: id_ for id_, names in called.items() for name in (*names[0], *names[1])}
        near = meant or [spelled[name] for name in get_close_matches(wanted[:_LONGEST], spelled, n=4)]
        hint = (
            f"did you mean: {', '.join(dict.fromkeys(near))}" if near else "`lineage show` names them; OWNER/NAME or the beginning of a title will do"
        )
        raise NotFound(f"{named[:80]!r} means {len(meant)} works" if meant else f"this lineage has no work {named[:80]!r}", hint=hint)


def _called(work: Work) -> tuple[frozenset[str], frozenset[str]]:
    """What a work is called, as `normal_title` makes it: identifiers with and without scheme and owner; the title and what stands before a colon."""
    ids = [id_ for id_ in (work.id, *work.aliases) if ":" in id_]
    ends = [end for id_ in ids if id_.startswith("repo:") for end in (id_.partition("/")[2], id_.rpartition("/")[2])]
    names = (*work.aliases, *ids, *(id_.partition(":")[2] for id_ in ids), *ends)
    return frozenset(map(normal_title, names)), frozenset(filter(None, map(normal_title, (work.title, work.title.partition(":")[0]))))


def _relation(work: Work, works: Mapping[WorkId, Work], edges: Mapping[WorkId, Reference], links: list[CodeLink], target: WorkId) -> WorkRelation:
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
