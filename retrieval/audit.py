"""A generated repository held against a target and its lineage: what is there, what differs, what is missing. Pure.

Expectations come from the gap report: a value that the target states is expected for certain, else one of its own code,
else one of its lineage, as surely as the confidence says. They are compared with the facts of the repository; what an
example or a parameter's default holds may agree, but differs from nothing. The components of the method (the sections in
which the target describes it) are looked for by retrieval. No code is run.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lineage.insight import AuditFinding, Gap, Gaps, Held, Specification, Suggestion
from lineage.model import Hit, WorkId
from lineage.tokens import STOP, tokens
from retrieval.experiments import Section, is_parameter
from retrieval.gaps.text import TargetText, section_weight

LEAST = 0.5
"""Confidence from which on a value of the lineage is expected of a repository."""
COVERED = 0.5
"""Share of a component's words that the best hits must have between them."""
_METHOD_TOPICS = frozenset({"architecture", "initialisation", "loss", "regularisation", "augmentation", "retrieval", "prompts", "procedure"})
_ASIDE = re.compile(
    r"introduction|abstract|related|background|prior work|conclu|discussion|limitation|future|acknowledg|reference|impact|ethic|broader|result|"
    r"experiment|evaluation|analys[ie]s|ablation|appendix|supplement|baseline|dataset|setup|setting|contribution|motivati|overview|notation|"
    r"proof|theor(?:y|em|etical)|lemma|corollar|\bstud(?:y|ies)\b|sensitivity|illustration",
    re.IGNORECASE,
)
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
_STATED = 0.35
"""Weight of a section from which on its sentences speak of the target itself."""
_OPENING = 240
_EXAMPLES = frozenset({"examples", "example", "tests", "test", "demo", "demos", "tutorials"})
Same = Callable[[str, str, str], bool]
Level = Literal["paper", "method", "experiment"]


@dataclass(frozen=True)
class Component:
    """A part of the method: the title of the section that describes it, and how the section opens."""

    title: str
    question: str
    words: frozenset[str]


def audited(
    gaps: Gaps, theirs: Mapping[str, Sequence[Held]], same: Same, known: Mapping[str, Sequence[Held]] | None = None
) -> Iterator[AuditFinding]:
    """One finding for each detail that has an expected value, weightiest first.

    `known` are all facts of the lineage by name: a report shows the first few values that the target states, any of them will do.
    """
    for gap in sorted(gaps.gaps, key=lambda gap: (-_weight(gap), gap.detail.name)):
        expected = _expected(gap)
        if expected:
            names = gap.detail.facts or (gap.detail.name,)
            found = [one for name in names for one in theirs.get(name, ())]
            further = [one for name in names for one in (known or {}).get(name, ()) if gap.facts and _states(one, gaps.target.id)]
            yield _finding(gap, expected, [*expected, *further], found, same)


def _states(one: Held, target: WorkId) -> bool:
    """Whether the target's own text states a value as its own."""
    return one.fact.work == target and one.fact.kind in {"table", "prose"} and one.fact.literal and section_weight(one.evidence.chunk) >= _STATED


def components(said: TargetText) -> tuple[Component, ...]:
    """The parts of the method, in the order of the text: sections that describe it, by their last title."""
    openings: dict[str, list[str]] = {}
    proving = _mathematics(said)
    for one in said.sentences:
        titles = [title for title in one.chunk.section if title.strip()]
        if titles and not one.table and not any(_ASIDE.search(title) for title in titles) and not proving & set(_above(one.chunk.section)):
            openings.setdefault(titles[-1], []).append(one.text)
    found = (_component(title, texts) for title, texts in openings.items())
    return tuple(one for one in found if one.words)[:_MOST_COMPONENTS]


def found_components(looked: Iterable[tuple[Component, Sequence[Hit]]]) -> Iterator[AuditFinding]:
    """One finding for each component: present if the best hits speak of most of what its title names."""
    for component, hits in looked:
        held = {
            word for hit in hits for word in (*tokens(hit.chunk.text), *tokens(hit.chunk.header), *tokens(hit.chunk.symbol), *tokens(hit.chunk.path))
        }
        spoken = component.words & held
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
            why=f"{len(spoken)} of its {len(component.words)} words are spoken of" + (f": {', '.join(sorted(spoken))}" if spoken else ""),
        )


def score(findings: Sequence[AuditFinding]) -> float:
    """The share (0..1) of expectations that are met, each counted by how much it matters."""
    total = sum(one.severity for one in findings)
    return round(sum(one.severity for one in findings if one.verdict == "present") / total, 4) if total else 1.0


