"""What a sentence says its own paper takes over from the work it cites: "we use", "initialized from", "following", by part. Pure.

A statement needs the work itself as its subject (we, our, a passive where the method or the setup is described) and the citation as
its object. "We compare with X", "unlike X" and what X or others do are no inheritance. Patterns look at a bounded stretch around the marker.
Beside these statements, which name the part, all cues of a sentence count by weights learned from labelled citations (`data/use.json`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from lineage.records import Mention
from lineage.references.citation_cues import MAX_TEXT, OTHER, TARGET, WITNESS, mark, sentence_cues
from lineage.references.signals import Part
from lineage.tables import packaged

MAX_MENTIONS = 200
_SENTENCE = 1_500


@dataclass(frozen=True)
class Statement:
    """One way to say that something is taken over; `part` where the verb alone tells which."""

    words: str
    weight: float
    pattern: re.Pattern[str]
    part: Part | None = None


@dataclass(frozen=True)
class InheritanceWording:
    """How papers say that they take something over, as `data/inheritance.json` has it."""

    statements: tuple[Statement, ...]
    against: re.Pattern[str]
    actor: re.Pattern[str]
    ours: re.Pattern[str]
    heads: Mapping[Part, re.Pattern[str]]
    parts: Mapping[Part, re.Pattern[str]]


@dataclass(frozen=True)
class Takeover:
    """One sentence that says that something is taken over: how strongly (0..1), and each part's share of that (summing to 1)."""

    weight: float
    parts: tuple[tuple[Part, float], ...]
    mention: Mention
    words: str


@dataclass(frozen=True)
class _Match:
    """A way of saying it that stands in a sentence: how strongly, and where."""

    weight: float
    way: Statement
    start: int
    end: int


_T = r"[\w.+/–-]*\s*[(\[]?\s*⟦T⟧"
_CLAUSE = r"(?:but|while|whereas|unlike|than|versus|vs|which|because|since|although)"
_OWN = re.compile(r"\b(?:we|our|ours|us|i|this (?:paper|work|study)|the proposed)\b", re.IGNORECASE)
_DENIED = re.compile(r"\s*[)\]]?[^.;]{0,40}?\b(?:not|never|fail\w*|unstable|worse)\b", re.IGNORECASE)
_AS_BASELINE = re.compile(r"⟦T⟧\s*[)\]]?[^.;]{0,60}?\bas (?:a|an|our|the)?\s*(?:\w+\s+){0,2}(?:baselines?|comparison)\b", re.IGNORECASE)
_FOLLOWING = re.compile(r"\A\W*(?:following|similar(?:ly)? to|as in|based on|building (?:up)?on|inspired by)\b", re.IGNORECASE)
_SHOWN = re.compile(r"\A\W*(?:Figure|Fig\.|Table|Tab\.)\s*\w+\s*[:.]|\s\|\s")
_PASSIVE = re.compile(r"\b(?:is|are|was|were|been|be)\s+(?:\w+\s+)?(?:\w+ed|built|taken|chosen|done)\b", re.IGNORECASE)
_ON_IT = re.compile(rf"\bon\s+(?:the\s+|both\s+)?(?:[\w-]+\s+)?{_T}", re.IGNORECASE)
_TRIED = re.compile(r"\b(?:evaluat|test|validat|report|compar|benchmark|measur)", re.IGNORECASE)
_NEAR, _VERB = 70, 2
_SHARE = 0.75
"""What a statement of `data/inheritance.json`, and the probability by all cues of a sentence, count each."""
_AGAINST = 0.1
"""What a sentence counts that compares."""
_LEAST = 0.02
"""Weight under which a sentence takes nothing over."""
_WORTH = {Part.DATA: 0.6, Part.EVALUATION: 0.5}
_OUR_WORK, _UNSAID, _OTHERS = 1.3, 0.6, 0.2
"""What a statement counts that speaks of "our method", and one without "we" or "our": in the passive where the work is described, and else."""
_NAMED, _SHOWING = 0.6, 0.4
"""What a statement counts that names the work and does not cite it, and one of a caption or a row of a table."""
_SECTIONS = (
    (0.6, re.compile(r"\bresults?\b|comparison|comparing|ablation|analys", re.IGNORECASE)),
    (0.4, re.compile(r"related|background|prior work|literature|preliminar|discussion|limitation|future", re.IGNORECASE)),
    (0.8, re.compile(r"introduction|abstract|motivation|conclusion", re.IGNORECASE)),
)


