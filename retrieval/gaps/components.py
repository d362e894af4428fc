"""What the target's own code does beyond what its method says: passages of the paper beside the functions that carry them out.

A method section leaves out the constants, guards and orders of steps without which nobody gets the same numbers. For each
passage the function of the target's code that retrieval puts first is held against it: which of its operations and
numbers the passage never names. Words decide, no code is run, so this is a place to look, not a finding.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from lineage.cite import pinpoint
from lineage.insight import Conflict, Detail, Gap, Held, Specification, Suggestion
from lineage.model import Chunk, Fact, FactKind, Hit, Query
from lineage.tokens import parts, stem, tokens
from retrieval.engine import Engine
from retrieval.gaps.asking import asked
from retrieval.gaps.confidence import passage_confidence
from retrieval.gaps.text import SAYS, Said, TargetText

MOST_PASSAGES, MOST_ROWS, FUNCTIONS = 12, 10, 3
TOPIC = "method"
_WIDE = 30
_SHORTEST = 80
_ASKED = 900
_METHOD = re.compile(
    r"method|approach|model|algorithm|architecture|framework|loss|objective|propos|our |procedure|pipeline|scor|training", re.IGNORECASE
)
_NUMBER = re.compile(r"(?<![\w.])(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|[3-9]|\d{2,})(?![\w.])")
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_FORMULA = re.compile(r"\$([^$]{1,2000})\$")
_LETTERS = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,40}")
_PLAIN = """
    model models method methods forward init main get set make build run compute update train training step data loss algorithm approach network
    our the for and with from function framework procedure pipeline architecture base test
"""
"""Words that the names of half of all functions have."""
_TESTS = frozenset(("test", "tests", "testing", "unittests"))
_TOLD = 6
_DEFINITIONS = frozenset(("function", "method", "class"))
SEVERITY = 0.3


@dataclass(frozen=True)
class Component:
    """A passage of the method with the functions that carry it out, best first, and what the first does that it does not say."""

    passage: Chunk
    functions: tuple[Hit, ...]
    unsaid: tuple[str, ...]
    against: tuple[tuple[str, str], ...] = ()


def components(engine: Engine, said: TargetText) -> tuple[list[Component], int]:
    """The passages of the method for which the target's own code has a function, and how many could not be looked up.

    None without text or code.
    """
    if not said.own or not any(engine.kinship.of(work).from_target for work in engine.kinship.kin if work != said.work.id):
        return [], 0
    passages = list(_passages(said.sentences))[:MOST_PASSAGES]
    questions = [Query(passage.text[:_ASKED], _WIDE, frozenset({"code"})) for passage in passages]
    answers, late = asked(engine, questions)
    found = []
    for passage, hits in zip(passages, answers, strict=True):
        own = tuple(hit for hit in hits if hit.from_target and hit.chunk.role in _DEFINITIONS and not _is_test(hit.chunk))[:FUNCTIONS]
        if own:
            code = own[0].chunk.text
            found.append(Component(passage, own, tuple(unsaid(passage.text, code)), tuple(against(passage.text, code))))
    return _once(found), late


_ROLES = frozenset(("paragraph", "equation", "algorithm", "list", "text"))


def _passages(sentences: Sequence[Said]) -> Iterator[Chunk]:
    """Passages of the method's sections, in order, each once."""
    seen = set()
    for one in sentences:
        chunk = one.chunk
        method = one.weight > 0.5 and bool(_METHOD.search(" ".join(chunk.section)))
        if method and chunk.id not in seen and chunk.role in _ROLES and len(chunk.text) >= _SHORTEST:
            seen.add(chunk.id)
            yield chunk


def _is_test(function: Chunk) -> bool:
    *folders, file = (part.lower() for part in function.path.split("/"))
    return not _TESTS.isdisjoint((*folders, *parts(file)))


def tied(passage: Chunk, function: Chunk) -> bool:
    """Whether a function is named as a passage is: by a telling word of its section's title or of a formula's symbol."""
    symbol = {stem(word) for word in parts(function.symbol.split(",")[0].rpartition(".")[2] or function.symbol) if len(word) > 2}
    titled = {stem(word) for title in passage.section[-1:] for word in _NAME.findall(title) for word in parts(word)}
    written = {stem(word) for formula in _FORMULA.findall(passage.text) for name in _LETTERS.findall(formula) for word in parts(name)}
    return bool((symbol - _plain_words()) & (titled | written))


@cache
def _plain_words() -> frozenset[str]:
    return frozenset(map(stem, _PLAIN.split()))


