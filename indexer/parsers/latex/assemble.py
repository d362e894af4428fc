"""From a finished run to a document: resolve references, span sections, split sentences and give them to citations."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from indexer.parsers.latex.machine import Machine
from indexer.parsers.latex.numbering import LabelTarget, Resolved, resolve
from indexer.parsers.latex.stream import Mark
from indexer.parsers.sentences import Sentences
from lineage.records import Mention, Span, Status

MAX_AROUND = 600
"""Characters of text given with a link, and of a sentence in a span's header."""

MAX_SENTENCE, MAX_TOGETHER, MAX_KEYS = 4_000, 100, 1_000
"""Of one citation: characters of its sentence, keys that stand together, keys that are followed."""

MAX_DISTANCE = 2_000
"""Characters between a link and the citation it may belong to."""
_PROSE = {"paragraph", "list", "abstract"}


@dataclass(frozen=True)
class Assembled:
    """The text with everything that points into it."""

    text: str
    spans: tuple[Span, ...]
    mentions: tuple[Mention, ...]
    links: tuple[tuple[str, str], ...]
    abstract: str


def assemble(m: Machine) -> Assembled:
    """Text, spans, mentions and links of a run."""
    labels = m.counters.labels
    resolved = Resolved(m.main.text(), labels)
    text = resolved.text
    blocks = [_span(mark, resolved, labels) for mark in m.main.marks]
    blocks = sorted((block for block in blocks if block.end > block.start), key=_order)
    around = _Around(text, blocks)
    mentions = [
        mention for cite in m.main.cites for mention in _mentions(around, resolved.at(cite.start), cite.keys, _resolved_path(cite.path, labels))
    ]
    if any(len(cite.keys) > MAX_KEYS for cite in m.main.cites):
        m.note(r"\cite", Status.PARTIAL, f"of a citation with more than {MAX_KEYS:,} keys only those were followed")
    spans = sorted([*_sections(m, resolved), *(_with_context(block, around) for block in blocks)], key=_order)
    near = _Nearest(mentions)
    links = tuple(
        (link.url, around.link(resolved.at(link.start), resolved.at(link.anchor) if link.anchor >= 0 else -1, near)) for link in m.main.links
    )
    abstract = " ".join(text[block.start : block.end] for block in blocks if block.role == "abstract")
    return Assembled(text, tuple(spans), tuple(mentions), tuple(dict.fromkeys(links)), " ".join(abstract.split()))


def _order(span: Span) -> tuple[int, int]:
    return span.start, -span.end


def _span(mark: Mark, resolved: Resolved, labels: dict[str, LabelTarget]) -> Span:
    path = _resolved_path(mark.path, labels)
    return Span(resolved.at(mark.start), resolved.at(mark.end), mark.role, path, label=mark.label, header=resolve(mark.header, labels))


def _resolved_path(path: tuple[str, ...], labels: dict[str, LabelTarget]) -> tuple[str, ...]:
    return tuple(resolve(title, labels) for title in path)


def _sections(m: Machine, resolved: Resolved) -> list[Span]:
    """Sections from their heading to the next of the same or a higher level."""
    sections = m.found.sections
    ends = [len(resolved.text)] * len(sections)
    open_now: list[int] = []
    for index, section in enumerate(sections):
        while open_now and sections[open_now[-1]].level >= section.level:
            ends[open_now.pop()] = resolved.at(section.start)
        open_now.append(index)
    spans = []
    for section, end in zip(sections, ends, strict=True):
        start = resolved.at(section.start)
        while end > start and resolved.text[end - 1].isspace():
            end -= 1
        if end > start:
            spans.append(Span(start, end, "section", _resolved_path(section.path, m.counters.labels), label=section.label))
    return spans


class _Around:
    """Sentences of the blocks of a text, found when first asked for."""

    def __init__(self, text: str, blocks: list[Span]) -> None:
        self.text = text
        self.blocks = blocks
        self.starts = [block.start for block in blocks]
        self.known: dict[int, Sentences] = {}

    def block(self, offset: int) -> int:
        """The number of the block that holds this offset, or -1."""
        index = bisect_right(self.starts, offset) - 1
        return index if index >= 0 and offset < self.blocks[index].end else -1

    def sentence(self, offset: int) -> tuple[int, int]:
        """Start and end of the sentence at this offset of the text."""
        index = self.block(offset)
        if index < 0:
            return offset, offset
        block = self.blocks[index]
        if block.role == "equation":
            return block.start, block.end
        sentences = self._sentences(index)
        start, end = sentences.around(offset - block.start)
        return block.start + start, block.start + end

    def _sentences(self, index: int) -> Sentences:
        if index not in self.known:
            block = self.blocks[index]
            self.known[index] = Sentences(self.text[block.start : block.end])
        return self.known[index]

    def formula(self, index: int) -> str:
        """The sentence a displayed formula stands in: what leads to it and what follows."""
        before = self.blocks[index - 1] if index else None
        after = self.blocks[index + 1] if index + 1 < len(self.blocks) else None
        parts = []
        if before and before.role in _PROSE and before.path == self.blocks[index].path:
            start, end = self._sentences(index - 1).around(before.end - before.start - 1)
            parts.append(self.text[before.start + start : before.start + end][-MAX_AROUND:])
        if after and after.role in _PROSE and after.path == self.blocks[index].path:
            start, end = self._sentences(index + 1).around(0)
            parts.append(self.text[after.start : after.start + end][:MAX_AROUND])
        return " … ".join(parts)

    def link(self, offset: int, anchor: int, near: _Nearest) -> str:
        """The sentence a link stands in (and the one its footnote hangs on), with the nearest citation named."""
        start, end = self.sentence(offset)
        words = self.text[start:end]
        place = offset
        if anchor >= 0:
            first, last = self.sentence(max(0, anchor - 1))
            words = f"{self.text[first:last]} — {words}"
            place = anchor
        nearest = near.key(place)
        if nearest and f"{nearest}" not in words:
            words += f" [nearest citation: {nearest}]"
        return words[:MAX_AROUND] if len(words) <= MAX_AROUND or nearest in words[:MAX_AROUND] else words[: MAX_AROUND - 80] + words[-80:]


class _Nearest:
    """Which citation stands nearest to a place in the text."""

    def __init__(self, mentions: list[Mention]) -> None:
        self.mentions = sorted(mentions, key=lambda mention: mention.start)
        self.starts = [mention.start for mention in self.mentions]

    def key(self, place: int) -> str:
        """The key of the nearest mention within two thousand characters, or nothing."""
        index = bisect_left(self.starts, place)
        near = self.mentions[max(0, index - 3) : index + 3]
        best = min(near, key=lambda mention: abs(mention.start - place), default=None)
        return best.key if best and abs(best.start - place) < MAX_DISTANCE else ""


def _with_context(block: Span, around: _Around) -> Span:
    if block.role != "equation":
        return block
    header = block.header or around.formula(around.block(block.start))
    return Span(block.start, block.end, block.role, block.path, label=block.label, header=header)


def _mentions(around: _Around, offset: int, keys: tuple[str, ...], path: tuple[str, ...]) -> list[Mention]:
    start, end = around.sentence(offset)
    sentence = " ".join(around.text[start : min(end, start + MAX_SENTENCE)].split())
    return [Mention(key, sentence, path, start, end, keys[:MAX_TOGETHER], "latex") for key in keys[:MAX_KEYS]]
