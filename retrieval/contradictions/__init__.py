"""Where sources disagree about one setting: paper, code, tables, and the code it follows."""
