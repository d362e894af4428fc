"""The index of extracted settings: who holds which value, in which experiment, and what the lineage agrees on."""
