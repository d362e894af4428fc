"""HTML papers (LaTeXML's output) to `Document`."""
