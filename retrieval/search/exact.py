"""Exact search: every line of the lineage that holds a string or matches a regular expression, definitions before uses.

Expressions are RE2's, which take linear time whatever is asked. A literal part of an expression narrows the chunks in SQLite before any is
matched here, and whole words in it narrow them by the lexical index before that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

import re2

from lineage.citation import citation
from lineage.errors import UsageError
from lineage.file_roles import ASIDE, named_roles
from lineage.records import UNKNOWN, Chunk, ChunkKind, Focus, Hit, Provenance
from lineage.text.tokens import STOP, tokens
from retrieval.search.focus import statement
from retrieval.search.priors import FusionWeights, standing

if TYPE_CHECKING:
    from retrieval.search.engine import Engine

MAX_PATTERN = 1_000
MAX_LINE = 300
"""Characters of a matching line that are shown, from a little before the match."""
_OF_A_FILE = 4
_MEMORY = 8 << 20
_META = re.compile(r"[\\.^$*+?{}\[\]|()]")
_DEFINES = re.compile(
    r"\s*(?:export\s+|public\s+|static\s+|async\s+|abstract\s+)*(?:def|class|function|func|fn|struct|enum|interface|type|trait)\s+\W*\Z"
)
_OPTION = re.compile(r".*\b(?:add_argument|option|DEFINE_\w+)\(.{0,80}[\"']-{0,2}\Z")
_SPEAKS = re.compile(r"\s*(?:#|//|import\s|from\s.{1,200}\simport\b|help\s?=|[\"'])")
_ASSIGNS = re.compile(r"\s*(?:=(?!=)|:\s)")


@dataclass(frozen=True)
class LineMatch:
    """A line that matches: where it stands, in which definition, and whether it defines what was asked for.

    `hit` is its chunk with the line as focus; `copies` counts further chunks with the same text. `around` are the lines of its statement, or as
    many around it as were asked for, from line `first` on.
    """

    citation: str
    line: int
    text: str
    symbol: str
    definition: bool
    copies: int
    hit: Hit
    first: int
    around: tuple[str, ...]

    @property
    def shown(self) -> Hit:
        """A hit of just the lines around it."""
        return replace(self.hit, chunk=replace(self.hit.chunk, start_line=self.first, end_line=self.first + len(self.around) - 1))


@dataclass(frozen=True)
class ExactAnswer:
    """The first matches of a pattern in order, and how many lines match in all."""

    pattern: str
    lineage: str
    generation: str
    matches: tuple[LineMatch, ...]
    total: int
    offset: int = 0
    provenance: Provenance = UNKNOWN


@dataclass(frozen=True)
class ExactQuery:
    """What to look for: a regular expression, or with `fixed` a string; `word` asks for whole words.

    Letters count as written unless the pattern has no capitals (`any_case` None), or as `any_case` says.
    """

    pattern: str
    fixed: bool = False
    word: bool = False
    any_case: bool | None = None
    kinds: tuple[ChunkKind, ...] = ()
    work: str = ""
    limit: int = 30
    offset: int = 0
    context: int = 0

    @property
    def ignores_case(self) -> bool:
        """Whether letters of either size match."""
        return self.pattern == self.pattern.lower() if self.any_case is None else self.any_case


def grep(engine: Engine, query: ExactQuery) -> ExactAnswer:
    """Every matching line, ranked: definitions, code and settings, what only speaks of them, prose; in each the nearest works first.

    Raises `UsageError` for a pattern that is empty, too long, not an expression of RE2, or too slow to look up, and `NotFound` for an unknown work.
    """
    expression = compiled(query)
    catalog, manifest = engine.generation.catalog, engine.generation.manifest
    literal, words = narrowing(query)
    only = engine.relations.work(query.work) if query.work else ""
    rows = [(row, text) for row, text in catalog.texts(literal, query.ignores_case, words, query.kinds) if expression.search(text)]
    chunks = catalog.chunks([row for row, _ in rows])
    matches = [match for chunk in chunks if not only or chunk.work == only for match in _matches(engine, chunk, expression)]
    worth = {id_: reason.value for id_, relation in engine.relations.by_work.items() if (reason := standing(relation, _NEAR))}
    matches.sort(key=lambda match: (*_standing(match), -worth.get(match.hit.work.id, 0.0), *_place(match)))
    distinct = _in_turn(list(_folded(matches)))
    shown = (_with_context(engine, match, query.context) for match in distinct[query.offset : query.offset + query.limit])
    return ExactAnswer(query.pattern, manifest.lineage, manifest.id, tuple(shown), len(distinct), query.offset)


def _standing(match: LineMatch) -> tuple[bool, int, bool]:
    """Definitions first, code before prose; within each last what tests and the like, comments, imports and help say of a thing."""
    chunk = match.hit.chunk
    is_weak = chunk.kind == "code" and (bool(_SPEAKS.match(match.text)) or not ASIDE.isdisjoint(named_roles(chunk.path)))
    return not match.definition, _KIND_ORDER[chunk.kind], is_weak


def _in_turn(matches: Sequence[LineMatch]) -> list[LineMatch]:
    """The same with a few lines of each file before the next few of any, so that one file does not hide the others."""
    seen: Counter[tuple[object, ...]] = Counter()
    ranked = []
    for match in matches:
        key = (match.definition, match.hit.chunk.kind, *_place(match)[:2])
        seen[key] += 1
        ranked.append((*_standing(match), seen[key] // _OF_A_FILE))
    return [match for _, match in sorted(zip(ranked, matches, strict=True), key=lambda row: row[0])]


def _with_context(engine: Engine, match: LineMatch, lines: int) -> LineMatch:
    if not lines:
        return match
    chunk, first = match.hit.chunk, max(1, match.line - lines)
    text = (engine.generation.catalog.document_text(chunk.work, chunk.path) or "").split("\n")
    return replace(match, first=first, around=tuple(text[first - 1 : match.line + lines])) if match.line <= len(text) else match


_NEAR = FusionWeights(graph=1.0, target=2.0, own=3.0)
_KIND_ORDER: dict[ChunkKind, int] = {"code": 0, "config": 0, "paper": 1, "docs": 2}


def compiled(query: ExactQuery) -> re2._Regexp:
    """The expression of a query; raises `UsageError`."""
    if not query.pattern.strip() or len(query.pattern) > MAX_PATTERN:
        raise UsageError(f"a pattern has 1 to {MAX_PATTERN:,} characters", hint='for example: lineage grep "weight_decay"')
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    options.never_nl = True
    options.case_sensitive = not query.ignores_case
    body = re2.escape(query.pattern) if query.fixed else query.pattern
    bounded = rf"(?:^|\b|\W)(?:{body})(?:$|\b|\W)" if query.word and not query.pattern[:1].isalnum() else rf"\b(?:{body})\b"
    try:
        return re2.compile("(?m)" + (bounded if query.word else body), options)
    except re2.error as error:
        raise UsageError(
            f"not a regular expression: {_reason(error)}", hint="-F takes the pattern as it is written; look-around does not exist here"
        ) from None


def _reason(error: Exception) -> str:
    text = error.args[0] if error.args else error
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)


def narrowing(query: ExactQuery) -> tuple[str, list[str]]:
    """(a string that every match holds, tokens of whole words that its chunk has), either empty where none is certain."""
    if query.fixed or not _META.search(query.pattern):
        literal = query.pattern
    elif "|" in query.pattern or "(" in query.pattern or "\\" in query.pattern or "[" in query.pattern:
        return "", []
    else:  # what stands before a quantifier may be missing, and `.` ends a run
        pieces = re.split(r".(?:[*?]|\{[^}]*\})|[.^$+]", query.pattern)
        literal = max(pieces, key=len, default="")
    inner = literal if query.word else re.sub(r"\A\w+|\w+\Z", " ", literal)  # a run that touches an end may go on in the text
    return literal, [token for token in dict.fromkeys(tokens(inner)) if token.isalnum() and token not in STOP] if literal.isascii() else []


def _matches(engine: Engine, chunk: Chunk, expression: re2._Regexp) -> Iterator[LineMatch]:
    """Each matching line of a chunk once."""
    relation = engine.relations.of(chunk.work)
    seen, lines = -1, chunk.text.split("\n")
    for match in expression.finditer(chunk.text):
        begin = chunk.text.rfind("\n", 0, match.start()) + 1
        if begin == seen or match.start() == match.end() == len(chunk.text):
            continue
        seen = begin
        end = chunk.text.find("\n", match.start())
        line = chunk.text[begin : end if end >= 0 else len(chunk.text)]
        number = chunk.start_line + chunk.text.count("\n", 0, begin)
        before, after = line[: match.start() - begin], line[match.end() - begin :]
        hit = relation.hit(chunk, Focus(number, number))
        placed = replace(hit, chunk=replace(chunk, start_line=number, end_line=number)) if relation.work.kind == "code" else hit
        shown = _shortened(line, match.start() - begin)
        at = number - chunk.start_line
        start, stop = statement(lines, at, at) if chunk.kind in {"code", "config"} else (at, at)
        around = tuple(lines[start : stop + 1]) if stop > start else (shown,)
        cited = citation(placed).replace(f"#L{number}-L{number}", f"#L{number}")
        yield LineMatch(cited, number, shown, chunk.symbol, _defines(chunk, before, after), 0, hit, chunk.start_line + start, around)


def _defines(chunk: Chunk, before: str, after: str) -> bool:
    """Whether what stands before and after a match on its line makes it a definition, an option of a command, or a key of a configuration."""
    if chunk.kind == "config":
        return not before.strip(" -\"'") and bool(_ASSIGNS.match(after.lstrip("\"'")))
    return chunk.kind == "code" and bool(_DEFINES.match(before) or _OPTION.match(before))


def _shortened(line: str, at: int) -> str:
    """At most `MAX_LINE` characters of a line, with what matches in them."""
    if len(line) <= MAX_LINE:
        return line
    start = max(0, min(at - MAX_LINE // 3, len(line) - MAX_LINE))
    return ("…" if start else "") + line[start : start + MAX_LINE] + ("…" if start + MAX_LINE < len(line) else "")


def _place(match: LineMatch) -> tuple[str, str, int]:
    return match.hit.work.id, match.hit.chunk.path, match.line


def _folded(matches: list[LineMatch]) -> Iterator[LineMatch]:
    """Overlapping chunks give a line once, and the same line of copied files is one match that counts its copies."""
    places: dict[tuple[str, str, int], LineMatch] = {}
    for match in matches:
        places.setdefault(_place(match), match)
    kept: dict[tuple[str, str, bool], list[LineMatch]] = {}
    for match in places.values():
        kept.setdefault((match.hit.chunk.path.rpartition("/")[2], match.text.strip() or str(_place(match)), match.definition), []).append(match)
    for copies in kept.values():
        for _, same_file in groupby(copies, key=lambda match: (match.hit.work.id, match.hit.chunk.path)):
            first, *_ = lines = list(same_file)
            if first is copies[0]:
                yield replace(first, copies=len({(m.hit.work.id, m.hit.chunk.path) for m in copies}) - 1)
                yield from lines[1:]
