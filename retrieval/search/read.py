"""Read by citation: the lines of any printed citation, with their definition or section and their callers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lineage.citation import citation, floats, name, numbered
from lineage.errors import NotFound, UsageError
from lineage.records import UNKNOWN, Chunk, Focus, Hit, Provenance, Setting, Work, WorkId
from retrieval.search.definitions import definitions
from retrieval.search.exact import ExactQuery, LineMatch, grep
from retrieval.search.passages import WINDOW_CHARACTERS, WINDOW_LINES

if TYPE_CHECKING:
    from retrieval.search.engine import Engine

CALLERS = 8
_WINDOW = 60
"""Lines that are shown of a file where none are asked for."""
_LINES = re.compile(r"(?:#L|:|#)(\d{1,7})(?:\s*-\s*L?(\d{1,7}))?(?:@[0-9a-f]{6,40})?\s*(?:\([^)]*\))?\Z")
_PIN = re.compile(r"@[0-9a-f]{6,40}(?:\s*\([^)]*\))?\Z")
_RANGE = re.compile(r"(\d{1,7})(?:\s*-\s*(\d{1,7}))?\Z")
_HOSTS = ("https://", "http://", "repo:", "github.com/")
_HINT = "take a citation or chunk id as it is printed: github.com/O/N/path.py#L3-L9@commit, O/N/path.py:3-9, arXiv:2006.10726#4.1, c_…"


@dataclass(frozen=True)
class CitedPassage:
    """Cited lines, as a hit whose chunk has just these lines, and what they stand in.

    `symbol` is the enclosing definition with its first line (`defined_at`), `callers` are lines elsewhere that name it, `lines` how many lines the
    file has, `last` the last one that was asked for, which may stand below those that are given; `sets` are by name what sets names that they use.
    """

    lineage: str
    generation: str
    hit: Hit
    citation: str
    symbol: str = ""
    defined_at: int = 0
    lines: int = 0
    last: int = 0
    callers: tuple[LineMatch, ...] = ()
    sets: Mapping[str, Setting] = field(default_factory=dict)
    provenance: Provenance = UNKNOWN


def read(engine: Engine, cited: str, lines: str = "", *, callers: bool = False) -> CitedPassage:
    """The lines that a citation means; `lines` ("40-90") asks for others of the same file, `callers` for who names the definition elsewhere.

    Raises `UsageError` for what is no citation and `NotFound`, with the nearest names, for one of a text that the lineage does not have.
    """
    cited = cited.strip().strip("`\"'")
    if chunks := cited_chunks(engine, cited):
        chunk = chunks[0] if chunks[0].kind == "code" else _section(engine, chunks)
        span = _span(lines) if lines else (chunk.start_line, chunk.end_line)
        passage = _passage(engine, chunk.work, chunk.path, span, chunk)
    else:
        path, first, last = _place(cited)
        passage = _passage(engine, *_file(engine, path), _span(lines) if lines else (first, last))
    return replace(passage, callers=_callers(engine, passage.hit.chunk)) if callers else passage


def _span(lines: str) -> tuple[int, int]:
    match = _RANGE.match(lines.strip().lstrip("L"))
    if not match or int(match[1]) < 1:
        raise UsageError(f"{lines[:40]!r} is not a range of lines", hint="for example: --lines 40-90")
    return int(match[1]), max(int(match[1]), int(match[2] or match[1]))


def _place(cited: str) -> tuple[str, int, int]:
    """(path with its repository, first line, last line) of a citation of code; 0 and 0 where it names no lines."""
    match = _LINES.search(cited)
    path = cited[: match.start()] if match else _PIN.sub("", cited)
    for prefix in _HOSTS:
        path = path.removeprefix(prefix)
    path = re.sub(r"\A([\w.-]+/[\w.-]+)/(?:blob|tree|raw)/[^/]+/", r"\1/", path)
    if not path.strip():
        raise UsageError(f"{cited[:80]!r} is not a citation", hint=_HINT)
    first = int(match[1]) if match else 0
    return path.strip(), first, max(first, int(match[2] or first)) if match else 0


def _file(engine: Engine, path: str) -> tuple[WorkId, str]:
    """The document that a path means: with its repository's owner and name, with the name alone, or as the end of one path, after its name or not."""
    documents = [(document.work, document.path) for document in engine.generation.catalog.documents()]
    wanted = path.lower().lstrip("/")
    full = {(work, file): f"{name(engine.relations.of(work).work).lower().removeprefix('github.com/')}/{file.lower()}" for work, file in documents}
    exact = [place for place, text in full.items() if wanted in (text, text.partition("/")[2], text.partition("/")[2].partition("/")[2])]
    ends = (
        exact
        or [place for place, text in full.items() if text.endswith("/" + wanted)]
        or [place for place, text in full.items() if _ends(text, wanted)]
    )
    if len(ends) == 1 or (ends and len({full[place] for place in ends}) == 1):
        return ends[0]
    if ends:
        raise UsageError(f"{path[:80]!r} stands in {len(ends)} places", hint="one of: " + ", ".join(sorted(full[place] for place in ends)[:6]))
    tail = wanted.rpartition("/")[2]
    near = sorted(text for text in full.values() if text.rpartition("/")[2] == tail)[:4]
    raise NotFound(f"this lineage has no file {path[:80]!r}", hint=("did you mean: " + ", ".join(near)) if near else _HINT)


