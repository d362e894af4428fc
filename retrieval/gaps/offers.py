"""What a lineage offers for a detail that its target leaves open: values, each with who holds it and how that reaches the target.

Facts of one name and value, whoever holds them, are one offer. What supports it is counted (`confidence.Support`) and told
link by link: target cites P in sentence S with role R, P's repository has it at file:line@commit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lineage.cite import citation, pinpoint
from lineage.insight import Held, Suggestion
from lineage.model import CodeLink, Hit, Role, Work, WorkId
from lineage.terms import fold
from lineage.tokens import parts
from lineage.visible import visible
from retrieval.experiment_folders import Folders
from retrieval.experiments import is_parameter, is_set
from retrieval.gaps.confidence import Support, confidence, passage_confidence
from retrieval.gaps.stated import Pointer
from retrieval.holders import ASIDE, aside, of_baselines, tried

MOST = 3
"""Values offered for one detail."""
HOLDERS = 5
PASSAGES = 3
_ROLES = {Role.BASE: 1.0, Role.SETUP: 0.9, Role.METHOD: 0.7, Role.BASELINE: 0.4, Role.DATA: 0.3, Role.METRIC: 0.2, Role.BACKGROUND: 0.0}
_RUN = {"command": 1.0, "config": 0.9, "call": 0.6, "default": 0.4, "table": 0.5, "prose": 0.5}
_PARAMETER = 4
_OWN = 10.0
"""Strength of the target's own code: more than anybody whom it points to can have."""
_SENTENCE = 240
_ENDS = frozenset(("in", "out", "input", "output", "z", "img", "image"))
"""First words of names of channels that are the data's and not a layer's width."""


@dataclass(frozen=True)
class Context:
    """What an offer is judged in: the target, the links of repositories, whether two values of a detail are one.

    `foreign` are words by which files of stages are named that the target does not speak of (`finetune`, `debug` ...), `models`
    the folded names of the models that the target and its own code name (`sitxl2`), `folders` the experiments beside its own program.
    """

    target: Work
    links: Mapping[WorkId, CodeLink]
    same: Callable[[str, str, str], bool]
    foreign: frozenset[str] = frozenset()
    models: frozenset[str] = frozenset()
    folders: Folders = field(default_factory=Folders)


@dataclass(frozen=True)
class Offer:
    """A suggestion with the support that its confidence was made from, and the name of the fact it is a value of.

    `own` says that the target's own code holds it, other than in examples and the like; `nth` is the place of the name in
    the detail's own list, `fits` how surely the value is that of a model which the target names, `tried` that only programs for
    trying a model have it where training is asked for, `elsewhere` that only experiments beside the own program have it, `rung`
    what the own program does to set it.
    """

    name: str
    suggestion: Suggestion
    support: Support
    own: bool = False
    nth: int = 0
    fits: int = 0
    tried: bool = False
    elsewhere: bool = False
    rung: int = 0

    @property
    def place(self) -> tuple[float, ...]:
        """Orders offers: the target's own program, the detail's own order of names, what that program sets; others agree on ties only."""
        aside, likely = bool(self.support.aside), -self.suggestion.confidence
        return not self.own, aside, self.elsewhere, self.nth, -self.fits, self.tried, self.rung, likely


def offers(
    names: Sequence[str], held: Mapping[str, Sequence[Held]], pointers: Sequence[Pointer], context: Context, *, trains: bool = False
) -> list[Offer]:
    """The offers for facts of these names, as `Offer.place` orders them; the target's paper offers nothing. `trains`: for training."""
    pointed = _pointed(pointers)
    useful = {name: _called([one for one in held.get(name, ()) if _useful(one, context)], context) for name in names}
    if any(not of_baselines(one) for some in useful.values() for one in some):
        useful = {name: [one for one in some if not of_baselines(one)] for name, some in useful.items()}
    made = []
    for nth, (name, some) in enumerate(useful.items()):
        rivals = Rivals(name, tuple(some), tuple(map(tuple, _groups(name, some, context.same))), nth, trains)
        made += [_offer(group, rivals, pointed, pointers, context) for group in rivals.groups]
    return sorted(made, key=lambda one: one.place)


def _useful(one: Held, context: Context) -> bool:
    """Whether a fact can be offered: a value that is not the target's own word, and no number of channels that just go in or out."""
    ends = one.fact.name == "channels" and not _ENDS.isdisjoint(parts(one.fact.written)[:1])
    return one.fact.work != context.target.id and one.fact.literal and not ends


