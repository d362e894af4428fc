"""Reconcile what several witnesses say a paper cites: one reference per work, and how that was decided.

The paper's own bibliography and the services' lists name the same works by different identifiers and
titles. Every witness is kept; each joining has its reason in words (`Reference.merged`), so that it can be
read, doubted and undone. Works that no service knows stay, under an identifier made from their title.

Candidates are found by hashing identifiers and titles and by sorting (the sorted-neighborhood method,
Hernandez and Stolfo 1995), never by comparing all pairs: O(n log n), 10^5 entries in seconds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from lineage.ids import arxiv_id, doi_id, normal_title, reference_id, repo_id
from lineage.records import BibEntry, ListedReference, Mention, Reference, ReferenceList, Status, Work, WorkId
from lineage.references.same_work import Facts, by_id, by_title, facts, join_mentions, merge_all, merge_works, true_year
from lineage.text.titles import plain
from lineage.text.tokens import counted

NEIGHBOURS = 3
CROWD = 8
RAW_WORDS = 4
MAX_RAW = 4000


@dataclass(frozen=True)
class Witness:
    """One line of one list: who says it, the entry as written, the work as described there."""

    source: str
    entry: BibEntry
    work: Work
    mentions: tuple[Mention, ...] = ()
    influential: bool = False
    number: int | None = None

    @property
    def name(self) -> str:
        """`bbl:devlin2019` or `semantic_scholar:12`."""
        return f"{self.source}:{self.entry.key}" if self.entry.key else self.source


@dataclass(frozen=True)
class Reconciled:
    """One reference per work, the merged records, the witnesses behind each, and what was noticed.

    `coverage` counts who knew what: references in `total`, by each source (`by semantic_scholar`), of only the
    paper's own bibliography, only the services, `both`; `resolved` have an identifier of some service, `uncited` no
    mention; `listed by …` is how many entries each list has or claims.
    """

    references: tuple[Reference, ...]
    works: dict[WorkId, Work]
    coverage: Mapping[str, int]
    notes: tuple[str, ...] = ()
    witnesses: Mapping[WorkId, tuple[Witness, ...]] = field(default_factory=dict)


def reconcile(
    citing: WorkId,
    own: Sequence[BibEntry],
    mentions: Sequence[Mention],
    lists: Sequence[ReferenceList],
    *,
    target: Work | None = None,
) -> Reconciled:
    """Join the paper's own bibliography (`own`, with `mentions` by key) and the services' `lists`.

    References come in the order of the bibliography, then in the order of the lists. `target`, if given,
    lets a paper that cites itself be recognized by its other identifiers. Nothing is dropped without a note.
    """
    notes: list[str] = []
    witnesses = [*_own_witnesses(own, mentions, notes), *_listed_witnesses(lists, notes)]
    clusters = _Clusters(witnesses)
    for block in (_by_identifier, _by_title, _by_neighborhood, _by_raw):
        block(clusters)
    notes += clusters.notes
    groups = clusters.groups()
    references, works, behind = _edges(citing, _aliases(citing, target), groups, clusters, notes)
    return Reconciled(references, works, _coverage(references, lists, own), tuple(notes), behind)


def _aliases(citing: WorkId, target: Work | None) -> frozenset[WorkId]:
    return frozenset({citing, *((target.id, *target.aliases) if target else ())})


# Witnesses


def _own_witnesses(own: Sequence[BibEntry], mentions: Sequence[Mention], notes: list[str]) -> Iterator[Witness]:
    by_key: dict[str, list[Mention]] = defaultdict(list)
    for mention in mentions:
        by_key[mention.key].append(mention)
    for number, entry in enumerate(own, 1):
        entry_witnesses = tuple(by_key.pop(entry.key, ()))
        yield Witness(entry.fields_by or "bibliography", entry, _entry_work(entry), entry_witnesses, number=number)
    seen: set[str] = set()
    for entry in own:
        if entry.key in seen:
            notes.append(f"key {entry.key!r} stands twice in the bibliography; its mentions belong to the first")
        seen.add(entry.key)
    notes.extend(
        f"{key!r} is cited {counted(len(entry_witnesses), 'time')} but is not in the bibliography" for key, entry_witnesses in by_key.items()
    )


def _listed_witnesses(lists: Sequence[ReferenceList], notes: list[str]) -> Iterator[Witness]:
    for listing in lists:
        if listing.status is not Status.OK:
            notes.append(f"{listing.source}: list is {listing.status.value}: {listing.detail or 'no detail given'}")
        if listing.expected is not None and listing.expected != len(listing.entries):
            notes.append(f"{listing.source} says {listing.expected} references and gives {len(listing.entries)}")
        nameless = 0
        for item in listing.entries:
            work = _listed_work(item, listing.source)
            nameless += not (work.title or item.entry.raw)
            yield Witness(listing.source, item.entry, work, item.mentions, item.influential)
        if nameless:
            notes.append(f"{listing.source}: {nameless} references have neither title nor text")


def _entry_work(entry: BibEntry) -> Work:
    """An entry as a record: identifiers normalized (versions dropped), title without TeX."""
    arxiv = arxiv_id(entry.arxiv.removeprefix("arXiv:")) if entry.arxiv else None
    ids = [i for i in (arxiv[0] if arxiv else None, doi_id(entry.doi) if entry.doi else None) if i]
    title = plain(entry.title)
    repo = repo_id(entry.url) if entry.url and not ids else None
    if repo:
        ids.append(repo)
    first = entry.authors[0] if entry.authors else ""
    year = true_year(entry.year, ids)
    ids.append(reference_id(title, _sound(first), year, _sound(entry.raw)))
    kind = "code" if repo and not entry.venue else "paper"
    own = Work(ids[0], "code" if kind == "code" else "paper", title, entry.authors, year, entry.venue)
    return replace(own, aliases=tuple(ids[1:-1]), said_by=(entry.fields_by or "bibliography",))


def _sound(text: str) -> str:
    """Text that can be encoded: services do send halves of surrogate pairs."""
    return text[:MAX_RAW].encode("utf-8", "replace").decode("utf-8")


def _listed_work(item: ListedReference, source: str) -> Work:
    written = _entry_work(item.entry)
    if item.work is None:
        return replace(written, said_by=(source,))
    merged_work = merge_works(item.work, written) if not written.id.startswith("ref:") else item.work
    return replace(merged_work, year=true_year(merged_work.year, (merged_work.id, *merged_work.aliases)), said_by=item.work.said_by or (source,))


# Clusters


class _Clusters:
    """Disjoint sets of witnesses, each joining with its reason; refuses to join what contradicts itself."""

    def __init__(self, witnesses: Sequence[Witness]) -> None:
        self.witnesses = witnesses
        self.facts: list[Facts] = [facts(w.work) for w in witnesses]
        self.parent = list(range(len(witnesses)))
        self.arxiv = [set(f.arxiv) for f in self.facts]
        self.numbers = [{f.key.numbers} if f.key.compact else set() for f in self.facts]
        self.reasons: dict[int, list[str]] = defaultdict(list)
        self.notes: list[str] = []

    def root(self, i: int) -> int:
        while self.parent[i] != i:
            self.parent[i] = self.parent[self.parent[i]]
            i = self.parent[i]
        return i

    def join(self, i: int, j: int, reason: str, *, sure: bool = False) -> bool:
        """Join two clusters; unless `sure`, not if their members have different arXiv identifiers or numbers."""
        low, high = sorted((self.root(i), self.root(j)))
        if low == high:
            return True
        if not sure and (self._differ(self.arxiv, low, high) or self._differ(self.numbers, low, high)):
            return False
        self.parent[high] = low
        self.arxiv[low] |= self.arxiv[high]
        self.numbers[low] |= self.numbers[high]
        first, second = (i, j) if i < j else (j, i)
        self.reasons[low] += [*self.reasons.pop(high, ()), f"{self.witnesses[second].name} = {self.witnesses[first].name}: {reason}"]
        return True

    @staticmethod
    def _differ(values: Sequence[AbstractSet[object]], low: int, high: int) -> bool:
        return bool(values[low] and values[high] and not values[low] & values[high])

    def groups(self) -> list[tuple[int, ...]]:
        """The clusters, each with its members in order, by first member."""
        members_by_root: dict[int, list[int]] = defaultdict(list)
        for i in range(len(self.witnesses)):
            members_by_root[self.root(i)].append(i)
        return [tuple(members) for _, members in sorted(members_by_root.items())]


def _by_identifier(clusters: _Clusters) -> None:
    first: dict[WorkId, int] = {}
    for i, cluster_facts in enumerate(clusters.facts):
        for known_id in sorted(cluster_facts.ids):
            j = first.setdefault(known_id, i)
            if j == i:
                continue
            reason, sure = by_id(clusters.facts[j], cluster_facts)
            if sure:
                clusters.join(j, i, reason, sure=True)
            else:
                clusters.notes.append(
                    f"{clusters.witnesses[i].name} and {clusters.witnesses[j].name} have the {reason} but different titles and authors; kept apart"
                )


def _by_title(clusters: _Clusters) -> None:
    """Equal titles, and titles that equal another's part before the subtitle."""
    buckets: dict[str, list[int]] = defaultdict(list)
    for i, cluster_facts in enumerate(clusters.facts):
        for form in {cluster_facts.key.compact, cluster_facts.key.main} - {""}:
            buckets[form].append(i)
    for members in buckets.values():
        _compare_within(clusters, members)


