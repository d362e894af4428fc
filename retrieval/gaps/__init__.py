"""What a target leaves unsaid: which details its kind needs, which it states, and what its lineage offers for the rest."""
