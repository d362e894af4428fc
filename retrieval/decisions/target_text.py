"""The target's own words, sentence by sentence, each with its place and whom it cites.

A target without a text of its own has still been quoted: the sentences in which it cites others, as services pass them
on, and its abstract stand in, and are marked as what they are.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from lineage.catalog.reader import Catalog
from lineage.records import Chunk, Focus, Hit, Mention, Reason, ReasonKind, Reference, Work, WorkId
from lineage.results import FactOccurrence
from lineage.text.phrases import Phrases, Word, sentences, words

OWN, DONE = 0.35, 0.75
"""Weights of a section under which a sentence speaks of others, and from which on of what was done rather than introduced or compared."""
QUOTED = "quoted"
"""Flag of a hit that is no passage of a text: the abstract, or a sentence that a service quoted."""
_KINDS = frozenset(("table", "prose"))
_KEYS = re.compile(r"\[([^\[\]]{1,400})\]")
_OTHERS = re.compile(r"related|background|prior work|conclusion|discussion|limitation|future|acknowledg|reference|impact", re.IGNORECASE)
_DONE = re.compile(r"implement|detail|setup|set-up|setting|hyper-?param|training|experiment|evaluat|appendix|protocol|dataset|data\b", re.IGNORECASE)
_FRONT = re.compile(r"introduction|abstract", re.IGNORECASE)
_BESIDE = re.compile(r"ablat|sensitiv|not help|additional|analys|case stud|qualitative|proof|theor", re.IGNORECASE)
_WEIGHTS = ((_OTHERS, 0.2), (_BESIDE, 0.6), (_DONE, 1.0), (_FRONT, 0.4))
_PLAIN = 0.8
_NUMBERED = 8
_TITLE = 3
"""Words that a line without a full stop must have more than, to be a sentence."""
_MARKERS = re.compile(r"\[[\d,;\s–-]{1,60}\]|(?<=[ ,(])(?:19|20)\d\d[a-z]?(?=\s*[);,\]])")
_APPENDIX = re.compile(r"[A-Z](?:\.\d+)*\Z")


@dataclass(frozen=True)
class TargetSentence:
    """One sentence (or line of a table) of the target: its text, the lines it stands on, and the references it cites.

    `weight` (0..1) is how much its section speaks of what was done; `header` is the first line of its table.
    """

    text: str
    chunk: Chunk
    line: int
    weight: float
    cites: tuple[WorkId, ...] = ()
    header: str = ""
    quoted: bool = False

    @cached_property
    def words(self) -> list[Word]:
        """Its words, once; numbers that mark a citation are none."""
        return words(_MARKERS.sub(lambda match: " " * len(match[0]), self.text))

    def has(self, phrases: Phrases[str]) -> bool:
        """Whether any of the phrases stands in it."""
        return next(phrases.found(self.words), None) is not None

    @property
    def table(self) -> bool:
        """Whether it is a line of a table."""
        return self.chunk.role == "table"

    @property
    def caption(self) -> bool:
        """Whether it stands under a figure or table: it says what is shown there, not what was done."""
        return self.chunk.role == "caption"


@dataclass(frozen=True)
class TargetText:
    """All that the target says; `own` is false where its text was not to be had."""

    work: Work
    sentences: tuple[TargetSentence, ...]
    own: bool

    @property
    def plain(self) -> str:
        """The whole text."""
        return "\n".join(sentence.text for sentence in self.sentences)


def read(catalog: Catalog, target: WorkId) -> TargetText:
    """The target's sentences, or what stands in for them."""
    work = catalog.work(target) or Work(target)
    references = catalog.references(target)
    rows = [row for document in catalog.documents(target) if document.kind == "paper" for row in catalog.neighbours(target, document.path)]
    chunks = catalog.chunks(rows)
    if any(chunk.role != "abstract" for chunk in chunks):
        return TargetText(work, tuple(of_chunks(chunks, references)), True)
    return TargetText(work, tuple(_stand_in(work, references)), False)


def of_chunks(chunks: Sequence[Chunk], references: Sequence[Reference]) -> Iterator[TargetSentence]:
    """The sentences of passages, in order."""
    keys = _by_key(references)
    quoted = _by_sentence(references)
    for chunk in chunks:
        lines = chunk.text.split("\n")
        for at, line in enumerate(lines):
            for sentence in [line] if chunk.role == "table" else sentences(line):
                if _tells(sentence, chunk):
                    cites = (*_cited(sentence, keys), *quoted.get(_core(sentence), ()))
                    header = _heads(chunk, lines[0]) if chunk.role == "table" and at else ""
                    yield TargetSentence(sentence, chunk, chunk.start_line + at, section_weight(chunk), tuple(dict.fromkeys(cites)), header)


