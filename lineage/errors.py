"""Every error this project raises on purpose, in one tree.

    LineageError                    message for a person, `hint` says what to do, `exit_code` for the shell
    |- UsageError                   2  the request itself is wrong
    |  |- BadIdentifier                a target that fits no grammar
    |  |- AmbiguousTarget              a title with several candidates, which are listed
    |  |- SettingsError                a setting or folder that cannot be used
    |  `- BadBundle                    a bundle or lock file that is none, is damaged, or does not fit
    |- NotFound                     3  no such target, lineage or evidence
    |- UpstreamError                4  an upstream refused or is unreachable; the same command resumes
    |  |- SourceError                  one answer, with its ledger `status`
    |  `- DiskFull                     the store's disk has no room left
    |- QueueFull                    4  as many builds wait as may wait
    |- Cancelled                    130  a build that was told to stop; the same request resumes
    |- Losses                       5  done, with losses, and --strict was given
    |- StoreError                   6  the store is damaged, busy or of another kind
    |  |- StoreDamaged
    |  |- StoreBusy
    |  `- EmbedderMismatch
    `- ParseError                      one document, with its ledger `status`; never leaves the pipeline

Anything else that reaches the edge is a bug and ends with exit code 1.
"""

from __future__ import annotations

from collections.abc import Sequence
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


class BadBundle(UsageError):
    """A bundle or lock file that is none, was cut short or altered, or is of another version; nothing was changed by it."""


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


class DiskFull(UpstreamError):
    """No room left where the store lies; nothing half-written stays."""


class QueueFull(LineageError):
    """As many builds wait as may wait; the same request may be made later."""

    exit_code = 4


class Cancelled(LineageError):
    """Long work that was told to stop and did; what was done is kept."""

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


class EmbedderMismatch(StoreError):
    """Vectors made by one model were to be mixed with or searched by another."""

    exit_code = 2


class ParseError(LineageError):
    """A document that a parser could not read, or not wholly; `status` says how."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status
