"""How a README introduces its repository: title, opening sentences, first link to a paper, first request to be cited. Pure.

Lists, tables, badges, code and later sections of a README name other people's work, so they are not part of the
introduction. All patterns are bounded; a README is read in time linear in its length.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from lineage.ids import normal_title

README = 400_000
"""Characters of a README that are read."""
_RAW = 40_000
_HEAD = 3_000
"""Characters of the introduction without markup."""
_ASKED = 3_000
_IMAGE = re.compile(r"!\[([^\[\]\n]{0,200})\]\([^()\s]{0,20000}(?:\s[^()\n]{0,200})?\)")
_ANCHOR = re.compile(r"<a\s[^<>]{0,400}?href=[\"']?([^\"'<>\s]{1,400})[\"']?[^<>]{0,300}>([^<]{0,300})", re.IGNORECASE)
_HTML_HEADING = re.compile(r"<h([1-6])\b[^<>]{0,200}>", re.IGNORECASE)
_BREAK = re.compile(r"</?(?:br|p|div|h[1-6]|li|tr|summary|details)\b[^<>]{0,300}>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,20000}>")
_UNDERLINE = re.compile(r"^(\S[^\n]{0,200})\n(?:={3,}|-{3,})[ \t]*$", re.MULTILINE)
_HEADING = re.compile(r"#{1,6}(?!#)\s*(.{1,300}?)[\s#]*\Z")
_LISTED = re.compile(r"\s*(?:[-+•]|\*(?!\*)|\d{1,2}[.)])\s|\s*\|")
_LINK = re.compile(r"\[([^\[\]\n]{0,300})\]{1,2}\(([^()\s]{0,400})(?:\s[^()\n]{0,100})?\)")
_ADDRESS = re.compile(r"https?://[^ )]{1,500}|[{}]")
_PAPER = re.compile(
    r"arxiv\.org/(?:abs|pdf|html)/\d{4}\.\d{4,5}(?!\d)|\barxiv[: ]{1,2}\d{4}\.\d{4,5}(?!\d)|"
    r"(?:doi\.org/|openreview\.net/|aclanthology\.org/)\S{4,60}",
    re.IGNORECASE,
)
_GENERIC = re.compile(
    r"(?:table of )?contents?|news|updates?|highlights?|intro(?:duction)?|overview|about|abstract|summary|description|tl ?dr|what is .{1,40}|"
    r"(?:getting|get) started|install(?:ation)?|set ?up|requirements?|usage|quick ?start|readme|paper|features|documentation"
)
_OPENING = re.compile(r"intro(?:duction)?|overview|about|abstract|summary|description|tl ?dr|what is .{1,40}|paper")
_SECTION_WORDS = 5
_SMALL = frozenset(["a", "an", "the", "of", "for", "in", "on", "with", "to", "and", "via", "by"])
_CITE = re.compile(
    r"^(?:#{1,6}|<h\d>|\*\*)[^\n]{0,40}(?:citation|citing|\bcite|bibtex|reference)[^\n]{0,40}$|please (?:consider |also )?cit(?:e|ing)|"
    r"@\w{2,20}\s*\{",
    re.IGNORECASE | re.MULTILINE,
)
_RECORD = re.compile(r"@\w{2,20}\s*\{")
_TITLE = re.compile(r"\btitle\s*=\s*(?:\{|\")(.{3,400}?)(?:\}|\")\s*(?:,|\n|\})", re.IGNORECASE | re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z“\"\[(*])")
_FOLLOWS = re.compile(r"\b(?:papers?|projects?|works?|articles?|publications?|implementation|code|codes|used in)\W{0,4}\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Introduction:
    """What a README says of its own repository before it turns to anything else.

    `title` is its title heading; `lines` are single lines of the introduction (no lists, no tables); `sentences` its sentences, with
    the list that an introducing sentence ends in; `first_paper` the address of the first paper that is linked (in a list only
    where the README asks for no citation); `asked` the first passage that asks for citation, `asked_title` the title in its BibTeX record.
    """

    title: str
    lines: tuple[str, ...]
    sentences: tuple[str, ...]
    first_paper: str
    asked: str
    asked_title: str


def introduction(readme: str) -> Introduction:
    """The introduction of a README as it came."""
    title, lines = _opening(_plain(readme[:_RAW]))
    own = tuple(line for line in lines if not _LISTED.match(line))
    prose = [line for line in own if line]
    citation_request = _asked(readme[:README])
    near = (title, *prose) if citation_request else (title, *prose, *lines)
    linked = next((match[0] for line in near for match in _PAPER.finditer(line)), "")
    record = _TITLE.search(citation_request)
    return Introduction(
        unlinked(title),
        tuple(map(unlinked, prose)),
        tuple(_sentences(lines)),
        linked,
        citation_request,
        " ".join(record[1].split()) if record else "",
    )


def unlinked(text: str) -> str:
    """Text without the addresses of its links and marks of emphasis."""
    return re.sub(r"[*`_>]{1,3}(?=\W|\w)|\\", "", _LINK.sub(r"\1", text)).strip()


def papers_in(text: str) -> Iterator[int]:
    """Where a text gives the address of a paper."""
    return (match.start() for match in _PAPER.finditer(text))


@lru_cache(maxsize=1 << 12)
def words(text: str) -> str:
    """The words of a text between spaces, as titles are compared: without addresses, BibTeX's braces, articles and prepositions."""
    title_words = normal_title(_ADDRESS.sub("", _LINK.sub(r"\1", text))).split()
    return f" {' '.join(word for word in title_words if word not in _SMALL)} "


