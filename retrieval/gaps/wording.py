"""The words by which a sentence defers to others or gives a number, as data (`../data/wording.json`, with its provenance)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from lineage.phrases import Phrases, phrase


@dataclass(frozen=True)
class Wording:
    """`stops` end the reach of a mention to its number, `links` before it too; numbers after `referred` words are places.

    `counts` are number words, `defer` phrases that point to others, `everything` what a sentence must name to point for all
    details of the topics `covered`.
    """

    stops: frozenset[str]
    links: frozenset[str]
    referred: frozenset[str]
    counts: frozenset[str]
    defer: Phrases[str]
    everything: Phrases[str]
    covered: frozenset[str]


@cache
def wording() -> Wording:
    """The packaged words."""
    table = json.loads(files("retrieval").joinpath("data/wording.json").read_text("utf-8"))

    def some(name: str) -> frozenset[str]:
        return frozenset(table[name].split())

    def phrases(name: str) -> Phrases[str]:
        return Phrases({phrase(one): str(one) for one in table[name]})

    return Wording(some("stops"), some("links"), some("referred"), some("counts"), phrases("defer"), phrases("everything"), some("covered"))