def _ends(text: str, wanted: str) -> bool:
    """Whether a path with owner and repository is what the repository and the end of a path mean: `DiT/mlp.py`."""
    owner, _, inside = text.partition("/")
    repository = inside.partition("/")[0]
    end = wanted.removeprefix(f"{owner}/").removeprefix(f"{repository}/")
    return end != wanted and inside.endswith(f"/{end}")


def cited_chunks(engine: Engine, cited: str) -> list[Chunk]:
    """The chunk of an identifier, or all of the section that `arXiv:ID#4.1` names, of the text where it names none, of its table for `#4.1, Table 3`;
    none for a citation of code."""
    if cited.startswith("c_") and (known := engine.generation.catalog.chunk(cited)):
        return [known]
    match = re.match(r"(arxiv:[\w./-]+?)(?:v\d{1,3})?(?:#(.*))?\Z", cited, re.IGNORECASE)
    if not match:
        return []
    work = engine.relations.work(match[1])
    catalog = engine.generation.catalog
    chunks = [chunk for document in catalog.documents(work) for chunk in catalog.chunks(catalog.neighbours(work, document.path))]
    place, _, printed = map(str.strip, (match[2] or "").partition(","))
    relation = engine.relations.of(work).work
    named = [chunk for chunk in chunks if not place or place == _printed_place(chunk, relation) or _is_within(chunk, place)]
    shown = [chunk for chunk in named if not printed or not {*floats(chunk)}.isdisjoint(re.split(r",\s*", printed))]
    if shown:
        return shown
    if named:
        listed = ", ".join(dict.fromkeys(label for chunk in named for label in floats(chunk)))
        raise NotFound(
            f"section {place[:60]!r} of {match[1]} has no {printed[:60]!r}", hint=f"it has {listed}" if listed else "cite the section alone"
        )
    places = "it has " + ", ".join(dict.fromkeys(title for chunk in chunks for title in numbered(chunk)[:1]))[:300]
    raise NotFound(
        f"{match[1]} has no section {place[:60]!r}" if chunks else f"the text of {match[1]} is not in this lineage", hint=places if chunks else _HINT
    )


def _is_within(chunk: Chunk, place: str) -> bool:
    """Whether a chunk stands in the section of a number or title, at any depth."""
    return any(title == place or title.startswith(f"{place} ") for title in numbered(chunk))


def _printed_place(chunk: Chunk, work: Work) -> str:
    """Where in its paper a chunk is cited: `4.1`."""
    return citation(Hit(1, 1.0, chunk, work)).partition("#")[2].partition(",")[0]


def _section(engine: Engine, chunks: Sequence[Chunk]) -> Chunk:
    """The pieces that are cited as the first is, as one and as much as a piece of evidence may have; sections in it have citations of their own."""
    first, work = chunks[0], engine.relations.of(chunks[0].work).work
    own = [chunk for chunk in chunks if chunk.path == first.path and _printed_place(chunk, work) == _printed_place(first, work)]
    shown = _bounded("\n\n".join(chunk.text for chunk in own).split("\n"))
    return replace(first, text="\n".join(shown), end_line=max(chunk.end_line for chunk in own))


def _passage(engine: Engine, work: WorkId, path: str, span: tuple[int, int], chunk: Chunk | None = None) -> CitedPassage:
    catalog, manifest, relation = engine.generation.catalog, engine.generation.manifest, engine.relations.of(work)
    text = (catalog.document_text(work, path) or "").split("\n")
    around = catalog.chunks(catalog.neighbours(work, path))
    if not around:
        raise NotFound(f"{path[:80]!r} has no text in this lineage", hint="`lineage status` says why files were excluded")
    first, last = span if span[0] else (around[0].start_line, min(max(near.end_line for near in around), around[0].start_line + _WINDOW - 1))
    cited = chunk or max(around, key=lambda near: (min(last, near.end_line) - max(first, near.start_line), near.start_line - near.end_line))
    if relation.work.kind == "code" or not chunk:
        if first > len(text):
            raise NotFound(f"{path[:80]!r} has {len(text)} lines", hint="ask for lines within it")
        shown = _bounded(text[first - 1 : last])
        cited = replace(cited, text="\n".join(shown), start_line=first, end_line=first + len(shown) - 1)
    hit = relation.hit(cited, Focus(cited.start_line, cited.end_line))
    outer = next((near for near in around if near.symbol and near.symbol == cited.symbol), cited)
    last = min(span[1] or len(text), len(text))
    sets = {name: one for (_, _, name), one in definitions([hit], catalog).items()}
    return CitedPassage(manifest.lineage, manifest.id, hit, citation(hit), cited.symbol, outer.start_line, len(text), last, sets=sets)


def _bounded(lines: list[str]) -> list[str]:
    """At most as many lines as a piece of evidence has."""
    kept, room = [], WINDOW_CHARACTERS
    for line in lines[:WINDOW_LINES]:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept or [lines[0][:WINDOW_CHARACTERS]]


def _callers(engine: Engine, chunk: Chunk) -> tuple[LineMatch, ...]:
    """Lines of code that name the definition, outside of it; the target's own first."""
    symbol = chunk.symbol.rpartition(".")[2]
    if chunk.kind != "code" or len(symbol) < 3 or symbol in {"__init__", "forward", "main", "__call__"}:
        return ()
    matches = grep(engine, ExactQuery(symbol, fixed=True, word=True, any_case=False, kinds=("code",), limit=4 * CALLERS)).matches
    outside = (
        m for m in matches if not m.definition and not (m.hit.work.id == chunk.work and m.hit.chunk.path == chunk.path and m.symbol == chunk.symbol)
    )
    return tuple(outside)[:CALLERS]
