"""What a sentence says its own paper takes over from the work it cites: "we use", "initialized from", "following", by part. Pure.

A statement needs the work itself as its subject (we, our, a passive where the method or the setup is described) and the citation as
its object. "We compare with X", "unlike X" and what X or others do are no inheritance. Patterns look at a bounded stretch around the marker.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from lineage.cues import OTHER, TARGET, mark
from lineage.model import Mention
from lineage.short_names import WITNESS

MAX_MENTIONS = 200
_SENTENCE = 1_500


class Part(StrEnum):
    """What of a work another can take over."""

    MODEL = "model"
    CHECKPOINT = "checkpoint"
    TRAINING = "training"
    LOSS = "loss"
    DATA = "data"
    EVALUATION = "evaluation"


@dataclass(frozen=True)
class Takeover:
    """One sentence that says that something is taken over: how strongly (0..1), and each part's share of that (summing to 1)."""

    weight: float
    parts: tuple[tuple[Part, float], ...]
    mention: Mention
    words: str


def _gap(most: int) -> str:
    """Up to `most` words that begin no other clause."""
    return rf"(?:(?!(?:but|while|whereas|unlike|than|versus|vs|which|because|since|although)\b)[^\s;:.!?]+\s+|[(\[]\s*){{0,{most}}}?"


_T = r"[\w.+/–-]*\s*[(\[]?\s*⟦T⟧"
_OWN = re.compile(r"\b(?:we|our|ours|us|i|this (?:paper|work|study)|the proposed)\b", re.IGNORECASE)
_CONTRAST = re.compile(
    r"\b(?:compar\w*|versus|vs\.?|outperform\w*|unlike|in contrast|contrary|whereas|surpass\w*|baselines?|competitor\w*|better than|worse than"
    r"|differ\w*|instead of|rather than|prior works?|previous works?|recent works?|several|many|some works?|future|not|remov\w*|replac\w*|without|fail\w*"
    r"|hypothesi\w*|achiev\w*|perform(?:s|ed)?)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\s*[)\]]?[^.;]{0,40}?\b(?:not|never|fail\w*|unstable|worse)\b", re.IGNORECASE)
