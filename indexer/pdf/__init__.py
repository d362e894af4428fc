"""What a PDF says, from glyphs to sections, bibliography and citations.

Only `read` touches PyMuPDF; everything after it is pure and works on the records of `page`:
read -> layout (columns, reading order, running heads) -> blocks -> sections -> text, and then
bibliography, entry, citations and links on what came out.
"""
