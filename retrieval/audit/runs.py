"""The runs of the target's own code: each command, configuration and program with its settings and the words that name it. Pure.

A run is the unit with which a paragraph or a table of the paper can be compared: it has values of many details at once, so that
those that agree tell whether both speak of the same experiment. A command or configuration that names a program is run with
what that program sets in its own text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath

from lineage.hyperparameters.terms import fold
from lineage.hyperparameters.values import number
from lineage.records import Chunk, WorkId
from lineage.results import FactOccurrence
from retrieval.decisions.experiments import is_parameter, telling

_COMPOUND = re.compile(r"[A-Za-z]+[.-]?\d+(?:\.\d+)*[A-Za-z]?(?![A-Za-z])|(?<![\w.])\d+(?:\.\d+)?[bBmM](?![a-z])|\d+(?:\.\d+)?[bBmM](?=[_.-]|\Z)")
"""Names with numbers, which are one word however they are written: "SD1.5" and `sd15`, "34B" and `llama2_34b`."""
_SIZES = {"b": "base", "l": "large", "s": "small", "h": "huge", "t": "tiny"}
_SIZED = re.compile(r"(?<=[A-Za-z\d])[-_](?P<size>XL|[BLSHT])(?![A-Za-z])|[-_ ](?P<word>base|large|small|huge|tiny|xl)(?![A-Za-z])", re.IGNORECASE)
_STRINGS = re.compile(r"[:=]\s{0,4}['\"]?(?P<value>[A-Za-z][\w./-]{2,60})")
_DOTTED = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*){1,6}")
_SCRIPT = re.compile(r"[\w./-]{1,120}\.(?:py|sh)(?![\w])")
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*=?|(?m:^\s*export\s+)?\b[A-Z][A-Z_]{2,40}=")
"""Names of options, which tell nothing of which run it is."""
_MOST_STRINGS = 60
_MOST_TEXT = 12_000
_SHORT = 2
"""Letters of pieces that say nothing: `si` of "SiT"."""


@dataclass(frozen=True)
class RunSettings:
    """Settings of one command, configuration or program by detail; `text` is what names it, `own` are the details that it sets itself."""

    place: tuple[WorkId, str, str]
    settings: Mapping[str, Sequence[FactOccurrence]]
    text: str
    own: frozenset[str]

    @property
    def path(self) -> str:
        """The file that it stands in."""
        return self.place[1]

    @property
    def source(self) -> str:
        """The text of a command or configuration; "" of a program."""
        own = [occurrence for some in self.settings.values() for occurrence in some if occurrence.fact.name in self.own]
        return _source(own) if own else ""

    @cached_property
    def words(self) -> frozenset[str]:
        """The words that may tell it from other runs."""
        options = telling(" ".join(occurrence.fact.written for some in self.settings.values() for occurrence in some))
        return words(self.text) - options


def words(text: str) -> frozenset[str]:
    """The words of a place that say which experiment is meant, with names of models and sizes as one word each."""
    compounds = {fold(match[0]) for match in _COMPOUND.finditer(text)}
    sizes = {(match["size"] or match["word"]).lower() for match in _SIZED.finditer(text)}
    return frozenset(word for word in telling(text) if len(word) > _SHORT) | compounds | {_SIZES.get(size, size) for size in sizes}


def runs(code: Iterable[FactOccurrence]) -> list[RunSettings]:
    """The runs of the own code, those that nothing but a library's parameters is known of left out."""
    by_place: dict[tuple[WorkId, str, str], list[FactOccurrence]] = defaultdict(list)
    for occurrence in code:
        if occurrence.fact.kind not in {"prose", "table"} and not is_parameter(occurrence):
            by_place[_place(occurrence)].append(occurrence)
    given = {_option(occurrence) for some in by_place.values() for occurrence in some if occurrence.fact.kind in {"command", "config"}}
    programs = {
        place: [occurrence for occurrence in some if occurrence.fact.kind != "default" or _option(occurrence) not in given]
        for place, some in by_place.items()
        if not place[2]
    }
    return [_run(place, some, programs) for place, some in by_place.items()]


def _option(occurrence: FactOccurrence) -> tuple[WorkId, str]:
    """An option of a repository's programs; its default does not count if some run sets it."""
    return occurrence.fact.work, fold(occurrence.fact.written)


