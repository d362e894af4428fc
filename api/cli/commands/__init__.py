"""The commands of `lineage`; each calls one operation of `api.operations`."""
