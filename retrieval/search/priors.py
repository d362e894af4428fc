"""Priors of a passage, independent of its text match: each is named and has a weight (pure).

Priors are in deviations, the unit of the fused score, and small: they order what the text leaves close. The weights are data
(`data/weights.json`, with its provenance), fitted on development sets by `benchmarks/fit.py`. What no development set covers
(the graph) is kept below the distance of typical neighbours.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache, lru_cache

from lineage.catalog.reader import Outline
from lineage.records import Chunk, Reason, ReasonKind, WorkId
from lineage.tables import packaged
from retrieval.search.decided import DecidedPlace
from retrieval.search.fusion import Scored, moved, ordered
from retrieval.search.work_relations import WorkRelation


@dataclass(frozen=True)
class FusionWeights:
    """`dense` is the share of the dense score, scaled by the first `pool` of each list; `share` of a list may come from one work.

    The rest are the weights of the priors: the `graph` and the `target`'s text, its `own` code, statements at the `toplevel` of a file, an
    `abstract`, what `siblings` say, what has a value `stated`, what is `verbatim`, what is `code`, the `stage` that a file is for, what
    settles a decision that is asked for (`decided`), and what settles many, among code (`decides`).
    """

    dense: float = 0.5
    pool: int = 200
    graph: float = 0.3
    target: float = 0.4
    own: float = 1.2
    toplevel: float = -0.5
    abstract: float = -1.5
    siblings: float = 0.8
    stated: float = 2.0
    verbatim: float = 6.0
    code: float = 0.5
    stage: float = 0.5
    decided: float = 4.0
    decides: float = 1.0
    share: float = 0.6


@cache
def fitted(embedder: str = "") -> FusionWeights:
    """The packaged weights for an embedder (its name before `@`); those that were fitted with another where it is unknown."""
    table = packaged("weights", "retrieval")["weights"]
    name = embedder.partition("@")[0]
    return FusionWeights(**table.get(name, table["default"]))


@dataclass(frozen=True)
class KnownNames:
    """What priors look at: the weights, the details whose value is asked for (`asked`) and the chunks that state one (`stated`),
    how works are related to the target, the share of the question's words that rows have in their order (`verbatim`), the
    stages that it speaks of, and the statements, by row, that settle what it asks for (`decided`)."""

    weights: FusionWeights
    asked: Sequence[str] = ()
    stated: Mapping[str, AbstractSet[str]] = field(default_factory=dict)
    relations: Mapping[WorkId, WorkRelation] = field(default_factory=dict)
    verbatim: Mapping[int, float] = field(default_factory=dict)
    stages: AbstractSet[str] = frozenset()
    decided: Mapping[int, DecidedPlace] = field(default_factory=dict)


# -- the stages of a reproduction: a question about training shares its words with scripts that sample and evaluate the same model


_ASKED = {
    "train": r"train\w*|optimi[sz]\w*|gradient\w*|learning rate|weight decay|epochs?|batch|loss\w*|warm\w*|augment\w*|dropout",
    "sample": r"sampl\w+|generat\w+|guidance|decod\w+|inference",
    "evaluate": r"evaluat\w*|fid|metric\w*|score\w*|accuracy|benchmark\w*|test\w*",
}
_FILES = {"train": r"train|optim|engine|loss|lr_|sched", "sample": r"sampl|generat|infer|demo|cache", "evaluate": r"eval|metric|test|fid"}
_STAGES = {stage: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for stage, words in _ASKED.items()}
_PATHS = {stage: re.compile(names, re.IGNORECASE) for stage, names in _FILES.items()}


def stages_asked(question: str) -> frozenset[str]:
    """The stages that a question speaks of."""
    return frozenset(stage for stage, words in _STAGES.items() if words.search(question))


@lru_cache(1 << 11)
def stages_of(path: str, symbol: str) -> frozenset[str]:
    """The stages that the names of a file and of a unit in it speak of."""
    return frozenset(stage for stage, names in _PATHS.items() if names.search(f"{path} {symbol}"))


# -- the priors


_CROWDED = 2.0
"""What code loses, in deviations, by the share of its work among all that was found."""

Prior = Callable[[int, Chunk, KnownNames], Reason | None]
_ROLES = {"module": "toplevel", "abstract": "abstract", "front": "abstract"}
"""The weights of what stands back, by its role."""


def words_in_order(row: int, chunk: Chunk, known: KnownNames) -> Reason | None:
    """Favor passages that contain the question's words in order: a quotation looks for its source."""
    share = known.verbatim.get(row, 0.0)
    return Reason(ReasonKind.VERBATIM, known.weights.verbatim * share) if share else None


def code_of_question(row: int, chunk: Chunk, known: KnownNames) -> Reason | None:
    """Favor code over prose that merely shares the question's words; not for quotations."""
    return Reason(ReasonKind.CODE, known.weights.code) if chunk.kind == "code" and not known.verbatim else None


def stage_of_file(row: int, chunk: Chunk, known: KnownNames) -> Reason | None:
    """Favor files of the stage that a question names, and disfavor those of another."""
    if chunk.kind not in {"code", "config"} or not known.stages or known.verbatim:
        return None
    stages = stages_of(chunk.path, chunk.symbol)
    sign = 1 if stages & known.stages else -1
    return Reason(ReasonKind.STAGE, sign * known.weights.stage, tuple(sorted(stages))) if stages else None


def role_of_text(row: int, chunk: Chunk, known: KnownNames) -> Reason | None:
    """Disfavors what shares words with everything around it: imports and glue outside of every function, abstracts, lists of authors.

    An abstract says what a work is about and seldom how; where a work's text is not to be had, it is all that is known.
    Authors stand under the title, and a question about what the title says is near them.
    """
    weight = _ROLES.get(chunk.role)
    return Reason(ReasonKind.ROLE, getattr(known.weights, weight), (chunk.role,)) if weight else None


