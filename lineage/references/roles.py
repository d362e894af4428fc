"""Citation contexts -> the roles a reference plays, each with its sentence and the cues that spoke for it.

One linear model per role over the cues of `lineage.references.citation_cues`; the weights are data (`data/roles.json`, made by
`python benchmarks/roles.py --data DIR --fit`). A verdict is the sum of what was seen: the cues with the largest
weights are handed back with it, in the words of the sentence, so nothing has to be believed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from lineage.records import Mention, Role, RoleVerdict
from lineage.references.citation_cues import MAX_TEXT, sentence_cues
from lineage.tables import packaged

MAX_MENTIONS = 200
SHOWN = 4
UNCITED = 0.25

_ORDER = {role: n for n, role in enumerate(Role)}
_SECTIONS = (
    ("related work", re.compile(r"related|prior work|previous work|literature|background|state of the art|overview of", re.IGNORECASE)),
    ("introduction", re.compile(r"introduction|motivation|\(front\)|abstract", re.IGNORECASE)),
    ("data", re.compile(r"\bdata\b|dataset|corpus|corpora|benchmark|task|games?\b", re.IGNORECASE)),
    ("experiments", re.compile(r"experiment|evaluat|result|implementation|setup|setting|baseline|training|ablation|hyper|detail", re.IGNORECASE)),
    ("method", re.compile(r"method|model|approach|architecture|algorithm|framework|technique|preliminar|system|pipeline", re.IGNORECASE)),
    ("discussion", re.compile(r"discussion|conclusion|limitation|future|ethic|impact", re.IGNORECASE)),
)
_MUTE = frozenset("a an the of to in on by for from with and or as at is are be it its this that we our i".split())
_DATA_TITLE = re.compile(r"\b(?:data ?sets?|corpus|corpora|benchmark|treebank|large-scale (?:data|hierarchical)|database)\b", re.IGNORECASE)
_METRIC_TITLE = re.compile(r"\b(?:metric|automatic evaluation of|evaluation measure|evaluating (?:text|summar)|bleu|rouge|score)\b", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class RoleModel:
    """Weights by cue in the order of `Role`, the bias and the least probability that counts as a verdict.

    `sections` are added by the kind of section a mention stands in.
    """

    weights: Mapping[str, tuple[float, ...]]
    bias: Mapping[Role, float]
    threshold: Mapping[Role, float]
    sections: Mapping[str, Mapping[Role, float]]


@cache
def shipped() -> RoleModel:
    """The model that comes with the package."""
    return read_model(packaged("roles"))


def read_model(raw: Mapping[str, Any]) -> RoleModel:
    """A model from its table: `roles` in the order of `Role`, `cues` with a weight for each, in 1/`unit` of log-odds."""
    roles = {Role(name): role_weights for name, role_weights in raw["roles"].items()}
    return RoleModel(
        weights={cue: tuple(w / raw["unit"] for w in given) for cue, given in raw["cues"].items()},
        bias={role: role_weights["bias"] for role, role_weights in roles.items()},
        threshold={role: role_weights["threshold"] for role, role_weights in roles.items()},
        sections={name: {Role(r): w for r, w in given.items()} for name, given in raw["sections"]["weights"].items()},
    )


def classify(mentions: Sequence[Mention], *, title: str = "", cited_title: str = "", model: RoleModel | None = None) -> tuple[RoleVerdict, ...]:
    """The roles of one reference, surest first, from every place that mentions it (the first `MAX_MENTIONS`).

    A role's score is that of the mention that speaks most for it; its cues are the four strongest. A reference with mentions
    has at least one role. Without any mention, only a cited title that names a data set or a metric gives a verdict, a weak one.
    `title`, the citing paper's, is what a citation must not be mistaken for (a paper quoted in its own list).
    """
    model = model or shipped()
    spoken = [m for m in mentions[:MAX_MENTIONS] if m.sentence.strip()]
    if not spoken:
        return _by_title(cited_title) if cited_title != title or not title else ()
    verdicts = [verdict for mention in spoken for verdict in judge(mention, model)]
    best = {role: max((v for v in verdicts if v.role is role), key=lambda v: v.score) for role in Role}
    over = [v for role, v in best.items() if v.score >= model.threshold[role]]
    return in_order(over or [max(best.values(), key=lambda v: v.score)])


def judge(mention: Mention, model: RoleModel | None = None) -> tuple[RoleVerdict, ...]:
    """The probability of every role for one mention, with the cues for it."""
    return _judged(mention, model or shipped())


@lru_cache(1 << 12)
def _judged(mention: Mention, model: RoleModel) -> tuple[RoleVerdict, ...]:
    """A build asks up to nine times: for roles and for the rank, whenever more is known."""
    cue_words = sentence_cues(mention.sentence[:MAX_TEXT], mention.shown, mention.together)
    section = section_kind(mention.section)
    return tuple(_verdict(role, cue_words, mention, section, model) for role in Role)


def section_kind(path: Iterable[str]) -> str:
    """What kind of section a title path names, innermost title first; the empty string if none is recognized."""
    return next((name for title in reversed(list(path)) for name, pattern in _SECTIONS if pattern.search(title)), "")


def _verdict(role: Role, cue_words: Mapping[str, str], mention: Mention, section: str, model: RoleModel) -> RoleVerdict:
    n = _ORDER[role]
    spoke = {name: model.weights[name][n] for name in cue_words if name in model.weights}
    place = model.sections.get(section, {}).get(role, 0.0)
    total = model.bias[role] + sum(spoke.values()) + place
    strongest = sorted((cue for cue in spoke if spoke[cue] > 0), key=lambda cue: (cue_words[cue] in _MUTE, -spoke[cue], cue))
    cue_descriptions = list(dict.fromkeys(_readable(name, cue_words[name]) for name in strongest))[:SHOWN]
    if place > 0:
        cue_descriptions.append(f"section: {section}")
    score = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))
    return RoleVerdict(role, round(score, 4), mention.sentence, mention.section, tuple(cue_descriptions))


def _readable(name: str, words: str) -> str:
    """A cue as a person reads it: the words of the sentence where it has some, else its name."""
    if not words or words.isdigit() or name.startswith("cited"):
        return name
    text = words if "…" in words or "[it]" in words else f"“{words}”"
    return f"{text} (next to it)" if name.startswith("beside:") else text


def _by_title(cited_title: str) -> tuple[RoleVerdict, ...]:
    hits = ((Role.DATA, _DATA_TITLE.search(cited_title)), (Role.METRIC, _METRIC_TITLE.search(cited_title)))
    return tuple(RoleVerdict(role, UNCITED, cues=(f"no context; the title says “{hit[0]}”",)) for role, hit in hits if hit)


def in_order(verdicts: Iterable[RoleVerdict]) -> tuple[RoleVerdict, ...]:
    """Heaviest first; background last, since it is what remains where nothing more is said."""
    return tuple(sorted(verdicts, key=lambda v: (v.role is Role.BACKGROUND, -v.score, v.role)))
