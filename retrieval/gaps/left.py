"""What the target's own code leaves out: options of an optimizer that stay at the library's default, and steps that nothing takes. Pure.

Where the own code makes the call and does not set the option, what others set says nothing of it; and where its training loop
stands written out, a step that no line of the code names is not taken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from lineage.cite import pinpoint
from lineage.insight import Gap, Held, Specification, Suggestion
from lineage.model import Chunk, Fact, Focus, Hit
from retrieval.gaps.confidence import Support, confidence
from retrieval.gaps.offers import Context, chain
from retrieval.holders import aside, of_baselines, tried
from retrieval.kinship import Kinship

_CALL = re.compile(r"\boptim\.([A-Z]\w{1,20})\(")
_ARGUMENTS = 800
"""Characters within which a call ends."""
_LOOP = re.compile(r"\.backward\(")
_STEP = re.compile(r"\.step\(")
WITHOUT = "nothing in the text names it, and none was read in the own code, which trains"
_LOW = 0.2
"""The most that the value of others is worth where the own code has none."""
_NEVER = Support(own=1.0, run=0.6, agreement=1.0, alone=1.0)


@dataclass(frozen=True)
class Left:
    """What is known of libraries: the defaults of optimizers by option, the facts that options are, and what names a step in code."""

    defaults: Mapping[str, Mapping[str, str]]
    options: Mapping[str, str]
    without: Mapping[str, re.Pattern[str]]
    delegated: re.Pattern[str]


@cache
def left() -> Left:
    """The packaged table (`../data/settings.json`, with its provenance)."""
    table = json.loads(files("retrieval").joinpath("data/settings.json").read_text("utf-8"))
    without = {name: _any(words) for name, words in table["without"].items()}
    return Left(table["defaults"], table["options"], without, _any(table["delegated"]))


def _any(words: str) -> re.Pattern[str]:
    """Any of the words, as parts of an identifier: `ema` of `model_ema`, none of "email"."""
    return re.compile(r"(?<![A-Za-z])(?:" + "|".join(map(re.escape, words.split())) + r")(?![a-z])", re.IGNORECASE)


def filled(gaps: Iterable[Gap], chunks: Sequence[Chunk], kinship: Kinship, context: Context) -> list[Gap]:
    """The rows, those on what the own code (`chunks`) leaves out with that first; rows for which it has a value stay."""
    code = [one for one in chunks if one.kind == "code"]
    given = list(defaults(code, kinship, context))
    loop = next((hit for hit in (_hit(one, kinship) for one in code if _loops(one)) if not _is_aside(hit, context)), None)
    if any(left().delegated.search(one.text) for one in code):
        loop = None
    return [_filled(gap, given, loop, chunks, context) for gap in gaps]


def _filled(gap: Gap, given: Sequence[Held], loop: Hit | None, chunks: Sequence[Chunk], context: Context) -> Gap:
    own = any(held.evidence.from_target for one in gap.suggestions for held in one.held)
    if gap.state is Specification.SPECIFIED or own:
        return gap
    if offered := [_default(one, context) for one in given if one.fact.name in gap.detail.facts]:
        return replace(gap, suggestions=tuple(offered))
    names = left().without.get(gap.detail.name)
    if loop is None or gap.state is not Specification.UNSPECIFIED or (names and any(names.search(one.text) for one in chunks)):
        return gap
    return replace(gap, suggestions=(_nothing(gap, loop, context),)) if names else _lowered(gap) if _is_others(gap) else gap


def _is_others(gap: Gap) -> bool:
    """Whether the text points to nobody for a detail, and others have values."""
    return not gap.stated and any(one.value for one in gap.suggestions)


def _lowered(gap: Gap) -> Gap:
    """A row whose values are those of others alone, where own code that trains has none: it may well do without."""
    return replace(gap, why=WITHOUT, suggestions=tuple(replace(one, confidence=min(one.confidence, _LOW)) for one in gap.suggestions))


def _loops(chunk: Chunk) -> bool:
    return _LOOP.search(chunk.text) is not None and _STEP.search(chunk.text) is not None


def _hit(chunk: Chunk, kinship: Kinship, line: int = 0) -> Hit:
    kin = kinship.of(chunk.work)
    focus = Focus(line, line) if line else None
    return Hit(1, 1.0, chunk, kin.work, focus=focus, reference=kin.reference, paper=kin.paper, from_target=kin.from_target)


def _is_aside(hit: Hit, context: Context) -> bool:
    held = Held(Fact("", "", "", hit.work.id, hit.chunk.id, "call"), hit)
    return of_baselines(held) or tried(held) or aside(held, context.foreign)


# -- options that stay at the library's default


def defaults(code: Iterable[Chunk], kinship: Kinship, context: Context) -> Iterator[Held]:
    """What an optimizer's default is for each option that no call of one in the own code sets; nothing where calls differ."""
    calls = [(call, hit) for chunk in code for call in _calls(chunk) if not _is_aside(hit := _hit(chunk, kinship, call[2]), context)]
    if len({name for (name, _, _), _ in calls}) != 1:
        return
    (name, _, line), hit = calls[0]
    for option, value in left().defaults[name].items():
        if not any(_sets(arguments, option) for (_, arguments, _), _ in calls):
            yield Held(Fact(left().options[option], value, "", hit.work.id, hit.chunk.id, "call", line, option, "", f"{name}, default"), hit)


def _calls(chunk: Chunk) -> Iterator[tuple[str, str, int]]:
    """(optimizer, arguments, line) of each call of one that is known."""
    for found in _CALL.finditer(chunk.text):
        if found[1] in left().defaults:
            text = chunk.text[found.end() : found.end() + _ARGUMENTS]
            yield found[1], text[: _closing(text)], chunk.start_line + chunk.text.count("\n", 0, found.start())


def _closing(text: str) -> int:
    """Where the bracket closes that was opened before a text."""
    depth = 1
    for at, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0:
            return at
    return len(text)


def _sets(arguments: str, option: str) -> bool:
    """Whether a call may set an option: by name, in a dictionary, or by place."""
    return option in arguments or "**" in arguments or sum("=" not in one for one in arguments.split(",") if one.strip()) > 1


def _default(one: Held, context: Context) -> Suggestion:
    optimizer = one.fact.scope.partition(",")[0]
    has = f"calls {optimizer} without {one.fact.written} at {pinpoint(one.evidence)}: PyTorch's default stands, {one.fact.value}"
    links = chain(one.evidence, context, (), has)
    return Suggestion(one.fact.value, "", round(confidence(_NEVER), 3), held=(one,), evidence=(one.evidence,), chain=links)


def _nothing(gap: Gap, loop: Hit, context: Context) -> Suggestion:
    has = f"trains at {pinpoint(loop)}, and no line of it names any {gap.detail.title[:1].lower()}{gap.detail.title[1:]}: the own code does without"
    return Suggestion("", "", round(confidence(_NEVER), 3), evidence=(loop,), chain=chain(loop, context, (), has))
