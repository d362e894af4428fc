"""Bundles: one lineage as one file that opens on another machine without a network.

    NAME.lineage = gzip(tar)    works, references, links, documents, chunks, facts, ledger (.jsonl), meta.json,
                                vectors.npy, LICENCES.md; last of all manifest.json with the SHA-256 of each

There is no database in it: the importer reads records, checks them, and writes a catalogue of its own, so that nothing
foreign is ever opened by SQLite or FAISS. Passages are slices of their documents and travel as offsets; where a
licence does not let a text be passed on, the text is left out and its offsets and hashes travel, so that it can be
fetched again from its source and proved to be the same (`indexer.bundle.bring`).
"""