def _called(some: Sequence[Held], context: Context) -> list[Held]:
    """Without what functions of the own code take if nobody says otherwise, where the own program has anything better."""
    own = [one for one in some if one.evidence.from_target and not aside(one, context.foreign) and not context.folders.of(one)]
    better = any(rung(one) < _PARAMETER for one in own)
    return [one for one in some if not (better and one.evidence.from_target and is_parameter(one))]


def rung(one: Held) -> int:
    """How a program comes to a value: 0 by a command, 1 a configuration, 2 its own options, 3 a call, 4 what a function takes by itself."""
    if one.fact.kind == "command" or is_set(one):
        return int(one.fact.kind != "command")
    if one.fact.kind == "call":
        return 3
    if is_parameter(replace(one, fact=replace(one.fact, kind="default"))):  # also tables in a function: groups of parameters
        return _PARAMETER
    return 3 if "model" in parts(one.fact.scope) else 2  # `ModelArgs`: what a model takes, from whoever calls it


def _pointed(pointers: Sequence[Pointer]) -> dict[WorkId, float]:
    """How surely the target points to each work: 1 by the nearest pointer (for this very detail, if there is one), half by others."""
    found: dict[WorkId, float] = {}
    for at, pointer in enumerate(pointers):
        for work in pointer.works:
            found.setdefault(work, 1.0 if at == 0 else 0.5)
    return found


def _groups(name: str, held: Iterable[Held], same: Callable[[str, str, str], bool]) -> list[list[Held]]:
    groups: dict[str, list[Held]] = defaultdict(list)
    for one in held:
        key = next((key for key in groups if same(name, key, one.fact.value)), one.fact.value)
        groups[key].append(one)
    return list(groups.values())


@dataclass(frozen=True)
class Rivals:
    """All facts of one name, and the same by value; `nth` is the name's place in its detail, `trains` whether it is one of training."""

    name: str
    held: tuple[Held, ...]
    groups: tuple[tuple[Held, ...], ...]
    nth: int = 0
    trains: bool = False


def _offer(group: Sequence[Held], rivals: Rivals, pointed: Mapping[WorkId, float], pointers: Sequence[Pointer], context: Context) -> Offer:
    ordered = _one_a_place(sorted(group, key=lambda one: -strength(one, pointed, context)))
    best = ordered[0]
    support = _support(ordered, rivals, pointed, context.foreign)
    suggestion = Suggestion(
        value=best.fact.value,
        unit=best.fact.unit,
        confidence=round(confidence(support), 3),
        held=tuple(ordered[:HOLDERS]),
        evidence=tuple(one.evidence for one in ordered[:HOLDERS]),
        chain=chain(best.evidence, context, pointers, _has(rivals.name, best, context.folders.of(best))),
    )
    return _placed(Offer(rivals.name, suggestion, support, nth=rivals.nth), group, rivals.trains, context)


def _placed(offer: Offer, group: Sequence[Held], trains: bool, context: Context) -> Offer:
    """An offer with what its place depends on: what the own program says of it, else what others do."""
    own = [one for one in group if one.evidence.from_target and not aside(one, context.foreign)]
    home = [one for one in own if not context.folders.of(one)]
    some = home or own or group
    fits, only_tried = max(_fits(one, context) for one in some), trains and all(tried(one) for one in some)
    first = min(map(rung, own and some), default=0)
    return replace(offer, own=bool(own), fits=fits, tried=only_tried, elsewhere=bool(own and not home), rung=first)


def _fits(one: Held, context: Context) -> int:
    """2 for a factory named as a model of the target is (`SiT_XL_2(hidden_size=1152)` beside "SiT-XL/2"), 1 for its file (`sit.py`)."""
    if fold(one.fact.scope.partition(":")[0].partition(".")[0]) in context.models:
        return 2
    file = fold(one.evidence.chunk.path.rpartition("/")[2].partition(".")[0])
    return int(len(file) > 2 and any(model.startswith(file) for model in context.models))


def _one_a_place(group: Sequence[Held]) -> list[Held]:
    """One holder a work first, then the rest."""
    seen: set[WorkId] = set()
    first: list[Held] = []
    later: list[Held] = []
    for one in group:
        (later if one.fact.work in seen else first).append(one)
        seen.add(one.fact.work)
    return [*first, *later]


def strength(one: Held, pointed: Mapping[WorkId, float], context: Context) -> float:
    """How much one holder speaks for its value (for the order within a group)."""
    kept = aside(one, context.foreign)
    own, taken = _OWN * (one.evidence.from_target and not kept), 4.0 * _points(one, pointed)
    own -= bool(context.folders.of(one))
    return own + taken + role(one.evidence) + _score(one.evidence) + _RUN[one.fact.kind] - 2.0 * kept - tried(one) / 2 + _fits(one, context)


