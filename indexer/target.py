"""Resolve a target or an addition: its record, its text and the ledger rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from indexer.build_context import BuildContext
from indexer.papers import PaperText, fetch_paper, read_paper
from indexer.plan import fetchable
from indexer.references import recognized
from indexer.repositories import Addition, Folder, pinned, read_folder, tarball
from indexer.sources import local
from indexer.sources.local import is_path
from lineage import ids
from lineage.errors import AmbiguousTarget, NotFound, ParseError, SourceError, UpstreamError, UsageError, there
from lineage.ids import Target
from lineage.progress import Stage
from lineage.records import LedgerRow, Status, Work, WorkId
from lineage.references.same_work import merge_works

TEXT = "text of the target"
"""The subject of the ledger row that says how the target's own text was had."""


@dataclass(frozen=True)
class ResolvedTarget:
    """A target that exists, with its text (whose `document` may be None) and ledger rows; `folder` if it is one of code."""

    work: Work
    text: PaperText
    rows: tuple[LedgerRow, ...]
    folder: Folder | None = None


def resolve(bench: BuildContext, text: str, *, look_up: bool = True) -> ResolvedTarget:
    """The work that `text` names, and its text; of a file with the identifiers of its record, unless `look_up` is False.

    Raises `BadIdentifier`, `AmbiguousTarget` with candidates, `NotFound`, or `UpstreamError` where no service
    could be asked at all.
    """
    if is_path(text):
        path = existing(text)
        return of_code(read_folder(bench, path)) if local.is_code(path) else _from_path(bench, path, look_up)
    target = ids.parse(text)
    bench.watch(Stage("target", 0, 1, text))
    if target.title:
        target = _by_title(bench, target.title)
    work, rows = _known(bench, target)
    bench.watch(Stage("target", 1, 1, work.title or work.id))
    return _with_text(bench, work, target.version, rows)


def existing(text: str) -> Path:
    """The path that is meant; raises `NotFound` where nothing lies."""
    path = there(text)
    if not path:
        raise NotFound(f"there is no file or folder {text}", hint="check the path")
    return path


def _from_path(bench: BuildContext, path: Path, look_up: bool) -> ResolvedTarget:
    paper = local.paper(path)
    blob = bench.blobs.put(paper.data, paper.media_type)
    read = read_paper(bench, paper.work.id, blob)
    if not read.document:
        raise NotFound(f"{path} cannot be read as a paper: {read.detail}", hint="a PDF with text, a .tex file or an e-print archive is needed")
    work = replace(paper.work, title=read.document.title or paper.work.title, abstract=read.document.abstract)
    row = LedgerRow("source", work.id, TEXT, "text", read.status, read.detail)
    if not look_up:
        return ResolvedTarget(work, read, (row, *read.rows))
    work, recognition_rows = recognized(bench, work, read.document)
    return ResolvedTarget(work, read, (*recognition_rows, row, *read.rows))


def of_code(folder: Folder) -> ResolvedTarget:
    """A folder of code is a lineage of itself: no paper, no references, what is added by hand beside it."""
    detail = f"a folder of code, {len(folder.code.documents)} files read"
    row = LedgerRow("source", folder.work.id, TEXT, "text", Status.OK, detail)
    return ResolvedTarget(folder.work, PaperText(None, Status.OK, detail), (row,), folder)


def _by_title(bench: BuildContext, title: str) -> Target:
    candidates = bench.scholar.match(title)
    same = [work for work in candidates if ids.normal_title(work.title) == ids.normal_title(title)]
    chosen = same or list(candidates)
    if len(chosen) == 1:
        return ids.parse(chosen[0].id)
    if not chosen:
        raise NotFound(f"no paper is called {title!r}", hint="give its arXiv id or DOI if you know it")
    raise AmbiguousTarget(f"{len(chosen)} papers are called {title!r}", [_line(work) for work in chosen])


def _line(work: Work) -> str:
    author = f"{work.authors[0]} et al., " if work.authors else ""
    return f"{work.id}  {work.title} ({author}{work.year or 'year unknown'})"


