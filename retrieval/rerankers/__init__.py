"""Rerankers, imported by name only: each is slower than everything else together, so none is on by default."""
