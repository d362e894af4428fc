"""An audit as JSON: the findings with their evidence as hits."""

from __future__ import annotations

from typing import Any

from api.wire import hits
from lineage.results import Audit


def audit_to_json(made: Audit) -> dict[str, Any]:
    """The audit, worst finding first; `counts` by verdict."""
    rows = [hits.to_json(finding) | {"evidence": [hits.hit_to_json(hit) for hit in finding.evidence]} for finding in made.findings]
    counts = {verdict: sum(finding.verdict == verdict for finding in made.findings) for verdict in ("match", "deviation", "missing", "cannot judge")}
    return {
        "path": made.path,
        "lineage": made.lineage,
        "generation": made.generation,
        "score": made.score,
        "counts": counts,
        "findings": rows,
        "notes": list(made.notes),
    }
