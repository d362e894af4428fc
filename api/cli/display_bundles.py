"""Bundles and lock files for people: what went out or came in, and what did not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from api.cli.display import plain, shorten

if TYPE_CHECKING:
    from api.operations import Locked
    from indexer.bundle.bring import Imported
    from indexer.bundle.form import Passed
    from indexer.bundle.write import Exported


def exported(made: Exported) -> str:
    """What a bundle carries, and what was left out and why."""
    lines = [
        f"wrote {plain(made.path)}  {made.size / 1e6:,.1f} MB  sha256 {made.sha256[:16]}…",
        f"  lineage {made.lineage}, content {made.content_hash[:16]}…",
    ]
    lines += _table("texts in it", [work for work in made.works if work.carried])
    lines += _table(
        "texts not included (import fetches them again where their source still has them)", [work for work in made.works if not work.carried]
    )
    if made.texts == "all" and any(not work.license for work in made.works):
        lines.append("this bundle includes texts whose license does not allow redistribution: keep it on your own machines")
    return "\n".join(lines)


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
