"""Settings and statements out of code, configuration, commands, tables and prose. Nothing from a repository is ever run."""
