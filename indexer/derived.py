"""What a generation holds besides its documents because it follows from them: raw settings, and the profiles of repositories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from indexer.extraction.settings import settings, stored_settings
from indexer.repo_profile import profiles, stored_profile
from lineage.catalog.reader import Catalog
from lineage.catalog.writer import CatalogWriter
from lineage.records import Chunk, CodeLink, Document, FileProfile, Setting, Work, WorkId


def derive(catalog: CatalogWriter, documents: Iterable[Document], chunks: Iterable[Chunk], works: Iterable[Work], links: Iterable[CodeLink]) -> None:
    """Write what follows from documents and their chunks."""
    catalog.add_settings(setting for chunk in chunks for setting in settings(chunk))
    catalog.add_files(profiles(documents, works, links))


class Stored:
    """The same out of a catalogue of an older format, when it is asked for (`lineage.catalog.reader.Derivation`)."""

    def settings(self, catalog: Catalog, work: WorkId) -> Sequence[Setting]:
        """The settings of a repository."""
        return stored_settings(catalog, work)

    def files(self, catalog: Catalog, work: WorkId) -> Sequence[FileProfile]:
        """The profile of a repository."""
        return stored_profile(catalog, work)
