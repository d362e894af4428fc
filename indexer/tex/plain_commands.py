r"""Commands that carry no structure: signs, accents, lengths, and arguments that are no text.

Formatting needs no entry anywhere: an unknown command is dropped, its braces are groups and its words are text.
"""

from __future__ import annotations

import re

from indexer.tex.citing import cite, is_cite
from indexer.tex.machine import Handler, Machine
from indexer.tex.plain import plain
from indexer.tex.scanner import PAR, Token, written
from indexer.tex.symbols import MATH_SIGNS, SYMBOLS, accented, words

SWALLOWED = {
    "m": "pagestyle thispagestyle bibliographystyle hyphenation vspace hspace input@path graphicspath color pagecolor hypersetup usetikzlibrary"
    " usepgfplotslibrary geometry newcounter stepcounter refstepcounter theoremstyle pagenumbering markright setstretch linespread nobibliography"
    " urlstyle lstset captionsetup allowdisplaybreaks definecolorseries arrayrulecolor doublerulesepcolor phantom hphantom vphantom cline"
    "  PassOptionsToClass ProvidesFile RequirePackageWithOptions setlist sethlcolor tikzset pgfplotsset sisetup listfiles newlength"
    " newsavebox usebox hyphenchar icmlsetsymbol icmlkeywords icmltitlerunning titlerunning authorrunning shorttitle shortauthors keywords"
    " bstctlcite graphicspath DeclareGraphicsExtensions  acmDOI acmISBN acmYear acmMonth acmVolume acmNumber acmArticle acmPrice"
    " setcitestyle citestyle printAffiliationsAndNotice bibpunct setcopyright copyrightyear  received  institute date address"
    " email affiliation affil institution city country state postcode orcid orcidlink homepage correspondence dedicatory subjclass pacs"
    "  AtBeginDocument AtEndDocument    stopcontents  UseTblrLibrary microtypecontext"
    " bibliographyunit includeonly excludeversion includeversion newtotcounter regtotcounter   cellcolor rowcolor"
    " columncolor  addtotoks tcbset tcbuselibrary mdfsetup    zexternaldocument todototoc eqnsfont ",
    "mm": "setcounter addtocounter setlength addtolength settowidth settoheight  AtBeginEnvironment AtEndEnvironment BeforeBeginEnvironment"
    " AfterEndEnvironment colorlet markboth  DeclareUnicodeCharacter  rule  setkeys pgfmathsetmacro"
    "   fontsize pgfkeys crefalias icmlaffiliation icmlcorrespondingauthor icmlauthor setmathfont   "
    "    SetKw SetKwInOut SetKwInput SetKwFunction SetKwData   contentsline",
    "mmm": "definecolor addcontentsline crefname Crefname DeclareFontFamily  SetKwProg SetKwComment  setbeamercolor  crefrangeformat   ",
    "om": "usepackage RequirePackage includegraphics  author authors ccsdesc settopmatter   todo missingfigure"
    "  acmConference externaldocument externaldocument* includepdf LoadClass  usegdlibrary  animategraphics",
    "ommm": "newacronym  ",
    "somm": "titlespacing",
    "omo": "newtcolorbox newmdenv ",
    "mom": "newcolumntype    ",
    "momm": "lstdefinelanguage  newglossaryentry",
    "mmmm": "   ",
    "mmmmm": "DeclareMathAlphabet DeclareSymbolFont",
    "mmo": " newunicodechar",
    "mmmmo": "patchcmd",
    "smmmo": "",
    "ommo": "DeclareFieldFormat",
    "so": " pagebreak nopagebreak nolinebreak  listoffixmes onecolumn  toprule midrule bottomrule  morecmidrules",
    "o(": "",
}
# These give their last argument as text; what stands before it is no text.
PREFIXED = {
    "m": " colorbox  scalebox  foreignlanguage hyperlink hypertarget    fontfamily fontseries fontshape selectlanguage   adjustbox       Xhline  ",
    "om": "textcolor parbox rotatebox  ",
    "omm": "",
    "mm": "multicolumn resizebox fcolorbox  ",
    "moo": "raisebox",
    "omomo": "multirow",
    "o": "hyperref makebox framebox shortstack makecell thead specialcell subfloat   addlinespace   hlc ",
    "oo": "    subfigure",
}
_GLUE = re.compile(r"[ \t]*=?[ \t]*-?[\d.]*[ \t]*(?:true)?(?:pt|cm|mm|in|ex|em|bp|pc|sp|fil+)?(?:[ \t]+(?:plus|minus)[ \t]*[\d.]+[a-z]{2,4})*")
_ASSIGNED = re.compile(
    r"[ \t]*=[ \t]*-?[\d.]*[ \t]*(?:true)?(?:pt|cm|mm|in|ex|em|bp|pc|sp)?(?![A-Za-z])(?:[ \t]+(?:plus|minus)[ \t]*[\d.]+[a-z]{2,4})*"
)
_KEEP_OPTION = frozenset(words(r"\noindent \centering \small \footnotesize \normalsize \large \par \bf \it \em \tt \rm \sc \bfseries \itshape \quad"))


