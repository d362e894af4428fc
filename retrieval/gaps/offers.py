"""What a lineage offers for a detail that its target leaves open: values, each with who holds it and how that reaches the target, graded.

Facts of one name and value, whoever holds them, are one offer. What supports it is counted (`Support`) and told
link by link: target cites P in sentence S with role R, P's repository has it at file:line@commit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lineage.citation import citation, pinpoint
from lineage.citation import name as work_name
from lineage.hyperparameters.values import worded
from lineage.records import CodeLink, Hit, Reference, Work, WorkId
from lineage.results import FactOccurrence, Grade, Suggestion
from lineage.text.hidden_text import visible
from lineage.text.tokens import parts
from retrieval.decisions.fact_index import is_low_evidence_path, is_vendored
from retrieval.decisions.precedence import Precedence, role, role_name, works_of
from retrieval.decisions.provenance import by_value
from retrieval.gaps.stated import Pointer

VALUES = 3
"""Values offered for one detail."""
HOLDERS = 5
_RUN = {"command": 1.0, "config": 0.9, "call": 0.6, "default": 0.4, "table": 0.5, "prose": 0.5}
_OWN = 10.0
"""Strength of the target's own code: more than anybody whom it points to can have."""
_SENTENCE = 240
_ENDS = frozenset(("in", "out", "input", "output", "z", "img", "image"))
"""First words of names of channels that are the data's and not a layer's width."""
GRADES: tuple[Grade, ...] = ("strong", "fair", "weak")
_SET = 0.6
"""Weight of a kind of fact from which on a program is run with it: a command, a configuration, a call."""
ANCESTOR = 0.7
"""Weight of the roles whose settings a target takes over: base, setup, method."""
_AGREEING = 2
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Context:
    """What an offer is judged in: the target, the links of repositories, whether two values of a detail are one.

    `precedence` says whose value comes first.
    """

    target: Work
    links: Mapping[WorkId, CodeLink]
    same: Callable[[str, str, str], bool]
    precedence: Precedence = field(default_factory=Precedence)


@dataclass(frozen=True)
class Offer:
    """A suggestion, the name of the fact it is a value of, and what orders offers."""

    name: str
    suggestion: Suggestion
    place: tuple[float, ...]


def offers(
    names: Sequence[str],
    occurrences_by_key: Mapping[str, Sequence[FactOccurrence]],
    pointers: Sequence[Pointer],
    context: Context,
    *,
    topic: str = "",
) -> list[Offer]:
    """The offers for facts of these names, in their order; the target's paper offers nothing."""
    useful = {name: [occurrence for occurrence in occurrences_by_key.get(name, ()) if _useful(occurrence, context)] for name in names}
    rivals = (_Rivals(name, nth, by_value(name, some, context.same), pointers, context, topic) for nth, (name, some) in enumerate(useful.items()))
    return sorted((rival.offer(group) for rival in rivals for group in rival.groups), key=lambda offer: offer.place)


def _useful(occurrence: FactOccurrence, context: Context) -> bool:
    """Whether a fact can be offered: a value that is not the target's own word, nor that of a repository which a paper only mentions,
    and no number of channels that just go in or out."""
    ends = occurrence.fact.name == "channels" and not _ENDS.isdisjoint(parts(occurrence.fact.written)[:1])
    return (
        occurrence.fact.work != context.target.id
        and occurrence.fact.literal
        and not ends
        and not occurrence.mentioned
        and not is_vendored(occurrence.evidence)
    )


