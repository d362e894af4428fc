"""The catalogue of one generation: works, edges, documents, chunks, ledger and the lexical index, in one SQLite file.

The only package that speaks SQL. A catalogue is written once (`writer.CatalogWriter`), then read as a file that never
changes again (`reader.Catalog`): no write-ahead log, no locks between readers, nothing that two processes could tear.
"""
