"""Where papers and code come from; one module a source, imported by name only."""