@dataclass(frozen=True)
class _Rivals:
    """All facts of one name by value, and what they are judged by; `nth` is the name's place in its detail."""

    name: str
    nth: int
    groups: Sequence[Sequence[FactOccurrence]]
    pointers: Sequence[Pointer]
    context: Context
    topic: str

    def offer(self, group: Sequence[FactOccurrence]) -> Offer:
        """The holders of one value as an offer."""
        ordered = _one_a_place(sorted(group, key=lambda occurrence: -self.strength(occurrence)))
        best, support = ordered[0], self.support(ordered)
        grade, reason = graded(support)
        suggestion = Suggestion(
            value=best.fact.value,
            unit=best.fact.unit,
            grade=grade,
            reason=reason,
            held=tuple(ordered[:HOLDERS]),
            evidence=tuple(occurrence.evidence for occurrence in ordered[:HOLDERS]),
            chain=chain(best.evidence, self.context, self.pointers, _has(self.name, best)),
        )
        own = any(_is_own(occurrence) for occurrence in group)
        band = max(self.context.precedence.band(occurrence.evidence, self.topic) for occurrence in group)
        return Offer(self.name, suggestion, (not own, support.aside, self.nth, 0 if own else -band, *order(support)))

    def strength(self, occurrence: FactOccurrence) -> float:
        """How much one holder speaks for its value (for the order within a group)."""
        score = _OWN * _is_own(occurrence) + 4.0 * self.pointed(occurrence) + _RUN[occurrence.fact.kind]
        return score + self.context.precedence.weight(occurrence.evidence, self.topic) - 2.0 * is_low_evidence_path(occurrence)

    def pointed(self, occurrence: FactOccurrence) -> float:
        """How surely the target points to a holder: 1 by the nearest pointer (for this very detail, if there is one), half by others."""
        papers = works_of(occurrence.evidence)
        return next((0.5 if at else 1.0 for at, pointer in enumerate(self.pointers) if papers & set(pointer.works)), 0.0)

    def support(self, group: Sequence[FactOccurrence]) -> Support:
        """What speaks for the value that these hold, best first."""
        works = {occurrence.fact.work for occurrence in group}
        everyone = {occurrence.fact.work for some in self.groups for occurrence in some}
        beside = sum(any(occurrence.fact.work == group[0].fact.work for occurrence in other) for other in self.groups)
        nearest = max(group, key=lambda occurrence: role(occurrence.evidence))
        return Support(
            own=any(occurrence.evidence.from_target for occurrence in group),
            pointed=max(map(self.pointed, group)),
            role=role(nearest.evidence),
            role_name=role_name(nearest.evidence),
            run=max(_RUN[occurrence.fact.kind] for occurrence in group),
            works=len(works),
            everyone=len(everyone),
            values=beside,
            aside=all(is_low_evidence_path(occurrence) for occurrence in group),
            scoped=all(occurrence.fact.scope for occurrence in group),
        )


def _is_own(occurrence: FactOccurrence) -> bool:
    """Whether the target's own code holds a value, other than in examples and the like."""
    return occurrence.evidence.from_target and not is_low_evidence_path(occurrence)


def _one_a_place(group: Sequence[FactOccurrence]) -> list[FactOccurrence]:
    """One holder a work first, then the rest."""
    seen: set[WorkId] = set()
    first: list[FactOccurrence] = []
    later: list[FactOccurrence] = []
    for occurrence in group:
        (later if occurrence.fact.work in seen else first).append(occurrence)
        seen.add(occurrence.fact.work)
    return [*first, *later]


# -- the chain in words


def _has(name: str, occurrence: FactOccurrence) -> str:
    value = worded(occurrence.fact.value, occurrence.fact.unit)
    scope = f" ({visible(occurrence.fact.scope)[0]})" if occurrence.fact.scope else ""
    return f"has {name} = {visible(value)[0]}{scope} at {pinpoint(line_of(occurrence))}"


def line_of(occurrence: FactOccurrence) -> Hit:
    """The evidence of a fact, its focus on the line of the fact where that is known."""
    line = occurrence.fact.line
    if not line or occurrence.evidence.work.kind != "code":
        return occurrence.evidence
    chunk = replace(occurrence.evidence.chunk, start_line=line, end_line=line)
    return replace(occurrence.evidence, chunk=chunk, focus=None)


