"""Pieces of evidence that may answer a question: sentences, rows of tables, lines of code, facts; and the signs that one does. Pure.

What is asked decides what counts: a sentence that states a number beside "claims" answers "how many claims", one that
shares more words with the question and states none does not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from textwrap import dedent

from lineage.hyperparameters.ontology import Ontology
from lineage.records import Focus, Hit
from lineage.results import FactOccurrence
from lineage.text.phrases import sentences
from lineage.text.tokens import terms, tokens, variants
from retrieval.answers.answer_type import NUMERIC, AnswerType, Kind, states
from retrieval.context.units import neutral, paragraphs
from retrieval.decisions.provenance import is_policy
from retrieval.search.focus import SIGNATURES

LINES = 8
_ANCHOR = 30
_BLOCK = re.compile(r"^```.*?^```[ \t]*$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"\A(?:#{1,6} [^\n]*|(?:[A-Z]|\d{1,2})(?:\.\d{1,2}){0,3}\s[^\n.]{1,100})(?:\n|\Z)")
_BULLET = re.compile(r"\n\s{0,8}(?:[-*+]|\d{1,2}[.)])\s")
_REFERS = re.compile(r"(?:it|this|these|they|we \w+ it|therefore|thus|hence|without this|here)\b", re.IGNORECASE)
_CELL = " | "
_SHORTEST, _LONGEST = 4, 700
_BESIDE_BEFORE, _BESIDE_AFTER = 300, 200
"""Characters of the neighbours that are read with a piece."""


@dataclass(frozen=True)
class Piece:
    """A text that may answer, with its hit; `before` is the sentence before it, or the heads of its table, `after` the one behind it;
    `shape` is what it is."""

    text: str
    hit: Hit
    before: str = ""
    after: str = ""
    shape: str = "sentence"


@dataclass(frozen=True)
class Words:
    """A question's words with their worth: how rare each is."""

    question: str
    worth: Mapping[str, float]

    def share(self, text: str) -> float:
        """How much of the worth of the words a text has, cut forms (`init`) included."""
        asked, said = terms(self.question), set(tokens(text))
        cut = [form for form in variants(self.question) if form in said]
        most = max(self.worth.values(), default=1.0)
        got = (self.worth.get(word, most) for word in asked if word in said or any(word.startswith(form) for form in cut))
        return sum(got) / (sum(self.worth.get(word, most) for word in asked) or 1.0)


def pieces_of(hit: Hit) -> Iterator[Piece]:
    """The sentences or rows of a passage, or the lines around the focus of code."""
    if is_policy(hit):
        return
    if hit.chunk.kind in {"code", "config"}:
        hit = grown(hit)
        yield from (Piece(text, hit, shape="code") for text in lines_of(hit))
        return
    if hit.chunk.role == "table" or hit.chunk.text.count(_CELL) >= 4:
        yield from _rows(hit)
    texts = list(sentences_of_passage(hit))
    for before, text, after in zip(["", *texts], texts, [*texts[1:], ""], strict=False):
        yield Piece(text, hit, before, after)


def _rows(hit: Hit) -> Iterator[Piece]:
    """The rows of a table, each with the heads before it."""
    rows = [" ".join(line.split()) for line in neutral(hit.chunk.text).split("\n") if _CELL in line]
    caption = " ".join(line for line in neutral(hit.chunk.text).split("\n") if _CELL not in line)[:_LONGEST]
    heads = f"{hit.chunk.header} {caption} {rows[0] if rows else ''}"
    for row in rows[1:]:
        if len(row) <= _LONGEST:
            yield Piece(f"{rows[0]}\n{row}", hit, heads, shape="row")


