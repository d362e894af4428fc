"""A generated repository compared with the paper and its lineage."""
