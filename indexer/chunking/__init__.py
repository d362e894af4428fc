"""Documents to chunks: lines of code and configuration, paragraphs of prose, and the cutting of long pieces."""
