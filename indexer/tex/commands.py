r"""What commands do to the text: one table from command to handler.

Formatting needs no entry: an unknown command is dropped, its braces are groups and its words are text. Entries are
for commands whose arguments are not text (`SWALLOWED`), that write something of their own, or that carry structure.
"""

from __future__ import annotations

import re

from indexer.tex.macros import DEFINING, Macro, read_definition, read_environment, read_let
from indexer.tex.formula import Formula
from indexer.tex.machine import Entry, Float, Group, Handler, Machine, Section
from indexer.tex.numbering import LEVELS, Target, letter, sentinel
from indexer.tex.plain import plain
from indexer.tex.reader import Reader
from indexer.tex.scanner import PAR, Source, Token, written
from indexer.tex.stream import Cite, Link, Stream
from indexer.tex.symbols import COMBINING, MATH_SIGNS, SYMBOLS, accented
from lineage.model import Status

MAX_OPENED = 2_000
MAX_REPEATS = 8
MAX_FILES_DEEP = 50
MAX_CHARACTERS = 48 * 1024 * 1024

SWALLOWED = {
    "m": "pagestyle thispagestyle bibliographystyle hyphenation vspace hspace input@path graphicspath color pagecolor hypersetup usetikzlibrary"
    " usepgfplotslibrary geometry newcounter stepcounter refstepcounter theoremstyle pagenumbering markright setstretch linespread nobibliography"
    " urlstyle lstset captionsetup allowdisplaybreaks definecolorseries arrayrulecolor doublerulesepcolor phantom hphantom vphantom cline"
    " crefname@ PassOptionsToClass ProvidesFile RequirePackageWithOptions setlist sethlcolor tikzset pgfplotsset sisetup listfiles newlength"
    " newsavebox usebox hyphenchar icmlsetsymbol icmlkeywords icmltitlerunning titlerunning authorrunning shorttitle shortauthors keywords"
    " bstctlcite graphicspath DeclareGraphicsExtensions allowbreak@ acmDOI acmISBN acmYear acmMonth acmVolume acmNumber acmArticle acmPrice"
    " setcitestyle citestyle printAffiliationsAndNotice bibpunct setcopyright copyrightyear ccsdesc@ received thanks@ institute date address"
    " email affiliation affil institution city country state postcode orcid orcidlink homepage correspondence dedicatory subjclass pacs"
    " markboth@ AtBeginDocument AtEndDocument AtBeginEnvironment@ makeatletter@ nocaptions@ stopcontents parttoc@ UseTblrLibrary microtypecontext"
    " bibliographyunit includeonly excludeversion includeversion newtotcounter regtotcounter textfloatsep@ maketitlesupplementary@ cellcolor rowcolor"
    " columncolor vskip@ addtotoks tcbset tcbuselibrary mdfsetup newmdenv@ cmidrule@ numberwithin@ zexternaldocument todototoc eqnsfont nolinenumbers@",
    "mm": "setcounter addtocounter setlength addtolength settowidth settoheight renewcommand@ AtBeginEnvironment AtEndEnvironment BeforeBeginEnvironment"
    " AfterEndEnvironment colorlet markboth newcolumntype@ DeclareUnicodeCharacter DeclareFieldFormat@ rule newunicodechar@ setkeys pgfmathsetmacro"
    " extrarowheight@ patchcmd@ fontsize pgfkeys crefalias icmlaffiliation icmlcorrespondingauthor icmlauthor setmathfont algsetup@ hskip@ captionsetup@"
    " titleformat@ defcitealias@ declaretheoremstyle@ SetKw SetKwInOut SetKwInput SetKwFunction SetKwData SetKwProg@ SetKwComment@ contentsline",
    "mmm": "definecolor addcontentsline crefname Crefname DeclareFontFamily DeclareFontShape@ SetKwProg SetKwComment newglossaryentry@ setbeamercolor"
    " DeclareMathAlphabet@ crefrangeformat titlespacing@ crefformat@ addtocontents@",
    "om": "usepackage RequirePackage includegraphics bibliographystyle@ author authors ccsdesc settopmatter lstinputlisting@ newacronym@ todo missingfigure"
    " pgfplotstableread@ acmConference externaldocument externaldocument* includepdf LoadClass documentclass@ usegdlibrary linenumbers@ animategraphics",
    "ommm": "newacronym declaretheorem@ titlecontents@",
    "somm": "titlespacing",
    "omo": "newtcolorbox newmdenv newtheoremstyle@",
    "mom": "newcolumntype DeclareMathAlphabet@ acro@ lstnewenvironment@ DeclareAcronym@",
    "momm": "lstdefinelanguage lstdefinestyle@ newglossaryentry",
    "mmmm": "DeclareMathAlphabet@ DeclareSymbolFont@ DeclareSymbolFontAlphabet@ icmlsuppresses@",
    "mmmmm": "DeclareMathAlphabet DeclareSymbolFont",
    "mmo": "patchcmd@ newunicodechar",
    "mmmmo": "patchcmd",
    "smmmo": "titleformat@@",
    "ommo": "DeclareFieldFormat",
    "so": "linebreak@ pagebreak nopagebreak nolinebreak FloatBarrier@ listoffixmes onecolumn hline@ toprule midrule bottomrule Xhline@ morecmidrules",
    "o(": "",
}
# These give their last argument as text; what stands before it is no text.
PREFIXED = {
    "m": "textcolor@ colorbox raisebox@ scalebox parbox@ foreignlanguage hyperlink hypertarget resizebox@ rotatebox@ icmlspecial@ fontfamily fontseries"
    " fontshape selectlanguage textlangle@ texttt@ adjustbox hyperref@ ifstrempty@ xhref@ rowfont@ bibfont@ ding@ Xhline addlinespace@ subfile@",
    "om": "textcolor parbox rotatebox hyperref@ pdftooltip@",
    "omm": "fcolorbox@",
    "mm": "multicolumn resizebox fcolorbox pbox@ notecolored@",
    "moo": "raisebox",
    "omomo": "multirow",
    "o": "hyperref makebox framebox shortstack makecell thead specialcell subfloat subfigure@ pdfbookmark@ addlinespace specialrule@ citetext@ hlc marginnote@",
    "oo": "framebox@ subfloat@ makebox@ savebox@ subfigure",
}
_CITE = re.compile(r"\\[A-Za-z]*[cC]ite[A-Za-z]*\*?\Z")
_NOT_CITES = frozenset(r"\citestyle \citealias \citenamefont \citetext \citeindextrue \citeindexfalse \newcites \nocites".split())
_GLUE = re.compile(r"[ \t]*=?[ \t]*-?[\d.]*[ \t]*(?:true)?(?:pt|cm|mm|in|ex|em|bp|pc|sp|fil+)?(?:[ \t]+(?:plus|minus)[ \t]*[\d.]+[a-z]{2,4})*")
_ASSIGNED = re.compile(r"[ \t]*=[ \t]*-?[\d.]*[ \t]*(?:true)?(?:pt|cm|mm|in|ex|em|bp|pc|sp)?(?![A-Za-z])(?:[ \t]+(?:plus|minus)[ \t]*[\d.]+[a-z]{2,4})*")
_KEEP_OPTION = frozenset(r"\noindent \centering \small \footnotesize \normalsize \large \par \bf \it \em \tt \rm \sc \bfseries \itshape \quad".split())
_ITALIC = frozenset(r"\emph \textit \textsl \em \it \itshape \sl \booktitle".split())


