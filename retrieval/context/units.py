"""Units that may go into a pack: whole pieces of text, with the questions that each is relevant to (reads only the catalog).

A unit is whole: a function or method with all of its lines (the target's own, if too long for its room, without the
statements that are counted in their place), a configuration block, a paragraph with the equations that belong to it.
Paragraphs are units of their own, so that a small budget is not spent on a whole section for one sentence of it.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from lineage.catalog.reader import Catalog
from lineage.catalog.records import same_text
from lineage.records import Answer, Chunk, FileRole, Hit, WorkId
from lineage.text.hidden_text import visible
from lineage.text.tokens import STOP, terms, tokens
from retrieval.context.task import Subquestion
from retrieval.decisions.provenance import is_policy
from retrieval.search.focus import rarity

Kind = Literal["stated", "lineage", "imitate"]
MOST_UNIT_LINES = 400
MOST_OWN_LINES = 1_000
"""The target's own functions are cut where they are too long, so that they may be longer at first."""
_FLOOR = 0.2
"""What a paragraph keeps of its chunk's relevance though none of the question's words is in it."""
_FAR, _NEAR = 0.5, 0.72
"""Cosines of the packaged model: what has nothing to do with a question, and what answers it."""
_ASIDE = 0.2
_OTHERS = frozenset({FileRole.BASELINE, FileRole.VENDORED})
_TITLE = re.compile(r"#{1,2} [^\n]{0,160}(?:\n+|\Z)")
_TOLD = re.compile(r"\d|`|--\w|\w=|\w\(|https?:")
"""Signs that a guide says more than what it is a guide to."""
_SETS_UP = re.compile(
    r"\s*(?:(?:import|from)\s|[!%]|(?:sys|os)\.|[\w.]{1,80}\.manual_seed\(|\)|\Z"
    r"|(?:class|def|async def)\s[^#]{1,300}:\s*\Z|(?P<quote>\"\"\"|''').{0,300}(?P=quote)\s*\Z)"
)
"""A line that makes ready to run: what is imported, installed, or said to the shell; a head without its body, a docstring of one line."""
_INSTALLS = re.compile(r"^\s{0,8}[!%]\s?(?:pip|git|cd|conda|apt|wget|mkdir)\b", re.MULTILINE)
NEARLY_NOTHING = 0.05
"""What is left of the relevance of what only introduces, makes ready to run, or lists options that nobody asked for."""
_ALIKE = 0.8
"""The share of words that two units have in common, and no number that only one has, from which on they are one but for names."""
_COMPARED = 0.3
"""What a repository holds of others' to compare itself with is worth so much of its own."""
_FOREIGN = 0.5
"""Where the target's own code is at hand, a repository of its lineage is worth so much of it for each step."""
_SHARPER = 2.0
"""Scores are spread along the logistic curve; what answers is far more likely to among the first than their ratio says."""
_SPECIAL = re.compile(r"<(?=\|)|(?<=\|)>")
_WHOLE = {"function", "method", "class"}
_PARTED = {"function", "method"}
_UNASKED = 0.2
_TESTS, _BASELINES = frozenset(terms("tests")), frozenset(terms("baselines comparison"))
_COMMENT = re.compile(r"\s*(?:#|//|/?\*|%|--|<!|[-=~_.*+|]{3,}|echo\b|\Z)")
_LEAST = 6
_PROSE = re.compile(r"[A-Za-z]{2,}|\d")
_BLANKS = 3
_HEADING = re.compile(r"(?:[A-Z]|\d{1,2})(?:\.\d{1,2}){0,3}\s+\S[^\n]{0,120}\Z|#{1,6}\s[^\n]{0,160}\Z")
_CONTINUES = re.compile(r"\$\$|[a-z(]|\\\[")


@dataclass(frozen=True)
class PackUnit:
    """A whole unit: shown as `text` (cleaned); `relevance` (0..1) by the number of the subquestion; `words` are those of the text.

    `cost` are the tokens of what is written for it; 0 until it is counted. `due` is what is in before anything is chosen.
    """

    hit: Hit
    kind: Kind
    text: str
    relevance: Mapping[int, float]
    words: frozenset[str] = frozenset()
    cost: int = 0
    order: tuple[int, int] = (0, 0)
    due: bool = False


