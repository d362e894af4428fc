"""Under `indexer.chunking.chunker`: lines of code and configuration, paragraphs of prose, pieces of what is too long."""
