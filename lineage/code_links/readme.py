"""What a README says of papers: which ones its repository is the code of, and which repositories belong to others. Pure.

A repository is the code of the papers that it introduces itself with: in its title, in an opening sentence ("official
implementation of ..."), by the first paper that it links, by the first that it asks to be cited for (`lineage.code_links.readme`).
Everything else in a README (lists, thanks, baselines, model zoos) is a mention.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lineage.code_links.cues import BORROWS, INTRODUCES, OFFICIAL, REWRITTEN, SEVERAL, THEIRS_ELSEWHERE, UNOFFICIAL, bare, own_names
from lineage.code_links.links import REWRITE, addresses
from lineage.ids import normal_title, same_repo
from lineage.records import CodeLink, Tier, Work

_WORDS = 3
_LONG = 5
"""Words of a title, small ones included, of which two that carry meaning are enough: "A ConvNet for the 2020s"."""
_STEM, _SHARED = 6, 2
"""Letters by which words are compared, and the words that title and introduction have in common beside the name."""
_QUOTE = 300
_PREFIX = 5
"""Words of a title that are enough where the rest is cut off."""
_STARTS = re.compile(r"[:()\[\]“”\"|–—]|\b(?:papers?|for|of|code)\b", re.IGNORECASE)
"""Behind what a title may begin in a heading: "Proximal Learning with ..." is not "Learning with ..."."""
_MOST_STARTS = 12
_BEHIND = 8
"""Words behind a short title (authors, venue) that leave it a title rather than the beginning of a sentence."""


def from_readme(repo: Work, readme: str, papers: Sequence[Work]) -> tuple[CodeLink, ...]:
    """Which of `papers` a repository's README says it is the code of, or names at all.

    OFFICIAL papers are introduced as its own; where there are any, other papers are at most asked to be cited (AUTHOR).
    """
    readme = readme[:README]
    readme_words, intro = words(readme), introduction(readme)
    judged = [(paper, *_Claim(paper, intro, repo).tier()) for paper in papers]
    is_rewrite = _is_rewrite(intro)
    official = any(tier is Tier.OFFICIAL for _, tier, _, _ in judged)
    links = []
    for paper, tier, why, alone in judged:
        if tier is None and not _names(paper, readme, readme_words):
            continue
        if tier is None or (official and tier is Tier.AUTHOR and not alone):
            tier, why = Tier.MENTIONED, f"it names it: “{_line(readme, paper)}”"
        witness = REWRITE if tier is Tier.REIMPLEMENTATION and is_rewrite else "readme"
        links.append(CodeLink(paper.id, repo.id, tier, (witness,), (f"readme: {why}",)))
    return tuple(links)


def _is_rewrite(intro: Introduction) -> bool:
    """Whether an introduction says of the repository that it was written anew, and not that the paper's own code is another's."""
    text = " ".join((intro.title, *intro.sentences))
    return not THEIRS_ELSEWHERE.search(text) and all(REWRITTEN.fullmatch(match[0]) for match in UNOFFICIAL.finditer(text))


class _Claim:
    """What the introduction of a README says of one paper."""

    def __init__(self, paper: Work, intro: Introduction, repo: Work) -> None:
        self.paper, self.intro, self.titles, self.repo_name = (
            paper,
            intro,
            _titles(paper),
            bare(repo.id.rpartition("/")[2] if repo.id.startswith("repo:") else repo.title),
        )

    def tier(self) -> tuple[Tier | None, str, bool]:
        """The tier, None where the introduction does not speak of the paper; the words that show it; whether they hold beside an official paper."""
        intro = self.intro
        asked = self._same(intro.asked_title) or _names(self.paper, intro.asked, "" if intro.asked_title else words(intro.asked))
        titled = self._titled(intro.title)
        line = next((line for line in intro.lines if self._same(line)), "")
        linked = any(_at(name, intro.first_paper) for name in _ids(self.paper))
        sentence = next((candidate for candidate in (intro.title, *intro.sentences) if self._introduced(candidate)), "")
        if not (asked or titled or line or linked or sentence):
            named = f"its name and head are the paper's: “{intro.title or self.repo_name}”" if self._is_name() else ""
            return Tier.AUTHOR if named else None, named, False
        alone = asked or bool(line)
        quote = unlinked(sentence or (intro.title if titled else "") or line or (intro.first_paper if linked else "") or intro.asked_title)[:_QUOTE]
        if remade := self._remade(sentence):
            return Tier.REIMPLEMENTATION, f"“{remade}” beside “{quote}”", alone
        if sentence and OFFICIAL.search(sentence):
            return Tier.OFFICIAL, f"it introduces itself as its code: “{quote}”", alone
        if titled or (asked and (sentence or line or linked)):
            return Tier.OFFICIAL, f"its {'title' if titled else 'head'} names it{', and citation is asked for it' if asked else ''}: “{quote}”", alone
        if sentence and intro.asked_title and not asked:  # an implementation that asks to be cited for something else
            return Tier.MENTIONED, f"it names it: “{quote}”", alone
        return Tier.AUTHOR, f"{'citation is asked for it' if asked else 'its head names it'}: “{quote}”", alone

    def _is_name(self) -> bool:
        """Whether the repository is called as the paper is ("ERASER: A Benchmark" -> eraserbenchmark) and its introduction is about the same."""
        title = self.paper.title.partition(":")[2]
        title_words = set(map(bare, title.split()))
        own = (name for name in own_names(self.paper.title) if self.repo_name.startswith(name))
        named = any(self.repo_name.removeprefix(name) in {"", *title_words} for name in own)
        spoken = {word[:_STEM] for word in words(" ".join((*self.intro.lines, *self.intro.sentences))).split()}
        about = {word[:_STEM] for word in words(title).split() if len(word) > 3}
        return named and len(self.repo_name) >= _STEM and len(about & spoken) >= _SHARED

    def _same(self, written: str) -> bool:
        """Whether a title as written is the paper's, one of them cut at its end perhaps."""
        heading = words(written).split()
        return any(_same(heading, title.split()) for title in self.titles)

    def _titled(self, heading: str) -> bool:
        """Whether a heading is the paper's title, with a name before or a venue behind it at most."""
        starts = [0, *(match.end() for match in _STARTS.finditer(heading))]
        heading_words = [words(heading[at:]) for at in starts[:_MOST_STARTS]]
        return any(part.startswith(title) for part in heading_words for title in self.titles) or self._same(re.sub(r"\([^()]{0,60}\)", "", heading))

    def _introduced(self, sentence: str) -> bool:
        """Whether a sentence says of the repository that it is the paper's code."""
        cue = INTRODUCES.search(sentence)
        before = _before(self.paper, sentence[cue.start() :]) if cue else None
        if before is None or BORROWS.search(unlinked(before)):
            return False
        return SEVERAL.search(unlinked(before)) is not None or not any(True for _ in papers_in(before))

    def _remade(self, sentence: str) -> str:
        """The words by which the repository says that somebody else wrote the paper's own code."""
        intro = self.intro
        itself = (candidate for candidate in intro.sentences if re.search(r"\bthis\b", candidate, re.IGNORECASE))
        for candidate in (sentence, intro.title, *itself):
            if match := UNOFFICIAL.search(candidate):
                return match[0]
        if sentence and OFFICIAL.search(sentence):
            return ""
        return next((match[0] for candidate in intro.sentences if (match := THEIRS_ELSEWHERE.search(candidate))), "")