def _support(group: Sequence[Held], rivals: Rivals, pointed: Mapping[WorkId, float], foreign: frozenset[str]) -> Support:
    works = {one.fact.work for one in group}
    everyone = {one.fact.work for one in rivals.held}
    best = group[0]
    beside = sum(any(one.fact.work == best.fact.work for one in other) for other in rivals.groups)
    return Support(
        own=float(any(one.evidence.from_target for one in group)),
        pointed=max(_points(one, pointed) for one in group),
        role=max(role(one.evidence) for one in group),
        score=max(_score(one.evidence) for one in group),
        run=max(_RUN[one.fact.kind] for one in group),
        agreement=len(works) / max(1, len(everyone)),
        alone=1.0 / max(1, beside),
        works=1.0 - 1.0 / len(works),
        scoped=float(all(one.fact.scope for one in group)),
        aside=float(all(aside(one, foreign) for one in group)),
        words=float(any(one.fact.kind in {"table", "prose"} for one in group)),
    )


def role(hit: Hit) -> float:
    """How much the holder's roles speak for taking over its settings."""
    return max((_ROLES[verdict.role] for verdict in hit.reference.roles), default=0.1) if hit.reference else 0.0


def _points(one: Held, pointed: Mapping[WorkId, float]) -> float:
    return max((pointed.get(work, 0.0) for work in _papers(one.evidence)), default=0.0)


def _score(hit: Hit) -> float:
    return hit.reference.score / hit.reference.distance if hit.reference else 0.0


def _papers(hit: Hit) -> set[WorkId]:
    """The works as which a holder may be cited."""
    return {hit.work.id, *({hit.paper.id} if hit.paper else set()), *({hit.reference.cited} if hit.reference else set())}


def passages(hits: Sequence[Hit], pointers: Sequence[Pointer], context: Context) -> Suggestion | None:
    """The passages of the lineage that come nearest to a detail's question, where no fact offers a value."""
    useful = [hit for hit in hits if hit.work.id != context.target.id and not _is_data(hit)]
    found = sorted(useful, key=lambda hit: not hit.from_target)[:PASSAGES]
    if not found:
        return None
    sure = round(passage_confidence(found[0].score), 3)
    return Suggestion("", "", sure, evidence=tuple(found), chain=chain(found[0], context, pointers, f"speaks of it at {pinpoint(found[0])}"))


def _is_data(hit: Hit) -> bool:
    """Whether a passage of a repository is data or somebody's test rather than code, configuration or documentation."""
    *folders, file = hit.chunk.path.lower().split("/")
    data = bool({"data", "datasets", "results", "outputs"} & {*folders}) and file.endswith((".txt", ".json", ".jsonl", ".csv"))
    return hit.work.kind == "code" and (data or not ASIDE.isdisjoint(folders))


# -- the chain in words


def _has(name: str, one: Held, experiment: str = "") -> str:
    value = one.fact.value + (f" {one.fact.unit}" if one.fact.unit else "")
    whose = ", ".join(part for part in (experiment, one.fact.scope) if part)
    scope = f" ({visible(whose)[0]})" if whose else ""
    return f"has {name} = {visible(value)[0]}{scope} at {pinpoint(line_of(one))}"


def line_of(one: Held) -> Hit:
    """The evidence of a fact, its focus on the line of the fact where that is known."""
    line = one.fact.line
    if not line or one.evidence.work.kind != "code":
        return one.evidence
    chunk = replace(one.evidence.chunk, start_line=line, end_line=line)
    return replace(one.evidence, chunk=chunk, focus=None)


def chain(hit: Hit, context: Context, pointers: Sequence[Pointer], has: str) -> tuple[str, ...]:
    """Link by link from the target to a piece of evidence."""
    if hit.from_target:
        return (f"the target's own repository {_repo(hit, context)}", has)
    papers = _papers(hit)
    taken = next((pointer for pointer in pointers if papers & set(pointer.works)), None)
    links = []
    if taken:
        links.append(f"target defers (“{taken.cue}”): “{_short(taken.said.text)}”")
    by_hand = hit.work.kind == "code" and hit.paper is None
    if hit.reference and not by_hand:
        links.append(_cites(hit, context))
    if hit.work.kind == "code":
        links.append(f"repository {_repo(hit, context)}, added by hand" if by_hand else f"its repository {_repo(hit, context)}")
    return (*links, has if hit.work.kind == "code" else f"{citation(hit)} {has}")


def _cites(hit: Hit, context: Context) -> str:
    edge = hit.reference
    if edge is None:
        return ""
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
    return str(hit.work.id).removeprefix("repo:") + tier


def _short(text: str, most: int = _SENTENCE) -> str:
    text = " ".join(visible(text)[0].split())
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
