"""Ranking quality: recall, MRR and nDCG over questions with known answers."""
