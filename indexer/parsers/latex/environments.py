r"""What environments, and the steps of algorithms, do to the text: one table from name to what happens at `\begin`.

Closing is a group's business: an opener pushes a group and says what is to be done when it ends.
"""

from __future__ import annotations

from collections.abc import Callable

from indexer.parsers.latex.floats import FLOATS, TABULARS, floating, tabular
from indexer.parsers.latex.formula import NUMBERED, UNNUMBERED, Formula
from indexer.parsers.latex.hiding import begin_box, hide_by_options
from indexer.parsers.latex.machine import Group, Machine, Opener
from indexer.parsers.latex.macros import expand
from indexer.parsers.latex.numbering import LabelTarget
from indexer.parsers.latex.reader import Token
from indexer.parsers.latex.sectioning import begin_abstract
from indexer.parsers.latex.stream import TextStream
from indexer.parsers.latex.symbols import grouped, words
from lineage.records import Status


def algorithmic(m: Machine, name: str) -> None:
    """Steps of an algorithm, each on its own line."""
    m.reader.optional()
    out, style = m.out, m.out.style
    if out.flowing:
        out.cut()
        out.style = ("algorithm", *style[1:])

    def close() -> None:
        if out.flowing:
            out.cut()
            out.style = style

    m.open(Group("env", name, close))


_STEPS = grouped(
    {
        "": "STATE ;",
        "if ": "IF EIF UIF",
        "else if ": "ELSIF",
        "else": "ELSE",
        "end if": "ENDIF",
        "for ": "FOR",
        "for all ": "FORALL",
        "end for": "ENDFOR",
        "while ": "WHILE",
        "end while": "ENDWHILE",
        "repeat": "REPEAT",
        "until ": "UNTIL",
        "loop": "LOOP",
        "end loop": "ENDLOOP",
        "return ": "RETURN KWRET",
        "Require: ": "REQUIRE",
        "Ensure: ": "ENSURE",
        "Input: ": "INPUT KWIN",
        "Output: ": "OUTPUT KWOUT",
        "print ": "PRINT",
        "function ": "FUNCTION",
        "end function": "ENDFUNCTION",
        "procedure ": "PROCEDURE",
        "end procedure": "ENDPROCEDURE",
        "Data: ": "KWDATA",
        "Result: ": "KWRESULT",
        "for each ": "FOREACH",
        "▷ ": "COMMENT",
        "// ": "TCP TCC",
    }
)


def algorithm_step(m: Machine, tok: Token) -> None:
    """A step of an algorithm begins a line with its keyword."""
    word = _STEPS.get(tok[1:].upper().replace("LINEX", ""), "")
    if tok[1:].upper() in ("COMMENT", "TCP", "TCC"):
        m.reader.flag("*")
        m.out.write(" " + word)
        return
    m.out.newline()
    m.out.write(word)


def is_step(tok: Token, m: Machine) -> bool:
    """Whether a command is a step of the algorithm that is being read."""
    return tok[1:].upper() in _STEPS and m.within("algorithm", "algorithm*", "algorithmic", "algorithm2e", "algo", "algorithmic*")


END_USER = r"\lineage@end"
LISTS = grouped(
    {
        "o": "itemize enumerate description compactitem compactenum inparaenum asparaenum tasks itemize* enumerate*",
        "mm": "list",
        "": "trivlist",
        "m": "dinglist",
    }
)
VERBATIM = words(
    "verbatim verbatim* Verbatim lstlisting minted alltt BVerbatim semiverbatim filecontents filecontents* python pythoncode code spverbatim"
)
PICTURES = words("tikzpicture axis pgfpicture picture forest circuitikz pspicture overpic psfrags tikzcd groupplot pgfonlayer dependency istgame")
SKIPPED = words("comment CCSXML")
DISCARDED = words("icmlauthorlist IEEEbiography IEEEbiographynophoto biography keyword affiliations authors titlebox")
_LAYOUT = grouped(
    {
        "ooom": "minipage",
        "om": "subfigure subtable subcaptionblock boxedminipage",
        "m": "adjustbox spacing",
        "mm": "adjustwidth CJK CJK*",
        "mo": "multicols multicols*",
        "o": "tcolorbox mdframed scope threeparttable tablenotes",
        "": "framed quote quotation center flushleft flushright landscape verse strip titlepage frontmatter IEEEkeywords keywords",
    }
)
_BREAKING = frozenset(words("quote quotation center flushleft flushright tcolorbox mdframed framed multicols tablenotes IEEEkeywords keywords"))
_THEOREMS = words(
    "theorem lemma proposition corollary definition remark example assumption claim conjecture observation hypothesis fact property proof"
)


