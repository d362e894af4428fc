"""The command line: commands, progress, exit codes, and results as text for people."""
