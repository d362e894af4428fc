"""Where a generation comes from: built here or imported, and who answered what it was built from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Built = Literal["here", "imported", "unknown"]
Upstream = Literal["public", "mirror", "none", "unknown"]


@dataclass(frozen=True)
class BundleOrigin:
    """The bundle a generation was read from: SHA-256 of its file and of its manifest (`id`), the moment of the import, and the program
    that the bundle says made it."""

    sha256: str
    id: str
    imported: str
    made_by: str


@dataclass(frozen=True)
class Provenance:
    """Where a generation comes from.

    `upstream` is who answered the build: the public services, a mirror (if it gave any answer), none (only local files), or
    unknown: the makers of a bundle asked, and nothing proves whom. `verified`: this program fetched the contents from the
    public services itself. `signer` is null: bundles are not signed yet.
    """

    built: Built = "unknown"
    upstream: Upstream = "unknown"
    verified: bool = False
    bundle: BundleOrigin | None = None
    signer: str | None = None

    @property
    def words(self) -> str:
        """One line for people; empty where it was built here from the public services or local files."""
        if self.bundle:
            return f"imported from a bundle of {self.bundle.imported[:10]} (SHA-256 {self.bundle.sha256[:12]}), not checked against its sources"
        if self.built == "unknown":
            return "of unknown origin: built before origins were recorded"
        return "built through a mirror" if self.upstream == "mirror" else ""


UNKNOWN = Provenance()
"""What is known of a generation that was made before this was written down."""


def here(mirrored: bool, asked: bool) -> Provenance:
    """The provenance of a build of this program, whose answers came from a mirror, from the public services, or that asked nobody."""
    return Provenance("here", "mirror" if mirrored else "public" if asked else "none", verified=not mirrored)


def imported(bundle: BundleOrigin) -> Provenance:
    """The provenance of what a bundle held."""
    return Provenance("imported", bundle=bundle)


def from_json(value: Mapping[str, Any] | None) -> Provenance | None:
    """Of a manifest's value; None where it has none. Raises `TypeError` and `ValueError` for another shape."""
    if value is None:
        return None
    bundle = value["bundle"]
    return Provenance(**{**value, "bundle": BundleOrigin(**bundle) if bundle else None})
