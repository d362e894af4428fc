"""An audit put together: the folder becomes a lineage of its own in a store that is thrown away, and both are compared."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from api.bootstrap import Parts
from indexer.plan import BuildRequest
from lineage.errors import NotFound, UsageError
from lineage.insight import Audit, AuditFinding, Gaps, Held
from lineage.model import Query, WorkId
from lineage.ontology import ontology
from retrieval import audit as comparing
from retrieval.conflicts import loosely
from retrieval.gaps import text
from retrieval.gaps.report import all_standing, report
from retrieval.judge import judged

_SUBJECT = "subject"
_LOOKED_AT = 5


def audit(parts: Parts, path: Path, lineage: str, no_target_code: bool = False) -> Audit:
    """The findings on the folder `path` by what the target, its code (unless left out) and its lineage expect, and the share of it that is met."""
    if not path.exists():
        raise NotFound(f"there is no folder {path}")
    if not path.is_dir():
        raise UsageError(f"{path} is no folder", hint="name the folder of the generated repository")
    with parts.asked(lineage, no_target_code) as engine:
        material = parts.gaps_material(engine)
        expected = report(material)
        said = text.read(engine.generation.catalog, WorkId(engine.generation.manifest.target))
    found, notes = _compared(parts, path, comparing.components(said), expected, material.held)
    if not said.own:
        notes = (*notes, "the target's text was not to be had: its components were not looked for, and few of its values are known")
    ordered = tuple(sorted(found, key=lambda one: (one.verdict == "present", -one.severity, one.title)))
    return Audit(str(path), expected.lineage, expected.generation, ordered, comparing.score(ordered), (*notes, *expected.notes))


def _compared(
    parts: Parts, path: Path, components: tuple[comparing.Component, ...], expected: Gaps, known: Mapping[str, Sequence[Held]]
) -> tuple[list[AuditFinding], tuple[str, ...]]:
    from indexer.pipeline import build  # the write side loads much, and only here is it needed

    terms = ontology(parts.settings.ontology)
    with tempfile.TemporaryDirectory(prefix="lineage-audit-") as scratch:
        inner = Parts(parts.settings.model_copy(update={"home": Path(scratch), "offline": True}))
        with inner.workbench() as bench:
            made = build(bench, BuildRequest(target=str(path.resolve()), name=_SUBJECT, papers=0, repos=0))
        with inner.engine(_SUBJECT) as engine:
            theirs = all_standing(inner.gaps_material(engine).held)
            answers = engine.ask_many([Query(one.question, k=_LOOKED_AT, kinds=frozenset({"code", "config"})) for one in components])
        looked = [(one, answer.hits) for one, answer in zip(components, answers, strict=True)]
    notes = (f"{made.chunks} units of code and {made.facts} values were read in {path.name}; nothing was run",)
    components_found = list(comparing.found_components(looked))
    if writer := parts.writer:
        components_found = [judged(one, hits, writer) for one, (_, hits) in zip(components_found, looked, strict=True)]
    return [*components_found, *comparing.audited(expected, theirs, loosely(terms.same), known)], notes
