r"""Which command does what: one table from command to handler, and what a document may not redefine."""

from __future__ import annotations

from indexer.parsers.latex import defining, hiding, plain_commands, primitives
from indexer.parsers.latex.floats import multicolumn, multirow
from indexer.parsers.latex.machine import BRACE, Bibitem, Group, Handler, Machine
from indexer.parsers.latex.numbering import LEVELS
from indexer.parsers.latex.reader import Token, written
from indexer.parsers.latex.sectioning import abstract, appendix, author, caption, continued, footnote, heading, label, reference, title
from indexer.parsers.latex.stream import LatexLink, TextStream
from indexer.parsers.latex.symbols import COMBINING, plain


def bibitem(m: Machine, tok: Token) -> None:
    r"""An entry of the reference list: it lasts until the next one or the end of the list."""
    while m.groups and m.groups[-1].kind in ("{", "capture", "item", "["):
        m.close()
    printed = plain(written(m.reader.optional() or []))
    key = " ".join(m.reader.word().split())
    origin = m.origin
    m.work += 15

    def then(stream: TextStream) -> None:
        m.found.entries.append(Bibitem(key, printed, stream.text(), origin))

    m.divert(Group("item"), TextStream(), then)


def in_entry(m: Machine) -> bool:
    """Whether a reference entry is being read."""
    return m.within("thebibliography", "references")


def new_block(m: Machine, tok: Token) -> None:
    r"""`\newblock`: a mark before the next part of a reference entry."""
    if in_entry(m):
        m.out.put("\x0e")


def _marked(m: Machine, stream: TextStream, after: str) -> None:
    m.out.inline(stream)
    m.out.put(after)


def field(name: str) -> Handler:
    r"""A handler for `\bibinfo{name}{...}`-like commands: the argument is that field. Empty name: it comes first."""

    def handler(m: Machine, tok: Token) -> None:
        named = name or m.reader.word()
        if in_entry(m):
            m.out.put(f"\x0f{named}\x10")
            m.capture(lambda stream: _marked(m, stream, "\x16"))

    return handler


def italic(m: Machine, tok: Token) -> None:
    """Italics matter only in reference entries, where they set off the venue."""
    if not in_entry(m):
        return
    if tok in (r"\emph", r"\textit", r"\textsl"):
        m.out.put("\x11")
        m.capture(lambda stream: _marked(m, stream, "\x12"))
    elif m.groups and m.groups[-1] is BRACE:
        m.out.put("\x11")
        m.groups[-1] = Group("{", close=lambda: m.out.put("\x12"))


def url(m: Machine, tok: Token) -> None:
    """An address: kept as a link and as text."""
    address = _address(m)
    if in_entry(m) and tok != r"\path":
        m.out.put(f"\x13{address}\x14\x15")
    elif address:
        start = m.out.here()
        m.out.put(address)
        m.out.links.append(LatexLink(address, start))


def href(m: Machine, tok: Token) -> None:
    """An address behind some text."""
    m.reader.optional()
    address = _address(m)
    if in_entry(m):
        m.out.put(f"\x13{address}\x14")
        m.capture(lambda stream: _marked(m, stream, "\x15"))
    elif address:
        m.out.links.append(LatexLink(address, m.out.here()))


def _address(m: Machine) -> str:
    source = m.reader.source()
    address_text = source.address() if source else None
    if address_text is None:
        address_text = written(m.reader.argument())
    address_text = address_text.replace(r"\doibase", "https://doi.org/")
    return "".join(address_text.replace(r"\%", "%").replace(r"\_", "_").replace(r"\#", "#").replace(r"\&", "&").replace(r"\~", "~").split())


