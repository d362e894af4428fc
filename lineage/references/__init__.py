"""References: bibliographies of several sources merged, the roles of each reference, the ancestors, and their rank. Pure."""
