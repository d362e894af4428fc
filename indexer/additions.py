"""What a user adds by hand: a paper or folder on disk, an arXiv paper, a repository. Each ends in one record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from indexer.build_context import BuildContext
from indexer.papers import PaperText
from indexer.repositories import Code, Folder, pinned, read_folder, tarball
from indexer.sources import local
from indexer.target import existing, is_path, resolve
from lineage import ids
from lineage.errors import NotFound, ParseError, SourceError, UsageError
from lineage.progress import Stage
from lineage.records import Blob, Status, Work, WorkId


@dataclass(frozen=True)
class Addition:
    """One addition and how it ended: a paper's `text`, a folder's `code`, or a repository's tarball (`blob`)."""

    work: Work
    status: Status
    detail: str
    text: PaperText | None = None
    code: Code | None = None
    blob: Blob | None = None
    digest: str = ""


def additions(bench: BuildContext, sources: Sequence[str]) -> tuple[Addition, ...]:
    """Each source read or fetched; what fails on the way is an addition that says so, what is wrong in itself raises."""
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