def sentences_of_passage(hit: Hit) -> Iterator[str]:
    """The sentences of a passage, without headings, rows of tables and blocks of code; equations stay with the sentence before them."""
    for paragraph in paragraphs(_BLOCK.sub("", neutral(hit.chunk.text)), hit.chunk.role):
        for part in _BULLET.split(_HEADING.sub("", paragraph)):
            for sentence in sentences(" ".join(line for line in part.split("\n") if _CELL not in line)):
                sentence = " ".join(sentence.split())
                if len(sentence.split()) >= _SHORTEST and len(sentence) <= _LONGEST:
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
    return bool(line.strip()) and len(line) <= _LONGEST and not line.lstrip().startswith(SIGNATURES)


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


def fact(occurrence: FactOccurrence, known: Ontology) -> Piece:
    """`learning rate = 0.0001 (config: lr: 1e-4)`: the value, and the words or the line that hold it."""
    one, hit = occurrence.fact, occurrence.evidence
    text = neutral(hit.chunk.text)
    said = " ".join(neutral(one.said or one.written).split())
    if hit.chunk.kind in {"paper", "docs"}:
        words = next((sentence for sentence in sentences_of_passage(hit) if said and said[:_ANCHOR] in sentence), said)
    else:
        line = one.line - hit.chunk.start_line
        lines = text.split("\n")
        words = lines[line].strip() if one.line and 0 <= line < len(lines) else said
    value = f"{one.value} {one.unit}".strip()
    return Piece(f"{known.title(one.name)} = {value} ({one.kind}: {words[:_LONGEST]})", hit, shape="fact")


# -- signs


def stated(piece: Piece, asked: AnswerType, question: str) -> float:
    """How well a piece makes the kind of statement that is asked for; the heads of a table say what a number in a row below counts."""
    if piece.shape == "row" and asked.kind in NUMERIC:
        heads, _, row = piece.text.partition("\n")
        held = set(tokens(f"{heads} {row.partition(_CELL)[0]}"))
        return 0.9 if any(c.isdigit() for c in row) and any(word in held for noun in asked.noun for word in tokens(noun)) else 0.3
    return states(piece.text, asked, question)


def told(piece: Piece) -> str:
    """What is said of a piece: with the sentence behind it where that goes on about the same thing ("We initialize it to …")."""
    goes_on = piece.shape == "sentence" and piece.after and _REFERS.match(piece.after) and len(piece.text) + len(piece.after) < _LONGEST
    return f"{piece.text} {piece.after}" if goes_on else piece.text


def around(piece: Piece) -> str:
    """What stands around a piece: where it is, and what comes before it."""
    chunk = piece.hit.chunk
    return f"{chunk.symbol} {' '.join(chunk.section)} {chunk.header} {piece.before}"


def in_place(piece: Piece) -> str:
    """A piece as it is read: under its heading, between its neighbours."""
    chunk = piece.hit.chunk
    title = chunk.section[-1] if chunk.section else chunk.path
    return f"{title}: {piece.before[-_BESIDE_BEFORE:]} {piece.text} {piece.after[:_BESIDE_AFTER]}".strip()


def signs_of(piece: Piece, words: Words, asked: AnswerType, place: float) -> dict[str, float]:
    """What speaks for a piece but its similarity to the question: its words, `place` (how high its passage ranks, 1 first), what it states,
    and what it is."""
    statement, shape = stated(piece, asked, words.question), piece.hit.chunk.kind
    numeric = asked.kind in NUMERIC
    return {
        "whole": words.share(f"{piece.text} {around(piece)}"),
        "place": place,
        "number": statement if numeric else 0.0,
        "countless": float(numeric and statement == 0.0),
        "name": statement if asked.kind is Kind.NAME else 0.0,
        "own paper": float(piece.hit.from_target and shape == "paper"),
        "code": float(shape in {"code", "config"}),
        "fact": float(piece.shape == "fact"),
        "code, manner": float(piece.shape == "code" and asked.kind is Kind.MANNER),
    }


def weighed(signs: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The sum of the weighted signs."""
    return sum(weights.get(name, 0.0) * value for name, value in signs.items())


def logistic(value: float) -> float:
    """The logistic curve."""
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, value))))
