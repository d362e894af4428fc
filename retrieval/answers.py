"""Answers in the words of the evidence: sentences of the target that state the value which is asked for, else quotations that come near.

A sentence is claimed only where the target's text states a detail that the question asks for in one way, of what the question names. Everything
else is quoted, and whether it answers is the reader's to say: no score told right quotations from wrong ones on papers that were not open when
it was fitted (docs/benchmarks.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import dedent

from lineage.hyperparameters.ontology import Ontology
from lineage.records import Answer, Focus, Hit, Query, Reference, Work, WorkId
from lineage.results import FactOccurrence, Sentence, WrittenAnswer
from lineage.text.phrases import sentences
from lineage.text.tokens import terms, tokens, variants
from retrieval.context.units import neutral, paragraphs
from retrieval.decisions.fact_index import FactIndex
from retrieval.decisions.provenance import is_policy, sentence_of
from retrieval.search.engine import Engine
from retrieval.search.focus import SIGNATURES
from retrieval.search.question_subject import Name, asked_details, names_of, share_spoken

MOST = 3
LINES = 8
_READ = 32
"""Pieces that the embedder of the generation reads."""
_FADES, _BESIDE = 0.85, 0.9
"""What a place among the hits costs, and what it counts in the search of the target's text alone."""
_FIRST, _PLACE, _OWN_COUNTS, _KIND = 3.0, 0.5, 0.3, 0.5
"""What similarity by words counts where it chooses what the embedder reads; what a high place, the target's text and a number or name that is
asked for count beside similarity and words (1 each)."""
_NEW = 0.6
_BLOCK = re.compile(r"^```.*?^```[ \t]*$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"\A(?:#{1,6} [^\n]*|(?:[A-Z]|\d{1,2})(?:\.\d{1,2}){0,3}\s[^\n.]{1,100})(?:\n|\Z)")
_BULLET = re.compile(r"\n\s{0,8}(?:[-*+]|\d{1,2}[.)])\s")
_REFERS = re.compile(r"(?:it|this|these|they|we \w+ it|therefore|thus|hence|without this|here)\b", re.IGNORECASE)
_CELL = " | "
_SHORTEST, _LONGEST_PIECE = 4, 700
_BESIDE_BEFORE, _BESIDE_AFTER = 300, 200
"""Characters of the neighbors that are read with a piece."""
_CITED = re.compile(r"\[[^\[\]]{0,200}\]|\b(?:Fig(?:ure)?|Tab(?:le)?|Sec(?:tion)?|Appendix|Eq(?:uation)?)s?[.~ ]{1,2}[\dA-Z][\d.A-Z]{0,5}")
_QUANTITIES = (
    r"rate|size|value|threshold|temperature|weight|coefficient|factor|decay|momentum|dimension|width|depth|length|resolution|ratio|score|"
    r"accuracy|agreement|number|probability|seed|epoch|step|budget|strength|dropout|interval|share|percentage|fraction|proportion"
)
_NUMERIC = re.compile(
    rf"\bhow (?:many|much|long|large|big|high|deep|wide|often|far|small|strong|low|fast)\b|\b(?:what|which)\b.{{0,40}}\b(?:{_QUANTITIES})s?\b",
    re.IGNORECASE,
)
_NAMED = re.compile(r"\b(?:what|which|who|whose)\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|hundred|thousand|million|billion)\b", re.IGNORECASE)
_NAME = re.compile(r"(?<![\w.])(?:[A-Z][\w-]*[A-Z0-9][\w.-]*|[a-z]+[A-Z]\w*|\w+_\w+|[A-Z][a-z]+(?:[ -][A-Z][a-z]+)*|`[^`]{1,80}`)")


@dataclass(frozen=True)
class AnswerPiece:
    """A text that may answer, with its hit; `before` is the sentence before it, or the heads of its table, `after` the one behind it."""

    text: str
    hit: Hit
    before: str = ""
    after: str = ""

    @property
    def told(self) -> str:
        """The text, with the sentence behind it where that goes on about the same thing ("We initialize it to …")."""
        goes_on = self.after and _REFERS.match(self.after) and len(self.text) + len(self.after) < _LONGEST_PIECE
        return f"{self.text} {self.after}" if goes_on else self.text

    @property
    def around(self) -> str:
        """What stands around it: where it is, and what comes before it."""
        chunk = self.hit.chunk
        return f"{chunk.symbol} {' '.join(chunk.section)} {chunk.header} {self.before}"

    @property
    def in_place(self) -> str:
        """The text as it is read: under its heading, between its neighbors."""
        chunk = self.hit.chunk
        title = chunk.section[-1] if chunk.section else chunk.path
        return f"{title}: {self.before[-_BESIDE_BEFORE:]} {self.text} {self.after[:_BESIDE_AFTER]}".strip()


@dataclass(frozen=True)
class Words:
    """A question's words with their worth: how rare each is."""

    question: str
    worth: Mapping[str, float]

    def share(self, text: str) -> float:
        """How much of the worth of the words a text has, cut forms (`init`) included."""
        asked, words = terms(self.question), set(tokens(text))
        cut = [form for form in variants(self.question) if form in words]
        most = max(self.worth.values(), default=1.0)
        got = (self.worth.get(word, most) for word in asked if word in words or any(word.startswith(form) for form in cut))
        return sum(got) / (sum(self.worth.get(word, most) for word in asked) or 1.0)


def quoted(engine: Engine, question: str, answers: Sequence[Answer]) -> tuple[Sentence, ...]:
    """The pieces of what was found that come nearest to a question, at most `MOST`, none that mostly says what another says."""
    chosen: list[AnswerPiece] = []
    for piece in _ordered(engine, question, answers):
        if len(chosen) < MOST and all(_is_new(piece, other) for other in chosen):
            chosen.append(piece)
    return tuple(Sentence(piece.told, (piece.hit,)) for piece in chosen)


def _ordered(engine: Engine, question: str, answers: Sequence[Answer]) -> list[AnswerPiece]:
    """The pieces, nearest first: by their words and, read alone and in their place, by the embedder of the generation."""
    words = Words(question, engine.worth(question))
    placed = [(piece, place) for hit, place in _placed(answers) for piece in pieces_of(hit)]
    by_words = engine.similarities(question, [piece.text for piece, _ in placed])
    shares = [words.share(f"{piece.text} {piece.around}") for piece, _ in placed]
    further = [_PLACE * place + _OWN_COUNTS * _is_own(piece) + fits(question, piece.text) for piece, place in placed]
    marks = [share + more for share, more in zip(shares, further, strict=True)]
    order = sorted((at for at, share in enumerate(shares) if share), key=lambda at: -marks[at] - _FIRST * by_words[at])[:_READ]
    read = [placed[at][0] for at in order]
    alone = engine.similarities(question, [piece.text for piece in read], fast=False)
    beside = engine.similarities(question, [piece.in_place for piece in read], fast=False)
    scores = [marks[at] + by_itself + with_neighbors for at, by_itself, with_neighbors in zip(order, alone, beside, strict=True)]
    return [read[at] for at in sorted(range(len(read)), key=lambda at: -scores[at])]


def _is_own(piece: AnswerPiece) -> bool:
    return piece.hit.from_target and piece.hit.chunk.kind == "paper"


def _is_new(piece: AnswerPiece, other: AnswerPiece) -> bool:
    """Whether less than most of its words were said already."""
    words, others = set(terms(piece.text)), set(terms(other.text))
    return len(words & others) < _NEW * max(1, min(len(words), len(others)))


def _placed(answers: Sequence[Answer]) -> list[tuple[Hit, float]]:
    """Every hit once, with how high it stands in the best of the searches."""
    hits: dict[str, tuple[Hit, float]] = {}
    for answer, counts in zip(answers, (1.0, _BESIDE), strict=True):
        for nth, hit in enumerate(answer.hits):
            first, best = hits.get(hit.chunk.id, (hit, 0.0))
            hits[hit.chunk.id] = (first, max(best, counts * _FADES**nth))
    return list(hits.values())


def fits(question: str, text: str) -> float:
    """What it counts that a text has a number, or names that the question lacks, where such are asked for."""
    bare = _CITED.sub(" ", text)
    if _NUMERIC.search(question):
        return _KIND if _NUMBER.search(bare) else -_KIND
    if not _NAMED.search(question):
        return 0.0
    asked = question.lower()
    return _KIND * min(2, len({name for name in _NAME.findall(bare[1:]) if name.strip("`").lower() not in asked})) / 2


# -- what passages are cut into


def pieces_of(hit: Hit) -> Iterator[AnswerPiece]:
    """The sentences or rows of a passage, or the lines around the focus of code."""
    if is_policy(hit):
        return
    if hit.chunk.kind in {"code", "config"}:
        hit = grown(hit)
        yield from (AnswerPiece(text, hit) for text in lines_of(hit))
        return
    if hit.chunk.role == "table" or hit.chunk.text.count(_CELL) >= 4:
        yield from _rows(hit)
    texts = list(sentences_of_passage(hit))
    for before, text, after in zip(["", *texts], texts, [*texts[1:], ""], strict=False):
        yield AnswerPiece(text, hit, before, after)


def _rows(hit: Hit) -> Iterator[AnswerPiece]:
    """The rows of a table, each with the heads before it."""
    lines = neutral(hit.chunk.text).split("\n")
    rows = [" ".join(line.split()) for line in lines if _CELL in line]
    caption = " ".join(line for line in lines if _CELL not in line)[:_LONGEST_PIECE]
    for row in rows[1:]:
        if len(row) <= _LONGEST_PIECE:
            yield AnswerPiece(f"{rows[0]}\n{row}", hit, f"{hit.chunk.header} {caption} {rows[0]}")


def sentences_of_passage(hit: Hit) -> Iterator[str]:
    """The sentences of a passage, without headings, rows of tables and blocks of code; equations stay with the sentence before them."""
    for paragraph in paragraphs(_BLOCK.sub("", neutral(hit.chunk.text)), hit.chunk.role):
        for part in _BULLET.split(_HEADING.sub("", paragraph)):
            for sentence in sentences(" ".join(line for line in part.split("\n") if _CELL not in line)):
                sentence = " ".join(sentence.split())
                if len(sentence.split()) >= _SHORTEST and len(sentence) <= _LONGEST_PIECE:
                    yield sentence


def grown(hit: Hit) -> Hit:
    """A hit of code with what stands directly around its focus, to `LINES` lines: a line is seldom understood alone."""
    lines, first, focus = hit.chunk.text.split("\n"), hit.chunk.start_line, hit.focus
    if focus is None:
        return hit
    start, end = focus.start_line - first, focus.end_line - first
    while end - start + 1 < LINES and (more := [at for at in (start - 1, end + 1) if 0 <= at < len(lines) and _goes_on(lines[at])]):
        start, end = min(start, more[0]), max(end, more[-1])
    return replace(hit, focus=Focus(first + start, first + end))


def _goes_on(line: str) -> bool:
    return bool(line.strip()) and len(line) <= _LONGEST_PIECE and not line.lstrip().startswith(SIGNATURES)


def lines_of(hit: Hit) -> Iterable[str]:
    """The lines of the focus as code, at most a few; a configuration or function without a focus has none."""
    if hit.focus is None:
        return
    lines = neutral(hit.chunk.text).split("\n")[hit.focus.start_line - hit.chunk.start_line : hit.focus.end_line - hit.chunk.start_line + 1]
    shown = [line.rstrip() for line in lines if line.strip()][:LINES]
    if shown:
        name = hit.chunk.symbol or hit.chunk.path
        code = dedent("\n".join(shown)).replace("```", "'''")
        yield f"`{name.replace('`', chr(39))}`:\n```\n{code}\n```"


_HITS, _OWN = 12, 40
"""Hits whose pieces are looked at, and those of the target's own text."""
_NEAREST = 3
_SUGGESTED = 3
_SHARE = 0.4
"""The share of a question's words that the title of a work and a sentence about it must have."""
_LONGEST = 200


def answered(engine: Engine, query: Query, index: FactIndex) -> WrittenAnswer:
    """What the target states, else quotations; where nothing supports an answer, the nearest misses and what could be added."""
    target = WorkId(engine.generation.manifest.target)
    own = replace(query, k=max(query.k, _OWN), kinds=frozenset({"paper"}), work=target)
    answers = engine.ask_many([replace(query, k=max(query.k, _HITS)), own])
    answer = WrittenAnswer(query.text, answers[0].lineage, answers[0].generation, (), notes=answers[0].notes)
    if claims := tuple(stated(query.text, index, engine.ontology)):
        return replace(answer, sentences=claims)
    quotes = quoted(engine, query.text, answers) if answers[0].supported else ()
    if quotes:
        return replace(answer, quotes=quotes)
    return replace(answer, nearest=answers[0].hits[:_NEAREST], notes=(*answer.notes, *suggestions(engine, query.text)))


def stated(question: str, index: FactIndex, known: Ontology) -> Iterator[Sentence]:
    """For each detail whose value is asked for the sentence of the target that states it; none where it states several values."""
    about = names_of(question, known)
    for name in asked_details(question, known):
        own = [holder for holder in index.held.get(name, ()) if holder.fact.work == index.target.id and holder.fact.literal]
        sentences = {sentence_of(holder): holder for holder in own if _speaks(about, holder, sentence_of(holder))}
        sentences = sentences or {sentence_of(holder): holder for holder in own if _speaks(about, holder, holder.evidence.chunk.text)}
        if len(sentences) == 1 or len({holder.fact.value for holder in sentences.values()}) == 1:
            text, occurrence = next(iter(sentences.items()))
            yield Sentence(text, (occurrence.evidence,))


def _speaks(about: Sequence[Name], occurrence: FactOccurrence, text: str) -> bool:
    """Whether a text, with the titles and the scope that it stands under, speaks of everything that a question names."""
    return not about or share_spoken(about, " ".join((text, occurrence.fact.scope, *occurrence.evidence.chunk.section))) == 1


# -- what could be added


def suggestions(engine: Engine, question: str) -> tuple[str, ...]:
    """Commands that would add the cited works that the target speaks of in the question's words, each with the sentence that does; most first."""
    catalog, manifest = engine.generation.catalog, engine.generation.manifest
    here = {document.work for document in catalog.documents()}
    works = {work.id: work for work in catalog.works()}
    words = Words(question, engine.worth(question))
    references = [reference for reference in catalog.references(manifest.target) if reference.cited not in here]
    best = [row for row in (_spoken(reference, works, words) for reference in references) if row and row[0] >= _SHARE]
    hints = (f"suggest: lineage add {manifest.lineage} {address} — {reason}" for _, address, reason in sorted(best, key=lambda row: -row[0]))
    return tuple(dict.fromkeys(hints))[:_SUGGESTED]


def _spoken(reference: Reference, works: Mapping[WorkId, Work], words: Words) -> tuple[float, str, str] | None:
    """How much of a question is spoken of where a work is cited, its address, and its title with the sentence that speaks most of it."""
    work = works.get(reference.cited)
    address = next((name for name in (work.id, *work.aliases) if name.startswith("arxiv:")), "") if work else ""
    if work is None or not address:  # what has no e-print can hardly be fetched
        return None
    sentences = ("", *(mention.sentence for mention in reference.mentions))
    share, sentence = max((words.share(f"{work.title} {sentence}"), sentence) for sentence in sentences)
    quote = f": “{' '.join(sentence.split())[:_LONGEST]}”" if sentence else ""
    return share, address, f"{work.title}{quote}"
