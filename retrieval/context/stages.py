"""What each stage of writing code needs (pure): how a budget is shared, and what its parts are called.

The stages are PaperCoder's (Seo et al., 2025): planning reads for an overall plan, an architecture, the data, the
evaluation and a `config.yaml`; analysis goes file by file; coding wants code to imitate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lineage.errors import UsageError
from lineage.results import Stage
from retrieval.context.units import Kind

STAGES: tuple[Stage, ...] = ("planning", "analysis", "coding")


@dataclass(frozen=True)
class StageBudget:
    """`records` is the most that conflicts, settings and gaps may take of a budget; `caps` the most that each kind of unit may
    take of the rest while there is choice (what nothing else fills, any may); `favour` multiplies what a kind is worth.
    """

    records: float
    caps: Mapping[Kind, float]
    favour: Mapping[Kind, float] = field(default_factory=dict)


POLICIES: Mapping[Stage | None, StageBudget] = {
    None: StageBudget(0.25, {"stated": 0.7, "lineage": 0.3, "imitate": 0.4}),
    "planning": StageBudget(0.8, {"stated": 0.8, "lineage": 0.3, "imitate": 0.2}, {"stated": 1.5, "imitate": 0.7}),
    "analysis": StageBudget(0.25, {"stated": 0.6, "lineage": 0.25, "imitate": 0.5}),
    "coding": StageBudget(0.2, {"stated": 0.3, "lineage": 0.15, "imitate": 0.85}, {"imitate": 3.0}),
}
HEADINGS: Mapping[str, str] = {
    "conflict": "Conflicts",
    "stated": "What the target says",
    "lineage": "What its lineage adds",
    "imitate": "Code to imitate, smallest complete units first",
    "config": "config.yaml",
    "unspecified": "UNSPECIFIED",
}
ORDER = tuple(HEADINGS)


def stage_of(text: str) -> Stage | None:
    """The stage of that name, None for the empty one; raises `UsageError`."""
    if not text:
        return None
    stages = next((stage for stage in STAGES if stage == text), None)
    if stages is None:
        raise UsageError(f"there is no stage {text!r}", hint="stages: " + ", ".join(STAGES))
    return stages