def _once(found: Sequence[Component]) -> list[Component]:
    """Each first function once, with the passage that it suits best; those that are named as their passage is come first."""
    best: dict[str, Component] = {}
    for one in found:
        place = one.functions[0].chunk.id
        if place not in best or one.functions[0].score > best[place].functions[0].score:
            best[place] = one
    return sorted(best.values(), key=lambda one: (not tied(one.passage, one.functions[0].chunk), -one.functions[0].score))


def unsaid(passage: str, code: str) -> Iterator[str]:
    """Operations and numbers of the code that the passage does not name, in the code's order."""
    said = {*tokens(passage), *(number for number in _NUMBER.findall(passage))}
    told: dict[str, None] = {}
    for line in code.split("\n"):
        if line.lstrip().startswith(("#", '"""', "'''", "def ", "class ", "import ", "from ")):
            continue
        for name in _NAME.findall(line):
            words = _operations().get(name.lower())
            if words is not None and not any(stem(word) in said for word in words):
                told.setdefault(name)
        for number in _NUMBER.findall(line):
            if number not in said:
                told.setdefault(number)
    yield from list(told)[:_TOLD]


def against(passage: str, code: str) -> Iterator[tuple[str, str]]:
    """(what the passage says, what the code does) where the two are opposites and the code never does what is said."""
    said, done = {*tokens(passage)}, {name.lower() for name in _NAME.findall(code)}
    for one, other in _opposites():
        for here, there in ((one, other), (other, one)):
            spoken = next((word for word in here["said"] if stem(word) in said), "")
            denied = any(stem(word) in said for word in there["said"])
            act = next((name for name in there["code"] if name in done), "")
            if spoken and act and not denied and not any(name in done for name in here["code"]):
                yield spoken, act


@cache
def _table() -> Mapping[str, object]:
    found: dict[str, object] = json.loads(files("retrieval").joinpath("data/operations.json").read_text("utf-8"))
    return found


@cache
def _operations() -> Mapping[str, tuple[str, ...]]:
    """Identifiers of operations that change results, each with the words by which prose names it."""
    rows = _table()["operations"]
    assert isinstance(rows, dict)  # noqa: S101 - the packaged table
    return {str(name): tuple(words) for name, words in rows.items()}


@cache
def _opposites() -> tuple[tuple[dict[str, list[str]], dict[str, list[str]]], ...]:
    rows = _table()["opposites"]
    assert isinstance(rows, list)  # noqa: S101 - the packaged table
    return tuple((one, other) for one, other in rows)


def rows(found: Sequence[Component], said: TargetText) -> Iterator[Gap]:
    """The components as gaps: the passage, and the functions as what the lineage offers."""
    for one in found[:MOST_ROWS]:
        first = one.functions[0]
        where = one.passage.section[-1] if one.passage.section else one.passage.label or "a passage"
        name = first.chunk.symbol.split(",")[0] or first.chunk.path
        detail = Detail(f"method:{name}", f"{where}: what {name} does besides", TOPIC, one.passage.text[:200], weight=0.4)
        told = ", ".join(one.unsaid)
        passage = Hit(1, first.score, one.passage, said.work, from_target=True, why=(SAYS + " ".join(one.passage.text.split())[:300],))
        chain = (
            "the target's own code",
            f"{pinpoint(first)} answers the passage" + (f"; it has {told}, which the passage does not name" if told else ""),
        )
        offer = Suggestion("", "", round(passage_confidence(first.score), 3), evidence=one.functions, chain=chain)
        why = f"the code has {told}" if told else "the code is the only statement of its steps"
        yield Gap(detail, Specification.PARTIALLY_SPECIFIED, (passage,), suggestions=(offer,), why=why)


def conflicts(found: Sequence[Component], said: TargetText) -> Iterator[Conflict]:
    """Passages and functions that say opposite things, where the function is named as its passage is."""
    for one in (one for one in found if tied(one.passage, one.functions[0].chunk)):
        for spoken, done in one.against:
            hit = Hit(1, 1.0, one.passage, said.work, from_target=True)
            sides = (_side(hit, spoken, spoken), _side(one.functions[0], done, done))
            name = one.functions[0].chunk.symbol.split(",")[0]
            why = f"the passage speaks of “{spoken}”, {name or 'the code'} has {done} and nothing like it; words alone were compared"
            yield Conflict(f"method:{name}", f"{spoken} against {done}", "paper-code", sides, SEVERITY, why)


def _side(hit: Hit, value: str, written: str) -> Held:
    line = _line(hit.chunk, written)
    kind: FactKind = "prose" if hit.work.kind == "paper" else "call"
    fact = Fact("operation", value, "", hit.work.id, hit.chunk.id, kind, line, written, written)
    return Held(fact, replace(hit, focus=None))


def _line(chunk: Chunk, word: str) -> int:
    lines = chunk.text.lower().split("\n")
    return chunk.start_line + next((at for at, line in enumerate(lines) if word.lower() in line), 0)
