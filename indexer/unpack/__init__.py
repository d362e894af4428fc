"""Under `indexer.archive`: telling formats by their bytes, inflating and reading tar as streams under limits."""
