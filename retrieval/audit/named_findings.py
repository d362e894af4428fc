"""Findings on values under symbols and terms that no list of details has, which only their names tie to a paper. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence

from lineage.hyperparameters.ontology import Ontology
from lineage.results import AuditFinding
from retrieval.audit.inputs import Repository
from retrieval.audit.named_values import Named, NamedValues, settings_of
from retrieval.decisions.target_text import TargetSentence, TargetText, hit

_VALUE_SEVERITY = 0.5
_MOST_VALUES = 2
_CONFIGURED = (".toml", ".yaml", ".yml", ".json", ".ini", ".cfg")
"""Ends of files whose values take the place of what programs have by default under the same name."""
_TOLERANCE = 1e-9


def named_findings(
    text: TargetText, repository: Repository, ontology: Ontology, known: Iterable[tuple[str, int]], stated: Container[str] = ()
) -> Iterator[AuditFinding]:
    """What the paper gives the names that the repository gives numbers; `known` are (path, line) of values that were judged already.

    A name that a list of details has, whole, is judged there, but for counts ("two-layer") of which the paper has no fact (`stated`).
    """
    values, judged = NamedValues(text.sentences), set(known)
    groups: dict[tuple[str, ...], list[Named]] = defaultdict(list)
    for named in settings_of(repository.settings):
        naming = ontology.naming(named.name)
        if (named.path, named.line) not in judged and (naming is None or naming.scope or (naming.name not in stated and named.is_count)):
            groups[named.pieces].append(named)
    for every in groups.values():
        group = [one for one in every if one.path.endswith(_CONFIGURED)] or every
        statements = values.of(group[0])
        firm = sorted({statement.value for statement in statements if statement.firm})
        if not firm:
            continue
        met = next((one for one in group if any(_equal(one.value, other.value) for other in statements)), None)
        if met:
            yield _named(
                "match",
                met,
                next(statement for statement in statements if _equal(statement.value, met.value)).said,
                text,
                [met.value],
                "the paper states it",
            )
        elif (
            len(firm) <= _MOST_VALUES
            and not (group[0].is_word and len({statement.value for statement in statements}) > 1)
            and len({one.value for one in group}) == 1
            and not any(_equal(group[0].value, one) for one in values.near(group[0]))
        ):
            yield _named(
                "deviation",
                group[0],
                next(statement.said for statement in statements if statement.firm),
                text,
                firm,
                "the paper gives this name another value",
            )


def _equal(one: float, other: float) -> bool:
    return abs(one - other) <= _TOLERANCE * max(1.0, abs(one), abs(other)) or (one != 0 and abs(one - other) / abs(one) < 1e-6)


def _named(verdict: str, named: Named, sentence: TargetSentence, text: TargetText, expected: Sequence[float], why: str) -> AuditFinding:
    return AuditFinding(
        level="method",
        name=f"setting:{named.name}",
        title=named.name,
        verdict=verdict,  # type: ignore[arg-type]
        expected=" or ".join(f"{one:g}" for one in expected),
        found=f"{named.value:g}",
        where=f"{named.path}#L{named.line}",
        evidence=(hit(sentence, text.work),),
        severity=_VALUE_SEVERITY,
        why=f"{why}: “{' '.join(sentence.text.split())[:160]}”",
        scope=sentence.chunk.section[-1] if sentence.chunk.section else "",
    )
