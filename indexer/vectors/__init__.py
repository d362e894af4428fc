"""Nearest neighbours over stored vectors; one module a store."""
