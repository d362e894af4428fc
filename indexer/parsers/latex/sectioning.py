"""Title, abstract, headings, footnotes, captions, labels and references to them."""

from __future__ import annotations

from indexer.parsers.latex.machine import Float, Group, Handler, Machine, Section
from indexer.parsers.latex.numbering import LEVELS, LabelTarget, letter, sentinel
from indexer.parsers.latex.reader import Token
from indexer.parsers.latex.stream import LatexCitation, LatexLink, TextStream


def heading(m: Machine, tok: Token) -> None:
    """A section command: its title is captured, counted and becomes part of the path."""
    starred = m.reader.flag("*")
    m.reader.optional()
    if m.in_document:
        m.to_main()
    name = tok[1:]

    def then(stream: TextStream) -> None:
        title = _without_citations(stream)
        if m.in_document and title:
            _begin_section(m, name, title, stream, numbered=not starred)

    m.capture(then)


def _without_citations(stream: TextStream) -> str:
    """The words of a title as a section's name."""
    text, last, parts = stream.text(), 0, []
    for latex_citation in stream.cites:
        parts.append(text[last : latex_citation.start])
        last = latex_citation.end
    return " ".join("".join([*parts, text[last:]]).split())


def _begin_section(m: Machine, name: str, title: str, stream: TextStream, *, numbered: bool) -> None:
    level = LEVELS[name]
    if name == "part":
        return
    number = m.counters.section(name) if numbered else ""
    m.headings = [open_heading for open_heading in m.headings if open_heading[0] < level]
    m.headings.append((level, title))
    m.path = tuple(each for _, each in m.headings)
    stream.cites = [LatexCitation(latex_citation.keys, latex_citation.start, latex_citation.end, m.path) for latex_citation in stream.cites]
    m.target = LabelTarget("Appendix" if m.counters.appendix else "Section", number, title)
    m.lists.clear()
    if m.out.instead_of:
        return
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


def appendix(m: Machine, tok: Token) -> None:
    """Sections are lettered from here on."""
    m.counters.start_appendix()


def title(m: Machine, tok: Token) -> None:
    """The paper's title, wherever it is declared."""
    m.reader.optional()

    def then(stream: TextStream) -> None:
        m.found.title = m.found.title or " ".join(stream.text().split())
        _keep_beside(m, stream)

    m.capture(then)


def author(m: Machine, tok: Token) -> None:
    """The authors are no text, but what they are thanked with and the addresses among them are."""
    m.reader.optional()
    m.capture(lambda stream: _keep_beside(m, stream))


def _keep_beside(m: Machine, stream: TextStream) -> None:
    r"""Notes (`\thanks`) and addresses of a title or author block become notes of the text: code is often announced there."""
    for link in stream.links:
        note = TextStream()
        note.put(link.url)
        note.links.append(LatexLink(link.url, 0, -1))
        note.whole("footnote", ("Title",))
        m.main.defer(note, hanging=False)
    for note, _ in stream.deferred:
        m.main.defer(note, hanging=False)


def abstract(m: Machine, tok: Token) -> None:
    r"""`\abstract{...}` with its text in braces."""
    following = m.reader.skip_spaces()
    if following is not None:
        m.reader.back()
    if following == "{":
        m.reader.next()
        begin_abstract(m, Group("capture"))


def begin_abstract(m: Machine, group: Group) -> None:
    """An abstract joins the text when it is over, whether it stood in the preamble or not."""
    path, m.path = m.path, ("Abstract",)

    def then(stream: TextStream) -> None:
        m.path = path
        stream.end_block()
        m.main.end_block()
        m.main.absorb(stream)

    m.divert(group, TextStream(flowing=True, style=("abstract", ("Abstract",), "")), then)


def footnote(m: Machine, tok: Token) -> None:
    """A footnote: its text follows the paragraph it hangs on."""
    m.reader.optional()

    def then(stream: TextStream) -> None:
        label = "" if tok == r"\thanks" else f"Footnote {m.counters.step('footnote')}"
        stream.whole("footnote", m.path, label)
        m.out.defer(stream)

    m.capture(then)


def caption(m: Machine, tok: Token) -> None:
    """A caption: numbered by its float, a block of its own."""
    unnumbered = m.reader.flag("*")
    kind = m.reader.word() if tok in (r"\captionof", r"\captionof*") else ""
    m.reader.optional()
    part = m.within("subfigure", "subtable") or tok in (r"\subcaption", r"\subcaptionbox") or not (m.floats or kind)
    name = kind.capitalize() or (m.floats[-1].kind if m.floats else "")
    number = "" if part or unnumbered else m.counters.printed(name)
    label = "" if part else f"{name} {number}".strip()
    if label and not unnumbered:
        m.target = LabelTarget(name, number)
    elif part and m.floats:
        m.target = _part_of(m, m.floats[-1])
    m.capture(lambda stream: end_caption(m, stream, label))


def _part_of(m: Machine, each: Float) -> LabelTarget:
    """A part of a float bears its number, which is the next one unless the caption came first, and a letter."""
    each.parts += 1
    number = each.label.partition(" ")[2] or str(m.counters.values.get(each.kind, 0) + 1)
    return LabelTarget(each.kind, f"{number}{letter(each.parts).lower()}")


def end_caption(m: Machine, stream: TextStream, label: str) -> None:
    """Put a caption behind its label as a block."""
    block = TextStream()
    block.put(label + ":") if " " in label else None
    block.space()
    block.inline(stream)
    if m.floats and label:
        m.floats[-1].caption = block.text()
        m.floats[-1].label = label
    m.out.end_block() if m.out.flowing else m.out.newline()
    block.whole("caption", m.path, label)
    m.out.absorb(block)


def continued(m: Machine, tok: Token) -> None:
    r"""`\ContinuedFloat`: this float has the number of the one before."""
    if m.floats and (count := m.counters.values.get(m.floats[-1].kind, 0)):
        m.counters.values[m.floats[-1].kind] = count - 1


def label(m: Machine, tok: Token) -> None:
    """A label points to what was counted last."""
    m.counters.label(m.reader.word(), m.target)


def reference(style: str) -> Handler:
    r"""A handler for `\ref` and its kin; the number is filled in when all is counted."""

    def handler(m: Machine, tok: Token) -> None:
        m.reader.flag("*")
        m.out.put(sentinel(style, m.reader.word()))

    return handler
