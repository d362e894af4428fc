"""PDF to `Document`: glyphs, rows, blocks, sections, bibliography and citations."""
