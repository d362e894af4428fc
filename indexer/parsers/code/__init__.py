"""Source code to `Document`: functions, classes and statements with their names and lines, in any language."""
