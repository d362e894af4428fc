"""Context for the one who writes the code: evidence chosen for a task within a token budget.

Why: an agent cannot read a lineage; it can read a few thousand tokens. What those hold decides what it builds, so they
are chosen to cover the task's parts, in whole units, each with its citation and licence.
"""

from retrieval.pack.ask import pack

__all__ = ["pack"]
