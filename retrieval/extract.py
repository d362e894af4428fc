"""Sentences of an answer taken from the evidence as it stands (pure): facts first, then passages, then lines of code."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from textwrap import dedent

from lineage.cues import sentences
from lineage.insight import Held, Sentence
from lineage.model import Answer, Focus, Hit
from lineage.ontology import Ontology
from lineage.tokens import terms, tokens, variants
from retrieval.asked_about import is_heard
from retrieval.focus import SIGNATURES
from retrieval.named_details import subject_of
from retrieval.pack.units import neutral, paragraphs
from retrieval.places import is_policy
from retrieval.support import UNSUPPORTED

MOST = 4
PARTS = 6
FACTS = 3
HITS = 8
_LINES = 8
_COVERS = 0.4
"""The share of a question's words that a piece of evidence must speak of, for it to support an answer."""
_FADES = 0.75
"""What a place among the hits costs: their order tells right pieces from wrong ones, the words that they share with the question hardly do."""
_ANYWAY = 1.0
"""The worth of a piece that shares no word with the question, beside 1 for one that has them all."""
_NEAR = 0.3
"""The share of the best piece's worth that another must have to be said beside it."""
_PIECES, _ALIKE = 2, 0.7
"""Sentences of one passage, and the share of the best one's words that a second must have."""
_OPENING = 400
_AND = re.compile(r"\s+and\s+(?=(?:which|what|how|where|when|with|why)\b)|[;?]\s+", re.IGNORECASE)
_ANCHOR = 30
_BLOCK = re.compile(r"^```.*?^```[ \t]*$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"\A(?:#{1,6} [^\n]*|(?:[A-Z]|\d{1,2})(?:\.\d{1,2}){0,3}\s[^\n.]{1,100})(?:\n|\Z)")
_BULLET = re.compile(r"\n\s{0,8}(?:[-*+]|\d{1,2}[.)])\s")
_SHORTEST, _LONGEST = 4, 700


@dataclass(frozen=True)
class _Candidate:
    text: str
    hit: Hit
    words: frozenset[str]
    worth: float


def questions(text: str) -> list[str]:
    """The question, and its first `PARTS` parts where it asks for several things."""
    parts = [part for part in dict.fromkeys(part.strip(" ?.") for part in _AND.split(text)) if terms(part)]
    return [text, *parts[:PARTS]] if len(parts) > 1 else [text]


def supported(answer: Answer) -> bool:
    """Whether any hit speaks of enough of the question."""
    return not any(note.startswith(UNSUPPORTED) for note in answer.notes) and any(
        covered(answer.query.text, whole(hit)) >= _COVERS for hit in answer.hits[:HITS]
    )


def heard(answer: Answer, known: Ontology) -> bool:
    """Whether any hit, or the work that it is of, has a name that the question asks of: one of BERT is not answered by what never says BERT."""
    return is_heard(subject_of(answer.query.text, known), ((whole(hit), (hit.work, hit.paper)) for hit in answer.hits[:HITS]))


def whole(hit: Hit) -> str:
    """What a hit speaks of: its text and where it stands."""
    return "\n".join((hit.chunk.text, hit.chunk.header, hit.chunk.symbol, " ".join(hit.chunk.section), *hit.why))


def covered(question: str, text: str) -> float:
    """The share of a question's words that a text has, cut forms (`init`) included."""
    return _Words(question, {}).share(text)


@dataclass(frozen=True)
class _Words:
    """A question's words; `worth` is how few of the hits have each: what all of them say tells none apart."""

    question: str
    worth: Mapping[str, float]

    @classmethod
    def of(cls, answer: Answer) -> _Words:
        texts = [set(tokens(hit.chunk.text)) for hit in answer.hits]
        counts = {word: sum(word in text for text in texts) for word in terms(answer.query.text)}
        return cls(answer.query.text, {word: math.log(1.0 + (1 + len(texts)) / (1 + count)) for word, count in counts.items()})

    def share(self, text: str) -> float:
        """How much of the worth of the words a text has."""
        asked, said = terms(self.question), set(tokens(text))
        cut = [form for form in variants(self.question) if form in said]
        got = (self.worth.get(word, 1.0) for word in asked if word in said or any(word.startswith(form) for form in cut))
        return sum(got) / (sum(self.worth.get(word, 1.0) for word in asked) or 1.0)


def extracted(answers: Sequence[Answer], held: Sequence[Held], known: Ontology) -> list[Sentence]:
    """At most `MOST` sentences, each with its one piece of evidence: the facts, then in turn the best for each part of the question."""
    facts = [_fact(one, known) for one in held[:FACTS]]
    ranked = [_ranked(answer) for answer in answers]
    chosen: list[_Candidate] = []
    for one in (one for row in zip_longest(*ranked) for one in row if one):
        if len(facts) + len(chosen) < MOST and all(_new(one, other) for other in chosen):
            chosen.append(one)
    return [*facts, *(Sentence(one.text, (one.hit,)) for one in chosen)]


def _ranked(answer: Answer) -> list[_Candidate]:
    """The pieces for one question, best first, those that come near the best."""
    asked = _Words.of(answer)
    pieces = (replace(one, worth=one.worth * _FADES**place) for place, hit in enumerate(answer.hits[:HITS]) for one in _candidates(asked, hit))
    found = sorted(pieces, key=lambda one: -one.worth)
    return [one for one in found if one.worth >= _NEAR * found[0].worth]


def _new(one: _Candidate, other: _Candidate) -> bool:
    """Whether less than most of its words were said already."""
    return len(one.words & other.words) < 0.6 * max(1, min(len(one.words), len(other.words)))


def _fact(held: Held, known: Ontology) -> Sentence:
    """`learning rate = 0.0001 (config: lr: 1e-4)`: the value, and the words or the line that hold it."""
    fact, hit = held.fact, held.evidence
    text = neutral(hit.chunk.text)
    said = " ".join(neutral(fact.said or fact.written).split())
    if hit.chunk.kind in {"paper", "docs"}:
        words = next((sentence for sentence in _sentences(hit) if said and said[:_ANCHOR] in sentence), said)
    else:
        line = fact.line - hit.chunk.start_line
        lines = text.split("\n")
        words = lines[line].strip() if fact.line and 0 <= line < len(lines) else said
    value = f"{fact.value} {fact.unit}".strip()
    return Sentence(f"{known.title(fact.name)} = {value} ({fact.kind}: {words[:_LONGEST]})", (hit,))


def _candidates(asked: _Words, hit: Hit) -> Iterable[_Candidate]:
    """The lines of a hit, or the sentences that tell most; what its symbol or section says of the question counts half."""
    if is_policy(hit):
        return
    around = asked.share(f"{hit.chunk.symbol} {' '.join(hit.chunk.section)}")
    code = hit.chunk.kind in {"code", "config"}
    hit = _grown(hit) if code else hit
    for text in _lines(hit) if code else _telling(asked, hit):
        share = asked.share(text)
        yield _Candidate(text, hit, frozenset(terms(text)), hit.score * (_ANYWAY + max(share, (share + around) / 2)))


def _telling(asked: _Words, hit: Hit) -> list[str]:
    """The sentences of a passage that say most of what is asked, or how it begins where only its heading, or another word for it, does."""
    shares = {text: asked.share(text) for text in _sentences(hit)}
    best = max(shares.values(), default=0.0)
    if not best:
        return _opening(shares)
    return sorted((text for text in shares if shares[text] >= _ALIKE * best), key=shares.__getitem__, reverse=True)[:_PIECES]


def _opening(texts: Iterable[str]) -> list[str]:
    kept: list[str] = []
    for text in texts:
        if kept and sum(map(len, kept)) + len(text) > _OPENING:
            break
        kept.append(text)
    return [" ".join(kept)] if kept else []


def _sentences(hit: Hit) -> Iterable[str]:
    """The sentences of a passage, without headings and blocks of code; equations stay with the sentence before them."""
    for paragraph in paragraphs(_BLOCK.sub("", neutral(hit.chunk.text)), hit.chunk.role):
        for part in _BULLET.split(_HEADING.sub("", paragraph)):
            for sentence in sentences(" ".join(part.split())):
                if len(sentence.split()) >= _SHORTEST and len(sentence) <= _LONGEST:
                    yield sentence


def _grown(hit: Hit) -> Hit:
    """A hit of code with what stands directly around its focus, to `_LINES` lines: a line is seldom understood alone."""
    lines, first, focus = hit.chunk.text.split("\n"), hit.chunk.start_line, hit.focus
    if focus is None:
        return hit
    start, end = focus.start_line - first, focus.end_line - first
    while end - start + 1 < _LINES and (more := [at for at in (start - 1, end + 1) if 0 <= at < len(lines) and _goes_on(lines[at])]):
        start, end = min(start, more[0]), max(end, more[-1])
    return replace(hit, focus=Focus(first + start, first + end))


def _goes_on(line: str) -> bool:
    return bool(line.strip()) and len(line) <= _LONGEST and not line.lstrip().startswith(SIGNATURES)


def _lines(hit: Hit) -> Iterable[str]:
    """The lines of the focus as code, at most a few; a configuration or function without a focus has none."""
    if hit.focus is None:
        return
    lines = neutral(hit.chunk.text).split("\n")[hit.focus.start_line - hit.chunk.start_line : hit.focus.end_line - hit.chunk.start_line + 1]
    shown = [line.rstrip() for line in lines if line.strip()][:_LINES]
    if shown:
        name = hit.chunk.symbol or hit.chunk.path
        yield f"`{name.replace('`', chr(39))}`:\n" + "\n".join(f"    {line}" for line in dedent("\n".join(shown)).split("\n"))