def unknown(m: Machine, token: Token) -> None:
    """Anything without an entry: a sign, a citation of some package, or formatting, which is dropped."""
    if token[1:] in SYMBOLS:
        m.out.write(SYMBOLS[token[1:]]) if SYMBOLS[token[1:]].isspace() else m.out.put(SYMBOLS[token[1:]]) if SYMBOLS[token[1:]] else None
    elif _CITE.match(token) and token not in _NOT_CITES:
        cite(m, token)
    elif token[1:] in MATH_SIGNS:
        m.out.put(MATH_SIGNS[token[1:]])
    elif token not in _KEEP_OPTION:
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


def cite(m: Machine, token: Token) -> None:
    """A citation: its keys stay readable as `[key; key]`, the notes around them too."""
    m.reader.flag("*")
    notes = [note for note in (m.reader.optional(), m.reader.optional()) if note is not None]
    if token.endswith("s") and token[1:].lower() in _MULTI:
        _cite_many(m)
        return
    keys = _keys(m.reader.word())
    before, after = (notes[0], notes[1]) if len(notes) == 2 else ([], notes[0] if notes else [])
    _cited(m, keys, plain(written(before)), plain(written(after)))


_MULTI = {"cites", "parencites", "textcites", "autocites", "footcites", "smartcites", "supercites", "fullcites"}