def stated_value(row: int, chunk: Chunk, known: KnownNames) -> Reason | None:
    """Favors chunks that state a value of what is asked for, by the share of it: `temperature=temperature` passes one on and states none."""
    stated = known.stated.get(chunk.id)
    names = tuple(name for name in known.asked if name in stated) if stated else ()
    return Reason(ReasonKind.STATED, known.weights.stated * len(names) / len(known.asked), names) if names else None


def decides(row: int, chunk: Chunk, known: KnownNames) -> Reason | None:
    """Favors statements of code that settle a decision which is asked for, by how surely they do."""
    place = known.decided.get(row)
    return Reason(ReasonKind.DECIDES, known.weights.decided * place.strength, (place.title,)) if place else None


def place_in_lineage(row: int, chunk: Chunk, known: KnownNames) -> Reason | None:
    """Favors the target's own text and code, and works that carry the lineage: by the edge's score and its distance."""
    relation = known.relations.get(chunk.work)
    return standing(relation, known.weights) if relation else None


def standing(relation: WorkRelation, weights: FusionWeights) -> Reason | None:
    """What the place of a work in the lineage is worth."""
    if relation.from_target:
        return Reason(ReasonKind.TARGET, weights.own if relation.work.kind == "code" else weights.target)
    edge = relation.reference
    if edge is None or edge.score <= 0 or not weights.graph:
        return None
    role = edge.roles[0].role.value if edge.roles else "reference"
    citing = "" if edge.distance == 1 else edge.citing
    return Reason(ReasonKind.LINEAGE, weights.graph * edge.score / edge.distance, (role, citing, f"{edge.score:.2f}"))


PRIORS: tuple[Prior, ...] = (words_in_order, code_of_question, stage_of_file, role_of_text, stated_value, decides, place_in_lineage)
"""Every prior of a single passage; `with_siblings` compares passages."""


def with_priors(scores: Mapping[int, float], outlines: Mapping[int, Outline], known: KnownNames) -> list[Scored]:
    """Rows with their scores and what each prior adds, best first."""
    made: dict[object, tuple[float, tuple[Reason, ...]]] = {}
    scored = []
    for row, score in scores.items():
        chunk, same = outlines[row]
        added, why = _reasons(row, chunk, known, made)
        scored.append(Scored(row, score + added, chunk, same, why=why))
    return ordered(scored)


def _reasons(row: int, chunk: Chunk, known: KnownNames, made: dict[object, tuple[float, tuple[Reason, ...]]]) -> tuple[float, tuple[Reason, ...]]:
    """What the priors add to a chunk, all and each: the same for all of one work, kind, role and stage that the question does not single out."""
    single = row in known.verbatim or chunk.id in known.stated or row in known.decided
    stages = stages_of(chunk.path, chunk.symbol) if known.stages and not single else None
    key = row if single else (chunk.work, chunk.kind, chunk.role, stages)
    if key not in made:
        why = tuple(reason for prior in PRIORS if (reason := prior(row, chunk, known)) and reason.value)
        made[key] = sum(reason.value for reason in why), why
    return made[key]


def with_siblings(scored: Sequence[Scored], weight: float) -> list[Scored]:
    """The same, best first, with passages of papers in the order of their score and `weight` times that of the best other one of their paper.

    A passage of a paper seldom names what the paper is about: its title, its abstract and its neighbors do. It is likelier to answer where
    another one of its paper was found too. At a weight of 1 the best two of a paper would lose their order.
    """
    scores_by_work: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for candidate in scored:
        if candidate.chunk.kind == "paper":
            scores_by_work[candidate.chunk.work].append((max(0.0, candidate.score), candidate.row))
    best = {work: sorted(of_one, reverse=True)[:2] for work, of_one in scores_by_work.items()}

    def worth(candidate: Scored) -> float:
        return candidate.score + weight * next((score for score, row in best[candidate.chunk.work] if row != candidate.row), 0.0)

    return _among_themselves(scored, lambda candidate: candidate.chunk.kind == "paper", worth, ReasonKind.SIBLINGS)


def with_deciders(scored: Sequence[Scored], settles: Callable[[Chunk], float], weight: float, named: AbstractSet[int] = frozenset()) -> list[Scored]:
    """The same, best first, with code in the order of its score and `weight` times how much it `settles` whatever is asked, less where much
    else of its work was found: a large repository has something near every question.

    Rows that are `named` by a word that hardly any other has keep their places: a question with such a word looks for them.
    """

    def moves(candidate: Scored) -> bool:
        return candidate.chunk.kind != "paper" and candidate.row not in named

    found = Counter(candidate.chunk.work for candidate in scored)

    def worth(candidate: Scored) -> float:
        return candidate.score + weight * (settles(candidate.chunk) - _CROWDED * found[candidate.chunk.work] / len(scored))

    return _among_themselves(scored, moves, worth, ReasonKind.DECIDES)


def _among_themselves(scored: Sequence[Scored], moves: Callable[[Scored], bool], worth: Callable[[Scored], float], kind: ReasonKind) -> list[Scored]:
    """The same, best first, where passages that move change places among themselves, so that the best of them has the score that the best
    had, and so on: what compares papers says nothing about code, and what compares code nothing about papers."""
    order = iter(sorted(filter(moves, scored), key=lambda candidate: (-worth(candidate), candidate.row)))
    return [_placed(next(order), at.score, kind) if moves(at) else at for at in scored]


def _placed(candidate: Scored, place: float, kind: ReasonKind) -> Scored:
    """The same with the score of a place."""
    return candidate if place == candidate.score else moved(candidate, Reason(kind, place - candidate.score))
