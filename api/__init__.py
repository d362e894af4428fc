"""The doors: command line and the composition root."""
