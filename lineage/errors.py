"""Every error this project raises on purpose, in one tree.

    LineageError                    message for a person, `hint` says what to do, `exit_code` for the shell
    |- UsageError                   2  the request itself is wrong
    |  |- BadIdentifier                a target that fits no grammar
    |  |- AmbiguousTarget              a title with several candidates, which are listed
    |  |- SettingsError                a setting or folder that cannot be used
    |  |- UnsupportedDecision            a decision whose cited lines do not state it
    |  `- BadBundle                    a bundle or lock file that is none, is damaged, or does not fit
    |- NotFound                     3  no such target, lineage or evidence
    |- UpstreamError                4  an upstream refused or is unreachable; the same command resumes
    |  |- SourceError                  one answer, with its ledger `status`
    |  |- AnswersMissing               prompts for a model wait in a folder
    |  `- DiskFull                     the store's disk has no room left
    |- QueueFull                    4  as many builds wait as may wait
    |- Cancelled                    130  a build that was told to stop; the same request resumes
    |- Losses                       5  done, with losses, and --strict was given
    |- StoreError                   6  the store is damaged, busy or of another kind
    |  |- StoreDamaged
    |  |- StoreBusy
    |  |- StoreUnreachable         4  the database of the store does not answer; ask again
    |  `- EmbedderMismatch
    `- ParseError                      one document, with its ledger `status`; never leaves the pipeline

Anything else that reaches the edge is a bug and ends with exit code 1.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineage.records import Status


class LineageError(Exception):
    """Root of the tree; `str(error)` is one clear line, `hint` the next step or the empty string."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(LineageError):
    """The request is wrong as it stands."""

    exit_code = 2


class BadIdentifier(UsageError):
    """A target that is neither an identifier, a URL, a title nor a path."""


class AmbiguousTarget(UsageError):
    """A title that several works bear; `candidates` are lines to choose from."""

    exit_code = 3

    def __init__(self, message: str, candidates: Sequence[str]) -> None:
        super().__init__(message, hint="choose one of:\n" + "\n".join(f"  {line}" for line in candidates))
        self.candidates = tuple(candidates)


class SettingsError(UsageError):
    """A setting, model or folder that cannot be used."""


class UnsupportedDecision(UsageError):
    """A decision whose cited lines do not state it; the hint shows the lines."""


class BadBundle(UsageError):
    """An invalid, truncated, altered or incompatible bundle or lock file; nothing was changed."""


class NotFound(LineageError):
    """No such target, lineage or evidence."""

    exit_code = 3


class UpstreamError(LineageError):
    """An upstream refused or could not be reached; what was done is kept."""

    exit_code = 4


class SourceError(UpstreamError):
    """One request that ended without a usable answer.

    `status` is the ledger status it stands for, `url` what was asked (without secrets).
    """

    def __init__(self, status: Status, message: str, *, url: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.url = url


class AnswersMissing(UpstreamError):
    """So many prompts wait in a folder for somebody to write their answers."""

    def __init__(self, folder: Path, prompts: int = 1) -> None:
        waits = f"{prompts} prompts wait" if prompts > 1 else "a prompt waits"
        super().__init__(f"{waits} for an answer in {folder}", hint="answer each NAME.md in NAME.json beside it, then run the same again")
        self.folder = folder


class DiskFull(UpstreamError):
    """No room left where the store lies; nothing half-written stays."""


class QueueFull(LineageError):
    """As many builds wait as may wait; the same request may be made later."""

    exit_code = 4


class Cancelled(LineageError):
    """Long work that was cancelled; what was done is kept."""

    exit_code = 130


class Losses(LineageError):
    """A build that finished with losses although `--strict` asked for none."""

    exit_code = 5


class StoreError(LineageError):
    """The store cannot be used as it is."""

    exit_code = 6


class StoreDamaged(StoreError):
    """A file of the store is missing, cut short or not what its hash says."""


class StoreBusy(StoreError):
    """Another process is writing this lineage; the message says which."""

    exit_code = 4


class StoreUnreachable(StoreError):
    """The database that holds the store cannot be reached; nothing is lost, and the same request may be made again."""

    exit_code = 4


class EmbedderMismatch(StoreError):
    """Vectors made by one model were to be mixed with or searched by another."""

    exit_code = 2


class ParseError(LineageError):
    """A document that a parser could not read, or not wholly; `status` says how."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status


_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_CLOSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP}
_OWN = "set LINEAGE_HOME (or --home) to a folder of yours"


def there(text: str) -> Path | None:
    """The path that lies under what a person wrote (`~` is their home), or None, also for what no file can be called."""
    try:
        path = Path(text).expanduser()
        return path if text.strip() and path.exists() else None
    except (OSError, ValueError, RuntimeError):
        return None


def check_home(home: Path) -> None:
    """Raise `SettingsError` where no folder can be: at or below a file, or under a name that no file can have."""
    try:
        place = next((path for path in (home, *home.absolute().parents) if path.exists()), None)
        wrong = "" if place is None or place.is_dir() else f"{place} is not a folder"
    except (OSError, ValueError) as error:
        wrong = f"{home} cannot be a folder: {getattr(error, 'strerror', error)}"
    if wrong:
        raise SettingsError(wrong, hint=_OWN)


@contextmanager
def failures(path: Path) -> Iterator[None]:
    """`OSError` inside the block leaves as `DiskFull`, `SettingsError` (a folder that cannot be used) or `StoreError`."""
    try:
        yield
    except OSError as error:
        place = error.filename or path
        if error.errno in _FULL:
            raise DiskFull(f"no room left to write {place}", hint="free some space and run the same command again") from error
        if error.errno in _CLOSED:
            raise SettingsError(f"{place} cannot be written: {error.strerror}", hint=_OWN) from error
        raise StoreError(f"the disk failed at {place}: {error}") from error