def _same(said: Sequence[str], title: Sequence[str]) -> bool:
    shorter, longer = sorted((said, title), key=len)
    enough = len(shorter) >= _PREFIX or (shorter is title and len(said) - len(title) <= _BEHIND)
    return said == title or (enough and longer[: len(shorter)] == shorter)


def _titles(paper: Work) -> tuple[str, ...]:
    """The words of the paper's title, and of what stands behind the name in it; none where they are too few to tell."""
    name, _, subtitle = paper.title.partition(":")
    title_words = [words(paper.title), *([words(subtitle)] if len(name.split()) <= _WORDS and len(words(subtitle).split()) > _WORDS else [])]
    enough = _WORDS - (len(normal_title(paper.title).split()) >= _LONG)
    return tuple(title for title in title_words if len(title.split()) >= enough)


def _ids(paper: Work) -> list[str]:
    """Bare identifiers to look for, at least nine characters long."""
    ids = [work.partition(":")[2] for work in (paper.id, *paper.aliases) if work.startswith(("arxiv:", "doi:"))]
    return [name for name in ids if len(name) >= 9]


def _at(name: str, text: str) -> re.Match[str] | None:
    return re.search(rf"(?<![\d.]){re.escape(name)}(?!\d)", text, re.IGNORECASE) if name in text or name.startswith("10.") else None


def _names(paper: Work, text: str, opening: str) -> bool:
    """Whether a text has the paper's identifier, or its `words` the title."""
    title = words(paper.title)
    return any(_at(name, text) for name in _ids(paper)) or (len(title.split()) >= _WORDS and title in opening)


def _before(paper: Work, text: str) -> str | None:
    """What stands in a text before the paper's identifier or title, None where it has neither."""
    places = [match.start() for name in _ids(paper) if (match := _at(name, text))]
    paper_words = words(paper.title).split()
    if len(paper_words) >= _WORDS and f" {' '.join(paper_words)} " in words(text):
        first = re.search(r"[\W_]{1,12}(?:\w{1,4}[\W_]{1,12}){0,3}".join(map(re.escape, paper_words[:_WORDS])), text, re.IGNORECASE)
        places += [first.start() if first else 0]
    return text[: min(places)] if places else None


def _line(readme: str, paper: Work) -> str:
    """The first line that names the paper."""
    named = (line for line in readme.splitlines() if _names(paper, line, words(line)))
    return " ".join(next(named, paper.title).split())[:_QUOTE]


def beside(repo: Work, readme: str, papers: Sequence[Work]) -> tuple[CodeLink, ...]:
    """Repositories that the README of `repo` gives in one paragraph with the identifier or title of one of `papers`.

    A paragraph that names several papers links none: which address belongs to which cannot be told.
    """
    links: list[CodeLink] = []
    for paragraph in readme[:README].split("\n\n"):
        others = [other for other, _ in addresses(paragraph) if not same_repo(other, repo.id)]
        paragraph_words = words(paragraph) if others else ""
        named = [paper for paper in papers if _names(paper, paragraph, paragraph_words)] if others else []
        if len(named) == 1:
            quote = " ".join(paragraph.split())[:240]
            evidence = f"readme of {repo.id.removeprefix('repo:')}: “{quote}”"
            links += [CodeLink(named[0].id, other, Tier.MENTIONED, ("another readme",), (evidence,)) for other in others]
    return tuple(links)


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
            if size and _is_section(heading[1], heading_words) and not _has_titles(lines, size):
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


def _has_titles(lines: list[str], size: int) -> bool:
    """Whether what stands before the first heading is news and badges rather than the introduction itself."""
    return size < 1_500 and all(not line or _LINK.search(line) or line.startswith((":", "[", "!", ">")) or _LISTED.match(line) for line in lines)


def _is_section(heading: str, words: str) -> bool:
    return len(words.split()) <= _SECTION_WORDS and not _LINK.search(heading) and not _OPENING.fullmatch(words)


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