def _keys(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for part in text.split(",") if (key := " ".join(part.split()))))


def _cited(m: Machine, keys: tuple[str, ...], before: str = "", after: str = "") -> None:
    if not keys:
        return
    start = m.out.here()
    m.out.put("[" + (before + " " if before else "") + "; ".join(keys) + (", " + after if after else "") + "]")
    m.out.cites.append(Cite(keys, start, m.out.length, m.path))


def _cite_many(m: Machine) -> None:
    keys: list[str] = []
    while len(keys) < 1000 and (token := m.reader.skip_spaces()) is not None:
        m.reader.back()
        if token == "[" and m.reader.optional() is not None:
            continue
        if token != "{":
            break
        keys += _keys(m.reader.word())
    _cited(m, tuple(keys))


def cite_text(m: Machine, token: Token) -> None:
    r"""`\citetext{...}` and the like: their argument is text in brackets."""
    m.capture(lambda stream: m.out.inline(stream))


def nocite(m: Machine, token: Token) -> None:
    """Keys that belong to the list without being cited."""
    m.found.nocite += _keys(m.reader.word())


def swallow(signature: str) -> Handler:
    """A handler for commands whose arguments are no text."""

    def handler(m: Machine, token: Token) -> None:
        m.reader.take(signature)

    return handler


def glue(m: Machine, token: Token) -> None:
    r"""`\vskip 3pt plus 1pt`: a length without braces."""
    following = m.reader.next()
    if following is None:
        return
    found = _GLUE.match(following) if following[0] not in "\\{" and following != PAR else None
    if found and found.end():
        m.reader.push([following[found.end() :] or " "])
    elif following[0] != "\\":
        m.reader.back()


def accent(m: Machine, token: Token) -> None:
    """A letter under an accent."""
    if m.tabulars and token in (r"\=", r"\>", r"\'", r"\`") and m.within("tabbing"):
        return
    m.out.put(accented(token[1:], plain(written(m.reader.argument()))))


def heading(m: Machine, token: Token) -> None:
    """A section command: its title is captured, counted and becomes part of the path."""
    starred = m.reader.flag("*")
    m.reader.optional()
    if m.in_document:
        m.to_main()
    name = token[1:]

    def then(stream: Stream) -> None:
        title = " ".join(stream.text().split())
        if m.in_document and title:
            _begin_section(m, name, title, stream, numbered=not starred)

    m.capture(then)


def _begin_section(m: Machine, name: str, title: str, stream: Stream, *, numbered: bool) -> None:
    level = LEVELS[name]
    if name == "part":
        return
    number = m.counters.section(name) if numbered else ""
    m.headings = [kept for kept in m.headings if kept[0] < level]
    m.headings.append((level, title))
    m.path = tuple(each for _, each in m.headings)
    m.target = Target("Appendix" if m.counters.appendix else "Section", number, title)
    m.lists.clear()
    out = m.main
    out.end_block()
    m.found.sections.append(Section(out.here(), level, m.path, number))
    above = number or out.style[2]
    role = "abstract" if title.lower() == "abstract" else "paragraph"
    if level >= LEVELS["paragraph"]:
        out.style = ("paragraph", m.path, above if level > 1 else "")
        out.inline(stream)
        out.space()
        return
    out.style = ("heading", m.path, number)
    if number:
        out.write(number + " ")
    out.inline(stream)
    out.end_block()
    out.style = (role, m.path, number)


def appendix(m: Machine, token: Token) -> None:
    """Sections are lettered from here on."""
    m.counters.start_appendix()


