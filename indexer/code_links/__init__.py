"""The repositories of a lineage: collected, excluded, and checked."""
