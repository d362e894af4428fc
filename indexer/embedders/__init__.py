"""Texts to unit vectors; one module an embedder, imported by name only."""