def title(m: Machine, token: Token) -> None:
    """The paper's title, wherever it is declared."""
    m.reader.optional()

    def then(stream: Stream) -> None:
        m.found.title = m.found.title or " ".join(stream.text().split())

    m.capture(then)


def abstract(m: Machine, token: Token) -> None:
    r"""`\abstract{...}` with its text in braces."""
    following = m.reader.skip_spaces()
    if following is not None:
        m.reader.back()
    if following == "{":
        m.reader.next()
        m.divert(Group("capture"), Stream(flowing=True, style=("abstract", ("Abstract",), "")), lambda stream: end_abstract(m, stream))


def end_abstract(m: Machine, stream: Stream) -> None:
    """An abstract is over: it joins the text, whether it stood in the preamble or not."""
    stream.end_block()
    m.main.end_block()
    m.main.absorb(stream)


def footnote(m: Machine, token: Token) -> None:
    """A footnote: its text follows the paragraph it hangs on."""
    m.reader.optional()

    def then(stream: Stream) -> None:
        number = m.counters.step("footnote")
        stream.whole("footnote", m.path, f"Footnote {number}")
        m.out.defer(stream)

    m.capture(then)


def caption(m: Machine, token: Token) -> None:
    """A caption: numbered by its float, a block of its own."""
    m.reader.flag("*")
    kind = m.reader.word() if token in (r"\captionof", r"\captionof*") else ""
    m.reader.optional()
    part = m.within("subfigure", "subtable") or token in (r"\subcaption", r"\subcaptionbox") or not (m.floats or kind)
    name = kind.capitalize() or (m.floats[-1].kind if m.floats else "")
    label = "" if part else f"{name} {m.counters.step(name)}"
    if label:
        m.target = Target(name, label.rpartition(" ")[2])
    elif m.floats:
        m.target = _part_of(m, m.floats[-1])
    m.capture(lambda stream: end_caption(m, stream, label))


def _part_of(m: Machine, each: Float) -> Target:
    """A part of a float bears its number, which is the next one unless the caption came first, and a letter."""
    each.parts += 1
    number = each.label.rpartition(" ")[2] or str(m.counters.values.get(each.kind, 0) + 1)
    return Target(each.kind, f"{number}{letter(each.parts).lower()}")


def end_caption(m: Machine, stream: Stream, label: str) -> None:
    """Put a caption behind its label as a block."""
    block = Stream()
    block.put(label + ":") if label else None
    block.space()
    block.inline(stream)
    if m.floats and label:
        m.floats[-1].caption = block.text()
        m.floats[-1].label = label
    m.out.end_block() if m.out.flowing else m.out.newline()
    block.whole("caption", m.path, label)
    m.out.absorb(block)


def label(m: Machine, token: Token) -> None:
    """A label points to what was counted last."""
    m.counters.label(m.reader.word(), m.target)


def reference(style: str) -> Handler:
    r"""A handler for `\ref` and its kin; the number is filled in when all is counted."""

    def handler(m: Machine, token: Token) -> None:
        m.reader.flag("*")
        m.out.put(sentinel(style, m.reader.word()))

    return handler


def hyperref(m: Machine, token: Token) -> None:
    r"""`\hyperref[label]{text}`."""
    m.reader.optional()


def include(m: Machine, token: Token) -> None:
    r"""`\input`, `\include` and their kin: a member of the table, or a note that it is missing."""
    folder = m.reader.word() if token in (r"\import", r"\subimport", r"\includefrom", r"\subincludefrom") else ""
    written_name = _file_name(m)
    if folder:
        written_name = folder.rstrip("/") + "/" + written_name
    if not written_name or "#" in written_name:
        return
    if written_name.endswith(".bbl"):
        m.found.bbls.append(written_name)
        return
    near = files[-1].name if (files := m.reader.files()) else ""
    name = m.files.find(written_name, near=near)
    if name is None:
        m.note(written_name, Status.NOT_FOUND, f"named by {token} but not in the source")
    elif _may_open(m, name):
        m.out.space()
        open_file(m, name)


