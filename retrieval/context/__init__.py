"""Context packs for a code generator: evidence chosen for a task within a token budget."""