def _mathematics(said: TargetText) -> set[Section]:
    """The sections that prove rather than describe."""
    texts: dict[Section, list[str]] = defaultdict(list)
    for one in said.sentences:
        texts[one.chunk.section].append(one.text)
    return {section for section, some in texts.items() if sum(1 for text in some if _PROVEN.search(text)) >= _MATHEMATICS * len(some)}


def _above(section: Section) -> list[Section]:
    """A section and all that it is part of."""
    return [section[:depth] for depth in range(1, len(section) + 1)]


def _component(title: str, texts: Sequence[str]) -> Component:
    opening = " ".join(texts)[:_OPENING]
    words = (word for word in tokens(_NUMBERING.sub("", title)) if word not in STOP and word not in _VAGUE and len(word) > 1)
    return Component(title, f"{title}. {opening}", frozenset(words))


def _place(hit: Hit) -> str:
    """Where in the repository: file and lines, the lines that say it if they are known."""
    first, last = (hit.focus.start_line, hit.focus.end_line) if hit.focus else (hit.chunk.start_line, hit.chunk.end_line)
    return f"{hit.chunk.path}#L{first}" + (f"-L{last}" if last > first else "")


def _overlap(component: Component, hit: Hit) -> int:
    return len(component.words & {*tokens(hit.chunk.text), *tokens(hit.chunk.symbol), *tokens(hit.chunk.header)})


def _weight(gap: Gap) -> float:
    return gap.detail.weight * _certainty(gap)


def _certainty(gap: Gap) -> float:
    if gap.facts:
        return 1.0
    offer = _offer(gap)
    return offer.confidence if offer else 0.0


def _expected(gap: Gap) -> list[Held]:
    """Who holds the expected value: the target itself, else its own code, else the best-supported offer of the lineage if it is sure enough."""
    stated = [one for one in gap.facts if one.fact.literal]
    if stated or gap.state is Specification.SPECIFIED:
        return stated
    offer = _offer(gap)
    return [one for one in offer.held if one.fact.literal] if offer else []


def _offer(gap: Gap) -> Suggestion | None:
    """The value that is expected of what the target leaves unsaid: what its own code has goes before what others have."""
    valued = [one for one in gap.suggestions if one.value]
    own = next((one for one in valued if any(held.evidence.from_target for held in one.held)), None)
    return own or next((one for one in valued if one.confidence >= LEAST), None)


def _finding(gap: Gap, expected: Sequence[Held], agreeing: Sequence[Held], found: Sequence[Held], same: Same) -> AuditFinding:
    met, wanted = next(((one, other) for one in found for other in agreeing if _agree(one, other, same)), (None, None))
    literal = [one for one in found if one.fact.literal]
    set_ = [one for one in literal if not _is_aside(one)]
    shown = met or next(iter(set_ or literal or found), None)
    verdict: Literal["present", "different", "absent"] = "present" if met else "different" if set_ else "absent"
    return AuditFinding(
        level=_level(gap),
        name=gap.detail.name,
        title=gap.detail.title,
        verdict=verdict,
        expected=" or ".join(dict.fromkeys(_shown(one) for one in (*expected, *([wanted] if wanted else [])))),
        found=_shown(shown) if shown else "",
        where=_place(shown.evidence) if shown else "",
        evidence=tuple(one.evidence for one in expected[:2]),
        severity=round(_weight(gap), 3),
        why=_why(gap, verdict, literal, found),
    )


def _is_aside(one: Held) -> bool:
    """Whether a value is only what an example has, or what a function takes if its caller says nothing."""
    return is_parameter(one) or not _EXAMPLES.isdisjoint(one.evidence.chunk.path.lower().split("/")[:-1])


def _agree(one: Held, other: Held, same: Same) -> bool:
    """Whether two facts of one detail have the same value, under whichever of its names."""
    return one.fact.literal and same(other.fact.name, one.fact.value, other.fact.value)


def _shown(one: Held) -> str:
    return " ".join(filter(None, (one.fact.value, one.fact.unit)))


def _level(gap: Gap) -> Level:
    return "method" if gap.detail.topic in _METHOD_TOPICS else "experiment"


def _why(gap: Gap, verdict: str, literal: Sequence[Held], found: Sequence[Held]) -> str:
    source = "the target states it" if gap.facts else f"from its {_source(gap)}, with confidence {_certainty(gap):.2f}"
    if verdict != "absent":
        return source
    if literal:
        return f"{source}; the repository has only examples or defaults of parameters, which a run may set otherwise"
    return f"{source}; the repository computes it, which was not run" if found else f"{source}; no value of it was found in the repository"


def _source(gap: Gap) -> str:
    offer = _offer(gap)
    return "own code" if offer and any(held.evidence.from_target for held in offer.held) else "lineage"