def _file_name(m: Machine) -> str:
    token = m.reader.skip_spaces()
    if token is None or token == PAR:
        return ""
    if token[0] not in "\\{}":  # plain TeX: \input name
        name, _, rest = token.partition(" ") if "\n" not in token else token.partition("\n")
        m.reader.push([" " + rest])
        return name.strip()
    m.reader.back()
    return m.reader.word()


def _may_open(m: Machine, name: str) -> bool:
    open_now = m.reader.files()
    if any(source.name == name for source in open_now):
        m.note(name, Status.PARTIAL, "a file that reads itself: the cycle was cut")
        return False
    if len(open_now) > MAX_FILES_DEEP or m.opened[name] >= MAX_REPEATS or m.opened.total() >= MAX_OPENED or m.read_characters > MAX_CHARACTERS:
        m.note(name, Status.PARTIAL, f"read {m.opened[name]} times; further \\input of it were left out")
        return False
    return True


def open_file(m: Machine, name: str) -> None:
    """Read a member next."""
    source = m.files.open(name)
    m.opened[name] += 1
    m.read_characters += len(source.text)
    m.reader.open(source)


def usepackage(m: Machine, token: Token) -> None:
    """Packages that lie beside the paper may define its commands; nothing else of them is done."""
    m.reader.optional()
    for name in m.reader.word().split(","):
        found = m.files.find(name, ending=".sty")
        if found and found.endswith(".sty") and not m.opened[found]:
            m.opened[found] += 1
            _read_style(m, m.files.open(found))


def _read_style(m: Machine, source: Source) -> None:
    """Definitions that an author's style file makes; those that reach into LaTeX's own workings are left alone."""
    reader = Reader()
    reader.open(source)
    while (token := reader.next()) is not None:
        found = read_definition(reader, token) if token in DEFINING else None
        if found and "@" not in found[0] and not any("@" in part or part.startswith((r"\if", r"\fi", r"\else")) for part in found[1].body):
            m.define(*found)


def end_input(m: Machine, token: Token) -> None:
    r"""`\endinput`: the rest of this file is not read."""
    for source in m.reader.files()[-1:]:
        source.pos = len(source.text)


def bibliography(m: Machine, token: Token) -> None:
    """The .bib files of the paper."""
    m.reader.optional()
    m.found.bibliographies += [name.strip() for name in m.reader.word().split(",") if name.strip()]


def bibitem(m: Machine, token: Token) -> None:
    r"""An entry of the reference list: it lasts until the next one or the end of the list."""
    while m.groups and m.groups[-1].kind in ("{", "capture", "item", "["):
        m.close()
    printed = plain(written(m.reader.optional() or []))
    key = " ".join(m.reader.word().split())
    origin = m.origin

    def then(stream: Stream) -> None:
        m.found.entries.append(Entry(key, printed, stream.text(), origin))

    m.divert(Group("item"), Stream(), then)


def in_entry(m: Machine) -> bool:
    """Whether a reference entry is being read."""
    return m.within("thebibliography", "references")


def marker(before: str, after: str = "") -> Handler:
    """A handler that leaves marks around an argument of a reference entry."""

    def handler(m: Machine, token: Token) -> None:
        if in_entry(m):
            m.out.put(before)
            if after:
                m.capture(lambda stream: _marked(m, stream, after))

    return handler


def _marked(m: Machine, stream: Stream, after: str) -> None:
    m.out.inline(stream)
    m.out.put(after)


def field(name: str, signature: str = "m") -> Handler:
    r"""A handler for `\bibinfo{name}{...}`-like commands: the argument is that field. Empty name: it comes first."""

    def handler(m: Machine, token: Token) -> None:
        named = name or m.reader.word()
        if in_entry(m):
            m.out.put(f"\x0f{named}\x10")
            m.capture(lambda stream: _marked(m, stream, "\x16"))
        m.reader.take(signature[1:])

    return handler


def italic(m: Machine, token: Token) -> None:
    """Italics matter only in reference entries, where they set off the venue."""
    if not in_entry(m):
        return
    if token in (r"\emph", r"\textit", r"\textsl"):
        m.out.put("\x11")
        m.capture(lambda stream: _marked(m, stream, "\x12"))
    elif m.groups and m.groups[-1].kind == "{" and m.groups[-1].close is None:
        m.out.put("\x11")
        m.groups[-1].close = lambda: m.out.put("\x12")


