"""Archives read as bounded streams of members. Nothing is extracted to disk."""
