"""Results of operations to JSON: every frozen record by its fields, with the few shapes that CONTRACTS fixes.

`api.wire` holds the one shape that comes from outside, the hit; here is what the project says of itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from api import wire
from lineage.errors import AmbiguousTarget, LineageError
from lineage.model import Reference, Work

if TYPE_CHECKING:
    from api.service import Completeness, Listed, Overview
    from indexer.plan import BuildReport


def dumps(value: Any) -> str:
    """One line of JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def enveloped(value: Any) -> str:
    """The one object that `--json` prints."""
    return json.dumps(wire.envelope(value), ensure_ascii=False, indent=1, default=str)


def error(raised: LineageError) -> str:
    """The object that `--json` prints when there is no answer."""
    said: dict[str, Any] = {"type": type(raised).__name__, "message": str(raised), "hint": raised.hint, "exit_code": raised.exit_code}
    if isinstance(raised, AmbiguousTarget):
        said["candidates"] = list(raised.candidates)
    return json.dumps({"schema_version": wire.envelope(None)["schema_version"], "error": said}, ensure_ascii=False, indent=1)


def to_json(value: Any) -> Any:
    """A record, or a container of them, as JSON values; texts of others lose their invisible characters."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json(item) for item in value]
    return wire.visible(value)[0] if isinstance(value, str) else value


def report(made: BuildReport) -> dict[str, Any]:
    """CONTRACTS: `build --json` data."""
    said: dict[str, Any] = to_json(made)
    return said


def references(listed: Listed, top: int = 0) -> dict[str, Any]:
    """The references of a work, best first, each with its record."""
    rows = listed.references[:top] if top else listed.references
    return {
        "target": to_json(listed.target),
        "coverage": to_json(listed.coverage),
        "references": [{"rank": rank, **reference(row, listed.works.get(row.cited))} for rank, row in enumerate(rows, 1)],
    }


def reference(row: Reference, work: Work | None) -> dict[str, Any]:
    """One edge of the graph with the work that it leads to."""
    return {**to_json(row), "work": to_json(work)}


def overview(shown: Overview) -> dict[str, Any]:
    """A lineage at a glance."""
    edges = [reference(row, shown.works.get(row.cited)) for row in shown.references]
    return {**report(shown.report), "edges": edges, "links": to_json(shown.links)}


def completeness(found: Completeness) -> dict[str, Any]:
    """The ledger: sums by kind, and what is not whole."""
    losses = [{**to_json(row), "outcome": row.status.outcome, "retryable": row.status.retryable} for row in found.losses]
    return {"lineage": found.lineage, "generation": found.generation, "sums": to_json(found.sums), "losses": losses}
