"""Commands whose arguments are no text, by the shape of those arguments.

A signature has one letter per argument: `s` a star, `o` an optional one, `m` a mandatory one; a star is always
allowed. Whatever is not named here has its arguments read as text.
"""

from __future__ import annotations

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
