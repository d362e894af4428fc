"""Copies and near-copies of code between repositories. Pure."""
