"""Words that tell settings of an experiment from those of a program's surroundings, and what libraries set: one data file with its provenance."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class SettingWords:
    """Words of settings (`data/settings.json`, with its provenance).

    `running` are parts of names (or whole ones) that say how a program runs, not what it computes, `places` last parts of those that
    say where its data are; `generic` parts tell no setting from another, `spoken` are words of prose for parts that are
    abbreviations, `alike` groups facts of which one says what the others would.

    `defaults` are those of optimizers by option, `options` the facts that options are; `without` is what names a step in code,
    `delegated` what takes the steps of training for its caller.
    """

    running: frozenset[str]
    places: frozenset[str]
    generic: frozenset[str]
    spoken: Mapping[str, Sequence[str]]
    alike: tuple[frozenset[str], ...]
    defaults: Mapping[str, Mapping[str, str]]
    options: Mapping[str, str]
    without: Mapping[str, re.Pattern[str]]
    delegated: re.Pattern[str]

    def with_alike(self, names: Iterable[str]) -> frozenset[str]:
        """Facts with those that say what any of them would."""
        some = frozenset(names)
        return some.union(*(alike for alike in self.alike if alike & some))


@cache
def setting_words() -> SettingWords:
    """The packaged words."""
    table = json.loads(files("retrieval").joinpath("data/settings.json").read_text("utf-8"))

    def some(name: str) -> frozenset[str]:
        return frozenset(table[name].split())

    return SettingWords(
        running=some("running"),
        places=some("places"),
        generic=some("generic"),
        spoken=table["spoken"],
        alike=tuple(frozenset(one.split()) for one in table["alike"]),
        defaults=table["defaults"],
        options=table["options"],
        without={name: _any(words) for name, words in table["without"].items()},
        delegated=_any(table["delegated"]),
    )


def _any(words: str) -> re.Pattern[str]:
    """Any of the words, as parts of an identifier: `ema` of `model_ema`, none of "email"."""
    return re.compile(r"(?<![A-Za-z])(?:" + "|".join(map(re.escape, words.split())) + r")(?![a-z])", re.IGNORECASE)
