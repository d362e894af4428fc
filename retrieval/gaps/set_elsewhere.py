"""Where the names that an offered line hands on get their values: `clip_grad_norm_(params, limit)` decides nothing without `limit = 1.0`.

In the same file a constant, a default or a keyword with a literal is looked for; beyond it a setting (option, configuration) of the same
repository. A name with several values is left alone: which one holds is not known.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from lineage.citation import pinpoint
from lineage.file_roles import ASIDE
from lineage.records import Hit
from lineage.results import FactOccurrence, Suggestion
from retrieval.decisions.provenance import evidence
from retrieval.gaps.model_reader import SET, Reader

_MOST, _LONGEST, _LINE = 3, 24, 300
"""Names of an offer that are followed; characters of a value, and of a line that are read."""
_STRING = re.compile(r"'[^']*'|\"[^\"]*\"")
_LITERAL = r"[-+]?\.?\d|[\"'\[]|True\b|False\b"
_NAME = re.compile(rf"((?:\w+\.)*)([A-Za-z_]\w\w+)(\s*[(\[])?(\s*=(?!=)\s*(?:{_LITERAL})?)?")
_OPTIONS = re.compile(r"(?:args|flags|hparams|hps?|cfg|conf|config|opts?|options|params)\.\Z", re.IGNORECASE)
_OWNED = re.compile(rf"{_OPTIONS.pattern}|\Aself\.\Z", re.IGNORECASE)
_SET = re.compile(r"\s*([A-Za-z_]\w\w+)\s*(?::\s*[\w.\[\], |]+)?=(?!=)\s*(.*?)\s*(?:#.*)?\Z")
_GIVEN = re.compile(rf"(?:{_LITERAL})[-+\w.'\"\]\[, ]*")
_COMPUTED = ""


def followed(reader: Reader, offer: Suggestion) -> Suggestion:
    """An offer of code with the values of the names that its lines hand on, and where they are set."""
    first = offer.held[0] if offer.held else None
    if not first or not first.fact.line or first.evidence.work.kind != "code":
        return offer
    found = list(islice(_set(reader, first), _MOST))
    if not found:
        return offer
    told = "; ".join(f"{name} = {value}" for name, value, _ in found)
    fact = replace(first.fact, value=f"{first.fact.value} [{told}]")
    links = (f"{SET} {name} = {value} at {pinpoint(hit)}" for name, value, hit in found)
    return replace(offer, value=fact.value, held=(replace(first, fact=fact), *offer.held[1:]), chain=(*offer.chain, *links))


def _set(reader: Reader, first: FactOccurrence) -> Iterator[tuple[str, str, Hit]]:
    """The names that the lines hand on, each with its value and where that stands."""
    catalog, fact, path = reader.engine.generation.catalog, first.fact, first.evidence.chunk.path
    lines = [line[:_LINE] for line in (catalog.document_text(fact.work, path) or "").split("\n")]
    last = max(fact.line, fact.end_line)
    names = _names(lines[fact.line - 1 : last])
    here = _set_in(lines, names, range(fact.line, last + 1))
    chunks = catalog.chunks(catalog.neighbours(fact.work, path)) if here else []
    for name, values in here.items():
        [(value, number)] = values.items() if len(values) == 1 else [(_COMPUTED, 0)]
        chunk = next((chunk for chunk in chunks if chunk.start_line <= number <= chunk.end_line), None)
        if value != _COMPUTED and chunk:
            yield name, value, evidence(chunk, reader.engine.relations, number)
    yield from _settings(reader, first, {name: is_option for name, is_option in names.items() if name not in here})


def _set_in(lines: Sequence[str], names: Container[str], besides: Container[int]) -> dict[str, dict[str, int]]:
    """The values that a file gives to names as constants, defaults and keywords, each with its first line; what is handed on is none."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for number, line in enumerate(lines, 1):
        match = _SET.match(line) if number not in besides else None
        if match and match[1] in names:
            given, is_keyword = match[2].rstrip(",) "), match[2].endswith((",", ")"))
            is_literal = len(given) <= _LONGEST and _GIVEN.fullmatch(given) and (is_keyword or match[1].isupper())
            if is_literal or given == "None" or not is_keyword:
                found[match[1]].setdefault(given if is_literal else _COMPUTED, number)
    return found


def _settings(reader: Reader, first: FactOccurrence, names: Mapping[str, bool]) -> Iterator[tuple[str, str, Hit]]:
    """The settings of the repository by those names; of other files only for what is an option or a constant."""
    catalog, by_name = reader.engine.generation.catalog, defaultdict(list)
    for setting in catalog.settings(first.fact.work, tuple(names)) if names else ():
        if 0 < len(setting.value) <= _LONGEST and setting.value != "None":
            by_name[setting.name].append(setting)
    for name, some in by_name.items():
        same = [setting for setting in some if setting.path == first.evidence.chunk.path]
        chosen = same or (some if names[name] else [])
        chunks = catalog.chunks_of(setting.chunk for setting in chosen)
        hits = [evidence(replace(chunks[one.chunk], work=one.work, path=one.path), reader.engine.relations, one.line) for one in chosen]
        rows = [(one.value, hit) for one, hit in zip(chosen, hits, strict=True) if ASIDE.isdisjoint(hit.roles)]
        if rows and len({value for value, _ in rows}) == 1:
            yield name, *rows[0]


def _names(lines: Sequence[str]) -> dict[str, bool]:
    """The names that code hands on, each with whether it is an option or a constant: nothing that it calls, sets or reads of something else."""
    names: dict[str, bool] = {}
    plain = [_STRING.sub('""', line).partition("#")[0] for line in lines]
    for owner, name, called, given in _NAME.findall(" ".join(plain)):
        if not called and not given and (_OWNED.search(owner) or not owner):
            names[name] = bool(_OPTIONS.search(owner)) or name.isupper()
    return {name: far for name, far in names.items() if not any((match := _SET.match(line)) and match[1] == name for line in plain)}