def _heads(chunk: Chunk, first: str) -> str:
    """The heads of a table's columns: a later part of a long table has them in its header."""
    return next((part for part in chunk.header.split(" · ") if "|" in part), first)


def _tells(sentence: str, chunk: Chunk) -> bool:
    """Whether a line is more than a title."""
    if chunk.section and sentence.rstrip().endswith(chunk.section[-1]) and len(sentence) <= len(chunk.section[-1]) + _NUMBERED:
        return False
    return bool(sentence.strip()) and (chunk.role == "table" or len(sentence.split()) > _TITLE or sentence.rstrip()[-1] in ".:;")


def _by_key(references: Iterable[Reference]) -> dict[str, WorkId]:
    work_ids_by_key = {reference.key: reference.cited for reference in references if reference.key}
    work_ids_by_key.update({str(reference.number): reference.cited for reference in references if reference.number is not None})
    return work_ids_by_key


def _by_sentence(references: Iterable[Reference]) -> dict[str, tuple[WorkId, ...]]:
    citations: dict[str, dict[WorkId, None]] = defaultdict(dict)
    for reference in references:
        for mention in reference.mentions:
            citations[_core(mention.sentence)][reference.cited] = None
    return {core: tuple(cited) for core, cited in citations.items() if core}


def _core(sentence: str) -> str:
    """Letters and digits of a sentence: where white space and brackets stand, witnesses differ."""
    return "".join(c for c in sentence.lower() if c.isalnum())[:400]


def _cited(sentence: str, keys: Mapping[str, WorkId]) -> Iterator[WorkId]:
    for bracket in _KEYS.finditer(sentence):
        for key in re.split(r"[;,]", bracket[1]):
            if key.strip() in keys:
                yield keys[key.strip()]


def section_weight(chunk: Chunk) -> float:
    """How much a passage speaks of what was done, by the titles it stands under, the innermost that tells first."""
    for title in reversed(chunk.section):
        for pattern, weight in _WEIGHTS:
            if pattern.search(title):
                return weight
    return 1.0 if _APPENDIX.match(chunk.label) else _PLAIN


def told(some: Iterable[FactOccurrence], target: WorkId) -> list[FactOccurrence]:
    """Those values that the target's own tables and sentences have, but for where they speak of others."""
    return [
        occurrence
        for occurrence in some
        if occurrence.fact.work == target and occurrence.fact.kind in _KINDS and section_weight(occurrence.evidence.chunk) >= OWN
    ]


def _stand_in(work: Work, references: Sequence[Reference]) -> Iterator[TargetSentence]:
    """The abstract, then every quoted sentence once with all the works it cites."""
    for sentence in sentences(work.abstract):
        if sentence.strip():
            yield TargetSentence(sentence, _pseudo(work.id, "abstract", sentence), 1, 0.4, quoted=True)
    cited = _by_sentence(references)
    first: dict[str, Mention] = {}
    for mention in (mention for reference in references for mention in reference.mentions):
        first.setdefault(_core(mention.sentence), mention)
    for core, cites in cited.items():
        chunk = _pseudo(work.id, "citation contexts", first[core].sentence, first[core].section)
        yield TargetSentence(chunk.text, chunk, 1, section_weight(chunk), cites, quoted=True)


def _pseudo(work: WorkId, path: str, text: str, section: tuple[str, ...] = ()) -> Chunk:
    mark = "c_" + hashlib.sha256(f"{work}\0{path}\0{text}".encode()).hexdigest()[:16]
    return Chunk(mark, work, path, "paper", "quote", text, "", 0, len(text), 1, text.count("\n") + 1, section=section)


def hit(sentence: TargetSentence, work: Work, score: float = 1.0, why: tuple[Reason, ...] = ()) -> Hit:
    """The sentence as evidence, with its line marked; the first reason is the sentence."""
    flags = (QUOTED,) if sentence.quoted else ()
    return Hit(
        1,
        round(score, 4),
        sentence.chunk,
        work,
        focus=Focus(sentence.line, sentence.line),
        from_target=True,
        flags=flags,
        why=(Reason(ReasonKind.SAYS, of=(sentence.text.strip(),)), *why),
    )
