"""The vocabulary and the graph: records, ports, errors, settings and the catalogue. Imports nothing of ours."""
