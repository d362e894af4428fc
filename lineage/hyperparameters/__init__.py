"""Hyper-parameters: one vocabulary of names, synonyms, value types and equivalence, and the checklist of what a paper should state."""
