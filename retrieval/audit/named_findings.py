"""Findings on what only names tie to a paper: values under symbols and terms that no list of details has, and named components. Pure.

A component is what the paper gives a name of its own ("RationaleSelection", "Dynamic Tanh (DyT)"), not what a heading says.
Where a repository follows the paper's names for most of them, one that it lacks is missing; where it does not, nothing is said.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from lineage.hyperparameters.ontology import Ontology
from lineage.results import AuditFinding
from lineage.text.tokens import parts, stem, tokens
from retrieval.audit.inputs import Repository
from retrieval.audit.named_values import Named, NamedValues, settings_of
from retrieval.decisions.target_text import DONE, TargetSentence, TargetText, hit

_VALUE_SEVERITY = 0.5
_COMPONENT_SEVERITY = 0.4
_MOST_VALUES = 2
_CAMEL = re.compile(r"\b(?:[A-Z][a-z]{2,20}){2,4}\b")
_DEFINED = re.compile(r"(?P<words>(?:[A-Za-z][\w-]{1,20}[ ]){1,5}[A-Za-z][\w-]{1,20})[ ]\((?P<short>[A-Z][A-Za-z]{1,6})\)(?![ ]?\[)")
_OTHERS = re.compile(r"\b(?:dataset|benchmark|baseline|corpus|library|package|et al|GPU|challenge)\b|\[[^\[\]]{2,200}\]", re.IGNORECASE)
_OFTEN = 3
_MOST_COMPONENTS = 12
_HALF = 0.5
_CONFIGURED = (".toml", ".yaml", ".yml", ".json", ".ini", ".cfg")
"""Ends of files whose values take the place of what programs have by default under the same name."""
_LEAST_FOUND = 2
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


@dataclass(frozen=True)
class Component:
    """A part of the method that the paper names: its name, the words it stands for, and where it is spoken of."""

    title: str
    words: tuple[str, ...]
    said: TargetSentence

    @property
    def question(self) -> str:
        """Its name, what it stands for, and the sentence that names it."""
        return f"{self.title} {' '.join(self.words)} {self.said.text}"[:400]


def components(text: TargetText) -> tuple[Component, ...]:
    """What the paper names and speaks of often where it says what was done, by how often; others' works are cited where they are named first."""
    counts: Counter[str] = Counter()
    first: dict[str, tuple[TargetSentence, tuple[str, ...]]] = {}
    for sentence in text.sentences:
        if sentence.table or sentence.caption or sentence.header:
            continue
        for defined in _DEFINED.finditer(sentence.text):
            words = _initials(defined["words"].split(), defined["short"])
            if words:
                first.setdefault(defined["short"], (sentence, words))
        for camel in _CAMEL.findall(sentence.text):
            first.setdefault(camel, (sentence, ()))
        if sentence.weight >= DONE:
            counts.update(word for word in set(re.findall(r"\b[A-Za-z]{2,40}\b", sentence.text)) if word in first)
    own = (name for name, times in counts.most_common() if times >= _OFTEN and not _OTHERS.search(first[name][0].text))
    return tuple(Component(name, first[name][1], first[name][0]) for name in own if name not in text.work.title.split(":")[0].split())[
        :_MOST_COMPONENTS
    ]


def _initials(words: Sequence[str], short: str) -> tuple[str, ...]:
    """The last words whose first letters are an abbreviation, none if they are not."""
    last = tuple(words[-len(short) :])
    fits = len(last) == len(short) and "".join(word[0] for word in last).lower() == short.lower()
    return last if fits else ()


def component_findings(found: Sequence[Component], repository: Repository, text: TargetText) -> Iterator[AuditFinding]:
    """Which named components a repository speaks of; one that it lacks is missing only where it has most of them by name."""
    spoken = {stem(word) for chunk in repository.chunks for word in (*tokens(chunk.text), *tokens(chunk.path), *tokens(chunk.symbol))}
    there = {one.title: _is_spoken(one, spoken) for one in found}
    follows = sum(there.values()) >= max(_LEAST_FOUND, _HALF * len(there) + _HALF)
    for component in found:
        verdict = "match" if there[component.title] else "missing" if follows else "cannot judge"
        why = {
            "match": "the repository speaks of it by name",
            "missing": "the repository has the paper's other components by name, and not this one",
            "cannot judge": "nothing in the repository has this name; it may have another",
        }[verdict]
        yield AuditFinding(
            level="paper",
            name="component",
            title=component.title,
            verdict=verdict,  # type: ignore[arg-type]
            expected=component.question[:240],
            evidence=(hit(component.said, text.work),),
            severity=_COMPONENT_SEVERITY,
            why=why,
        )


def _is_spoken(component: Component, spoken: set[str]) -> bool:
    """Whether a component's name stands in the code, whole or in all its parts, or all words that it stands for."""
    named = stem(component.title.lower()) in spoken or all(stem(part) in spoken for part in parts(component.title))
    return named or (bool(component.words) and all(stem(word.lower()) in spoken for word in component.words))
