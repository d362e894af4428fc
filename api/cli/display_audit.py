"""An audit as a report for people: by level, what is wrong first, each with what was expected and why."""

from __future__ import annotations

from collections.abc import Iterator

from api.cli.display import plain, shorten
from lineage.citation import citation
from lineage.results import Audit, AuditFinding

_LEVELS = {"paper": "components of the method", "method": "details of the method", "experiment": "settings of the experiments"}
_MARKS = {"match": "ok", "deviation": "differs", "missing": "missing", "cannot judge": "?"}
_SHOWN = ("deviation", "missing")


def audit(made: Audit, everything: bool = False) -> str:
    """The report; with `everything` what agrees and what cannot be judged is listed as well."""
    counts = [f"{sum(one.verdict == verdict for one in made.findings)} {verdict}" for verdict in _MARKS]
    lines = [f"{plain(made.path)} against {made.lineage}: {made.score:.0%} of what could be judged agrees ({', '.join(counts)})"]
    for level, title in _LEVELS.items():
        rows = [one for one in made.findings if one.level == level]
        shown = [one for one in rows if everything or one.verdict in _SHOWN]
        if rows:
            lines += [
                "",
                f"{title} ({len(rows) - len(shown)} of {len(rows)} agree or cannot be judged; --all shows them):"
                if len(shown) < len(rows)
                else f"{title}:",
            ]
        lines += [line for one in shown for line in _finding(one)]
    return "\n".join([*lines, "", *(plain(note) for note in made.notes)])


def _finding(one: AuditFinding) -> Iterator[str]:
    where = f"  {plain(one.where)}" if one.where else ""
    yield f"  {_MARKS[one.verdict]:<8} {shorten(one.title, 60)}{where}"
    if one.name != "component":
        scope = f" for {shorten(one.scope, 60)}" if one.scope else ""
        found = f", found {shorten(one.found, 60)}" if one.found else ""
        yield f"           expected {shorten(one.expected, 80)}{scope}{found}"
    yield f"           {shorten(one.why, 120)}"
    for hit in one.evidence[:1] if one.verdict != "match" else ():
        yield f"           {plain(citation(hit))}"
