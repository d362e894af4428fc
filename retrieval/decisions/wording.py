"""Words as data: those by which a sentence defers to others or gives a number, and those that tell settings of an experiment (`../data`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from lineage.hyperparameters.terms import american
from lineage.tables import packaged
from lineage.text.phrases import Phrases, phrase


@dataclass(frozen=True)
class Wording:
    """`stops` end the reach of a mention to its number, `links` before it too; numbers after `referred` words are places.

    `counts` are number words, `defer` phrases that point to others. `everything` is what a sentence must name to point for all
    details of the topics `covered`, `broad` those of them (and phrases like "unless otherwise specified") that do so even beside
    a detail; who is pointed to for one detail is also asked for its `parts`, unless the cue is `narrow` and speaks of the
    detail alone. A sentence of `evaluating` words without any of `doing` defers evaluation only. `near` words may stand between
    a name and its number. `many` are facts of which one system has several, so that
    two values of them rarely contradict each other.
    """

    stops: frozenset[str]
    links: frozenset[str]
    referred: frozenset[str]
    counts: frozenset[str]
    defer: Phrases[str]
    everything: Phrases[str]
    covered: frozenset[str]
    broad: Phrases[str]
    narrow: frozenset[str]
    parts: Mapping[str, frozenset[str]]
    evaluating: Phrases[str]
    doing: Phrases[str]
    near: frozenset[str]
    many: frozenset[str]


@cache
def wording() -> Wording:
    """The packaged words."""
    table = packaged("wording", "retrieval")

    def some(name: str) -> frozenset[str]:
        return frozenset(table[name].split())

    def phrases(*names: str) -> Phrases[str]:
        return Phrases({phrase(phrase_text): str(phrase_text) for name in names for phrase_text in table[name]})

    parts = {str(whole): frozenset(map(str, some)) for whole, some in table["parts"].items()}
    return Wording(
        some("stops"),
        some("links"),
        some("referred"),
        some("counts"),
        phrases("defer"),
        phrases("everything"),
        frozenset(map(american, some("covered"))),
        phrases("broad", "unless"),
        frozenset(table["narrow"]),
        parts,
        phrases("evaluating"),
        phrases("doing"),
        some("near"),
        some("many"),
    )


@dataclass(frozen=True)
class SettingWords:
    """Words of settings (`data/settings.json`, with its provenance).

    `running` are parts of names (or whole ones) that say how a program runs, not what it computes, `places` last parts of those that
    say where its data are; `generic` parts tell no setting from another, `spoken` are words of prose for parts that are
    abbreviations, `alike` groups facts of which one says what the others would.
    """

    running: frozenset[str]
    places: frozenset[str]
    generic: frozenset[str]
    spoken: Mapping[str, Sequence[str]]
    alike: tuple[frozenset[str], ...]

    def with_alike(self, names: Iterable[str]) -> frozenset[str]:
        """Facts with those that say what any of them would."""
        some = frozenset(names)
        return some.union(*(alike for alike in self.alike if alike & some))


@cache
def setting_words() -> SettingWords:
    """The packaged words."""
    table = packaged("settings", "retrieval")

    def some(name: str) -> frozenset[str]:
        return frozenset(table[name].split())

    return SettingWords(
        running=some("running"),
        places=some("places"),
        generic=some("generic"),
        spoken=table["spoken"],
        alike=tuple(frozenset(words.split()) for words in table["alike"]),
    )