def _compare_within(clusters: _Clusters, members: Sequence[int]) -> None:
    """Each member with the first `CROWD` that were joined to none before it: bounded however many share a title."""
    heads: list[int] = []
    for i in members:
        if not any(_try(clusters, head, i) for head in heads) and len(heads) < CROWD:
            heads.append(i)


def _try(clusters: _Clusters, i: int, j: int) -> bool:
    if clusters.root(i) == clusters.root(j):
        return True
    reason = by_title(clusters.facts[i], clusters.facts[j])
    return bool(reason) and clusters.join(i, j, reason)


def _by_neighborhood(clusters: _Clusters) -> None:
    """Titles that sort next to each other, read forwards and backwards, under one first author."""
    orders: tuple[Callable[[int], tuple[str, str]], ...] = (
        lambda i: (clusters.facts[i].surname, clusters.facts[i].key.compact),
        lambda i: (clusters.facts[i].surname, clusters.facts[i].key.compact[::-1]),
    )
    named = [i for i, cluster_facts in enumerate(clusters.facts) if cluster_facts.people and cluster_facts.key.compact]
    for order in orders:
        line = sorted(named, key=order)
        for at, i in enumerate(line):
            for j in line[at + 1 : at + 1 + NEIGHBOURS]:
                if clusters.facts[i].surname == clusters.facts[j].surname:
                    _try(clusters, *sorted((i, j)))