@dataclass(frozen=True)
class QuestionWords:
    """How telling the words are: `rare` by token over the generation; `asked` are each subquestion's tokens.

    `own`: code of the target itself is among what was found.
    """

    rare: Mapping[str, float]
    asked: tuple[frozenset[str], ...] = field(default=())
    own: bool = False

    def covered(self, words: frozenset[str], number: int) -> float:
        """The worth of a subquestion's words that a text says."""
        return sum(self.rare.get(word, 0.0) for word in self.asked[number] & words)

    def trust(self, hit: Hit, number: int) -> float:
        """How far a hit is about a question at all, whatever its rank: by the words that they share, or by their similarity."""
        words = frozenset(tokens(f"{hit.chunk.text}\n{hit.chunk.header}\n{hit.chunk.symbol}"))
        whole = sum(self.rare.get(word, 0.0) for word in self.asked[number])
        shared = self.covered(words, number) / whole if whole else 0.0
        near = max(((signal.score - _FAR) / (_NEAR - _FAR) for signal in hit.signals if signal.retriever == "dense"), default=0.0)
        aside = _ASIDE if beside(hit) else self._standing(hit, number)
        return aside * (_FLOOR + (1.0 - _FLOOR) * min(1.0, max(shared, near)))

    def worth(self, unit: PackUnit) -> dict[str, float]:
        """What the words of a unit are worth: by their rarity, and more so those of the questions that it bears on."""
        bears = {number: relevance for number, relevance in unit.relevance.items() if relevance > 0.0}
        return {
            word: rare * (_UNASKED + sum(relevance for number, relevance in bears.items() if word in self.asked[number]))
            for word in unit.words
            if (rare := self.rare.get(word, 0.0))
        }

    def _standing(self, hit: Hit, number: int) -> float:
        """How far a repository may speak for the target: tests and what is kept to compare with do little, unless they are asked for."""
        if hit.work.kind != "code":
            return 1.0
        worth = _ASIDE if FileRole.TEST in hit.roles and not self.asked[number] & _TESTS else 1.0
        if not _OTHERS.isdisjoint(hit.roles) and not self.asked[number] & _BASELINES:
            worth *= _COMPARED
        if FileRole.DATA in hit.roles and not hit.from_target:
            worth *= _ASIDE
        if self.own and not hit.from_target:
            worth *= math.pow(_FOREIGN, hit.reference.distance if hit.reference else 1)
        return worth


def beside(hit: Hit) -> bool:
    """What tests read is no source of knowledge on how a thing is done, nor is the caption of a figure that is not there."""
    chunk = hit.chunk
    return bool((chunk.kind in {"docs", "config"} and FileRole.TEST in hit.roles) or (chunk.role == "caption" and chunk.text.startswith("Fig")))


def words_of(catalog: Catalog, questions: Sequence[Subquestion], answers: Sequence[Answer], chunks: int) -> QuestionWords:
    """The rarity, among so many chunks, of the words of the questions and of everything that was found for them."""
    asked = tuple(frozenset(terms(subquestion.text)) for subquestion in questions)
    texts = {hit.chunk.id: hit.chunk.text for answer in answers for hit in answer.hits}
    words = {word for question_tokens in asked for word in question_tokens}.union(*(tokens(text) for text in texts.values()))
    own = any(hit.from_target and hit.chunk.kind == "code" for answer in answers for hit in answer.hits)
    return QuestionWords(rarity(catalog.frequencies(words - STOP), chunks), asked, own)


def units(catalog: Catalog, answers: Sequence[Answer], words: QuestionWords) -> list[PackUnit]:
    """The units of all hits, each once, in the order in which they were first found."""
    pack_units_by_key: dict[str, PackUnit] = {}
    for hit, found_by in _found(answers):
        scores = {number: score * words.trust(by, number) for number, (score, by) in found_by.items()}
        for at, unit in enumerate(_units(catalog, hit, scores, words)):
            if not _speaks(unit) or FileRole.VENDORED in unit.hit.roles:
                continue
            same = same_text(unit.text)
            known = pack_units_by_key.get(same)
            pack_units_by_key[same] = _joined(known, unit) if known else replace(unit, order=(len(pack_units_by_key), at))
    return distinct([weighed(unit, NEARLY_NOTHING) if _introduces(unit) else unit for unit in pack_units_by_key.values()])