def chain(hit: Hit, context: Context, pointers: Sequence[Pointer], has: str) -> tuple[str, ...]:
    """Link by link from the target to a piece of evidence."""
    if hit.from_target:
        return (f"the target's own repository {_repo(hit, context)}", has)
    papers = works_of(hit)
    taken = next((pointer for pointer in pointers if papers & set(pointer.works)), None)
    links = []
    if taken:
        links.append(f"target defers (“{taken.cue}”): “{_short(taken.sentence.text)}”")
    by_hand = hit.work.kind == "code" and hit.paper is None
    if hit.reference and not by_hand:
        links.append(_cites(hit.reference, hit, context))
    if hit.work.kind == "code":
        links.append(f"repository {_repo(hit, context)}, added by hand" if by_hand else f"its repository {_repo(hit, context)}")
    return (*links, has if hit.work.kind == "code" else f"{citation(hit)} {has}")


def _cites(edge: Reference, hit: Hit, context: Context) -> str:
    best = edge.roles[0] if edge.roles else None
    sentence = (best.sentence if best else "") or next((mention.sentence for mention in edge.mentions if mention.sentence), "")
    paper = hit.paper or (hit.work if hit.work.kind == "paper" else None)
    title = _short(paper.title, 80) if paper and paper.title else edge.cited
    citing = "target" if edge.citing == context.target.id else edge.citing
    as_ = f" as {best.role.value}" if best else ""
    return f"{citing} cites {title}{as_}" + (f": “{_short(sentence)}”" if sentence else "")


def _repo(hit: Hit, context: Context) -> str:
    link = context.links.get(hit.work.id)
    tier = f" ({link.tier.value})" if link else ""
    return work_name(hit.work) + tier


def _short(text: str, most: int = _SENTENCE) -> str:
    text = " ".join(visible(text)[0].split())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


@dataclass(frozen=True)
class Support:
    """What speaks for a value.

    `own`: the target's own code has it; `pointed` (0..1): the target says that it takes this over from a holder; `role`
    (0..1) and `role_name`: how much the best holder's role speaks for taking over its settings; `run` (0..1): it is set by a
    command or configuration rather than a default; `works` of `everyone` have it; `values`: how many values the best
    holder has for the detail; `aside`: only tests, examples or vendored code have it; `scoped`: it holds for a part only.
    """

    own: bool = False
    pointed: float = 0.0
    role: float = 0.0
    role_name: str = ""
    run: float = 0.0
    works: int = 1
    everyone: int = 1
    values: int = 1
    aside: bool = False
    scoped: bool = False


def graded(support: Support) -> tuple[Grade, str]:
    """The grade of a value and its reason."""
    if support.aside:
        return "weak", "only tests, examples or other people's code in the repository have it"
    if support.own:
        return _own(support)
    agree = f"{support.works} of {support.everyone} works have it" if support.everyone > 1 else "one work has it"
    if support.pointed >= 1.0:
        return ("strong" if support.values == 1 else "fair"), f"the target says that it takes this over; {_several(support, agree)}"
    if support.role >= ANCESTOR and 2 * support.works >= support.everyone:
        return "fair", f"an ancestor of the target ({support.role_name}) has it; {_several(support, agree)}"
    if support.works >= _AGREEING and 2 * support.works > support.everyone:
        return "fair", f"{agree}; none of them is an ancestor" if support.role < ANCESTOR else agree
    why = "others have something else" if support.works < support.everyone else f"its role is {support.role_name or UNKNOWN}"
    return "weak", f"{agree}; {why}"


def _own(support: Support) -> tuple[Grade, str]:
    if support.values > 1:
        return "fair", f"the target's own code has it, and {support.values - 1} other value{'s' if support.values > 2 else ''}"
    if support.scoped:
        return "strong", "the target's own code has it for this part"
    return "strong", "the target's own code sets it" if support.run >= _SET else "the target's own code has it as a default"


def _several(support: Support, agree: str) -> str:
    return agree if support.values == 1 else f"it has {support.values} values for it"


def order(support: Support) -> tuple[float, ...]:
    """Sorts values by how well they are supported, best first."""
    place = GRADES.index(graded(support)[0])
    return place, -support.pointed, -support.role, -support.works / support.everyone, -support.works, support.values, -support.run
