"""Bundles, lock files and scores for people: what went out or came in, and what did not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from api.cli.display import plain, shorten

if TYPE_CHECKING:
    from api.wire.stored import Locked, Updated
    from indexer.bundle.bring import Imported
    from indexer.bundle.form import Passed
    from indexer.bundle.shelf import Shelved
    from indexer.bundle.write import Exported
    from indexer.repair import Pruned
    from indexer.store.migration import Migrated
    from retrieval.evaluation import Astray, CheckedEvaluation, QueryScore, Scores

_ASTRAY = 20


def exported(made: Exported) -> str:
    """What a bundle carries, and what was left out and why."""
    lines = [
        f"wrote {plain(made.path)}  {made.size / 1e6:,.1f} MB  sha256 {made.sha256[:16]}…",
        f"  lineage {made.lineage}, content {made.content_hash[:16]}…",
    ]
    if made.signer:
        lines.append(f"  signed by key {made.signer} in {plain(made.path)}.minisig")
    lines += _table("texts in it", [work for work in made.works if work.carried])
    lines += _table(
        "texts not included (import fetches them again where their source still has them)", [work for work in made.works if not work.carried]
    )
    if made.texts == "all" and any(not work.license for work in made.works):
        lines.append("this bundle includes texts whose license does not allow redistribution: keep it on your own machines")
    return "\n".join(lines)


def pushed(row: Shelved) -> str:
    """What lies on the shelf now."""
    left = f"; the texts of {row.left_out} works stay out for their licenses, and are fetched again by those who pull" if row.left_out else ""
    return f"{shelf([row])}\n  content {row.content_hash[:16]}…{left}"


def shelf(rows: Sequence[Shelved]) -> str:
    """One line a bundle, and the licenses of the texts in it."""
    lines = []
    for row in rows:
        licenses = ", ".join(f"{count} {plain(name)}" for name, count in sorted(row.licenses.items()))
        signer = f"; says it is signed by key {plain(row.signer)}" if row.signer else ""
        lines += [
            f"{row.lineage:<24} {row.created[:10]}  {row.size / 1e6:,.1f} MB  {shorten(row.title or row.target, 90)}",
            f"  licenses of texts: {licenses or 'none'}{signer}",
        ]
    return "\n".join(lines) or "the shelf is empty"


def imported(made: Imported) -> str:
    """What came in, what was fetched again, and what is missing."""
    state = "already there" if made.unchanged else f"generation {made.generation}"
    lines = [f"{made.lineage}  {state}  content {made.content_hash[:16]}… {'as exported' if made.whole else '(some texts are missing)'}"]
    if made.fetched:
        lines.append("fetched again and proved the same: " + ", ".join(plain(work) for work in made.fetched))
    if made.missing:
        lines.append("texts that are not here:")
        lines += [f"  {shorten(work, 50):<50}  {shorten(why, 100)}" for work, why in sorted(made.missing.items())]
    lines += [f"note: {plain(note)}" for note in made.notes]
    return "\n".join([*lines, f'ask: lineage query "..." --lineage {made.lineage}'])


def migrated(made: Sequence[Migrated]) -> str:
    """What lies in the other store now."""
    lines = [
        f"{row.lineage}  generation {row.generation}  content {row.content_hash[:16]}…  {row.chunks:,} chunks"
        f"  {'was there' if row.unchanged else 'copied'}, hashes agree"
        for row in made
    ]
    return "\n".join(lines)


def pruned(made: Pruned) -> str:
    """What no lineage refers to, and what was done with it."""
    what = f"{made.answers:,} answers and {made.blobs:,} files, {made.bytes / 1e6:,.1f} MB, that none of {made.lineages} lineages refers to"
    if made.removed or not made.answers + made.blobs:
        return f"{'removed' if made.removed else 'there are'} {what}"
    return f"would remove {what}\nremove them: lineage prune --yes"


def updated(made: Sequence[Updated]) -> str:
    """What lineages say otherwise than before."""
    lines = []
    for row in made:
        changed = (("works", row.works), ("values", row.values))
        lines.append(f"{row.lineage}  generation {row.generation}  {row.note or ('changed' if any(some for _, some in changed) else 'nothing new')}")
        for what, changes in changed:
            lines += [f"  {what}:"] if changes else []
            lines += [
                f"    {shorten(change.of, 60)}: {shorten(change.before or '-', 60)} -> {shorten(change.after or '-', 60)}" for change in changes
            ]
    return "\n".join(lines)


def locked(made: Locked) -> str:
    """What a lock pins, and what it could not."""
    contents = f"{made.answers} answers, {len(made.papers)} papers, {len(made.repositories)} repositories"
    lines = [f"wrote {plain(made.path)}  {made.size / 1e3:,.0f} kB  {contents}"]
    lines += [f"  {shorten(pinned.work, 60):<60}  {plain(pinned.at)[:12]}" for pinned in (*made.papers, *made.repositories)]
    if made.open:
        lines += ["no service had answered for these, so a build with the lock will lack them:", *(f"  {plain(item)}" for item in made.open)]
    return "\n".join([*lines, f"build it anywhere: lineage build --lock {plain(made.path)}"])


def _table(title: str, works: Sequence[Passed]) -> list[str]:
    rows = [f"  {shorten(w.work, 50):<50}  {shorten(w.license, 20):<20}  {w.chunks:>6,} passages  {shorten(w.terms, 70)}" for w in works]
    return [f"{title}:", *rows] if rows else []


def evaluation(checked_evaluation: CheckedEvaluation) -> str:
    """A line a kind, latency, and every question that was not answered among the first five."""
    from retrieval.evaluation import CUTS, DEPTH

    columns = [*(f"R@{cut}" for cut in CUTS), f"MRR@{DEPTH}", f"nDCG@{DEPTH}"]
    width = max(map(len, (*checked_evaluation.kinds, "together")))
    lines = [
        f"{checked_evaluation.lineage} · generation {checked_evaluation.generation} · {plain(checked_evaluation.embedder) or 'lexical only'}",
        "",
    ]
    lines += [f"{'':{width}}     n  " + "  ".join(f"{name:>7}" for name in columns)]
    lines += [_line(plain(kind), scores, width) for kind, scores in checked_evaluation.kinds.items()]
    if len(checked_evaluation.kinds) != 1:
        lines += [_line("together", checked_evaluation.all, width)]
    focus = f", focus {checked_evaluation.focus:.2f}" if checked_evaluation.focus is not None else ""
    lines += ["", f"a question took {checked_evaluation.p50:.0f} ms (p50), {checked_evaluation.p95:.0f} ms (p95){focus}"]
    lines += _astray(checked_evaluation.astray)
    missed = [row for row in checked_evaluation.rows if not row.rank or row.rank > 5]
    lines += ["", "not among the first five:", *map(_missed, missed)] if missed else []
    return "\n".join(lines)


def _astray(lost: Sequence[Astray]) -> list[str]:
    if not lost:
        return []
    named = [f"  {plain(astray.id)}: {shorten(astray.gold, 100)}" for astray in lost[:_ASTRAY]]
    more = [f"  and {len(lost) - _ASTRAY} more"] if len(lost) > _ASTRAY else []
    return ["", f"{len(lost)} answers name no file, work or chunk of this lineage, and count as not found:", *named, *more]


def _line(name: str, scores: Scores, width: int) -> str:
    values = (*scores.recall.values(), scores.mrr, scores.ndcg)
    return f"{name:{width}}  {scores.count:4d}  " + "  ".join(f"{value:7.3f}" for value in values)


def _missed(row: QueryScore) -> str:
    return f"  {plain(row.id)}: " + (f"rank {row.rank}" if row.rank else "not found") + f"; first was {shorten(row.first, 100) or 'nothing'}"
