"""Documentation; `docs.generate` writes the pages that are made from the code."""