def weighed(unit: PackUnit, share: float) -> PackUnit:
    """The unit with its relevance scaled down."""
    return replace(unit, relevance={number: share * value for number, value in unit.relevance.items()})


def _introduces(unit: PackUnit) -> bool:
    """Whether a unit is a guide's title with words on what it is about, a notebook's first cell, or how those who take part shall behave."""
    chunk = unit.hit.chunk
    if chunk.kind == "paper":
        return False
    title = _TITLE.match(unit.text) if chunk.kind == "docs" or chunk.role == "text" else None
    installs = chunk.path.endswith(".ipynb") and _INSTALLS.search(unit.text)
    return bool(installs or is_policy(unit.hit) or (title and not _TOLD.search(unit.text[title.end() :])))


def distinct(pack_units: Sequence[PackUnit]) -> list[PackUnit]:
    """The units without those that differ from a better one in names only: the target's own before others', then as they were found."""
    kept: list[PackUnit] = []
    for unit in sorted(pack_units, key=lambda pack_unit: (not pack_unit.hit.from_target, pack_unit.order)):
        at = next((n for n, other in enumerate(kept) if _alike(unit, other)), None)
        if at is None:
            kept.append(unit)
        elif unit.hit.from_target == kept[at].hit.from_target:
            kept[at] = _joined(kept[at], unit)
    return sorted(kept, key=lambda pack_unit: pack_unit.order)


def _alike(pack_unit: PackUnit, other: PackUnit) -> bool:
    fewer, more = min(len(pack_unit.words), len(other.words)), max(len(pack_unit.words), len(other.words))
    if pack_unit.kind != other.kind or fewer < _ALIKE * more or fewer < _LEAST:
        return False
    apart = pack_unit.words ^ other.words
    return len(apart) <= (1.0 - _ALIKE) * len(pack_unit.words | other.words) and not any(word[0].isdigit() for word in apart)


def _speaks(unit: PackUnit) -> bool:
    """Whether a unit says anything by itself: a heading, a rule of dashes or a lone comment does not."""
    if unit.kind == "imitate" or unit.hit.chunk.kind == "config":
        return any(not _COMMENT.match(line) and not _SETS_UP.match(line) for line in unit.text.splitlines())
    return len(_PROSE.findall(unit.text)) >= _LEAST and not _HEADING.match(unit.text.rpartition("\n\n")[2])


def _found(answers: Sequence[Answer]) -> list[tuple[Hit, dict[int, tuple[float, Hit]]]]:
    """Each chunk once, with its score by the number of the question, and the hit that says why."""
    hits: dict[str, Hit] = {}
    scores: dict[str, dict[int, tuple[float, Hit]]] = {}
    for number, answer in enumerate(answers):
        for hit in answer.hits:
            hits.setdefault(hit.chunk.id, hit)
            scores.setdefault(hit.chunk.id, {})[number] = (hit.score**_SHARPER, hit)
    return [(hit, scores[name]) for name, hit in hits.items()]


def _joined(pack_unit: PackUnit, other: PackUnit) -> PackUnit:
    """One unit of two: copies are as relevant as the better one, a function by any part of it that was found."""
    parted = pack_unit.hit.chunk.id != other.hit.chunk.id and _file(pack_unit) == _file(other)
    pairs = {key: (pack_unit.relevance.get(key, 0.0), other.relevance.get(key, 0.0)) for key in {*pack_unit.relevance, *other.relevance}}
    return replace(pack_unit, relevance={key: 1.0 - (1.0 - a) * (1.0 - b) if parted else max(a, b) for key, (a, b) in pairs.items()})


def _file(unit: PackUnit) -> tuple[WorkId, str]:
    return unit.hit.chunk.work, unit.hit.chunk.path


def _units(catalog: Catalog, hit: Hit, scores: Mapping[int, float], words: QuestionWords) -> Iterable[PackUnit]:
    kind = kind_of(hit)
    if hit.chunk.kind in {"paper", "docs"}:
        yield from _prose(hit, kind, scores, words)
        return
    whole = replace(hit, chunk=complete(catalog, hit.chunk, MOST_OWN_LINES if hit.from_target else MOST_UNIT_LINES))
    text = neutral(textwrap.dedent(whole.chunk.text))
    yield PackUnit(whole, kind, text, dict(scores), frozenset(tokens(text)))


