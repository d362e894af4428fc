"""Words that tell settings of an experiment from those of a program's surroundings: one data file with its provenance."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Words:
    """Words of settings (`data/settings.json`, with its provenance).

    `running` are parts of names (or whole ones) that say how a program runs, not what it computes, `places` last parts of those that
    say where its data are; `tools` begin the names of files and
    `folders` are those that hold no settings of an experiment; `generic` parts tell no setting from another, `spoken` are
    words of prose for parts that are abbreviations, `alike` groups facts of which one says what the others would.
    """

    running: frozenset[str]
    places: frozenset[str]
    tools: tuple[str, ...]
    folders: frozenset[str]
    generic: frozenset[str]
    spoken: Mapping[str, Sequence[str]]
    alike: tuple[frozenset[str], ...]


@cache
def setting_words() -> Words:
    """The packaged words."""
    table = json.loads(files("retrieval").joinpath("data/settings.json").read_text("utf-8"))
    running, places, folders, generic = (frozenset(table[name].split()) for name in ("running", "places", "folders", "generic"))
    alike = tuple(frozenset(one.split()) for one in table["alike"])
    return Words(running, places, tuple(table["tools"].split()), folders, generic, table["spoken"], alike)
