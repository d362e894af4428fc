"""Which repository belongs to which paper, and what must stay out. Pure."""
