"""The lineage as a networkx graph, its exports and its layout."""
