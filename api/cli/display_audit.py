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
    counts = [f"{sum(finding.verdict == verdict for finding in made.findings)} {verdict}" for verdict in _MARKS]
    lines = [f"{plain(made.path)} against {made.lineage}: {made.score:.0%} of what could be judged agrees ({', '.join(counts)})"]
    for level, title in _LEVELS.items():
        rows = [finding for finding in made.findings if finding.level == level]
        shown = [finding for finding in rows if everything or finding.verdict in _SHOWN]
        if rows:
            lines += [
                "",
                f"{title} ({len(rows) - len(shown)} of {len(rows)} agree or cannot be judged; --all shows them):"
                if len(shown) < len(rows)
                else f"{title}:",
            ]
        lines += [line for finding in shown for line in _finding(finding)]
    return "\n".join([*lines, "", *(plain(note) for note in made.notes)])


def _finding(finding: AuditFinding) -> Iterator[str]:
    where = f"  {plain(finding.where)}" if finding.where else ""
    yield f"  {_MARKS[finding.verdict]:<8} {shorten(finding.title, 60)}{where}"
    if finding.name != "component":
        scope = f" for {shorten(finding.scope, 60)}" if finding.scope else ""
        found_text = f", found {shorten(finding.found, 60)}" if finding.found else ""
        yield f"           expected {shorten(finding.expected, 80)}{scope}{found_text}"
    yield f"           {shorten(finding.why, 120)}"
    for hit in finding.evidence[:1] if finding.verdict != "match" else ():
        yield f"           {plain(citation(hit))}"