def begin(m: Machine, tok: Token) -> None:
    r"""`\begin{name}`."""
    name = m.reader.word()
    user = m.environments.get(name)
    if user:
        m.open(Group("env", name))
        if not expand(m.reader, user.begin):
            m.note("macros", Status.PARTIAL, "the expansion of the author's commands was cut short at its budget")
        return
    opener = m.tables.environments.get(name) or m.tables.environments.get(name.rstrip("*"))
    if opener:
        opener(m, name)
    elif name.rstrip("*") in m.theorems:
        theorem(m, name)
    else:
        m.open(Group("env", name))
        hide_by_options(m, [*m.looks.get(name, ()), ",", *(m.reader.optional() or ())])
        m.out.space()


def end(m: Machine, tok: Token) -> None:
    r"""`\end{name}`; of an author's environment the closing text comes first."""
    name = m.reader.word()
    user = m.environments.get(name)
    if name == "document":
        end_document(m)
    elif user and m.open_environments[name] and tok != END_USER and m.reader.push([*user.end, END_USER, "{", name, "}"]):
        return
    else:
        m.end(name)


def end_document(m: Machine) -> None:
    """The document is over, or only the file that was read into it with a frame of its own."""
    sources = m.reader.files()
    if len(sources) > 1 and r"\documentclass" in sources[-1].text:
        sources[-1].pos = len(sources[-1].text)
    else:
        m.ended = True


def document(m: Machine, name: str) -> None:
    """The text begins."""
    if not m.in_document:
        m.unwind(0)
        m.in_document = True
        m.out = m.main


def opened(m: Machine, name: str, close: Callable[[], None] | None = None) -> None:
    """Open an environment's group."""
    m.open(Group("env", name, close))


def abstract(m: Machine, name: str) -> None:
    """The abstract, in the preamble or in the text."""
    m.reader.optional()
    begin_abstract(m, Group("env", name))


def listing(m: Machine, name: str) -> None:
    """A list: one block, its items on lines of their own."""
    m.reader.take(LISTS[name])
    out, style = m.out, m.out.style
    outermost = not m.lists
    m.lists.append(["enumerate" if "enum" in name else "itemize", 0])
    if outermost and out.flowing:
        out.cut()
        out.style = ("list" if style[0] == "paragraph" else style[0], *style[1:])

    def close() -> None:
        if m.lists:
            m.lists.pop()
        if outermost and out.flowing:
            out.cut()
            out.style = style
        else:
            out.newline("  " * len(m.lists))

    opened(m, name, close)


def verbatim(m: Machine, name: str) -> None:
    """Words taken as they are, line by line; the content of `filecontents` becomes a member."""
    m.reader.take({"minted": "om", "lstlisting": "o", "Verbatim": "o", "filecontents": "o", "filecontents*": "o"}.get(name, ""))
    member = m.reader.word() if name.startswith("filecontents") else ""
    text = _raw(m, name)
    if member:
        m.files.members.setdefault(member, text.encode())
    elif text.strip() and m.out.flowing:
        style = m.out.style
        m.out.cut()
        m.out.style = ("algorithm", *style[1:])
        m.out.put(text.strip("\n").expandtabs(4))
        m.out.cut()
        m.out.style = style


def _raw(m: Machine, name: str) -> str:
    source = m.reader.source()
    raw_text = source.until(f"\\end{{{name}}}") if source else None
    if raw_text is None:
        m.note(f"\\begin{{{name}}}", Status.PARTIAL, "an environment that never ends: read as running text")
    return raw_text or ""