def url(m: Machine, token: Token) -> None:
    """An address: kept as a link and as text."""
    address = _address(m)
    if in_entry(m):
        m.out.put(f"\x13{address}\x14\x15")
    elif address:
        start = m.out.here()
        m.out.put(address)
        m.out.links.append(Link(address, start))


def href(m: Machine, token: Token) -> None:
    """An address behind some text."""
    m.reader.optional()
    address = _address(m)
    if in_entry(m):
        m.out.put(f"\x13{address}\x14")
        m.capture(lambda stream: _marked(m, stream, "\x15"))
    elif address:
        m.out.links.append(Link(address, m.out.here()))


def _address(m: Machine) -> str:
    source = m.reader.source()
    found = source.address() if source else None
    if found is None:
        found = written(m.reader.argument())
    return "".join(found.replace(r"\%", "%").replace(r"\_", "_").replace(r"\#", "#").replace(r"\&", "&").replace(r"\~", "~").split())


def verb(m: Machine, token: Token) -> None:
    """Words to be taken as they are."""
    m.reader.flag("*")
    source = m.reader.source()
    found = source.delimited() if source else None
    if found:
        m.out.put(found)


def lstinline(m: Machine, token: Token) -> None:
    r"""`\lstinline[..]|code|`."""
    m.reader.optional()
    source = m.reader.source()
    if source and not source.text.startswith("{", source.pos):
        verb(m, token)


def two(first: bool) -> Handler:
    """A handler that keeps the first or the second of two arguments."""

    def handler(m: Machine, token: Token) -> None:
        kept, other = m.reader.argument(), m.reader.argument()
        m.reader.push(kept if first else other)

    return handler


def choice(m: Machine, token: Token) -> None:
    r"""`\ifthenelse{\boolean{x}}{..}{..}`, `\iftoggle{x}{..}{..}`, `\ifdef` and their kin."""
    test = m.reader.argument()
    name = "".join(each for each in test if each[0] not in "\\{}").strip()
    positive, negative = m.reader.argument(), m.reader.argument()
    state = m.switches.toggles.get(name)
    if state is None and token == r"\ifdef":
        state = bool(test) and test[0] in m.macros
    if state is None:
        m.note(f"{token} conditions", Status.PARTIAL, f"{token} cannot be decided without running TeX: the first branch was read")
    m.reader.push(negative if state is False else positive)


def toggle(m: Machine, token: Token) -> None:
    r"""`\newtoggle{x}`, `\toggletrue{x}`, `\setboolean{x}{true}`."""
    name = m.reader.word()
    if token in (r"\settoggle", r"\setboolean"):
        m.switches.toggles[name] = m.reader.word() == "true"
    else:
        m.switches.toggles[name] = token == r"\toggletrue"


def newif(m: Machine, token: Token) -> None:
    r"""`\newif\ifname`."""
    m.switches.declare(m.reader.skip_spaces() or "")


def define(m: Machine, token: Token) -> None:
    """A definition of a command."""
    found = read_definition(m.reader, token)
    if found and not (token == r"\providecommand" and found[0] in m.macros):
        m.define(*found)


def let(m: Machine, token: Token) -> None:
    r"""`\let\name=\other`."""
    found = read_let(m.reader)
    if found:
        name, other = found
        m.define(name, m.macros.get(other) or Macro((other,)))


def new_environment(m: Machine, token: Token) -> None:
    """A definition of an environment."""
    name, environment = read_environment(m.reader)
    if name not in m.tables.environments:
        m.environments[name] = environment


def newtheorem(m: Machine, token: Token) -> None:
    r"""`\newtheorem{name}[counter]{Printed}[within]`."""
    m.reader.flag("*")
    name = m.reader.word()
    shared = "".join(m.reader.optional() or [])
    printed = plain(written(m.reader.argument()))
    within = "".join(m.reader.optional() or [])
    m.theorems[name] = (printed, shared or name)
    if within in LEVELS:
        m.counters.within[name] = within


def numberwithin(m: Machine, token: Token) -> None:
    r"""`\numberwithin{equation}{section}`."""
    inner, outer = m.reader.word(), m.reader.word()
    if outer in LEVELS:
        m.counters.within[inner] = outer


