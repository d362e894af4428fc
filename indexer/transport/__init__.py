"""Under `indexer.transport.client`: what may be asked of whom and how often, what came back, how a connection is made."""