def _place(occurrence: FactOccurrence) -> tuple[WorkId, str, str]:
    """Where a setting belongs: its command, one of several calls that a program makes under a condition, or the whole file."""
    chunk, fact = occurrence.evidence.chunk, occurrence.fact
    part = ""
    if fact.kind == "command":
        part = f"command {command(occurrence)[0]}"
    elif chunk.kind == "code" and fact.kind == "call" and "." in fact.scope.partition(":")[0]:
        part = fact.scope.partition(":")[0]
    return fact.work, chunk.path, part


def command(occurrence: FactOccurrence) -> tuple[int, str]:
    """The first line and the text of the command that a value stands in, with its continuation lines."""
    chunk = occurrence.evidence.chunk
    lines = chunk.text.split("\n")
    at = occurrence.fact.line - chunk.start_line
    if not 0 <= at < len(lines):
        return occurrence.fact.line, ""
    first = last = at
    while first and lines[first - 1].rstrip().endswith("\\"):
        first -= 1
    while last + 1 < len(lines) and lines[last].rstrip().endswith("\\"):
        last += 1
    return chunk.start_line + first, "\n".join(lines[first : last + 1])


def _run(
    place: tuple[WorkId, str, str], own: Sequence[FactOccurrence], programs: Mapping[tuple[WorkId, str, str], Sequence[FactOccurrence]]
) -> RunSettings:
    settings: dict[str, list[FactOccurrence]] = defaultdict(list)
    for occurrence in own:
        settings[occurrence.fact.name].append(occurrence)
    text = _named(place, own)
    for program in _programs(place, _source(own), programs):
        for occurrence in programs[program]:
            if not any(occurrence.fact.name == name and set_[0].fact.work == place[0] for name, set_ in settings.items() if set_[0] in own):
                settings[occurrence.fact.name].append(occurrence)
    return RunSettings(place, {**settings, **_shares(settings)}, text, frozenset(occurrence.fact.name for occurrence in own))


def _shares(settings: Mapping[str, Sequence[FactOccurrence]]) -> dict[str, list[FactOccurrence]]:
    """What share of its steps a run warms up for: a paper says "25% warmup", a command `--warmup_steps=500 --max_steps=2000`."""
    for warm, whole in (("warmup_steps", "steps"), ("warmup_epochs", "epochs")):
        counts = {number(occurrence.fact.value) for occurrence in settings.get(whole, ())}
        if "warmup_ratio" not in settings and len(counts) == 1 and (count := counts.pop()):
            shares = [(occurrence, number(occurrence.fact.value)) for occurrence in settings.get(warm, ())]
            found = [
                replace(one, fact=replace(one.fact, name="warmup_ratio", value=f"{share / count:g}")) for one, share in shares if share is not None
            ]
            return {"warmup_ratio": found} if found else {}
    return {}


def _source(own: Sequence[FactOccurrence]) -> str:
    """The text that a run is written as, in which it names its program."""
    if own[0].fact.kind == "command":
        return command(own[0])[1]
    chunks: dict[str, Chunk] = {
        occurrence.evidence.chunk.id: occurrence.evidence.chunk for occurrence in own if occurrence.evidence.chunk.kind == "config"
    }
    return "\n".join(chunk.text for chunk in chunks.values())[:_MOST_TEXT]


def _named(place: tuple[WorkId, str, str], own: Sequence[FactOccurrence]) -> str:
    """What names a run: its path, the condition it stands under, its command, the choices of its configuration."""
    _, path, part = place
    source = _source(own)
    if own[0].fact.kind == "command":
        return f"{path} {_OPTION.sub(' ', source)}"
    strings = [match["value"] for match in _STRINGS.finditer(source)][:_MOST_STRINGS]
    return " ".join((str(PurePosixPath(path).with_suffix("")), part, *strings))


def _programs(
    place: tuple[WorkId, str, str], source: str, programs: Mapping[tuple[WorkId, str, str], Sequence[FactOccurrence]]
) -> list[tuple[WorkId, str, str]]:
    """The programs that a run names by file or by module."""
    said = {match[0].lstrip("./") for match in _SCRIPT.finditer(source)}
    said |= {"/".join(match[0].split(".")[:n]) + ".py" for match in _DOTTED.finditer(source) for n in range(1, match[0].count(".") + 2)}
    mine = [key for key in programs if key[0] == place[0] and key != place]
    return [key for key in mine if key[1] in said or (("/" not in key[1]) and PurePosixPath(key[1]).name in said)]
