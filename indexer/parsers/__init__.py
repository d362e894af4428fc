"""Bytes to Document, one module a format, pure and run in the sandbox."""
