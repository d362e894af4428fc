"""A generated repository held against a target and its lineage: what is there, what differs, what is missing. Pure.

Expectations come from the gap report (`expected`): a value that the target states is expected for certain, else one of its
own code, else one of its lineage, as surely as the confidence says. They are compared with the facts of the repository of
the same detail and experiment; what an example or a parameter's default holds may agree, but differs from nothing. The
components of the method (the sections that describe it) are looked for by retrieval. No code is run.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lineage.insight import AuditFinding, Gap, Gaps, Held
from lineage.model import Hit
from lineage.tokens import STOP, parts, tokens
from retrieval.expected import (
    Repository,
    Same,
    absent_counts,
    agree,
    alike,
    certainty,
    expected,
    further,
    has_program,
    is_aside,
    is_own,
    offered,
)
from retrieval.experiments import Experiments, Section
from retrieval.gaps.text import TargetText

COVERED = 0.5
"""Share of a component's words that the best hits must have between them."""
_METHOD_TOPICS = frozenset({"architecture", "initialization", "loss", "regularization", "augmentation", "retrieval", "prompts", "procedure"})
_ASIDE = re.compile(
    r"introduction|abstract|related|background|prior work|conclu|discussion|limitation|future|acknowledg|reference|impact|ethic|broader|result|"
    r"experiment|evaluation|analys[ie]s|ablation|appendix|supplement|baseline|dataset|setup|setting|contribution|motivati|overview|notation|"
    r"proof|theor(?:y|em|etical)|lemma|corollar|\bstud(?:y|ies)\b|sensitivity|illustration|derivation|approximation|metrics?\b|pseudo-?code|"
    r"preliminar|\badditional\b|\balternat(?:e|ive)\b",
    re.IGNORECASE,
)
_REMARK = re.compile(
    r"\s{0,9}(?:remarks?|notes?|on|relations?(?:hips?)?|connections?|comparisons?|comparing|replacing|tuning|varying|removing|qualitative|values?|choices?|choosing|effects?|"
    r"influence|roles?|importance|benefits?|advantages?|why|what|when|does|is|are|can)\b",
    re.IGNORECASE,
)
_FINDING = re.compile(
    r"\?|\b(?:is|are|was|were|has|have|can|cannot|may|does|do|improves?|enhances?|determines?|outperforms?|matters?|hurts?|affects?|leads?|helps|"
    r"reduces?|requires?|performs?|achieves?|depends?|enables?|allows?|makes?|yields?|boosts?|generali[sz]es?|remains?|suffers?|fails?|replaces|needs)\b",
    re.IGNORECASE,
)
"""A finite verb: such a title says what was found."""
_PROVEN = re.compile(
    r"\b(?:theorem|lemma|corollary|proposition|proofs?|regret|convergence rate|(?:upper|lower) bound|(?:strongly |non-?)?convex|lipschitz)\b",
    re.IGNORECASE,
)
_MATHEMATICS = 0.125
"""Share of a section's sentences that speak of theorems and proofs, from which on it and its parts describe nothing that code could have."""
_VAGUE = frozenset(
    tokens(
        "our method model approach framework proposed task problem definition details formulation general training additional parameters final"
        " hyperparameters search full performance measurements system module implementation description procedure summary step"
    )
)
_NUMBERING = re.compile(r"^\s*(?:[A-Z]|\d+)(?:\.\d+)*\.?\s+(?=\S)")
_MOST_COMPONENTS = 16
_COMPONENT = 0.6
_OPENING = 240
_WORD = re.compile(r"[^\W_]{1,60}")
_LEAST_PARTS = 2
Verdict = Literal["present", "different", "absent"]


@dataclass(frozen=True)
class Component:
    """A part of the method: the title of the section that describes it, and how the section opens."""

    title: str
    question: str
    words: tuple[str, ...]


def audited(
    gaps: Gaps, theirs: Mapping[str, Sequence[Held]], same: Same, known: Mapping[str, Sequence[Held]] | None = None
) -> Iterator[AuditFinding]:
    """One finding for each detail whose expected value can be held against the repository, weightiest first; `known` are all facts by name."""
    facts = known or {}
    silent = has_program(facts)
    repository = Repository.of(theirs, Experiments.of(facts, gaps.target.id))
    for gap in sorted(gaps.gaps, key=lambda gap: (-_weight(gap), gap.detail.name)):
        wanted = [one for one in expected(gap, silent) if repository.has(one)] if gap.detail.facts else []
        if wanted and (finding := _finding(gap, wanted, [*wanted, *further(gap, facts)], repository, same)):
            yield finding


def components(said: TargetText) -> tuple[Component, ...]:
    """The parts of the method, in the order of the text: sections that describe it, by their last title."""
    openings: dict[str, list[str]] = {}
    proving = _mathematics(said)
    for one in said.sentences:
        titles = [title for title in one.chunk.section if title.strip()]
        above = {one.chunk.section[: depth + 1] for depth in range(len(one.chunk.section))}
        if titles and not one.table and not any(map(_says_aside, titles)) and proving.isdisjoint(above):
            openings.setdefault(titles[-1], []).append(one.text)
    found = (Component(title, f"{title}. {' '.join(texts)[:_OPENING]}", tuple(dict.fromkeys(_telling(title)))) for title, texts in openings.items())
    return tuple(one for one in found if _tells(one))[:_MOST_COMPONENTS]


