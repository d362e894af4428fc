"""TeX read as text: a linear, non-recursive reader of LaTeX sources that never runs TeX.

Tokens are plain strings, groups a list, and every loop has a budget: hostile sources cost bounded time and still give
what they say in plain words. From the bottom up:

    symbols, plain      characters that commands stand for; short TeX strings to plain text
    scanner, reader     source text to tokens; a stack of inputs, arguments, the budget of expansion
    macros, conditions  the author's own commands; which branch of an \\if is read
    files               the member table: names, encodings, main files
    stream, numbering   prose being written with what belongs to it; counters, labels, references
    machine             tokens in, streams out; the budget of steps
    formula, citing, sectioning, entries, inputs, defining, signs, plain_commands, arguments
                        what commands do; `commands` is the table of them
    environments, floats, cells, algorithms
                        what environments do; `tables` puts both together
    sentences, assemble a finished run as text, spans, mentions and links
    names, identifiers, bibitems, biblatex, bibtex, bibliography
                        reference lists of every make, and which entries are the paper's own
"""
