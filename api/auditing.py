"""Audit: index the code as a lineage in a temporary store and compare its values with the target's."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from api.bootstrap import Parts
from api.deciding import in_force
from indexer.archives.members import UPLOAD
from indexer.plan import BuildRequest
from lineage.decisions import Decision
from lineage.errors import NotFound, UsageError
from lineage.progress import Watch, unwatched
from lineage.records import Chunk, WorkId
from lineage.results import Audit, AuditFinding, CodeArchive, FactOccurrence
from lineage.text.tokens import counted
from retrieval.audit import audit as comparing
from retrieval.audit import inputs
from retrieval.audit.audit import with_decisions
from retrieval.decisions import target_text
from retrieval.gaps.model_contradictions import deviations
from retrieval.gaps.model_reader import Reader
from retrieval.gaps.report import ReportInputs, all_standing
from retrieval.search.engine import Engine

_SUBJECT = "subject"
_ORDER = ("deviation", "missing", "cannot judge", "match")


def audit(parts: Parts, code: Path | CodeArchive, lineage: str, no_target_code: bool = False, model: bool = False, watch: Watch = unwatched) -> Audit:
    """The findings on a folder or archive by what the target states, its code (unless left out) and its lineage, and the share that agrees;
    with `model`, what the configured chat model reads besides."""
    if isinstance(code, Path):
        code = _existing(code)
    with parts.asked(lineage, no_target_code) as engine:
        paper = _paper(parts.gaps_material(engine))
        manifest = engine.generation.manifest
        decided = in_force(parts, engine)
        findings, notes = _compared(parts, code, paper, decided.decisions, Reader(parts.chat_model, engine, watch) if model else None)
    notes = (*notes, *decided.notes)
    if not paper.text.own:
        notes = (*notes, "the target's text is not at hand: few of its values are known")
    if no_target_code:
        notes = (*notes, "the target's own code is excluded")
    ordered = tuple(sorted(findings, key=lambda finding: (_ORDER.index(finding.verdict), -finding.severity, finding.title, finding.where)))
    name = str(code) if isinstance(code, Path) else code.name
    return Audit(name, manifest.lineage, manifest.id, ordered, comparing.score(ordered), notes, manifest.origin)


def _existing(path: Path) -> Path | CodeArchive:
    """A folder, or the archive that lies at the path."""
    if path.is_dir():
        return path
    try:
        with path.open("rb") as file:
            return CodeArchive(file.read(UPLOAD.packed + 1), str(path))
    except FileNotFoundError:
        raise NotFound(f"there is no folder or archive {path}", hint="check the path") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def _paper(material: ReportInputs) -> inputs.Paper:
    """What the target and its lineage state."""
    target = WorkId(material.engine.generation.manifest.target)
    occurrences_by_key = all_standing(material.held)
    statements = target_text.read(material.engine.generation.catalog, target)
    weights = inputs.weights(material.checklist.needs)
    return inputs.Paper(target, occurrences_by_key, statements, material.ontology, inputs.loosely(material.ontology.same), weights.__getitem__)


def _compared(
    parts: Parts, code: Path | CodeArchive, paper: inputs.Paper, decisions: Sequence[Decision], reader: Reader | None
) -> tuple[list[AuditFinding], tuple[str, ...]]:
    from indexer.pipeline import build  # the write side loads much, and only here is it needed

    with tempfile.TemporaryDirectory(prefix="lineage-audit-") as scratch:
        inner = Parts(parts.settings.model_copy(update={"home": Path(scratch), "store": "", "dask": "", "offline": True}))
        with inner.workbench() as bench:
            target, upload = (str(code.resolve()), None) if isinstance(code, Path) else (code.name, code.data)
            request = BuildRequest(target, _SUBJECT, papers=0, repos=0)
            made = build(replace(bench, reports=None), request, "first", upload)
        with inner.engine(_SUBJECT) as engine:
            repository = _repository(engine, all_standing(inner.gaps_material(engine).held))
            findings = with_decisions(comparing.audited(paper, repository), decisions, paper, repository)
            if reader:
                with reader.chain():
                    findings = list(deviations(reader, paper.target, engine, findings))
                reader.finish()
    read = f"{counted(made.chunks, 'unit')} of code and {counted(made.facts, 'value')}"
    return findings, (f"{read} were read in {Path(code.name).name}; nothing was run", *((reader.note,) if reader else ()))


def _repository(engine: Engine, occurrences_by_key: Mapping[str, Sequence[FactOccurrence]]) -> inputs.Subject:
    """The only work of a lineage."""
    catalog = engine.generation.catalog
    works = [work.id for work in catalog.works()]
    settings = [setting for work in works for setting in catalog.settings(work)]
    return inputs.Subject(occurrences_by_key, list(_chunks(engine)), settings)


def _chunks(engine: Engine) -> Iterator[Chunk]:
    """The passages of a lineage's only work."""
    catalog = engine.generation.catalog
    for work in catalog.works():
        for document in catalog.documents(work.id):
            yield from catalog.chunks(catalog.neighbours(work.id, document.path))