def found_components(looked: Iterable[tuple[Component, Sequence[Hit]]]) -> Iterator[AuditFinding]:
    """One finding for each component: present if the best hits speak of most of what its title names."""
    for component, hits in looked:
        held = {
            word for hit in hits for word in (*tokens(hit.chunk.text), *tokens(hit.chunk.header), *tokens(hit.chunk.symbol), *tokens(hit.chunk.path))
        }
        spoken = [word for word in component.words if _is_spoken(word, held)]
        share = len(spoken) / len(component.words)
        there = share >= COVERED
        best = max(hits, key=lambda hit: _overlap(component, hit), default=None) if there else None
        yield AuditFinding(
            level="paper",
            name="component",
            title=component.title,
            verdict="present" if there else "absent",
            expected=component.question[:_OPENING],
            found=best.chunk.symbol or best.chunk.path if best else "",
            where=_place(best) if best else "",
            severity=_COMPONENT,
            why=f"{len(spoken)} of its {len(component.words)} words are spoken of" + (f": {', '.join(spoken)}" if spoken else ""),
        )


def score(findings: Sequence[AuditFinding]) -> float:
    """The share (0..1) of expectations that are met, each counted by how much it matters."""
    total = sum(one.severity for one in findings)
    return round(sum(one.severity for one in findings if one.verdict == "present") / total, 4) if total else 1.0


def _says_aside(title: str) -> bool:
    """Whether a title is none of a part of the method: it asks, finds, remarks, compares or tries out."""
    return _ASIDE.search(title) is not None or _REMARK.match(_NUMBERING.sub("", title)) is not None or _FINDING.search(title) is not None


def _mathematics(said: TargetText) -> set[Section]:
    """The sections that prove rather than describe."""
    texts: dict[Section, list[str]] = defaultdict(list)
    for one in said.sentences:
        texts[one.chunk.section].append(one.text)
    return {section for section, some in texts.items() if sum(1 for text in some if _PROVEN.search(text)) >= _MATHEMATICS * len(some)}


def _telling(title: str) -> Iterator[str]:
    """The words of a title that say what it is about, as written: the parts of `VeriSci` are one name."""
    for word in _WORD.findall(_NUMBERING.sub("", title)):
        if any(form not in STOP and form not in _VAGUE and len(form) > 1 for form in tokens(word)):
            yield word


def _tells(component: Component) -> bool:
    """Whether a title says enough to be looked for: two words, or a name of two parts."""
    return sum(len([part for part in parts(word) if len(part) > 1]) for word in component.words) >= _LEAST_PARTS


def _is_spoken(word: str, held: Container[str]) -> bool:
    """Whether a word is there, whole or in all its parts."""
    *pieces, whole = tokens(word)
    return whole in held or (bool(pieces) and all(piece in held for piece in pieces))


def _place(hit: Hit) -> str:
    """Where in the repository: file and lines, the lines that say it if they are known."""
    first, last = (hit.focus.start_line, hit.focus.end_line) if hit.focus else (hit.chunk.start_line, hit.chunk.end_line)
    return f"{hit.chunk.path}#L{first}" + (f"-L{last}" if last > first else "")


def _overlap(component: Component, hit: Hit) -> int:
    held = {*tokens(hit.chunk.text), *tokens(hit.chunk.symbol), *tokens(hit.chunk.header)}
    return sum(_is_spoken(word, held) for word in component.words)


def _weight(gap: Gap) -> float:
    return gap.detail.weight * certainty(gap)


def _finding(gap: Gap, wanted: Sequence[Held], agreeing: Sequence[Held], repository: Repository, same: Same) -> AuditFinding | None:
    """Present if any value agrees, different if one contradicts; none where all that is found is of something else, or is computed."""
    found = [one for name in gap.detail.facts for one in repository.held.get(name, ())]
    met, which = next(((one, other) for one in found for other in agreeing if agree(one, other, same)), (None, None))
    literal = [one for one in found if one.fact.literal and any(alike(one, other) for other in wanted)]
    set_ = [one for one in literal if not is_aside(one, found)]
    against = [one for one in set_ if any(repository.comparable(other, one) for other in wanted)]
    if not met and not against and (set_ or not absent_counts(wanted) or not all(one.fact.literal for one in found)):
        return None
    verdict: Verdict = "present" if met else "different" if against else "absent"
    shown = met or next(iter(against or literal or found), None)
    return _told(gap, verdict, [*wanted, *([which] if which else [])], shown, _why(gap, verdict, literal))


def _told(gap: Gap, verdict: Verdict, wanted: Sequence[Held], shown: Held | None, why: str) -> AuditFinding:
    return AuditFinding(
        level="method" if gap.detail.topic in _METHOD_TOPICS else "experiment",
        name=gap.detail.name,
        title=gap.detail.title,
        verdict=verdict,
        expected=" or ".join(dict.fromkeys(map(_shown, wanted))),
        found=_shown(shown) if shown else "",
        where=_place(shown.evidence) if shown else "",
        evidence=tuple(one.evidence for one in wanted[:2]),
        severity=round(_weight(gap), 3),
        why=why,
    )


def _shown(one: Held) -> str:
    return " ".join(filter(None, (one.fact.value, one.fact.unit)))


def _why(gap: Gap, verdict: str, literal: Sequence[Held]) -> str:
    offer = offered(gap)
    whose = "own code" if offer and is_own(offer) else "lineage"
    source = "the target states it" if gap.facts else f"from its {whose}, with confidence {certainty(gap):.2f}"
    if verdict != "absent":
        return source
    if literal:
        return f"{source}; the repository has only examples or defaults of parameters, which a run may set otherwise"
    return f"{source}; no value of it was found in the repository"