def _by_raw(clusters: _Clusters) -> None:
    """Entries whose title could not be read, by a known title, surname and year that stand in their text."""
    starts: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, cluster_facts in enumerate(clusters.facts):
        if cluster_facts.key.distinctive() and len(cluster_facts.key.words) >= RAW_WORDS and cluster_facts.people:
            starts[cluster_facts.key.words[:RAW_WORDS]].append(i)
    for j, witness in enumerate(clusters.witnesses):
        if not clusters.facts[j].key.compact and witness.entry.raw:
            _match_raw(clusters, j, tuple(normal_title(witness.entry.raw[:MAX_RAW]).split()), starts)


def _match_raw(clusters: _Clusters, j: int, words: tuple[str, ...], starts: Mapping[tuple[str, ...], list[int]]) -> None:
    raw_words = set(words)
    for at in range(len(words) - RAW_WORDS + 1):
        for i in starts.get(words[at : at + RAW_WORDS], ())[:CROWD]:
            cluster_facts = clusters.facts[i]
            whole = words[at : at + len(cluster_facts.key.words)] == cluster_facts.key.words
            if whole and cluster_facts.surname in set(words[:at]) and (cluster_facts.year is None or str(cluster_facts.year) in raw_words):
                clusters.join(i, j, "title, first author and year stand in the entry's text")
                return