@cache
def _wording() -> InheritanceWording:
    raw = packaged("inheritance")
    before = ((row, rf"(?<![\w-])(?:{'|'.join(row['verbs'])})\b\s*{_gap(row['gap'])}{_T}") for row in raw["statements"])
    after = ((row, rf"⟦T⟧\s*[)\]]?[\s,]*{_gap(row['gap'])}(?:{'|'.join(row['verbs'])})\b") for row in raw["after"])
    verbs = "|".join(raw["actor"])
    return InheritanceWording(
        tuple(_way(row, pattern) for row, pattern in (*before, *after)),
        _any(raw["against"]),
        re.compile(rf"(?:\A|[.;,]\s+)(?:[A-Z][\w.+-]*\s+)?[(\[]?\s*⟦T⟧\s*[)\]]?\s+(?:also\s+)?(?:{verbs})", re.IGNORECASE),
        re.compile(rf"\b(?:our|this|the proposed|proposed)\s+(?:\w+\s+){{0,2}}?(?:{'|'.join(raw['ours'])})s?\b", re.IGNORECASE),
        {Part(part): _beside("|".join(words)) for part, words in raw["heads"].items()},
        {Part(part): _any(words) for part, words in raw["parts"].items()},
    )


def _way(row: Mapping[str, Any], pattern: str) -> Statement:
    return Statement(row["says"], row["weight"], re.compile(pattern, re.IGNORECASE), Part(row["part"]) if "part" in row else None)


def _any(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE)


def _beside(nouns: str) -> re.Pattern[str]:
    """A noun right before or after the citation, which tells what the work is cited as: "AdamW optimizer [it]", "ImageNet [it] dataset"."""
    return re.compile(rf"\b(?:{nouns})\s*(?:\([\w-]+\)\s*)?[(\[]?\s*⟦T⟧|⟦T⟧\s*[)\]]?\s*(?:[\w-]+\s+){{0,2}}?(?:{nouns})\b", re.IGNORECASE)


def _gap(most: int) -> str:
    """Up to `most` words that begin no other clause."""
    return rf"(?:(?!{_CLAUSE}\b)[^\s;:.!?(\[][^\s;:.!?]*\s+|[(\[]\s*){{0,{most}}}?"


def takeovers(mentions: Iterable[Mention], own_name: str = "") -> Iterator[Takeover]:
    """What the sentences that cite or name one work say is taken over from it, in their order; `own_name` is that of the citing work."""
    for mention in list(mentions)[:MAX_MENTIONS]:
        if mention.sentence.strip() and (statement := _takeover(mention, own_name)):
            yield statement


def total(some: Sequence[Takeover]) -> float:
    """0..1 from all statements about one work: one clear statement of its model .33, three .67, seven 1; data and evaluation count less."""
    counted = (takeover.weight * sum(share * _WORTH.get(part, 1.0) for part, share in takeover.parts) for takeover in some)
    return min(1.0, math.log2(1 + sum(counted)) / 3)


def by_part(some: Sequence[Takeover]) -> dict[Part, float]:
    """0..1 for each part that is taken over."""
    weight_by_part = {part: sum(takeover.weight * share for takeover in some for named, share in takeover.parts if named is part) for part in Part}
    return {part: round(1 - math.pow(0.5, weight), 4) for part, weight in weight_by_part.items() if weight > 0}


def _takeover(mention: Mention, own_name: str) -> Takeover | None:
    text, bunch = _marked(mention.sentence[:_SENTENCE], mention.shown, mention.together)
    if TARGET not in text:
        return None
    place, statement = section_weight(mention.section), _statement(text)
    stated = statement.weight * _speaker(text, place, own_name) if statement else 0.0
    used = use_probability(mention, own_name) * (_AGAINST if _is_compared(text) else 1.0)
    weight = _SHARE * (stated + used) * place * bunch**-0.7
    weight *= _NAMED if mention.said_by == WITNESS else 1.0
    weight *= _SHOWING if _SHOWN.search(text) else 1.0
    if weight < _LEAST:
        return None
    start, end = (statement.start, statement.end) if statement else (text.index(TARGET), text.index(TARGET) + len(TARGET))
    way = statement.way if statement else None
    return Takeover(round(weight, 4), _parts_of(text, start, end, mention.section, way.part if way else None), mention, way.words if way else "")


