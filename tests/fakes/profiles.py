"""Profiles of files as their paths say them, for hits that no build made."""

from __future__ import annotations

from dataclasses import replace

from lineage.file_roles import named_roles
from lineage.ids import repo_name
from lineage.records import FileProfile, Hit, WorkId


class NamedFiles(dict[str, FileProfile]):
    """The profile of any file of a repository, by its path alone."""

    def __init__(self, work: WorkId) -> None:
        super().__init__()
        self.work = work

    def get(self, path: str, default: object = None) -> FileProfile:  # type: ignore[override]
        """The profile of a path."""
        return FileProfile(self.work, path, named_roles(path, repo_name(self.work)))


def profiled(hit: Hit) -> Hit:
    """The hit with the profile of its file, by its path alone."""
    return replace(hit, file=NamedFiles(hit.work.id).get(hit.chunk.path))
