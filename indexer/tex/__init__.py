"""TeX read as text: a linear, non-recursive reader of LaTeX sources that never runs TeX.

    symbols       characters that commands stand for            scanner      source text -> tokens
    reader        a stack of inputs, arguments, the budget       macros       the author's own commands
    conditions    which branch of an \\if is read                 files        the member table: names, encodings, main file
    stream        prose being written, with spans and citations  machine      tokens in, streams out
    commands      what each command does to the text             environments what each environment does
    numbering     counters, labels and references                sentences    where sentences begin and end
    plain         short TeX strings -> plain text                names        lists of people
    bibitems      \\bibitem entries -> fields                     biblatex     biblatex .bbl -> fields
    bibtex        .bib -> fields                                 bibliography which of them are the paper's list
    assemble      a finished run -> text, spans, mentions, links

Tokens are plain strings, so that a document of ten megabytes costs ten megabytes.
"""
