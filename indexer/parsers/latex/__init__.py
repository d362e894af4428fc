"""LaTeX to `Document`: a linear, non-recursive reader that never runs TeX."""
