"""Which references a paper inherits from, and why.

Every reference gets a handful of signals in 0..1 (its roles, how and where the text speaks of it, whether its
code is known, flags of services, relations of title, authors and year). The score is a logistic sum of signals
with the weights of `data/ranking.json`, of which those that the text carries were fitted
(`python benchmarks/ranking.py --data DIR --fit`) and the others set by hand, each marked as such. A reference
of which nobody quotes a sentence is scored by what remains, and says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lineage.ids import normal_title
from lineage.records import CodeLink, Mention, Reference, Role, RoleVerdict, Tier, Work, WorkId
from lineage.references.citation_cues import mark
from lineage.references.inheritance import by_part, on_it, section_weight, takeovers, total
from lineage.references.roles import classify, judge, section_kind
from lineage.references.same_work import facts
from lineage.references.signals import RankSignal, own_name
from lineage.tables import packaged
from lineage.text.tokens import counted

MAX_MENTIONS = 60
SAID = 0.4
_CLEAR = 0.2
"""Weight of a statement from which on something is taken over, besides what is compared."""
_BASELINE = tuple(Role).index(Role.BASELINE)
_STOP = {"a", "an", "the", "of", "for", "in", "on", "and", "to", "with", "by", "via", "from", "using", "is", "are", "at", "as"}
_TIERS = {Tier.OFFICIAL: 1.0, Tier.AUTHOR: 0.8, Tier.REIMPLEMENTATION: 0.4, Tier.MENTIONED: 0.2}
_ROLE_WORDS = {
    Role.BASE: "built upon",
    Role.METHOD: "a component used",
    Role.SETUP: "its settings are followed",
    Role.DATA: "its data are used",
    Role.METRIC: "its metric is used",
    Role.BASELINE: "compared with",
    Role.BACKGROUND: "only background",
}


@dataclass(frozen=True)
class Weights:
    """Log-odds per unit of signal, and the bias, with and without any context."""

    bias: float
    bias_without: float
    signals: Mapping[str, float]


def read_weights(raw: Mapping[str, Any]) -> Weights:
    """Weights from their table."""
    return Weights(raw["bias"], raw["bias_without_contexts"], {**raw["set_by_hand"], **raw["fitted"]})


DEFAULT = read_weights(packaged("ranking"))


def rank(
    references: Sequence[Reference],
    *,
    works: Mapping[WorkId, Work],
    links: Sequence[CodeLink] = (),
    target: Work | None = None,
    weights: Weights = DEFAULT,
    more: Mapping[WorkId, Sequence[RankSignal]] | None = None,
    named: Mapping[WorkId, Sequence[Mention]] | None = None,
) -> tuple[Reference, ...]:
    """The references, best first, with `roles` (where none were given), `score` in 0..1 and `why`, strongest reason first.

    Ties keep the order of the bibliography. `links` are code links of the cited works, `target` the citing work, `more`
    further signals of cited works (`lineage.references.ancestors`), `named` the sentences that
    speak of a cited work by its short
    name alone (`lineage.references.ancestors`).
    """
    code, more, named = _best_links(links), more or {}, named or {}
    scored = []
    for r in references:
        signals = taken_signals(r.mentions, named.get(r.cited, ()), own_name(target))
        scored.append(_score(r, works.get(r.cited), code.get(r.cited), target, weights, (*signals, *more.get(r.cited, ()))))
    return tuple(sorted(scored, key=lambda r: -r.score))


def _best_links(links: Sequence[CodeLink]) -> dict[WorkId, CodeLink]:
    best: dict[WorkId, CodeLink] = {}
    for link in links:
        best_link = best.get(link.paper)
        if best_link is None or _TIERS[link.tier] > _TIERS[best_link.tier]:
            best[link.paper] = link
    return best


def _score(
    reference: Reference, work: Work | None, link: CodeLink | None, target: Work | None, weights: Weights, more: Sequence[RankSignal]
) -> Reference:
    title, cited = target.title if target else "", work.title if work else ""
    roles = reference.roles or classify(reference.mentions, title=title, cited_title=cited)
    signals = [*text_signals(reference.mentions), *_known_signals(reference, work, link, target), *_title_roles(reference, roles), *more]
    spoken = any(m.sentence.strip() for m in reference.mentions)
    parts = [(weights.signals.get(s.name, 0.0) * s.value, s) for s in signals]
    total = (weights.bias if spoken else weights.bias_without) + sum(part for part, _ in parts)
    strongest_parts = sorted((p for p in parts if p[0] > 0.05 and p[1].words), key=lambda p: -p[0])
    why = [s.words for _, s in strongest_parts]
    if not spoken:
        why.append("no sentence of the citing paper is known: judged by code, influence, title and year alone")
    against = [s.words for part, s in sorted(parts, key=lambda p: p[0]) if part < -0.3 and s.words]
    why += [f"against it: {words}" for words in against[:2]]
    return replace(reference, roles=roles, score=round(1 / (1 + math.exp(-total)), 4), why=tuple(dict.fromkeys(why)))


# What the text says


def text_signals(mentions: Sequence[Mention]) -> list[RankSignal]:
    """Signals from the citing sentences alone (the first `MAX_MENTIONS`); empty without any."""
    spoken = [m for m in mentions[:MAX_MENTIONS] if m.sentence.strip()]
    if not spoken:
        return []
    marked = [mark(m.sentence, m.shown, m.together) for m in spoken]
    crowd = sum(m.bunch >= 4 for m in marked) / len(marked)
    count = len(spoken)
    signals = [
        RankSignal("mentions", _damped(count), f"mentioned {count} times" if count > 1 else ""),
        RankSignal("crowd", crowd, "cited in bunches of four and more"),
        *_section_signals(spoken),
        *_role_signals(spoken),
    ]
    return [s for s in signals if s.value > 0]


def taken_signals(mentions: Sequence[Mention], named: Sequence[Mention] = (), own: str = "") -> list[RankSignal]:
    """What the text says is taken over from a work, how many parts of it, and how often it is named where the work itself is described."""
    takeover_statements = list(takeovers([*mentions[:MAX_MENTIONS], *named], own))
    parts = [part for part, value in by_part(takeover_statements).items() if value >= SAID]
    best = max(takeover_statements, key=lambda takeover: takeover.weight, default=None)
    core = sum(section_weight(m.section) == 1.0 and not on_it(m) for m in named)
    compared = any(judge(m)[_BASELINE].score >= 0.5 for m in mentions[:MAX_MENTIONS] if m.sentence.strip())
    signals = [
        RankSignal(
            "taken",
            total(takeover_statements),
            f"taken over: “{_short(best.mention.sentence.replace(' ⟦T⟧', ''))}”" if best and best.weight >= SAID else "",
        ),
        RankSignal("parts", min(1.0, len(parts) / 3), f"for {', '.join(parts)}" if parts else ""),
        RankSignal("named", _damped(core), f"named {counted(core, 'time')} more where the work is described" if core else ""),
        RankSignal(
            "compared_only",
            float(compared and (best is None or best.weight < _CLEAR)),
            "it is compared with, and nothing says that anything is taken over",
        ),
    ]
    return [s for s in signals if s.value > 0]


def _section_signals(spoken: Sequence[Mention]) -> list[RankSignal]:
    kinds = sorted({kind for m in spoken if (kind := section_kind(m.section))})
    core = [k for k in kinds if k in {"method", "experiments", "data"}]
    only = kinds and set(kinds) <= {"related work", "introduction"}
    return [
        RankSignal("sections", min(1.0, (len(kinds) - 1) / 3) if kinds else 0.0, f"in {counted(len(kinds), 'kind')} of sections: {', '.join(kinds)}"),
        RankSignal("core_section", float(bool(core)), f"used where the work is described ({', '.join(core)})"),
        RankSignal("related_only", float(bool(only)), f"mentioned only in the {' and '.join(kinds)}"),
    ]


def _role_signals(spoken: Sequence[Mention]) -> list[RankSignal]:
    verdicts = [judge(mention) for mention in spoken]
    signals: list[RankSignal] = []
    for n, role in enumerate(Role):
        best = max((v[n] for v in verdicts), key=lambda v: v.score)
        words = _ROLE_WORDS[role] + ("" if role is Role.BACKGROUND else f": “{_short(best.sentence)}”")
        value = sum(v[n].score for v in verdicts) / len(verdicts) if role is Role.BACKGROUND else best.score
        signals.append(RankSignal(f"role_{role.value}", value, words if value >= SAID else ""))
    return signals


def _damped(times: float) -> float:
    """0..1 from a number of times, each further one counting less: 1 -> .2, 3 -> .4, 7 -> .6, 31 and more -> 1."""
    return min(1.0, math.log2(1 + times) / 5)


def _short(sentence: str, limit: int = 160) -> str:
    text = " ".join(sentence.split())
    return text if len(text) <= limit else text[:limit].rsplit(" ", 1)[0] + " …"


# What is known besides


def _known_signals(reference: Reference, work: Work | None, link: CodeLink | None, target: Work | None) -> list[RankSignal]:
    signals = [
        RankSignal("influential", float(reference.influential), "Semantic Scholar calls the citation influential"),
        RankSignal("code", _TIERS[link.tier] if link else 0.0, f"{link.tier.value} code is known: {link.repo.removeprefix('repo:')}" if link else ""),
    ]
    if work and target:
        signals += [_title_kinship(work, target), _year_kinship(work, target), _self_citation(work, target)]
    return [s for s in signals if s.value > 0]


def _content_words(title: str) -> set[str]:
    return {w[:6] for w in normal_title(title).split() if w not in _STOP}


def _title_kinship(work: Work, target: Work) -> RankSignal:
    """Share of the smaller title's content words (cut to six letters, a poor man's stem) that both titles have."""
    work_words, other = _content_words(work.title), _content_words(target.title)
    shared = work_words & other
    value = len(shared) / max(3, min(len(work_words), len(other))) if shared else 0.0
    return RankSignal("title", value, f"titles share {counted(len(shared), 'word')}")


def _year_kinship(work: Work, target: Work) -> RankSignal:
    if work.year is None or target.year is None:
        return RankSignal("recent", 0.0, "")
    years = max(0, target.year - work.year)
    return RankSignal("recent", max(0.0, 1 - years / 6), f"{counted(years, 'year')} older" if years else "of the same year")


def _self_citation(work: Work, target: Work) -> RankSignal:
    work_people, other = ({p[0] for p in facts(w).people} - {""} for w in (work, target))
    shared = sorted(work_people & other)
    first = any(p[0] in shared for p in facts(work).people[:1] + facts(work).people[-1:])
    return RankSignal("self", float(first) if shared else 0.0, f"by the same authors ({', '.join(shared[:3])})")


def _title_roles(reference: Reference, roles: Sequence[RoleVerdict]) -> list[RankSignal]:
    """Roles that were read off a title, where there is no sentence."""
    if reference.mentions:
        return []
    return [RankSignal("title_role", v.score, f"its title names a {v.role.value} source") for v in roles]


def without_signals(references: Iterable[Reference], known: Mapping[WorkId, Sequence[RankSignal]], target: WorkId) -> tuple[Reference, ...]:
    """References of the target as they are scored where nothing is known of its code: without these signals of it."""
    return tuple(
        _without(reference, known[reference.cited]) if reference.citing == target and reference.cited in known else reference
        for reference in references
    )


def _without(reference: Reference, known: Sequence[RankSignal]) -> Reference:
    score = min(max(reference.score, 1e-4), 1 - 1e-4)
    odds = math.log(score / (1 - score)) - sum(DEFAULT.signals.get(signal.name, 0.0) * signal.value for signal in known)
    why = tuple(words for words in reference.why if words not in {signal.words for signal in known})
    return replace(reference, score=round(1 / (1 + math.exp(-odds)), 4), why=why)