_VERBS = (
    ("initialized from it", 1.0, rf"(?<![\w-])(?:initiali[sz]\w*|warm-?start\w*|fine-?tun\w*|start(?:ing|ed)? (?:from|with)|pre-?trained (?:weights|checkpoints?|models?))\b\s*{_gap(9)}{_T}"),
    ("its code is used", 1.0, rf"(?<![\w-])(?:code|codebase|implementations?|repositor(?:y|ies)|recipes?|scripts?|checkpoints?)\b\s*{_gap(7)}{_T}"),
    ("built upon it", 1.0, rf"(?<![\w-])(?:buil[dt]s?|building|built|based|bases|basing|extend\w*|adapt(?:s|ed|ing)?|modif\w*|generali[sz]\w+|inherit\w*|reus\w*|derived?|instantiat\w*)\b\s*{_gap(8)}{_T}"),
    ("followed", 1.0, rf"(?<![\w-])(?:follow(?:s|ed|ing)?|same\b[^.;]{{0,60}}?\b(?:as|of|to)|identical to|in line with|according to|adopt\w*|tak(?:e|en)\b[^.;]{{0,40}}?\bfrom|borrow\w*|referenc\w*|as (?:in|described in|done in|proposed (?:in|by)))\b\s*{_gap(8)}{_T}"),
    ("used", 0.6, rf"(?<![\w-])(?:us(?:e|es|ed|ing)|utiliz\w*|employ\w*|leverag\w*|appl(?:y|ied|ying)|choos\w*|chose\w*|select\w*|train(?:ed|ing)?|implement\w*|incorporat\w*|integrat\w*|relies? on|build\w*|construct\w*|convert\w*|evaluat\w* (?:on|with|by)|experiment\w* (?:on|with))\b\s*{_gap(8)}{_T}"),
    ("used", 0.7, r"⟦T⟧\s*[)\]]?\s*" + _gap(7) + r"(?:is|are|was|were)\s+(?:\w+\s+)?(?:used|adopted|employed|chosen|applied|fine-?tuned|initiali[sz]ed|trained|selected)\b"),
    ("used as a part", 0.9, r"⟦T⟧\s*[)\]]?\s*" + _gap(5) + r"as (?:our|the|a|an)\s+(?:\w+\s+){0,3}?(?:backbone|encoder|decoder|model|base|architecture|foundation|regulari[sz]er|sampler|optimi[sz]er|framework|teacher|tokenizer|evaluator|judge)\b"),
    ("an idea taken", 0.4, rf"(?<![\w-])(?:inspired|motivated|similar(?:ly)? to|akin to)\b\s*{_gap(8)}{_T}"),
)
_PATTERNS = tuple((words, weight, re.compile(pattern, re.IGNORECASE)) for words, weight, pattern in _VERBS)
_AS_BASELINE = re.compile(r"⟦T⟧\s*[)\]]?[^.;]{0,60}?\bas (?:a|an|our|the)?\s*(?:\w+\s+){0,2}(?:baselines?|comparison)\b", re.IGNORECASE)
_FOLLOWING = re.compile(r"\A\W*(?:following|similar(?:ly)? to|as in|based on|building (?:up)?on|inspired by)\b", re.IGNORECASE)
_OURS = re.compile(r"\b(?:our|this|the proposed|proposed)\s+(?:\w+\s+){0,2}?(?:method|approach|model|paper|work|framework|algorithm|architecture|study|pipeline|code|implementation|setup)s?\b", re.IGNORECASE)
_SHOWN = re.compile(r"\A\W*(?:Figure|Fig\.|Table|Tab\.)\s*\w+\s*[:.]|\s\|\s")
_PASSIVE = re.compile(r"\b(?:is|are|was|were|been|be)\s+(?:\w+\s+)?(?:\w+ed|built|taken|chosen|done)\b", re.IGNORECASE)
_ACTOR = re.compile(r"(?:\A|[.;,]\s+)(?:[A-Z][\w.+-]*\s+)?[(\[]?\s*⟦T⟧\s*[)\]]?\s+(?:also\s+)?(?:propos|introduc|discover|deriv|prov|achiev|obtain|observ|consider|formul|address|combin|establish|show|demonstrat|us(?:e|es|ed)\b|present|develop|find|found|argue|suggest|extend|report|stud|investigat|train|adopt|employ|appl|generali)", re.IGNORECASE)
_PARTS = {
    Part.CHECKPOINT: r"initiali[sz]\w*|pre-?trained|checkpoints?|weights from|fine-?tun\w*|foundation model|base model|released model",
    Part.TRAINING: r"train\w*|recipes?|optimi[sz]\w*|schedul\w*|learning rates?|hyper-?parameters?|epochs?|batch\w*|augmentations?|regulari[sz]\w*|warm-?up|implementations?|code\w*|set-?ups?|settings?|configurations?|drop\w*|decay",
    Part.LOSS: r"loss(?:es)?|objectives?|criteri\w+|likelihood|divergence|penalt\w+|diffusion process|regulari[sz]er",
    Part.MODEL: r"architectur\w*|backbones?|encoders?|decoders?|networks?|transformers?|models?|layers?|modules?|blocks?|tokeni[sz]ers?|autoencoders?|vae|heads?|embedd\w*|attention|designs?|frameworks?|generators?|classifiers?|pipelines?|agents?|prompts?|paradigms?|guidance|sampl(?:er|ing)|algorithms?|methods?",
    Part.DATA: r"data\w*|corp(?:us|ora)|splits?|pre-?process\w*|collections?|annotat\w*|train on|images|documents|abstracts",
    Part.EVALUATION: r"evaluat\w*|metrics?|protocols?|scores?|benchmarks?|test\w*|report\w*|assess\w*|visuali\w*|measur\w*|fid|accuracy|judg\w*",
}
_PART = {part: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for part, words in _PARTS.items()}
_ON_IT = re.compile(rf"\bon\s+(?:the\s+|both\s+)?(?:[\w-]+\s+)?{_T}", re.IGNORECASE)
_TRIED = re.compile(r"\b(?:evaluat|test|validat|report|compar|benchmark|measur)", re.IGNORECASE)
_NEAR = 70
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


def takeovers(mentions: Iterable[Mention], own_name: str = "") -> Iterator[Takeover]:
    """What the sentences that cite or name one work say is taken over from it, in their order; `own_name` is that of the citing work."""
    for mention in list(mentions)[:MAX_MENTIONS]:
        if mention.sentence.strip() and (made := _takeover(mention, own_name)):
            yield made


