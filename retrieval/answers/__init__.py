"""Answers whose every sentence is tied to evidence."""
