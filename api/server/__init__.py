"""`lineage serve`: the listening process, its guards, its jobs and its metrics."""
