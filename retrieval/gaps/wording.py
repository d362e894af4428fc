"""The words by which a sentence defers to others or gives a number, as data (`../data/wording.json`, with its provenance)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from lineage.phrases import Phrases, phrase


@dataclass(frozen=True)
class Wording:
    """`stops` end the reach of a mention to its number, `links` before it too; numbers after `referred` words are places.

    `counts` are number words, `defer` phrases that point to others. `everything` is what a sentence must name to point for all
    details of the topics `covered`, `broad` those of them that do so even beside a detail; who is pointed to for one detail is
    also asked for others of the topics that are its topic's `kin`. `stages` are those that a file may belong to; `many`
    facts of which one system has several, so that two values of them rarely contradict each other.
    """

    stops: frozenset[str]
    links: frozenset[str]
    referred: frozenset[str]
    counts: frozenset[str]
    defer: Phrases[str]
    everything: Phrases[str]
    covered: frozenset[str]
    broad: Phrases[str]
    kin: Mapping[str, frozenset[str]]
    stages: tuple[Stage, ...]
    many: frozenset[str]


@dataclass(frozen=True)
class Stage:
    """A stage of training or trying by the words that files and scopes of it are named with, and those of prose."""

    name: str
    files: frozenset[str]
    prose: Phrases[str]


def _stage(name: str, row: Mapping[str, Sequence[str]]) -> Stage:
    return Stage(name, frozenset(row["files"]), Phrases({phrase(one): str(one) for one in row["prose"]}))


@cache
def wording() -> Wording:
    """The packaged words."""
    table = json.loads(files("retrieval").joinpath("data/wording.json").read_text("utf-8"))

    def some(name: str) -> frozenset[str]:
        return frozenset(table[name].split())

    def phrases(name: str) -> Phrases[str]:
        return Phrases({phrase(one): str(one) for one in table[name]})

    kin = {str(topic): frozenset(map(str, topics)) for topic, topics in table["kin"].items()}
    stages = tuple(_stage(name, row) for name, row in table["stages"].items())
    return Wording(
        some("stops"),
        some("links"),
        some("referred"),
        some("counts"),
        phrases("defer"),
        phrases("everything"),
        some("covered"),
        phrases("broad"),
        kin,
        stages,
        some("many"),
    )
