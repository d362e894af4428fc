"""The catalogue of one generation: works, edges, documents, chunks, ledger and the lexical index, in one SQLite file.

The only package that speaks SQL. A catalogue is written once (`CatalogWriter`), then read as a file that never
changes again (`Catalog`): no write-ahead log, no locks between readers, nothing that two processes could tear.
"""

from lineage.catalog.reader import Catalog
from lineage.catalog.writer import CatalogWriter

__all__ = ["Catalog", "CatalogWriter"]
