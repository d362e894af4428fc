"""How much a build takes in, by name: few works for a first look, or many for a thorough one. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Profile:
    """What a build fetches: `papers` and `repos` (None: as the settings say), `depth` generations of references."""

    said: str
    papers: int | None = None
    repos: int | None = None
    depth: int = 1

    def words(self, papers: int, repos: int) -> str:
        """What it fetches, where the settings say `papers` and `repos`, and what for."""
        papers, repos = papers if self.papers is None else self.papers, repos if self.repos is None else self.repos
        return f"{papers} papers, {repos} repositories, depth {self.depth}: {self.said}"


PROFILES = {
    "fast": Profile("a first look in a few minutes", 8, 5),
    "default": Profile("what most questions need"),
    "deep": Profile("also what the best ancestors inherit from", 60, 30, 2),
}
"""The profiles by name; single flags of a build win over its profile."""
