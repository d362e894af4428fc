"""Under `indexer.sandbox`: the process in which parsers run, its guards and the frames it speaks in."""