def csname(m: Machine, token: Token) -> None:
    r"""`\csname name\endcsname` is the command `\name`."""
    name = ""
    for _ in range(50):
        part = m.reader.next()
        if part is None or part == r"\endcsname":
            break
        name += part if part[0] not in "\\{}" else ""
    if name.strip():
        m.reader.push(["\\" + name.strip()])


def catcode(m: Machine, token: Token) -> None:
    r"""`\catcode` assignments are passed over: this reader keeps TeX's usual categories."""
    m.note("\\catcode", Status.PARTIAL, "changes of category codes are not followed")
    sign = m.reader.skip_spaces()
    if sign is not None and sign.strip() == "`":
        m.reader.next()
    glue(m, token)


def at_letter(m: Machine, token: Token) -> None:
    r"""`\makeatletter` and `\makeatother`."""
    for source in m.reader.files()[-1:]:
        source.at_letter(token == r"\makeatletter")


_NO_XSPACE = frozenset(r"\/ \, \@ \- \xspace \footnote \footnotemark \space \unskip".split())


def xspace(m: Machine, token: Token) -> None:
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


def par(m: Machine, token: Token) -> None:
    """The paragraph is over."""
    if m.lists and m.out.flowing:
        m.out.newline("  " * len(m.lists))
    elif m.tabulars or not m.out.flowing:
        m.out.space()
    else:
        m.out.end_block()


def line_break(m: Machine, token: Token) -> None:
    r"""`\\`: a row of a table or only a space."""
    m.reader.flag("*")
    m.reader.optional()
    if m.tabulars == 1 and m.out.flowing:
        m.out.newline()
    elif m.tabulars > 1:
        m.out.write(" / ")
    else:
        m.out.space()


def ampersand(m: Machine, token: Token) -> None:
    """The border of two cells."""
    m.out.put("|") if m.tabulars else m.out.put("&")
    m.out.space()


def cell_border(m: Machine, token: Token) -> None:
    """`&` with space around it."""
    m.out.space()
    ampersand(m, token)


def item(m: Machine, token: Token) -> None:
    """An item of a list on a line of its own."""
    given = m.reader.optional()
    m.out.newline("  " * (len(m.lists) - 1))
    bullet = "-"
    if m.lists and m.lists[-1][0] == "enumerate":
        m.lists[-1][1] = int(m.lists[-1][1]) + 1
        bullet = f"{m.lists[-1][1]}."
        m.target = Target("item", str(m.lists[-1][1]))
    m.out.put(bullet if m.lists else "")
    m.out.space()
    if given:
        m.reader.push(["{", *given, "}", " "])


def open_brace(m: Machine, token: Token) -> None:
    """A group."""
    m.open(Group("{"))


def close_brace(m: Machine, token: Token) -> None:
    """The end of a group."""
    m.brace()


def dollar(m: Machine, token: Token) -> None:
    """A formula begins."""
    m.mode = Formula(token, display=token == "$$")


def math_open(m: Machine, token: Token) -> None:
    r"""`\(` and `\[`."""
    m.mode = Formula(r"\)" if token == r"\(" else r"\]", display=token == r"\[")


def ensuremath(m: Machine, token: Token) -> None:
    r"""`\ensuremath{...}` outside a formula."""
    m.reader.push(["$", *m.reader.argument(), "$"])


def tie(m: Machine, token: Token) -> None:
    """A space that does not break."""
    m.out.space()


def literal(m: Machine, token: Token) -> None:
    """A sign that stands for itself here."""
    m.out.put(token)


def open_bracket(m: Machine, token: Token) -> None:
    """A bracket in the text."""
    m.out.put("[")


def close_bracket(m: Machine, token: Token) -> None:
    """The end of a bracket, or of `\\twocolumn[...]`."""
    if m.groups and m.groups[-1].kind == "[":
        m.close()
    else:
        m.out.put("]")


def midrule(m: Machine, token: Token) -> None:
    r"""`\cmidrule[w](lr){2-3}`."""
    m.reader.optional()
    trim = m.reader.skip_spaces()
    if trim is None or not trim.startswith("("):
        if trim is not None:
            m.reader.back()
    elif rest := trim.partition(")")[2]:
        m.reader.push([rest])
    m.reader.take("m")