def kind_of(hit: Hit) -> Kind:
    """Under which heading a hit belongs."""
    if hit.chunk.kind == "code":
        return "imitate"
    return "stated" if hit.from_target else "lineage"


def complete(catalog: Catalog, chunk: Chunk, most: int = MOST_UNIT_LINES) -> Chunk:
    """The chunk with the rest of every function of which it holds a part; as it is where it holds whole ones, or the whole has `most` lines."""
    if chunk.role not in _WHOLE or not chunk.symbol:
        return chunk
    near = catalog.chunks(catalog.neighbours(chunk.work, chunk.path))
    parts = sorted((neighbor for neighbor in near if neighbor.symbol), key=lambda neighbor: neighbor.start)
    first, last = _run(parts, chunk)
    if first is last or last.end_line - first.start_line >= most:
        return chunk
    text = catalog.window(chunk.work, chunk.path, first.start, last.end)
    symbol = ", ".join(dict.fromkeys(name for part in (first, chunk, last) for name in part.symbol.split(", ")))
    return replace(chunk, text=text, symbol=symbol, start=first.start, end=last.end, start_line=first.start_line, end_line=last.end_line)


def _run(parts: Sequence[Chunk], chunk: Chunk) -> tuple[Chunk, Chunk]:
    """First and last of the chunks around `chunk` of which each goes on with the function that the one before ends in."""
    at = next((n for n, part in enumerate(parts) if part.id == chunk.id), None)
    if at is None:
        return chunk, chunk
    start = end = at
    while start and _continues(parts[start - 1], parts[start]):
        start -= 1
    while end + 1 < len(parts) and _continues(parts[end], parts[end + 1]):
        end += 1
    return parts[start], parts[end]


def _continues(chunk: Chunk, other: Chunk) -> bool:
    same = chunk.symbol.split(", ")[-1] == other.symbol.split(", ")[0]
    parted = {chunk.role, other.role} <= _PARTED or (chunk.role == "module" and other.role == "function")
    return same and parted and other.start_line - chunk.end_line <= _BLANKS


def _prose(hit: Hit, kind: Kind, scores: Mapping[int, float], words: QuestionWords) -> Iterable[PackUnit]:
    """The paragraphs of a chunk; each is worth, of the chunk's relevance, its share of the question's words."""
    texts = paragraphs(neutral(hit.chunk.text), hit.chunk.role)
    word_sets = [frozenset(tokens(text)) for text in texts]
    best = {number: max(words.covered(tokens_of_text, number) for tokens_of_text in word_sets) for number in scores}
    for text, own in zip(texts, word_sets, strict=True):
        relevance = {number: score * _share(words.covered(own, number), best[number]) for number, score in scores.items()}
        yield PackUnit(hit, kind, text, relevance, own)


def _share(covered: float, best: float) -> float:
    return _FLOOR + (1.0 - _FLOOR) * covered / best if best else 1.0


def paragraphs(text: str, role: str = "paragraph") -> list[str]:
    """The paragraphs of a text, each with the equations inside it and what goes on after them; headings go with what they head.

    Tables, algorithms and lists are whole as they are.
    """
    if role in {"table", "algorithm", "list"}:
        return [text]
    parts = [part.strip("\n") for part in re.split(r"\n[ \t]*\n", text) if part.strip()]
    joined: list[str] = []
    for part in parts:
        if joined and (_HEADING.match(joined[-1].rpartition("\n\n")[2]) or _goes_on(joined[-1], part)):
            joined[-1] += "\n\n" + part
        else:
            joined.append(part)
    return _fenced(joined) or [text]


def _goes_on(before: str, part: str) -> bool:
    return bool(_CONTINUES.match(part)) or before.rstrip().endswith((":", "$$", ","))


def _fenced(parts: Sequence[str]) -> list[str]:
    """Paragraphs with the blocks of code among them kept whole."""
    whole: list[str] = []
    open_ = False
    for part in parts:
        if open_:
            whole[-1] += "\n\n" + part
        else:
            whole.append(part)
        open_ ^= part.count("```") % 2 == 1
    return whole


def neutral(text: str) -> str:
    """The text without what a reader cannot see and without the marks by which chat models tell who speaks."""
    return _SPECIAL.sub(lambda match: f"{match[0]} " if match[0] == "<" else f" {match[0]}", visible(text.replace("\r\n", "\n"))[0])
