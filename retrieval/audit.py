"""A generated repository held against a target and its lineage: what is there, what differs, what is missing. Pure.

Expectations come from the gap report: a value that the target states is expected for certain, one that only its lineage
holds as surely as its confidence says. They are compared with the facts of the repository; the components of the method
(the sections in which the target describes it) are looked for by retrieval. No code is run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lineage.insight import AuditFinding, Gap, Gaps, Held, Specification
from lineage.model import Hit
from lineage.tokens import STOP, tokens
from retrieval.gaps.text import TargetText

LEAST = 0.5
"""Confidence from which on a value of the lineage is expected of a repository."""
COVERED = 0.5
"""Share of a component's words that the best hits must have between them."""
_METHOD_TOPICS = frozenset({"architecture", "initialisation", "loss", "regularisation", "augmentation", "retrieval", "prompts", "procedure"})
_ASIDE = re.compile(
    r"introduction|abstract|related|background|prior work|conclu|discussion|limitation|future|acknowledg|reference|impact|ethic|broader|result|"
    r"experiment|evaluation|analys[ie]s|ablation|appendix|supplement|baseline|dataset|setup|setting|contribution|motivation|overview|notation",
    re.IGNORECASE,
)
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
Same = Callable[[str, str, str], bool]
Level = Literal["paper", "method", "experiment"]


@dataclass(frozen=True)
class Component:
    """A part of the method: the title of the section that describes it, and how the section opens."""

    title: str
    question: str
    words: frozenset[str]


def audited(gaps: Gaps, theirs: Mapping[str, Sequence[Held]], same: Same) -> Iterator[AuditFinding]:
    """One finding for each detail that has an expected value, weightiest first."""
    for gap in sorted(gaps.gaps, key=lambda gap: (-_weight(gap), gap.detail.name)):
        expected = _expected(gap)
        if expected:
            found = [one for name in gap.detail.facts or (gap.detail.name,) for one in theirs.get(name, ())]
            yield _finding(gap, expected, found, same)


def components(said: TargetText) -> tuple[Component, ...]:
    """The parts of the method, in the order of the text: sections that describe it, by their last title."""
    openings: dict[str, list[str]] = {}
    for one in said.sentences:
        titles = [title for title in one.chunk.section if title.strip()]
        if titles and not one.table and not any(_ASIDE.search(title) for title in titles):
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
    return max((one.confidence for one in gap.suggestions if one.value), default=0.0)


def _expected(gap: Gap) -> list[Held]:
    """Who holds the expected value: the target itself, else the best-supported offer of the lineage if it is sure enough."""
    stated = [one for one in gap.facts if one.fact.literal]
    if stated or gap.state is Specification.SPECIFIED:
        return stated
    best = next((one for one in gap.suggestions if one.value and one.confidence >= LEAST), None)
    return [one for one in best.held if one.fact.literal] if best else []


def _finding(gap: Gap, expected: Sequence[Held], found: Sequence[Held], same: Same) -> AuditFinding:
    met = next((one for one in found for other in expected if _agree(one, other, same)), None)
    literal = [one for one in found if one.fact.literal]
    shown = met or next(iter(literal or found), None)
    verdict: Literal["present", "different", "absent"] = "present" if met else "different" if literal else "absent"
    computed = not met and not literal and bool(found)
    return AuditFinding(
        level=_level(gap),
        name=gap.detail.name,
        title=gap.detail.title,
        verdict=verdict,
        expected=" or ".join(dict.fromkeys(_shown(one) for one in expected)),
        found=_shown(shown) if shown else "",
        where=_place(shown.evidence) if shown else "",
        evidence=tuple(one.evidence for one in expected[:2]),
        severity=round(_weight(gap), 3),
        why=_why(gap, verdict, computed),
    )


def _agree(one: Held, other: Held, same: Same) -> bool:
    return one.fact.literal and one.fact.name == other.fact.name and same(one.fact.name, one.fact.value, other.fact.value)


def _shown(one: Held) -> str:
    return " ".join(filter(None, (one.fact.value, one.fact.unit)))


def _level(gap: Gap) -> Level:
    return "method" if gap.detail.topic in _METHOD_TOPICS else "experiment"


def _why(gap: Gap, verdict: str, computed: bool) -> str:
    source = "the target states it" if gap.facts else f"from its lineage, with confidence {_certainty(gap):.2f}"
    if computed:
        return f"{source}; the repository computes it, which was not run"
    return source if verdict != "absent" else f"{source}; no value of it was found in the repository"
