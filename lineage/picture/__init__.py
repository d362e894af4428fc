"""How a lineage is drawn: where nodes stand, what colours and words mean, the still picture and the page."""
