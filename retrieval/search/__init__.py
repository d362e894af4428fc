"""Search: from a question to ranked, cited hits."""
