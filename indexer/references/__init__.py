"""References on the write side: what every source lists, titles looked up, roles refined by a language model."""