def _plain(raw: str) -> str:
    """Markdown and HTML as lines of text, links as `[label](address)`, headings with `#`."""
    text = "".join(part if n == 0 else part.partition("-->")[2] for n, part in enumerate(raw.split("<!--")))
    text = _IMAGE.sub(r"\1", text)
    text = _ANCHOR.sub(r"[\2](\1)", text)
    text = _HTML_HEADING.sub(lambda match: "\n" + "#" * int(match[1]) + " ", text)
    text = _TAG.sub("", _BREAK.sub(lambda match: " " if match[0][1:3].lower() == "br" else "\n", text))
    return html.unescape(_UNDERLINE.sub(r"# \1", text))


def _opening(text: str) -> tuple[str, list[str]]:
    """The title heading and the lines up to the first section; without a title heading the lines begin where the text does."""
    title, lines, size = "", list[str](), 0
    fenced = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith(("```", "~~~")):
            fenced = not fenced
        heading = None if fenced else _HEADING.match(line)
        heading_words = normal_title(unlinked(heading[1])) if heading else ""
        if heading and not title and heading_words and not _GENERIC.fullmatch(heading_words):
            if size and _is_section(heading[1], heading_words) and not _titles(lines, size):
                break
            title, lines, size = heading[1], [], 0
        elif heading and title and _is_section(heading[1], heading_words):
            break
        elif heading and not heading_words:
            continue
        else:
            lines.append(heading[1] if heading else line)
            size += len(line)
        if size > _HEAD:
            break
    return title, lines


def _titles(lines: list[str], size: int) -> bool:
    """Whether what stands before the first heading is news and badges rather than the introduction itself."""
    return size < 1_500 and all(not line or _LINK.search(line) or line.startswith((":", "[", "!", ">")) or _LISTED.match(line) for line in lines)


def _is_section(heading: str, said: str) -> bool:
    return len(said.split()) <= _SECTION_WORDS and not _LINK.search(heading) and not _OPENING.fullmatch(said)


def _sentences(lines: list[str]) -> Iterator[str]:
    """The sentences of the paragraphs, lists left out but where a sentence introduces one ("code for the following papers:")."""
    paragraph: list[str] = []
    listing = fenced = False
    for line in [*lines, "", "#"]:
        if line.startswith(("```", "~~~")):
            fenced = not fenced
        if line and not line.startswith(("```", "~~~", "#")) and (listing or not (fenced or _LISTED.match(line))):
            paragraph.append(line)
            continue
        paragraph_text = " ".join(paragraph)
        if listing and line != "#":
            continue
        *before, last = [paragraph_text] if listing else _SENTENCE.split(paragraph_text)
        listing = line != "#" and _FOLLOWS.search(unlinked(last)[-60:]) is not None
        paragraph = [last] if listing else []
        yield from (part for part in (before if listing else [*before, last]) if part.strip())


def _asked(readme: str) -> str:
    """The part of a README that asks for citation: from its heading or first BibTeX record to the end of that record."""
    match = _CITE.search(readme)
    if not match:
        return ""
    request_text = readme[match.start() : match.start() + _ASKED]
    records = [record.start() for record in _RECORD.finditer(request_text)]
    return request_text[: records[1]] if len(records) > 1 else request_text
