"""Parsers in a killable child process: limits, guards, and the frames that the two processes exchange."""