def total(some: Sequence[Takeover]) -> float:
    """0..1 from all statements about one work: one clear statement of its model .33, three .67, seven 1; data and evaluation count less."""
    counted = (one.weight * sum(share * _WORTH.get(part, 1.0) for part, share in one.parts) for one in some)
    return min(1.0, math.log2(1 + sum(counted)) / 3)


def by_part(some: Sequence[Takeover]) -> dict[Part, float]:
    """0..1 for each part that is taken over."""
    found = {part: sum(one.weight * share for one in some for named, share in one.parts if named is part) for part in Part}
    return {part: round(1 - math.pow(0.5, weight), 4) for part, weight in found.items() if weight > 0}


def _takeover(mention: Mention, own_name: str) -> Takeover | None:
    text, bunch = _marked(mention.sentence[:_SENTENCE], mention.key, mention.together)
    found = _statement(text)
    if not found:
        return None
    weight, words, start, end = found
    place = section_weight(mention.section)
    weight *= place * _speaker(text, place, own_name) * bunch**-0.7
    weight *= _NAMED if mention.said_by == WITNESS else 1.0
    weight *= _SHOWING if _SHOWN.search(text) else 1.0
    return Takeover(round(weight, 4), _parts_of(text, start, end, mention.section), mention, words)


def _speaker(text: str, place: float, own_name: str) -> float:
    """How surely a sentence speaks of the work itself."""
    if _OURS.search(text) or (own_name and own_name in text):
        return _OUR_WORK
    if _OWN.search(text) or (place >= 0.8 and _FOLLOWING.search(text)):
        return 1.0
    return _UNSAID if place == 1.0 and _PASSIVE.search(text) else _OTHERS


@lru_cache(maxsize=1 << 13)
def _marked(sentence: str, key: str, together: tuple[str, ...]) -> tuple[str, int]:
    """The one sentence that holds the citation, and how many are cited together."""
    marked = mark(sentence, key, together)
    text = next((one for one in marked.focus if TARGET in one), "")
    return re.sub(r"\s+", " ", text.replace(f"({OTHER})", "").replace(OTHER, "")), marked.bunch


def _statement(text: str) -> tuple[float, str, int, int] | None:
    """The strongest pattern in a sentence: its weight, what it says, and where it stands; words between verb and citation weaken it."""
    if TARGET not in text or _ACTOR.search(text) or _AS_BASELINE.search(text):
        return None
    best: tuple[float, str, int, int] | None = None
    for words, weight, pattern in _PATTERNS:
        for hit in pattern.finditer(text):
            against = _CONTRAST.search(text[max(0, hit.start() - 15) : hit.end()]) or _DENIED.match(text[hit.end() : hit.end() + 80])
            factor = 0.1 if against else 0.93 ** max(0, len(hit[0].split()) - 4)
            if best is None or weight * factor > best[0]:
                best = weight * factor, words, hit.start(), hit.end()
    return best


def on_it(mention: Mention) -> bool:
    """Whether a sentence speaks of doing something on a work, as on a data set."""
    return _ON_IT.search(mention.sentence[:_SENTENCE]) is not None


def section_weight(path: Sequence[str]) -> float:
    """How much a section describes the work itself: 1 for method, setup and appendices, .8 for the introduction, .4 for related work."""
    return next((weight for title in reversed(path) for weight, pattern in _SECTIONS if pattern.search(title)), 1.0)


def _parts_of(text: str, start: int, end: int, section: Sequence[str]) -> tuple[tuple[Part, float], ...]:
    """The parts that the words near a statement name, and the titles it stands under, with their shares."""
    if _ON_IT.search(text):
        return ((Part.EVALUATION if _TRIED.search(text) else Part.DATA, 1.0),)
    near, titles = text[max(0, start - _NEAR) : end + _NEAR], " ".join(section[-2:])
    votes = {part: min(2, len(pattern.findall(near))) + 0.5 * bool(pattern.search(titles)) for part, pattern in _PART.items()}
    whole = sum(votes.values())
    if not whole:
        return ((Part.MODEL, 0.5), (Part.TRAINING, 0.5))
    return tuple((part, round(vote / whole, 4)) for part, vote in votes.items() if vote)