@dataclass(frozen=True)
class UseModel:
    """Log-odds of each cue that a citing sentence uses or extends the work, and their sum where there is no cue."""

    bias: float
    cues: Mapping[str, float]


@cache
def shipped_use_model() -> UseModel:
    """The model of `data/use.json`, fitted by `python -m benchmarks.ancestors --fit --data DIR`."""
    raw = packaged("use")
    return UseModel(raw["bias"], raw["cues"])


def use_probability(mention: Mention, own_name: str = "") -> float:
    """0..1: how surely a sentence says that its own work (or `own_name`) uses or extends the work it cites, by all its cues."""
    sentence = mention.sentence.replace(own_name, "we") if own_name else mention.sentence
    model, cue_words = shipped_use_model(), sentence_cues(sentence[:MAX_TEXT], mention.shown, mention.together)
    return 1 / (1 + math.exp(-(model.bias + sum(model.cues.get(cue, 0.0) for cue in cue_words))))


def _speaker(text: str, place: float, own_name: str) -> float:
    """How surely a sentence speaks of the work itself."""
    if _wording().ours.search(text) or (own_name and own_name in text):
        return _OUR_WORK
    if _OWN.search(text) or (place >= 0.8 and _FOLLOWING.search(text)):
        return 1.0
    return _UNSAID if place == 1.0 and _PASSIVE.search(text) else _OTHERS


@lru_cache(maxsize=1 << 13)
def _marked(sentence: str, key: str, together: tuple[str, ...]) -> tuple[str, int]:
    """The one sentence that holds the citation, and how many are cited together."""
    marked = mark(sentence, key, together)
    text = next((focus_part for focus_part in marked.focus if TARGET in focus_part), "")
    return re.sub(r"\s+", " ", text.replace(f"({OTHER})", "").replace(OTHER, "")), marked.bunch


def _is_compared(text: str) -> bool:
    """Whether the words right before the citation, or what it is said to be, set it against the work itself."""
    at = text.index(TARGET)
    return bool(_wording().against.search(text[max(0, at - _NEAR // 2) : at]) or _AS_BASELINE.search(text) or _DENIED.match(text[at + len(TARGET) :]))


def _statement(text: str) -> _Match | None:
    """The strongest statement in a sentence; words between verb and citation weaken it."""
    if _wording().actor.search(text) or _AS_BASELINE.search(text):
        return None
    best: _Match | None = None
    for way in _wording().statements:
        for hit in way.pattern.finditer(text):
            against = _wording().against.search(text[max(0, hit.start() - 15) : hit.end()]) or _DENIED.match(text[hit.end() : hit.end() + 80])
            factor = _AGAINST if against else 0.93 ** max(0, len(hit[0].split()) - 4)
            if best is None or way.weight * factor > best.weight:
                best = _Match(way.weight * factor, way, hit.start(), hit.end())
    return best


def on_it(mention: Mention) -> bool:
    """Whether a sentence speaks of doing something on a work, as on a data set."""
    return _ON_IT.search(mention.sentence[:_SENTENCE]) is not None


def section_weight(path: Sequence[str]) -> float:
    """How much a section describes the work itself: 1 for method, setup and appendices, .8 for the introduction, .4 for related work."""
    return next((weight for title in reversed(path) for weight, pattern in _SECTIONS if pattern.search(title)), 1.0)


def _parts_of(text: str, start: int, end: int, section: Sequence[str], verb_part: Part | None) -> tuple[tuple[Part, float], ...]:
    """The parts that the words near a statement name, and the titles it stands under, with their shares; one that the verb tells leads."""
    head = next((part for part, pattern in _wording().heads.items() if pattern.search(text)), None)
    if head:
        return ((head, 1.0),)
    if _ON_IT.search(text):
        return ((Part.EVALUATION if _TRIED.search(text) else Part.DATA, 1.0),)
    near, titles = text[max(0, start - _NEAR) : end + _NEAR], " ".join(section[-2:])
    votes: dict[Part, float] = {
        part: min(2, len(pattern.findall(near))) + 0.5 * bool(pattern.search(titles)) for part, pattern in _wording().parts.items()
    }
    votes |= {verb_part: votes[verb_part] + _VERB} if verb_part else {}
    whole = sum(votes.values())
    if not whole:
        return ((Part.MODEL, 0.5), (Part.TRAINING, 0.5))
    return tuple((part, round(vote / whole, 4)) for part, vote in votes.items() if vote)