def skipped(m: Machine, name: str) -> None:
    """Not part of the paper."""
    _raw(m, name)


def picture(m: Machine, name: str) -> None:
    """A drawing: its words are kept only where it cites something."""
    m.reader.take("" if name in ("forest", "dependency") else "o")

    def then(stream: TextStream) -> None:
        stream.end_block()
        if stream.cites and m.out.flowing:
            m.out.defer(stream)
        elif stream.cites:
            m.out.inline(stream)

    m.divert(Group("env", name), TextStream(flowing=True, style=("paragraph", m.path, "")), then)


def discarded(m: Machine, name: str) -> None:
    """Names and addresses: not text."""
    m.divert(Group("env", name), TextStream(), lambda stream: None)


def layout(m: Machine, name: str) -> None:
    """A frame around running text."""
    signature, options = _LAYOUT[name], list[Token]()
    if name == "adjustbox":
        signature, options = "", m.reader.argument()
    elif signature.startswith("o"):
        signature, options = signature[1:], m.reader.optional() or []
    m.reader.take(signature)
    breaking = name in _BREAKING and not m.tabulars and m.out.flowing and not m.lists
    out = m.out
    m.out.end_block() if breaking else m.out.space()
    opened(m, name, (lambda: out.end_block()) if breaking else out.space)
    hide_by_options(m, options, scaled=name == "adjustbox")


def mathematics(m: Machine, name: str) -> None:
    """A displayed formula."""
    plain_name = name.rstrip("*")
    m.reader.take({"alignat": "m", "IEEEeqnarray": "om", "xalignat": "m"}.get(plain_name, ""))
    numbered = plain_name in NUMBERED and not name.endswith("*")
    number = m.counters.step("equation") if numbered else ""
    opened(m, name)
    m.mode = Formula(name, display=plain_name != "math", environment=name, number=number)


def theorem(m: Machine, name: str) -> None:
    """A theorem and its kin: a paragraph that begins with the printed name and number."""
    default = (name.rstrip("*").capitalize(), name)
    printed, counter = m.theorems.get(name, m.theorems.get(name.rstrip("*"), default))
    numbered = not name.endswith("*") and name != "proof"
    number = m.counters.step(counter) if numbered else ""
    note = m.reader.optional()
    label = f"{printed} {number}".strip()
    out, style = m.out, m.out.style
    if out.flowing and not m.lists:
        out.end_block()
        out.style = (style[0], style[1], label if number else style[2])

    def close() -> None:
        if out.flowing and not m.lists:
            out.end_block()
            out.style = style

    opened(m, name, close)
    m.target = LabelTarget(printed, number)
    out.write(label)
    m.reader.push([" (", "{", *note, "}", "). "] if note else [". "])


def references(m: Machine, name: str) -> None:
    """A reference list: its entries are kept apart from the text."""
    m.reader.argument()
    m.divert(Group("env", name), TextStream(), lambda stream: None)


def lettered(m: Machine, name: str) -> None:
    """`appendices`: sections are lettered."""
    m.counters.start_appendix()
    opened(m, name)


def _environments() -> dict[str, Opener]:
    table: dict[str, Opener] = {}
    for names, opener in (
        (FLOATS, floating),
        (TABULARS, tabular),
        (LISTS, listing),
        (VERBATIM, verbatim),
        (PICTURES, picture),
        (SKIPPED, skipped),
        (DISCARDED, discarded),
        (_LAYOUT, layout),
        (NUMBERED | UNNUMBERED, mathematics),
        (_THEOREMS, theorem),
    ):
        table.update({name: opener for name in names if not name.endswith("@") and name not in table})
    return table | {
        "document": document,
        "abstract": abstract,
        "onecolabstract": abstract,
        "thebibliography": references,
        "references": references,
        "appendices": lettered,
        "appendix": lettered,
        "lrbox": begin_box,
        "algorithmic": algorithmic,
        "algpseudocode": algorithmic,
    }


ENVIRONMENTS = _environments()