def _known(bench: BuildContext, target: Target) -> tuple[Work, list[LedgerRow]]:
    """What the services say of the target, merged; raises when none knows it or none answers."""
    works: list[Work] = []
    failures: list[tuple[str, SourceError]] = []
    for source in (bench.scholar, bench.arxiv):
        try:
            work = source.paper(target)
        except SourceError as error:
            failures.append((source.name, error))
        else:
            works += [work] if work else []
    if not works:
        raise _nothing(target, failures, bench.settings.offline)
    work = works[0] if len(works) == 1 else merge_works(works[0], works[1])
    if target.id and target.id.startswith("arxiv:") and work.id != target.id:
        work = replace(work, id=target.id, aliases=tuple(sorted({*work.aliases, work.id} - {target.id})))
    rows = [LedgerRow("source", work.id, f"record by {name}", "target", error.status, str(error)) for name, error in failures]
    return work, rows


def _nothing(target: Target, failures: Sequence[tuple[str, SourceError]], offline: bool) -> Exception:
    if not failures:
        return NotFound(
            f"no service knows {target.id or target.lookup}", hint="check the identifier, or build from a file: lineage build ./paper.pdf"
        )
    tried = "; ".join(f"{name}: {error}" for name, error in failures)
    hint = "check the network connection and run the same command again; what was fetched is kept"
    if offline:
        hint = "run it once without --offline (and LINEAGE_OFFLINE)"
    return UpstreamError(f"{target.id or target.lookup} could not be looked up ({tried})", hint=hint)


def _with_text(bench: BuildContext, work: Work, version: str, rows: list[LedgerRow]) -> ResolvedTarget:
    arxiv = fetchable(work)
    if arxiv:
        text = fetch_paper(bench, arxiv, work, version)
    else:
        text = PaperText(None, Status.ABSTRACT_ONLY if work.abstract else Status.METADATA_ONLY, "not on arXiv; give its PDF as a path for its text")
    row = LedgerRow("source", work.id, TEXT, "text", text.status, text.detail)
    return ResolvedTarget(work, text, (*rows, row, *text.rows))


def additions(bench: BuildContext, sources: Sequence[str]) -> tuple[Addition, ...]:
    """Read or fetch each added source; a failed download becomes a failed addition, an invalid source raises."""
    resolved: list[Addition] = []
    for n, source in enumerate(sources, 1):
        bench.watch(Stage("additions", n, len(sources), source))
        try:
            resolved.append(_addition(bench, source))
        except (SourceError, ParseError) as error:
            work = Work(ids.repo_id(source) or WorkId(ids.reference_id(source)), title=source)
            resolved.append(Addition(work, error.status, str(error)))
        except (NotFound, UsageError) as error:
            raise _of(source, error) from error
    return tuple(resolved)


def check(sources: Sequence[str]) -> None:
    """Raise `NotFound` or `BadIdentifier` for what cannot be added, before anything is fetched."""
    for source in sources:
        try:
            if is_path(source):
                existing(source)
            elif not ids.repo_id(source):
                ids.parse(source)
        except (NotFound, UsageError) as error:
            raise _of(source, error) from error


def _of(source: str, error: NotFound | UsageError) -> NotFound | UsageError:
    kind = NotFound if error.exit_code == NotFound.exit_code else UsageError
    return kind(f"--add {source}: {error}", hint=error.hint)


def _addition(bench: BuildContext, source: str) -> Addition:
    if is_path(source) and local.is_code(existing(source)):
        return of_folder(read_folder(bench, existing(source)))
    repo = None if is_path(source) else ids.repo_id(source)
    if repo:
        work = pinned(bench, bench.github.repository(repo))
        blob = tarball(bench, work)
        return Addition(work, Status.OK, f"commit {str(work.meta['commit'])[:12]}", blob=blob, digest=blob.sha256)
    resolved_target = resolve(bench, source, look_up=False)
    if not resolved_target.text.document:
        raise SourceError(resolved_target.text.status, resolved_target.text.detail)
    return Addition(
        resolved_target.work, resolved_target.text.status, resolved_target.text.detail, text=resolved_target.text, digest=resolved_target.text.blob
    )


def of_folder(folder: Folder) -> Addition:
    """A folder of code as an addition."""
    return Addition(folder.work, Status.OK, f"{len(folder.code.documents)} files read", code=folder.code, digest=folder.digest)