SWALLOWED = {
    "m": "pagestyle thispagestyle bibliographystyle hyphenation graphicspath hypersetup usetikzlibrary usepgfplotslibrary geometry"
    " newcounter stepcounter refstepcounter theoremstyle pagenumbering markright setstretch linespread nobibliography urlstyle lstset captionsetup"
    " phantom hphantom vphantom cline PassOptionsToClass ProvidesFile setlist sethlcolor tikzset pgfplotsset sisetup newlength newsavebox"
    " hhline cdashline cdashlinelr noalign"
    " icmlsetsymbol icmlkeywords icmltitlerunning titlerunning authorrunning shorttitle shortauthors keywords bstctlcite"
    " DeclareGraphicsExtensions acmDOI acmISBN acmYear acmMonth acmVolume acmNumber acmArticle acmPrice setcitestyle citestyle"
    " printAffiliationsAndNotice bibpunct setcopyright copyrightyear received date address institute correspondence subjclass pacs"
    " AtBeginDocument AtEndDocument UseTblrLibrary microtypecontext includeonly excludeversion includeversion tcbset tcbuselibrary mdfsetup natexlab"
    " newtoggle newboolean toggletrue togglefalse typeout message wlog pdfinfo"
    " ProvidesPackage NeedsTeXFormat DeclareOption ProcessOptions hyphenchar BibitemShut APACinsertmetastar",
    "mm": "addtocounter newcites settowidth settoheight AtBeginEnvironment AtEndEnvironment BeforeBeginEnvironment"
    " AfterEndEnvironment markboth DeclareUnicodeCharacter newunicodechar setkeys crefalias icmlaffiliation"
    " icmlcorrespondingauthor icmlauthor SetKw SetKwInOut SetKwInput SetKwFunction SetKwData PassOptionsToPackage pgfmathsetmacro"
    " settoggle setboolean",
    "mmm": "specialrule addcontentsline crefname Crefname DeclareFontFamily SetKwProg SetKwComment setbeamercolor addtocontents",
    "om": "adjincludegraphics includesvg includestandalone lstinputlisting verbatiminput"
    " includegraphics affiliation affil institution email orcid ccsdesc settopmatter todo missingfigure acmConference"
    " arrayrulecolor externaldocument includepdf LoadClass documentclass cellcolor columncolor animategraphics usetheme graphicx",
    "omm": "rule inputminted",
    "omoo": "rowcolor",
    "ommm": "newacronym rowcolors",
    "somm": "titlespacing",
    "mom": "newcolumntype lstnewenvironment",
    "momm": "lstdefinelanguage newglossaryentry",
    "mmmmm": "DeclareMathAlphabet DeclareSymbolFont patchcmd",
    "ommo": "DeclareFieldFormat",
    "o": "pagebreak nopagebreak linebreak nolinebreak onecolumn toprule midrule bottomrule addlinespace",
}
PREFIXED = {
    "m": "foreignlanguage hyperlink hypertarget fontfamily fontseries fontshape selectlanguage Xhline",
    "om": "parbox rotatebox",
    "o": "hyperref shortstack makecell thead specialcell hlc",
}
"""These give their last argument as text; what stands before it is no text."""


def _named(words: str, handler: Handler) -> dict[Token, Handler]:
    return {"\\" + word: handler for word in words.split()}


def _table() -> dict[Token, Handler]:
    table: dict[Token, Handler] = {}
    for kinds in (SWALLOWED, PREFIXED):
        for signature, names in kinds.items():
            table |= _named(names, plain_commands.swallow("s" + signature.removeprefix("s")))
    table |= {"\\" + mark: plain_commands.accent for mark in COMBINING}
    return table | STRUCTURE


