"""An audit as a report for people: by level, what is wrong first, each with what was expected and why."""

from __future__ import annotations

from collections.abc import Iterator

from api.cli.display import plain, shorten
from lineage.citation import citation
from lineage.results import Audit, AuditFinding

_LEVELS = {"paper": "components of the method", "method": "details of the method", "experiment": "settings of the experiments"}
_MARKS = {"match": "ok", "deviation": "differs", "missing": "missing", "cannot judge": "?"}


def shown(everything: bool = False) -> tuple[str, ...]:
    """The verdicts that a report lists."""
    return tuple(_MARKS) if everything else ("deviation", "missing")


def audit(made: Audit, everything: bool = False) -> str:
    """The report; with `everything` what agrees and what cannot be judged is listed as well."""
    lines = [_summary(made)]
    for level, title in _LEVELS.items():
        rows = [finding for finding in made.findings if finding.level == level]
        listed = [finding for finding in rows if finding.verdict in shown(everything)]
        if rows:
            lines += [
                "",
                f"{title} ({len(rows) - len(listed)} of {len(rows)} agree or cannot be judged; --all shows them):"
                if len(listed) < len(rows)
                else f"{title}:",
            ]
        lines += [line for finding in listed for line in _finding(finding)]
    return "\n".join([*lines, "", *(plain(note) for note in made.notes)])


def markdown(made: Audit, everything: bool = False) -> str:
    """The report as Markdown tables, one for each level, for a pull request."""
    lines = [f"## Audit\n\n{_cell(_summary(made))}"]
    for level, title in _LEVELS.items():
        rows = [finding for finding in made.findings if finding.level == level and finding.verdict in shown(everything)]
        if rows:
            lines += ["", f"### {title.capitalize()}", "", "| | detail | expected | found | where | evidence |", "|---|---|---|---|---|---|"]
            lines += [_row(finding) for finding in rows]
    return "\n".join([*lines, "", *(f"- {_cell(note)}" for note in made.notes)])


def _row(finding: AuditFinding) -> str:
    cells = (_MARKS[finding.verdict], finding.title, finding.expected, finding.found, finding.where, ", ".join(map(citation, finding.evidence[:1])))
    return f"| {' | '.join(_cell(shorten(cell, 80)) for cell in cells)} |"


def _cell(text: str) -> str:
    """A text that stays inside its cell: no bars, no lines, no markup of a stranger."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#" else c for c in " ".join(plain(text).split()))


def _summary(made: Audit) -> str:
    counts = [f"{sum(finding.verdict == verdict for finding in made.findings)} {verdict}" for verdict in _MARKS]
    return f"{plain(made.path)} against {made.lineage}: {made.score:.0%} of what could be judged agrees ({', '.join(counts)})"


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
