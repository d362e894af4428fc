"""Sentences of an answer taken from the evidence as it stands (pure): facts first, then passages, then lines of code."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from lineage.cues import sentences
from lineage.insight import Held, Sentence
from lineage.model import Answer, Hit
from lineage.ontology import Ontology
from lineage.tokens import terms, tokens, variants
from retrieval.asked_about import is_heard
from retrieval.named_details import subject_of
from retrieval.pack.units import neutral, paragraphs
from retrieval.support import UNSUPPORTED

MOST = 5
PARTS = 6
FACTS = 3
HITS = 8
_LINES = 4
_COVERS = 0.5
"""The share of a question's words that a piece of evidence must speak of, for it to support an answer."""
_LEAST = 0.25
_NEAR = 0.35
"""The share of the best sentence's worth that another must have to be said beside it."""
_OWN = 1.3
"""What the target says of itself counts so much more than what others say of themselves."""
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
    """The candidates for one question, best first, those that come near the best."""
    asked = _Words.of(answer)
    found = sorted((one for hit in answer.hits[:HITS] for one in _candidates(asked, hit)), key=lambda one: -one.worth)
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
    """Sentences or lines of a hit that speak of what is asked; what its symbol or section says counts half."""
    if covered(asked.question, whole(hit)) < _COVERS:
        return
    code = hit.chunk.kind in {"code", "config"}
    around = asked.share(f"{hit.chunk.symbol} {' '.join(hit.chunk.section)}")
    for text in _lines(hit) if code else _sentences(hit):
        share = max(asked.share(text), (asked.share(text) + around) / 2)
        if share >= _LEAST:
            yield _Candidate(text, hit, frozenset(terms(text)), hit.score * share * (_OWN if hit.from_target else 1.0))


def _sentences(hit: Hit) -> Iterable[str]:
    """The sentences of a passage, without headings and blocks of code; equations stay with the sentence before them."""
    for paragraph in paragraphs(_BLOCK.sub("", neutral(hit.chunk.text)), hit.chunk.role):
        for part in _BULLET.split(_HEADING.sub("", paragraph)):
            for sentence in sentences(" ".join(part.split())):
                if len(sentence.split()) >= _SHORTEST and len(sentence) <= _LONGEST:
                    yield sentence


def _lines(hit: Hit) -> Iterable[str]:
    """The lines of the focus as code, at most a few; a configuration or function without a focus has none."""
    if hit.focus is None:
        return
    lines = neutral(hit.chunk.text).split("\n")[hit.focus.start_line - hit.chunk.start_line : hit.focus.end_line - hit.chunk.start_line + 1]
    shown = [line.rstrip() for line in lines if line.strip()][:_LINES]
    if shown:
        name = hit.chunk.symbol or hit.chunk.path
        yield f"`{name.replace('`', chr(39))}`:\n" + "\n".join(f"    {line}" for line in shown)
