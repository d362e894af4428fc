"""An audit as SARIF 2.1.0, the format that code hosts and editors read as findings of static analysis."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from lineage.citation import citation
from lineage.results import Audit, AuditFinding

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_KINDS = {"match": ("pass", "none"), "deviation": ("fail", "error"), "missing": ("fail", "warning"), "cannot judge": ("open", "none")}
"""The kind and level of a result by verdict; only what fails may have a level."""
_WHERE = re.compile(r"(?P<path>.+?)#L(?P<first>\d{1,9})(?:-L(?P<last>\d{1,9}))?\Z")
_LEVELS = {"paper": "Component of the method", "method": "Detail of the method", "experiment": "Setting of an experiment"}


def to_sarif(made: Audit, verdicts: Iterable[str] = ("deviation", "missing")) -> dict[str, Any]:
    """The log of one run with the findings of these verdicts, one rule for each detail."""
    shown = [finding for finding in made.findings if finding.verdict in set(verdicts)]
    rules = {_rule_id(finding): finding for finding in shown}
    driver = {"name": "lineage", "version": version("paper-lineage"), "rules": [_rule(*item) for item in rules.items()]}
    properties = {"lineage": made.lineage, "generation": made.generation, "score": made.score, "notes": list(made.notes)}
    run = {"tool": {"driver": driver}, "results": [_result(finding, list(rules)) for finding in shown], "properties": properties}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule_id(finding: AuditFinding) -> str:
    return f"{finding.level}/{finding.title if finding.name == 'component' else finding.name}"


def _rule(identifier: str, finding: AuditFinding) -> dict[str, Any]:
    return {"id": identifier, "shortDescription": {"text": f"{_LEVELS[finding.level]}: {finding.title}"}, "properties": {"level": finding.level}}


def _result(finding: AuditFinding, rules: list[str]) -> dict[str, Any]:
    kind, level = _KINDS[finding.verdict]
    identifier = _rule_id(finding)
    mark = "\0".join((identifier, finding.verdict, finding.expected, finding.scope, finding.where.partition("#")[0]))
    return {
        "ruleId": identifier,
        "ruleIndex": rules.index(identifier),
        "kind": kind,
        "level": level,
        "message": {"text": _message(finding)},
        "locations": [_location(finding.where)],
        "partialFingerprints": {"lineageAudit/v1": hashlib.sha256(mark.encode()).hexdigest()},
        "rank": round(100 * finding.severity, 1),
        "properties": {"strength": finding.strength, "scope": finding.scope, "cites": [citation(hit) for hit in finding.evidence]},
    }


def _message(finding: AuditFinding) -> str:
    scope = f" for {finding.scope}" if finding.scope else ""
    found = f", found {finding.found}" if finding.found else ""
    cites = "".join(f" ({citation(hit)})" for hit in finding.evidence[:1])
    return f"{finding.title}: expected {finding.expected}{scope}{found}. {finding.why}{cites}"


def _location(where: str) -> dict[str, Any]:
    """A place of the repository; its root where a finding has none, since code hosts refuse results without a place."""
    place = _WHERE.match(where)
    if place is None:
        return {"physicalLocation": {"artifactLocation": {"uri": quote(where) or "."}}}
    region = {"startLine": int(place["first"]), **({"endLine": int(place["last"])} if place["last"] else {})}
    return {"physicalLocation": {"artifactLocation": {"uri": quote(place["path"])}, "region": region}}