STRUCTURE: dict[Token, Handler] = {
    **_named(" ".join(LEVELS), heading),
    **_named("author authors", author),
    **_named("title icmltitle aistatstitle TITLE mlsystitle jmlrtitle", title),
    **_named("input include subfile subfileinclude import subimport includefrom subincludefrom", defining.include),
    **_named("caption captionof subcaption tcaption", caption),
    **_named("footnote footnotetext tablefootnote thanks footnoteh", footnote),
    **_named("ref vref subref thmref", reference("n")),
    **_named("eqref", reference("p")),
    **_named("cref Cref autoref Autoref fref Fref labelcref zcref", reference("k")),
    **_named("nameref", reference("t")),
    **_named("bibliography addbibresource", defining.bibliography),
    **_named(
        "newcommand renewcommand providecommand DeclareRobustCommand newrobustcmd renewrobustcmd def edef gdef xdef DeclareMathOperator",
        defining.define,
    ),
    **_named("NewDocumentCommand RenewDocumentCommand ProvideDocumentCommand DeclareDocumentCommand", defining.define),
    **_named("newenvironment renewenvironment", defining.new_environment),
    **_named("url path nolinkurl doi burl", url),
    **_named("penalty lineskip hangindent hangafter looseness", plain_commands.glue),
    **_named("vskip hskip kern", primitives.skip),
    **_named("hbox vbox vtop", primitives.box),
    **_named("hrule vrule", primitives.rule),
    **_named("raise lower moveleft moveright", primitives.shift_box),
    **_named("box copy unhbox unvbox unhcopy unvcopy", primitives.use_box),
    r"\setbox": primitives.set_box,
    r"\font": primitives.font,
    **_named("ifthenelse iftoggle ifbool ifdef", defining.choice),
    **_named("subfloat subfigure subtable", plain_commands.subfloat),
    **_named("pageref cpageref index glossary", plain_commands.swallow("m")),
    **_named("emph textit textsl em it itshape sl", italic),
    **_named("citetext", plain_commands.cite_text),
    **_named("showarticletitle APACrefatitle APACrefbtitle", field("title")),
    **_named("bibfield bibinfo", field("")),
    **_named("makeatletter makeatother", defining.at_letter),
    r"\csname": defining.by_name,
    r"\texorpdfstring": plain_commands.first_of_two,
    r"\ding": plain_commands.ding,
    r"\usepackage": defining.usepackage,
    r"\RequirePackage": defining.usepackage,
    r"\appendix": appendix,
    r"\abstract": abstract,
    r"\label": label,
    r"\nocite": plain_commands.nocite,
    r"\endinput": defining.end_input,
    r"\bibitem": bibitem,
    r"\newblock": new_block,
    **_named("href Eprint eprint", href),
    r"\verb": plain_commands.verb,
    r"\newif": defining.newif,
    r"\let": defining.let,
    r"\newtheorem": defining.newtheorem,
    **_named("numberwithin counterwithin", defining.numberwithin),
    r"\ContinuedFloat": continued,
    r"\setcounter": defining.setcounter,
    r"\catcode": defining.catcode,
    r"\xspace": plain_commands.xspace,
    **_named("textcolor color", hiding.color),
    **_named("definecolor colorlet", hiding.define_color),
    **_named("colorbox fcolorbox pagecolor", hiding.ground),
    **_named("normalcolor", hiding.normal_color),
    **_named("transparent texttransparent", hiding.transparent),
    **_named("scalebox resizebox", hiding.scale),
    **_named("rlap llap makebox framebox", hiding.overlap),
    **_named("hspace vspace", hiding.shift),
    **_named("tiny scriptsize footnotesize small normalsize large Large LARGE huge Huge", hiding.named_size),
    **_named("sbox savebox", hiding.save_box),
    **_named("pdfliteral special", hiding.literal_pdf),
    **_named("newtcolorbox newmdenv", hiding.new_box),
    r"\adjustbox": hiding.adjust_box,
    **_named("setlength addtolength", hiding.set_length),
    r"\usebox": hiding.use_box,
    r"\raisebox": hiding.raise_box,
    r"\fontsize": hiding.font_size,
    r"\clipbox": hiding.clip,
    r"\put": hiding.put,
    r"\onedot": plain_commands.onedot,
    r"\par": plain_commands.par,
    r"\\": plain_commands.line_break,
    r"\newline": plain_commands.line_break,
    r"\tabularnewline": plain_commands.line_break,
    r"\cr": plain_commands.line_break,
    r"\item": plain_commands.item,
    r"\(": plain_commands.math_open,
    r"\[": plain_commands.math_open,
    r"\ensuremath": plain_commands.ensuremath,
    r"\twocolumn": plain_commands.two_column,
    r"\cmidrule": plain_commands.midrule,
    r"\multicolumn": multicolumn,
    r"\multirow": multirow,
}
COMMANDS = _table()
PROTECTED = frozenset(
    set(STRUCTURE) - set(_named("emph textit textsl em it itshape sl doi path enquote thanks TITLE sl abstract", italic))
    | set(
        _named(
            "begin end documentclass cite citep citet citealp citealt citeauthor citeyear parencite textcite autocite footcite", plain_commands.cite
        )
    )
)
