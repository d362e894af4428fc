r"""Which command does what: one table from command to handler, and what a document may not redefine."""

from __future__ import annotations

from indexer.parsers.latex.cells import multicolumn, multirow
from indexer.parsers.latex.defining import choice, define, let, new_environment, newif, newtheorem, numberwithin, setcounter, toggle
from indexer.parsers.latex.entries import bibitem, field, href, italic, marker, url
from indexer.parsers.latex.hiding import color, define_color, font_size, overlap, raise_box, scale, shift, transparent
from indexer.parsers.latex.inputs import at_letter, bibliography, catcode, end_input, include, usepackage
from indexer.parsers.latex.machine import Handler
from indexer.parsers.latex.numbering import LEVELS
from indexer.parsers.latex.plain_commands import (
    accent,
    cite,
    cite_text,
    csname,
    ding,
    ensuremath,
    first_of_two,
    glue,
    lstinline,
    midrule,
    nocite,
    onedot,
    subfloat,
    swallow,
    verb,
    xspace,
)
from indexer.parsers.latex.scanner import Token
from indexer.parsers.latex.sectioning import abstract, appendix, author, caption, continued, footnote, heading, label, reference, title
from indexer.parsers.latex.signs import item, line_break, math_open, par, two_column
from indexer.parsers.latex.symbols import COMBINING

SWALLOWED = {
    "m": "pagestyle thispagestyle bibliographystyle hyphenation vspace hspace graphicspath hypersetup usetikzlibrary usepgfplotslibrary geometry"
    " newcounter stepcounter refstepcounter theoremstyle pagenumbering markright setstretch linespread nobibliography urlstyle lstset captionsetup"
    " phantom hphantom vphantom cline PassOptionsToClass ProvidesFile setlist sethlcolor tikzset pgfplotsset sisetup newlength newsavebox usebox"
    " hhline cdashline cdashlinelr noalign"
    " icmlsetsymbol icmlkeywords icmltitlerunning titlerunning authorrunning shorttitle shortauthors keywords bstctlcite"
    " DeclareGraphicsExtensions acmDOI acmISBN acmYear acmMonth acmVolume acmNumber acmArticle acmPrice setcitestyle citestyle"
    " printAffiliationsAndNotice bibpunct setcopyright copyrightyear received date address institute correspondence subjclass pacs"
    " AtBeginDocument AtEndDocument UseTblrLibrary microtypecontext includeonly excludeversion includeversion tcbset tcbuselibrary mdfsetup natexlab"
    " ProvidesPackage NeedsTeXFormat DeclareOption ProcessOptions hyphenchar BibitemShut APACinsertmetastar",
    "mm": "addtocounter newcites setlength addtolength settowidth settoheight AtBeginEnvironment AtEndEnvironment BeforeBeginEnvironment"
    " AfterEndEnvironment colorlet markboth DeclareUnicodeCharacter newunicodechar setkeys fontsize crefalias icmlaffiliation"
    " icmlcorrespondingauthor icmlauthor SetKw SetKwInOut SetKwInput SetKwFunction SetKwData PassOptionsToPackage pgfmathsetmacro",
    "mmm": "specialrule definecolor addcontentsline crefname Crefname DeclareFontFamily SetKwProg SetKwComment setbeamercolor addtocontents",
    "om": "adjincludegraphics includesvg includestandalone lstinputlisting verbatiminput"
    " includegraphics affiliation affil institution email orcid ccsdesc settopmatter todo missingfigure acmConference"
    " arrayrulecolor pagecolor externaldocument includepdf LoadClass documentclass cellcolor columncolor animategraphics usetheme graphicx",
    "omm": "rule inputminted",
    "omoo": "rowcolor",
    "ommm": "newacronym rowcolors",
    "somm": "titlespacing",
    "omo": "newtcolorbox newmdenv",
    "mom": "newcolumntype lstnewenvironment",
    "momm": "lstdefinelanguage newglossaryentry",
    "mmmmm": "DeclareMathAlphabet DeclareSymbolFont patchcmd",
    "ommo": "DeclareFieldFormat",
    "o": "pagebreak nopagebreak linebreak nolinebreak onecolumn toprule midrule bottomrule addlinespace",
}
PREFIXED = {
    "m": "colorbox scalebox foreignlanguage hyperlink hypertarget fontfamily fontseries fontshape selectlanguage adjustbox Xhline",
    "om": "parbox rotatebox",
    "mm": "resizebox fcolorbox",
    "moo": "raisebox",
    "o": "hyperref shortstack makecell thead specialcell hlc",
    "oo": "makebox framebox",
}
"""These give their last argument as text; what stands before it is no text."""