# References


def _edges(
    citing: WorkId, itself: frozenset[WorkId], groups: Iterable[tuple[int, ...]], clusters: _Clusters, notes: list[str]
) -> tuple[tuple[Reference, ...], dict[WorkId, Work], dict[WorkId, tuple[Witness, ...]]]:
    references: list[Reference] = []
    works: dict[WorkId, Work] = {}
    behind: dict[WorkId, tuple[Witness, ...]] = {}
    for group in groups:
        members = tuple(clusters.witnesses[i] for i in group)
        work = merge_all(member.work for member in members)
        if itself & {work.id, *work.aliases}:
            notes.append(f"{members[0].name}: the paper cites itself; no edge made")
            continue
        if work.id in works:
            work = _own_name(work, members, works, notes)
        works[work.id], behind[work.id] = work, members
        references.append(_edge(citing, work.id, members, tuple(clusters.reasons.get(group[0], ()))))
    return tuple(references), works, behind


def _own_name(work: Work, members: Sequence[Witness], works: Mapping[WorkId, Work], notes: list[str]) -> Work:
    """A work that was kept apart from another with its identifier gets one made of all that its entry says."""
    entry = members[0].entry
    salt, fresh = "", work.id
    while fresh in works:
        fresh = reference_id("", _sound(" ".join(work.authors)), work.year, _sound(f"{work.title} {entry.raw} {entry.key}{salt}"))
        salt += "'"
    notes.append(f"{members[0].name}: {work.id} is taken by another work; listed as {fresh}")
    return replace(work, id=fresh, aliases=())


def _edge(citing: WorkId, cited: WorkId, members: Sequence[Witness], reasons: tuple[str, ...]) -> Reference:
    own = [m for m in members if m.number is not None]
    first = own[0] if own else members[0]
    also = tuple(f"also cited as {m.entry.key!r}" for m in own[1:] if m.entry.key != first.entry.key)
    return Reference(
        citing,
        cited,
        key=first.entry.key,
        raw=first.entry.raw,
        mentions=join_mentions([m.mentions for m in members]),
        known_by=tuple(dict.fromkeys(m.source for m in members)),
        merged=reasons + also,
        influential=any(m.influential for m in members),
        number=first.number,
    )


def _coverage(references: Sequence[Reference], lists: Sequence[ReferenceList], own: Sequence[BibEntry]) -> dict[str, int]:
    services = {listing.source for listing in lists}
    listed = [bool(services & set(r.known_by)) for r in references]
    mine = [r.number is not None for r in references]
    counts = {
        "total": len(references),
        "own only": sum(m and not s for m, s in zip(mine, listed, strict=True)),
        "services only": sum(s and not m for m, s in zip(mine, listed, strict=True)),
        "both": sum(m and s for m, s in zip(mine, listed, strict=True)),
        "resolved": sum(not r.cited.startswith("ref:") for r in references),
        "uncited": sum(not r.mentions for r in references),
        "listed by the paper": len(own),
    }
    for source in sorted({s for r in references for s in r.known_by}):
        counts[f"by {source}"] = sum(source in r.known_by for r in references)
    for listing in lists:
        counts[f"listed by {listing.source}"] = listing.expected if listing.expected is not None else len(listing.entries)
    return counts