def two_column(m: Machine, token: Token) -> None:
    r"""`\twocolumn[...]`: the bracket holds title and abstract."""
    if m.reader.skip_spaces() == "[":
        m.open(Group("["))
    else:
        m.reader.back()


def _signs() -> dict[str, Handler]:
    table: dict[str, Handler] = {PAR: par, "{": open_brace, "}": close_brace, "$": dollar, "&": cell_border, "~": tie}
    table |= {"[": open_bracket, "]": close_bracket, "#": literal, "^": literal, "_": literal}
    return table


def _named(words: str, handler: Handler) -> dict[Token, Handler]:
    return {"\\" + word: handler for word in words.split()}


def _table() -> dict[Token, Handler]:
    table: dict[Token, Handler] = {}
    for kinds in (SWALLOWED, PREFIXED):
        for signature, words in kinds.items():
            real = " ".join(word for word in words.split() if not word.endswith("@"))
            table |= _named(real, swallow(("s" + signature).replace("ss", "s")))
    table |= {"\\" + mark: accent for mark in COMBINING}
    return table | STRUCTURE


STRUCTURE: dict[Token, Handler] = {
    **_named(" ".join(LEVELS), heading),
    **_named("title icmltitle aistatstitle TITLE mlsystitle jmlrtitle runtitle@", title),
    **_named("input include subfile subfileinclude import subimport includefrom subincludefrom", include),
    **_named("caption captionof subcaption tcaption", caption),
    **_named("footnote footnotetext tablefootnote thanks tnote@ footnoteh", footnote),
    **_named("ref vref pageref@ subref thmref", reference("n")),
    **_named("eqref", reference("p")),
    **_named("cref Cref autoref Autoref fref Fref labelcref zcref", reference("k")),
    **_named("nameref", reference("t")),
    **_named("bibliography addbibresource", bibliography),
    **_named("newcommand renewcommand providecommand DeclareRobustCommand newrobustcmd renewrobustcmd def edef gdef xdef DeclareMathOperator", define),
    **_named("NewDocumentCommand RenewDocumentCommand ProvideDocumentCommand DeclareDocumentCommand", define),
    **_named("newenvironment renewenvironment", new_environment),
    **_named("url path nolinkurl doi", url),
    **_named("vskip hskip kern penalty lineskip hangindent hangafter looseness", glue),
    **_named("ifthenelse iftoggle ifbool ifdef", choice),
    **_named("newtoggle toggletrue togglefalse settoggle newboolean setboolean", toggle),
    **_named("texorpdfstring@ twocolumntext@", two(True)),
    **_named("emph textit textsl em it itshape sl", italic),
    **_named("citetext bibentry@", cite_text),
    **_named("showarticletitle APACrefatitle APACrefbtitle enquotetitle@", field("title")),
    **_named("bibfield bibinfo", field("")),
    **_named("makeatletter makeatother", at_letter),
    r"\texorpdfstring": two(True),
    r"\usepackage": usepackage,
    r"\RequirePackage": usepackage,
    r"\appendix": appendix,
    r"\abstract": abstract,
    r"\label": label,
    r"\nocite": nocite,
    r"\endinput": end_input,
    r"\bibitem": bibitem,
    r"\newblock": marker("\x0e"),
    r"\href": href,
    r"\verb": verb,
    r"\lstinline": lstinline,
    r"\newif": newif,
    r"\let": let,
    r"\newtheorem": newtheorem,
    r"\numberwithin": numberwithin,
    r"\csname": csname,
    r"\catcode": catcode,
    r"\xspace": xspace,
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
    r"\natexlab": swallow("m"),
}

COMMANDS = _table()
SIGNS = _signs()
PROTECTED = frozenset(
    set(STRUCTURE)
    - set(_named("emph textit textsl em it itshape sl doi path enquote thanks TITLE sl abstract", italic))
    | set(_named("begin end documentclass cite citep citet citealp citealt citeauthor citeyear parencite textcite autocite footcite", cite))
)