def _named(words: str, handler: Handler) -> dict[Token, Handler]:
    return {"\\" + word: handler for word in words.split()}


def _table() -> dict[Token, Handler]:
    table: dict[Token, Handler] = {}
    for kinds in (SWALLOWED, PREFIXED):
        for signature, words in kinds.items():
            table |= _named(words, swallow("s" + signature.removeprefix("s")))
    table |= {"\\" + mark: accent for mark in COMBINING}
    return table | STRUCTURE


STRUCTURE: dict[Token, Handler] = {
    **_named(" ".join(LEVELS), heading),
    **_named("author authors", author),
    **_named("title icmltitle aistatstitle TITLE mlsystitle jmlrtitle", title),
    **_named("input include subfile subfileinclude import subimport includefrom subincludefrom", include),
    **_named("caption captionof subcaption tcaption", caption),
    **_named("footnote footnotetext tablefootnote thanks footnoteh", footnote),
    **_named("ref vref subref thmref", reference("n")),
    **_named("eqref", reference("p")),
    **_named("cref Cref autoref Autoref fref Fref labelcref zcref", reference("k")),
    **_named("nameref", reference("t")),
    **_named("bibliography addbibresource", bibliography),
    **_named(
        "newcommand renewcommand providecommand DeclareRobustCommand newrobustcmd renewrobustcmd def edef gdef xdef DeclareMathOperator", define
    ),
    **_named("NewDocumentCommand RenewDocumentCommand ProvideDocumentCommand DeclareDocumentCommand", define),
    **_named("newenvironment renewenvironment", new_environment),
    **_named("url path nolinkurl doi burl", url),
    **_named("vskip hskip kern penalty lineskip hangindent hangafter looseness", glue),
    **_named("ifthenelse iftoggle ifbool ifdef", choice),
    **_named("newtoggle toggletrue togglefalse settoggle newboolean setboolean", toggle),
    **_named("subfloat subfigure subtable", subfloat),
    **_named("pageref cpageref index glossary", swallow("m")),
    **_named("emph textit textsl em it itshape sl", italic),
    **_named("citetext", cite_text),
    **_named("showarticletitle APACrefatitle APACrefbtitle", field("title")),
    **_named("bibfield bibinfo", field("")),
    **_named("makeatletter makeatother", at_letter),
    r"\texorpdfstring": first_of_two,
    r"\ding": ding,
    r"\usepackage": usepackage,
    r"\RequirePackage": usepackage,
    r"\appendix": appendix,
    r"\abstract": abstract,
    r"\label": label,
    r"\nocite": nocite,
    r"\endinput": end_input,
    r"\bibitem": bibitem,
    r"\newblock": marker("\x0e"),
    **_named("href Eprint eprint", href),
    r"\verb": verb,
    r"\lstinline": lstinline,
    r"\newif": newif,
    r"\let": let,
    r"\newtheorem": newtheorem,
    **_named("numberwithin counterwithin", numberwithin),
    r"\ContinuedFloat": continued,
    r"\setcounter": setcounter,
    r"\csname": csname,
    r"\catcode": catcode,
    r"\xspace": xspace,
    **_named("textcolor color", color),
    **_named("definecolor colorlet", define_color),
    **_named("transparent texttransparent", transparent),
    **_named("scalebox resizebox", scale),
    **_named("rlap llap", overlap),
    r"\hspace": shift,
    r"\raisebox": raise_box,
    r"\fontsize": font_size,
    r"\onedot": onedot,
    r"\par": par,
    r"\\": line_break,
    r"\newline": line_break,
    r"\tabularnewline": line_break,
    r"\cr": line_break,
    r"\item": item,
    r"\(": math_open,
    r"\[": math_open,
    r"\ensuremath": ensuremath,
    r"\twocolumn": two_column,
    r"\cmidrule": midrule,
    r"\multicolumn": multicolumn,
    r"\multirow": multirow,
}
COMMANDS = _table()
PROTECTED = frozenset(
    set(STRUCTURE) - set(_named("emph textit textsl em it itshape sl doi path enquote thanks TITLE sl abstract", italic))
    | set(_named("begin end documentclass cite citep citet citealp citealt citeauthor citeyear parencite textcite autocite footcite", cite))
)
