"""The write side: fetch, parse, chunk, embed and store a lineage."""
