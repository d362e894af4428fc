"""Rankings of the demonstration lineage under version control, so that a change of retrieval shows what it moves."""
