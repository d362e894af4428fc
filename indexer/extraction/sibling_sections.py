"""What a value of a paper holds for where two parts are set up alike: "Tokenizer > Training" and "Generator > Training" (pure).

Sections of one title below sibling titles are about different things. If they give one detail different values, what such a
section states holds for the part that the title above names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from indexer.extraction.collector import ExtractedFact
from lineage.hyperparameters.terms import fold

Section = tuple[str, ...]
_NUMBERED = re.compile(r"\A\s{0,4}(?:[A-Z]|\d{1,3})(?:\.\d{1,3}){0,4}\.?\s{1,4}(?=\S)")
_LONGEST = 60


def scoped(found: Mapping[ExtractedFact, Section]) -> dict[ExtractedFact, None]:
    """The facts of a paper with their sections, those of prose for the part that their section is about."""
    parts = _parts(found)
    return {_of_part(extracted_fact, section) if section in parts else extracted_fact: None for extracted_fact, section in found.items()}


def _parts(found: Mapping[ExtractedFact, Section]) -> set[Section]:
    """Sections whose like below a sibling gives some detail another value."""
    values: dict[tuple[Section, str], dict[Section, dict[str, set[str]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(set)))
    for extracted_fact, section in found.items():
        if len(section) > 2 and extracted_fact.kind == "prose":
            values[section[:-2], fold(section[-1])][section][extracted_fact.name].add(extracted_fact.value)
    return {section for alike in values.values() for section in alike if _differ(section, alike)}


def _differ(section: Section, alike: Mapping[Section, Mapping[str, set[str]]]) -> bool:
    others = [other for other in alike if other[-2] != section[-2]]
    return any(alike[section][name].isdisjoint(alike[other][name]) for other in others for name in alike[section].keys() & alike[other].keys())


def _of_part(extracted_fact: ExtractedFact, section: Section) -> ExtractedFact:
    """A fact of prose without a scope, for what the title above its section names."""
    title = _NUMBERED.sub("", section[-2]).strip(" .:")[:_LONGEST]
    return replace(extracted_fact, scope=title) if extracted_fact.kind == "prose" and not extracted_fact.scope else extracted_fact
