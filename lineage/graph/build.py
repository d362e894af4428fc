"""The lineage as a graph: works and repositories as nodes, citations and code links as edges, each with its evidence.

It exists so that every picture, export and walk over a lineage starts from one value. Attributes are text, whole
numbers, floats and booleans only, so that GraphML and other tools can carry them; what is a list is one line per
item (texts are cleaned to one line first), and what is unknown is left out. Edges run from the citing work to the
cited one, and from a paper to its repository.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan

import networkx as nx

from lineage.graph.layout import Layout, place
from lineage.ids import abs_url
from lineage.licenses import shown
from lineage.records import CodeLink, Reference, Work, WorkId
from lineage.references.roles import in_order

MAX_TEXT = 600
MAX_EVIDENCE = 12
_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}\Z")
# Controls, surrogates, non-characters and what turns the direction of text around: no export may carry them.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufff9-\uffff]+")
Attributes = dict[str, str | int | float | bool]


def build(target: Work, works: Mapping[WorkId, Work], references: Sequence[Reference], links: Sequence[CodeLink]) -> nx.DiGraph:
    """The graph of a lineage; nodes heaviest first, the target before all.

    `works` holds what is known of each identifier; one that is missing is a node with what its reference says.
    Two references between the same works are one edge with the evidence of both. Node attributes: `kind`, `title`,
    `authors`, `year`, `venue`, `score`, `role` (the heaviest but background), `roles`, `licence`, `url`, `target`, `distance`, `order`
    (of first mention in the heaviest citing work), `commit`, `archived`. Edge attributes of `kind` "cites": `role`,
    `roles`, `score`, `why`, `evidence` with `evidence_roles` and `sections` line by line, `mentions`, `key`,
    `known_by`, `merged`, `influential`; of "code": `tier`, `said_by`, `evidence`.
    """
    edges = _joined(references)
    graph = nx.DiGraph(target=str(target.id))
    incoming = _heaviest_incoming(edges)
    for work in _in_order(target, edges, links):
        cited_work = target if work == target.id else works.get(work) or _unlisted(work, incoming.get(work))
        graph.add_node(str(work), **_node(cited_work, incoming.get(work), target.id))
    for edge in edges:
        graph.add_edge(str(edge.citing), str(edge.cited), **_citation(edge))
    for link in _best_links(links):
        graph.add_edge(str(link.paper), str(link.repo), **_code(link))
    _weigh_code(graph)
    return graph


def layout(graph: nx.DiGraph) -> Layout:
    """Where each node stands (`lineage.graph.layout.place`): x by year, y by role and neighbours."""
    return place(graph)


def clean(text: str, limit: int = MAX_TEXT) -> str:
    """One line of at most `limit` characters without anything that XML, a terminal or a reader could trip over."""
    line = " ".join(_UNSAFE.sub(" ", text[: 4 * limit]).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def lines(value: object) -> list[str]:
    """The items of an attribute that holds one per line."""
    return str(value).split("\n") if value else []


def _joined(references: Sequence[Reference]) -> list[Reference]:
    """One reference per pair of works, heaviest first."""
    pairs: dict[tuple[str, str], list[Reference]] = defaultdict(list)
    for reference in sorted(references, key=lambda r: (-r.score, r.citing, r.cited, r.key)):
        pairs[reference.citing, reference.cited].append(reference)
    return [_join(same) for same in pairs.values()]


def _join(same: list[Reference]) -> Reference:
    if len(same) == 1:
        return same[0]
    return replace(
        same[0],
        mentions=tuple(m for r in same for m in r.mentions),
        roles=tuple(v for r in same for v in r.roles),
        why=tuple(dict.fromkeys(w for r in same for w in r.why)),
        known_by=tuple(dict.fromkeys(k for r in same for k in r.known_by)),
        merged=tuple(dict.fromkeys(m for r in same for m in r.merged)),
        influential=any(r.influential for r in same),
    )


def _heaviest_incoming(edges: Sequence[Reference]) -> dict[WorkId, Reference]:
    """What makes a work part of the lineage: its nearest, then heaviest reference."""
    references_by_key: dict[WorkId, Reference] = {}
    for edge in sorted(edges, key=lambda r: (r.distance, -r.score, r.citing)):
        if edge.citing != edge.cited:
            references_by_key.setdefault(edge.cited, edge)
    return references_by_key


def _in_order(target: Work, edges: Sequence[Reference], links: Sequence[CodeLink]) -> Iterable[WorkId]:
    cited = [work for edge in edges for work in (edge.cited, edge.citing)]
    coded = [work for link in _best_links(links) for work in (link.paper, link.repo)]
    return dict.fromkeys([target.id, *cited, *coded])


def _best_links(links: Sequence[CodeLink]) -> list[CodeLink]:
    """One link per paper and repository, the surest tier first."""
    best: dict[tuple[str, str], CodeLink] = {}
    for link in sorted(links, key=lambda x: (x.tier.rank, x.paper, x.repo, x.evidence)):
        best.setdefault((link.paper, link.repo), link)
    return list(best.values())


def _unlisted(work: WorkId, reference: Reference | None) -> Work:
    """The attributes of a work without a record."""
    name = work.removeprefix("repo:").partition("/")[2] if work.startswith("repo:") else ""
    raw = reference.raw if reference else ""
    return Work(work, kind="code" if name else "paper", title=name or raw or work)


def _node(work: Work, reference: Reference | None, target: WorkId) -> Attributes:
    roles = _roles(reference)
    first = reference.number if reference and reference.number is not None else 0
    offsets = [m.start for m in reference.mentions if m.start >= 0] if reference else []
    node: Attributes = {
        "kind": work.kind,
        "title": clean(work.title) or clean(work.id),
        "authors": "; ".join(_names(work.authors)),
        "venue": clean(work.venue, 120),
        "score": 1.0 if work.id == target else _share(reference.score if reference else 0.0),
        "role": roles[0] if roles else "",
        "roles": ", ".join(roles),
        "licence": shown(work.license) if work.license else "",
        "url": clean(abs_url(work.id)),
        "target": work.id == target,
        "distance": 0 if work.id == target else reference.distance if reference else 1,
        "order": min(offsets) if offsets else first,
    }
    if work.year:
        node["year"] = int(work.year)
    return node | _repository(work)


def _repository(work: Work) -> Attributes:
    commit, archived = str(work.meta.get("commit") or ""), work.meta.get("archived")
    attributes: Attributes = {"commit": commit} if _COMMIT.match(commit) else {}
    return attributes | ({"archived": True} if archived is True else {})


def _names(authors: Sequence[str]) -> list[str]:
    """At most twelve names, and how many more there are."""
    names = [clean(name, 80).replace(";", ",") for name in authors[:12]]
    return [*names, f"and {len(authors) - 12} more"] if len(authors) > 12 else names


def _share(score: float) -> float:
    """A weight within 0..1; what is no number counts nothing."""
    return round(min(1.0, max(0.0, float(score))), 4) if not isnan(score) else 0.0


def _roles(reference: Reference | None) -> list[str]:
    """Roles by weight, each once."""
    return list(dict.fromkeys(v.role.value for v in in_order(reference.roles))) if reference else []


def _citation(reference: Reference) -> Attributes:
    roles, evidence = _roles(reference), list(_evidence(reference))
    return {
        "kind": "cites",
        "role": roles[0] if roles else "",
        "roles": ", ".join(roles),
        "score": _share(reference.score),
        "why": _listed(reference.why),
        "evidence": "\n".join(sentence for _, sentence, _ in evidence),
        "evidence_roles": "\n".join(role for role, _, _ in evidence),
        "sections": "\n".join(section for _, _, section in evidence),
        "mentions": len(reference.mentions),
        "key": clean(reference.key, 200),
        "known_by": ", ".join(clean(name, 40) for name in reference.known_by),
        "merged": _listed(reference.merged),
        "influential": bool(reference.influential),
    }


def _evidence(reference: Reference) -> Iterator[tuple[str, str, str]]:
    """(role or "-", sentence, section or "-"): what speaks for a role first, then where else it is cited; at most MAX_EVIDENCE."""
    spoken = [(v.role.value, v.sentence, v.section) for v in sorted(reference.roles, key=lambda v: (-v.score, v.role))]
    seen: set[tuple[str, str]] = set()
    noted_reasons: set[str] = set()
    for role, sentence, section in [*spoken, *(("-", m.sentence, m.section) for m in reference.mentions)]:
        text = clean(sentence)
        if not text or (role, text) in seen or (role == "-" and text in noted_reasons) or len(seen) >= MAX_EVIDENCE:
            continue
        seen.add((role, text))
        noted_reasons.add(text)
        yield role, text, clean(" › ".join(section), 200) or "-"


def _listed(items: Sequence[str]) -> str:
    return "\n".join(filter(None, map(clean, items[:MAX_EVIDENCE])))


def _code(link: CodeLink) -> Attributes:
    sources = ", ".join(clean(name, 40) for name in link.said_by)
    return {"kind": "code", "tier": link.tier.value, "said_by": sources, "evidence": _listed(link.evidence)}


def _weigh_code(graph: nx.DiGraph) -> None:
    """A repository that nobody cites carries what its heaviest paper carries, and stands as near."""
    for node, attributes in graph.nodes(data=True):
        papers = [graph.nodes[p] for p, _, kind in graph.in_edges(node, data="kind") if kind == "code"]
        if papers and not attributes["target"]:
            attributes["score"] = max(attributes["score"], *(p["score"] for p in papers))
            attributes["distance"] = min(p["distance"] for p in papers)
