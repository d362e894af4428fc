"""Hyper-parameters and choices out of code, configuration, commands, tables and prose; nothing of them is ever run."""