def unknown(m: Machine, tok: Token) -> None:
    """Anything without an entry: a sign, a citation of some package, or formatting, which is dropped."""
    sign = SYMBOLS.get(tok[1:])
    if sign is not None:
        m.out.space() if sign == " " else m.out.put(sign) if sign else None
    elif is_cite(tok):
        cite(m, tok)
    elif tok[1:] in MATH_SIGNS:
        m.out.put(MATH_SIGNS[tok[1:]])
    elif tok not in _KEEP_OPTION:
        _option_or_value(m)


def _option_or_value(m: Machine) -> None:
    following = m.reader.next()
    if following is None:
        return
    if following.startswith("=") and (found := _ASSIGNED.match(following)):
        m.reader.push([following[found.end() :] or " "])
        return
    m.reader.back()
    if following == "[":
        m.reader.optional()


def swallow(signature: str) -> Handler:
    """A handler for commands whose arguments are no text."""

    def handler(m: Machine, tok: Token) -> None:
        m.reader.take(signature)

    return handler


def glue(m: Machine, tok: Token) -> None:
    r"""`\vskip 3pt plus 1pt`: a length without braces."""
    following = m.reader.next()
    if following is None:
        return
    found = _GLUE.match(following) if following[0] not in "\\{" and following != PAR else None
    if found and found.end():
        m.reader.push([following[found.end() :] or " "])
    elif following[0] != "\\":
        m.reader.back()


def accent(m: Machine, tok: Token) -> None:
    """A letter under an accent."""
    if m.tabulars and tok in (r"\=", r"\>", r"\'", r"\`") and m.within("tabbing"):
        return
    m.out.put(accented(tok[1:], plain(written(m.reader.argument()))))


_NO_XSPACE = frozenset(words(r"\/ \, \@ \- \xspace \footnote \footnotemark \space \unskip"))


def xspace(m: Machine, tok: Token) -> None:
    """A space, unless punctuation follows."""
    following = m.reader.next()
    while following in ("}", "{") and m.mode is None:
        m.step(following)
        following = m.reader.next()
    if following is None:
        return
    m.reader.back()
    if following not in _NO_XSPACE and following[0] not in ".,'/?;:!~-)}{&":
        m.out.space()


def ensuremath(m: Machine, tok: Token) -> None:
    r"""`\ensuremath{...}` outside a formula."""
    m.reader.push(["$", *m.reader.argument(), "$"])


def two(first: bool) -> Handler:
    """A handler that keeps the first or the second of two arguments."""

    def handler(m: Machine, tok: Token) -> None:
        kept, other = m.reader.argument(), m.reader.argument()
        m.reader.push(kept if first else other)

    return handler


def hyperref(m: Machine, tok: Token) -> None:
    r"""`\hyperref[label]{text}`."""
    m.reader.optional()


def midrule(m: Machine, tok: Token) -> None:
    r"""`\cmidrule[w](lr){2-3}`."""
    m.reader.optional()
    trim = m.reader.skip_spaces()
    if trim is None or not trim.startswith("("):
        if trim is not None:
            m.reader.back()
    elif rest := trim.partition(")")[2]:
        m.reader.push([rest])
    m.reader.take("m")


def csname(m: Machine, tok: Token) -> None:
    r"""`\csname name\endcsname` is the command `\name`."""
    name = ""
    for _ in range(50):
        part = m.reader.next()
        if part is None or part == r"\endcsname":
            break
        name += part if part[0] not in "\\{}" else ""
    if name.strip():
        m.reader.push(["\\" + name.strip()])


def verb(m: Machine, tok: Token) -> None:
    """Words to be taken as they are."""
    m.reader.flag("*")
    source = m.reader.source()
    found = source.delimited() if source else None
    if found:
        m.out.put(found)


def lstinline(m: Machine, tok: Token) -> None:
    r"""`\lstinline[..]|code|`."""
    m.reader.optional()
    source = m.reader.source()
    if source and not source.text.startswith("{", source.pos):
        verb(m, tok)
