"""Hits within a token budget: what the works settle, then blocks of the lines that answer.

A listing grows step by step: of the first hits a block that answers without a further call (the statement whole, its signature, what stands
around it), of others the line that says most. As many steps are taken as fit, counted on the whole text that is sent. Near-copies and neighbors
in a file are one place. Citations are short; the first of a repository names its owner and commit.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from api.wire.encode import MAX_TOKENS
from api.wire.hits import MOST_LINES, LineageRelation, Source, hit_view
from lineage.citation import citation, owner, short
from lineage.licenses import called
from lineage.reasons import UNSUPPORTED
from lineage.records import Answer, Focus, Hit, Settled
from lineage.text.hidden_text import inline
from lineage.text.phrases import sentences
from lineage.text.tokens import terms, tokens
from retrieval.search.focus import SIGNATURES, block, indentation, signature, statement

if TYPE_CHECKING:
    from retrieval.search.exact import ExactAnswer, LineMatch
    from retrieval.search.read import CitedPassage

Piece = tuple[int, int, str]
_BESIDE = 3
"""Lines between two hits of a file that are shown as one, at most."""
_SAME = 0.8
"""Share of the lines of the shorter of two hits that stand in the other where they are near-copies."""
_COPIES, _NOTES = 2, 3
_LINE, _SENTENCE, _NOTE, _TITLE, _WHY = 160, 240, 240, 80, 120
_BLOCK = 12
"""Lines of a block, at most."""
_SENTENCES = (1, 2, 3)
_PROSE = frozenset({"paper", "docs"})
_NEAR = 3
"""Of an answer that has only near hits, how far its first hits grow."""
_FULL, _WHOLE = 5, 0.8
"""Hits that are shown as blocks before others get more than their line, and how much later each next one's block comes than its line."""


@dataclass(frozen=True)
class ListedPlace:
    """A hit as it is listed: in `sizes`, smallest first, the pieces (line, part of it, text) that it is shown by; and the hits that say the same."""

    hit: Hit
    sizes: tuple[tuple[Piece, ...], ...]
    copies: tuple[Hit, ...] = ()

    @property
    def file(self) -> tuple[str, str]:
        """What hits are grouped by."""
        return self.hit.chunk.work, self.hit.chunk.path


@dataclass(frozen=True)
class ConciseHit:
    """A hit without its text, whose lines stand once, in the text of the result. `copies` cites near-copies."""

    rank: int
    chunk: str
    citation: str
    source: Source
    focus: Focus
    lineage: LineageRelation
    license: str | None
    from_target: bool
    flags: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()

    @property
    def absent(self) -> tuple[str, ...]:
        """Fields that are empty, which JSON leaves out."""
        return tuple(name for name in ("flags", "copies") if not getattr(self, name))


@dataclass(frozen=True)
class ShownHits:
    """What of one answer is listed: `hits`, by rank; `left` is the rank of the first hit that did not fit (0: all did)."""

    query: str
    supported: bool
    hits: tuple[ConciseHit, ...]
    notes: tuple[str, ...]
    left: int


@dataclass(frozen=True)
class Listing:
    """`text` holds what others wrote, `sent` is all that is sent; `cut`: something did not fit."""

    text: str
    answers: tuple[ShownHits, ...]
    cut: bool
    sent: str = ""


@dataclass(frozen=True, order=True)
class _Step:
    """A place (its number in the question's answer) in its next size; or the next of what is settled (place -2), or a note (-1)."""

    level: float
    question: int
    place: int
    size: int


def listing(answers: Sequence[Answer], frame: Callable[[Listing], str], count: Callable[[str], int], max_tokens: int = MAX_TOKENS) -> Listing:
    """The answers in at most `max_tokens`; `sent` is what `frame` makes of the listing, its count never above the budget.

    The first hit is always there; where not even its first line fits, it is cut. A frame that alone is too long stays as it is.
    """
    found = [places(answer) for answer in answers]
    steps = sorted(_steps(answers, found))

    def made(taken: int) -> Listing:
        listed = _listed(answers, found, steps[:taken], cut=taken < len(steps))
        return replace(listed, sent=frame(listed))

    fitting = bisect(range(len(steps) + 1), False, key=lambda taken: count(made(taken).sent) > max_tokens) - 1
    if fitting > 0 or not steps:
        return made(max(0, fitting))
    return _squeezed(made(1), frame, count, max_tokens)


def _squeezed(listed: Listing, frame: Callable[[Listing], str], count: Callable[[str], int], max_tokens: int) -> Listing:
    """As much of the text as fits."""

    def made(length: int) -> Listing:
        cut = replace(listed, text=listed.text[:length] + "…", cut=True)
        return replace(cut, sent=frame(cut))

    return made(max(0, bisect(range(len(listed.text)), False, key=lambda length: count(made(length).sent) > max_tokens) - 1))


def next_call(listed: Listing, *ways: str) -> str:
    """The suggested next call: the `ways` to see more, and whether something was cut."""
    if not any(shown.hits for shown in listed.answers):
        return "Next: ask in other words, with identifiers that the code may use."
    return f"{'Cut to the budget. ' if listed.cut else ''}Next: {', '.join(filter(None, ways))}."


# -- places


def places(answer: Answer) -> tuple[ListedPlace, ...]:
    """The hits of an answer, best first: neighbors in a file and near-copies are one."""
    asked = frozenset(terms(answer.query.text))
    made: list[ListedPlace] = []
    for hit in answer.hits:
        near = next((n for n, place in enumerate(made) if _beside(place.hit, hit)), None)
        same = next((n for n, place in enumerate(made) if near is None and _alike(place.hit, hit)), None)
        if near is not None:
            made[near] = _joined(made[near], _place(hit, asked))
        elif same is not None:
            made[same] = replace(made[same], copies=(*made[same].copies, hit))
        else:
            made.append(_place(hit, asked))
    return tuple(made)


def _place(hit: Hit, asked: frozenset[str]) -> ListedPlace:
    return ListedPlace(hit, (_prose if hit.chunk.kind in _PROSE else _code)(hit, asked))


def _beside(hit: Hit, other: Hit) -> bool:
    """Whether two hits are neighbors: a few lines apart in a file and together no longer than a hit may be, or in one section of a paper."""
    mine, theirs = hit.chunk, other.chunk
    if (mine.work, mine.path) != (theirs.work, theirs.path):
        return False
    if mine.kind == "paper":
        return citation(hit) == citation(other)
    apart = max(mine.start_line, theirs.start_line) - min(mine.end_line, theirs.end_line)
    return apart <= _BESIDE and max(mine.end_line, theirs.end_line) - min(mine.start_line, theirs.start_line) < MOST_LINES


def _alike(hit: Hit, other: Hit) -> bool:
    """Whether the shorter text stands in the other for the most part, line by line."""
    if hit.chunk.kind == "paper" or other.chunk.kind == "paper":
        return False
    mine, theirs = (frozenset(filter(None, map(str.strip, one.chunk.text.split("\n")))) for one in (hit, other))
    return len(mine & theirs) >= _SAME * max(1, min(len(mine), len(theirs)))


def _joined(place: ListedPlace, other: ListedPlace) -> ListedPlace:
    """Both as one: the line of the better one, then what both have."""
    chunk, theirs = place.hit.chunk, other.hit.chunk
    lines = (min(chunk.start_line, theirs.start_line), max(chunk.end_line, theirs.end_line))
    hit = replace(place.hit, chunk=replace(chunk, start_line=lines[0], end_line=lines[1]))
    both = tuple(tuple(sorted({*mine, *their})) for mine, their in zip(place.sizes[1:], other.sizes[1:], strict=True))
    return replace(place, hit=hit, sizes=(place.sizes[0], *both))


def _code(hit: Hit, asked: frozenset[str]) -> tuple[tuple[Piece, ...], ...]:
    """The line that says most; its statement under its signature; the block around it."""
    lines, first = hit.chunk.text.split("\n"), hit.chunk.start_line
    start, end = (hit.focus.start_line - first, hit.focus.end_line - first) if hit.focus else _anchor(hit, lines, asked)
    start, end = max(0, min(start, len(lines) - 1)), max(0, min(end, len(lines) - 1))
    best = max(range(start, end + 1), key=lambda at: (_hold(lines[at], asked), any(map(str.isalnum, lines[at]))))
    start, end = statement(lines, start, end)
    head = signature(lines, start)
    said = [*([] if head is None else [head]), *(at for at in range(start, end + 1) if any(map(str.isalnum, lines[at])))]
    around = block(lines, start, end, _BLOCK)
    return tuple(tuple((first + at, 0, _line(lines[at])) for at in some) for some in ([best], said or [best], around or [best]))


def _anchor(hit: Hit, lines: Sequence[str], asked: frozenset[str]) -> tuple[int, int]:
    """The line to begin with where no focus is known: the one with most of the question's words, else where its symbol is defined."""
    name = hit.chunk.symbol.rpartition(".")[2]
    worth = [(_hold(line, asked), bool(name) and name in line and line.lstrip().startswith(SIGNATURES)) for line in lines]
    best = max(range(len(lines)), key=worth.__getitem__)
    return best, best


def _prose(hit: Hit, asked: frozenset[str]) -> tuple[tuple[Piece, ...], ...]:
    """The sentence of the focus with most of the words; then with those beside it."""
    lines, first = hit.chunk.text.split("\n"), hit.chunk.start_line
    at = range(hit.focus.start_line - first, hit.focus.end_line - first + 1) if hit.focus else range(len(lines))
    spoken = [(first + n, part, _sentence(text)) for n in at if 0 <= n < len(lines) for part, text in enumerate(sentences(lines[n]))]
    spoken = [piece for piece in spoken if piece[2]] or [(first, 0, _sentence(hit.chunk.text))]
    best = max(range(len(spoken)), key=lambda n: _hold(spoken[n][2], asked))
    near = sorted(range(len(spoken)), key=lambda n: (abs(n - best), -n))
    return tuple(tuple(sorted(spoken[n] for n in near[:most])) for most in _SENTENCES)


def _hold(text: str, asked: frozenset[str]) -> int:
    return len(asked.intersection(tokens(text)))


def _line(text: str) -> str:
    return _short("".join(c if c.isprintable() or c == "\t" else " " for c in inline(text.replace("\t", "    "))).rstrip(), _LINE)


def _sentence(text: str) -> str:
    return _short(_one_line(text), _SENTENCE)


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in inline(text)).split())


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


# -- steps


def _steps(answers: Sequence[Answer], found: Sequence[Sequence[ListedPlace]]) -> Iterator[_Step]:
    """The first hit's statement, what is settled, each hit's line, blocks of the first hits, then of the others; better hits sooner."""
    for question, (answer, listed) in enumerate(zip(answers, found, strict=True)):
        yield from (_Step(0.5, question, -1, note) for note in range(len(_notes(answer))))
        yield from (_Step(-1 + row / 10, question, -2, row) for row in range(len(answer.settled)))
        for number, place in enumerate(listed):
            yield _Step(-2 if not number else _line_level(number), question, number, 0)
            for size in range(1, len(place.sizes)):
                if place.sizes[size] != place.sizes[size - 1] and (answer.supported or number + size < _NEAR):
                    yield _Step(number + _WHOLE * size, question, number, size)


def _line_level(number: int) -> float:
    """When a hit's line comes: those of the first hits at once, those of others beside the blocks of the first."""
    return number / 1000 if number < _FULL else number - _FULL + 1


# -- text


def _listed(answers: Sequence[Answer], found: Sequence[Sequence[ListedPlace]], steps: Sequence[_Step], *, cut: bool) -> Listing:
    """The text and the hits of the steps taken; what stands there for a question is not repeated for the next one."""
    blocks, shown, told, notes = [], [], _Told(set(), set()), dict[str, None]()
    for question, (answer, listed) in enumerate(zip(answers, found, strict=True)):
        taken: dict[int, int] = {}
        for step in steps:
            if step.question == question:
                taken[step.place] = max(step.size, taken.get(step.place, 0))
        kept = [(place, taken[number]) for number, place in enumerate(listed) if number in taken]
        order = {place.file: number for number, (place, _) in reversed(list(enumerate(kept)))}
        head = [f"== {_short(_one_line(answer.query.text), _TITLE)}{'' if answer.supported else ' (only near hits)'}"] if len(answers) > 1 else []
        settled = [_settled(row) for row in answer.settled[: taken.get(-2, -1) + 1]]
        texts = [_shown(place, size, told) for place, size in sorted(kept, key=lambda row: order[row[0].file])]
        notes.update(dict.fromkeys(f"note: {_short(_one_line(note), _NOTE)}" for note in _notes(answer)[: taken.get(-1, -1) + 1]))
        blocks.append("\n".join([*head, *settled, *texts]))
        hits = tuple(concise_hit(place, _cited(place, size)) for place, size in kept)
        left = next((place.hit.rank for number, place in enumerate(listed) if number not in taken), 0)
        shown.append(ShownHits(answer.query.text, answer.supported, hits, tuple(map(_one_line, answer.notes)), left))
    return Listing("\n".join(filter(None, [*blocks, *notes])), tuple(shown), cut)


def _notes(answer: Answer) -> list[str]:
    """What limited the search; the heading already says if only near hits were found."""
    return [note for note in answer.notes if not note.startswith(UNSUPPORTED)][:_NOTES]


class _Told(NamedTuple):
    """What a text already contains: works by name, and pieces by file, line and part."""

    works: set[str]
    pieces: set[tuple[object, ...]]


def _settled(row: Settled) -> str:
    """`weight decay: 0 DiT/train.py:153, mae/main.py:40 · 0.02 mar/main_mar.py:81`."""
    return f"{row.title}: " + " · ".join(f"{_one_line(side.said)} {', '.join(pinpointed(hit) for hit in side.hits)}" for side in row.sides)


def pinpointed(hit: Hit) -> str:
    """The short citation of the lines that answer."""
    if not hit.focus or hit.work.kind != "code":
        return short(hit)
    return short(replace(hit, chunk=replace(hit.chunk, start_line=hit.focus.start_line, end_line=hit.focus.end_line)))


def _shown(place: ListedPlace, size: int, told: _Told) -> str:
    """A place in one of its sizes: `citation: line`, or its citation over `line: text` without the indentation that all lines have."""
    pieces = [piece for piece in place.sizes[size] if (*place.file, *piece[:2]) not in told.pieces]
    told.pieces.update((*place.file, *piece[:2]) for piece in pieces)
    head = f"{_cited(place, size)}{_about(place, told.works)}"
    if not pieces:
        return f"{head}: above"
    if place.hit.chunk.kind in _PROSE:
        return f"{head}: " + " ".join(("… " if n and not _follows(pieces[n - 1], piece) else "") + piece[2] for n, piece in enumerate(pieces))
    return f"{head}: {pieces[0][2].strip()}" if len(place.sizes[size]) == 1 else f"{head}\n{numbered_lines(pieces)}"


def _cited(place: ListedPlace, size: int) -> str:
    """The citation of a place: of its line where it has one only."""
    pieces = place.sizes[size]
    if len(pieces) > 1 or place.hit.chunk.kind in _PROSE:
        return short(place.hit)
    return short(replace(place.hit, chunk=replace(place.hit.chunk, start_line=pieces[0][0], end_line=pieces[0][0])))


def numbered_lines(pieces: Sequence[Piece]) -> str:
    """Lines as `line: text` without the indentation that all have."""
    indent = min((indentation(text) for _, _, text in pieces if text.strip()), default=0)
    return "\n".join(f"{line}: {text[indent:]}" for line, _, text in pieces)


def _about(place: ListedPlace, known: set[str]) -> str:
    """For the first place of a work its owner, commit, license and role; then the places with the same lines."""
    also = [f"also {', '.join(map(short, place.copies[:_COPIES]))}"] if place.copies else []
    told = [*([] if place.hit.work.id in known else about(place.hit)), *also]
    known.add(place.hit.work.id)
    return f" ({', '.join(told)})" if told else ""


def about(hit: Hit) -> list[str]:
    """Owner and commit, license, and the role for the target, of the work of a hit."""
    edge = hit.reference
    role = "target" if hit.from_target else edge.roles[0].role.value if edge and edge.roles else "cited"
    return [_short(_one_line(owner(hit.work)), _TITLE), *([called(hit.work.license)] if hit.work.kind == "code" else []), role]


def _follows(piece: Piece, other: Piece) -> bool:
    return other[:2] == (piece[0], piece[1] + 1) or (other[0] > piece[0] and not other[1])


# -- what is found exactly, and what is read


def matching_lines(
    found: ExactAnswer, count: Callable[[str], int], max_tokens: int = MAX_TOKENS, *, headed: bool = False, blocks: bool = False
) -> str:
    """One statement a line, `citation: statement`, or in `blocks` lines around each under their citation; as many as fit, and how many there are."""
    texts = list(_blocks(found.matches)) if blocks else list(dict.fromkeys(map(_statement, found.matches)))
    head = [f"== {_one_line(found.pattern)}" + ("" if found.total else ": no line matches")] if headed or not found.total else []

    def made(kept: int) -> str:
        left = found.total - found.offset - len(found.matches)
        more = [f"… {len(texts) - kept or left} more{' blocks' if blocks and kept < len(texts) else ''} of {found.total} lines that match"]
        return "\n".join([*head, *texts[:kept], *(more if left or kept < len(texts) else [])])

    return made(max(1, bisect(range(len(texts) + 1), False, key=lambda kept: count(made(kept)) > max_tokens) - 1))


def _blocks(found: Sequence[LineMatch]) -> Iterator[str]:
    """The lines around matches, file by file, each line once."""
    order = {match.hit.chunk.path: number for number, match in reversed(list(enumerate(found)))}
    for _, group in groupby(
        sorted(found, key=lambda match: order[match.hit.chunk.path]), key=lambda match: (match.hit.work.id, match.hit.chunk.path)
    ):
        matches = list(group)
        lines = {number: line for match in matches for number, line in enumerate(match.around, match.first)}
        for run in _runs(sorted(lines)):
            chunk = replace(matches[0].hit.chunk, start_line=run[0], end_line=run[-1])
            body = numbered_lines([(number, 0, _line(lines[number])) for number in run if lines[number].strip()])
            yield f"{short(replace(matches[0].hit, chunk=chunk))}\n{body}"


def _runs(numbers: Sequence[int]) -> Iterator[list[int]]:
    """Numbers in runs that follow one another."""
    for _, run in groupby(enumerate(numbers), key=lambda row: row[1] - row[0]):
        yield [number for _, number in run]


def _statement(match: LineMatch) -> str:
    """`citation: statement`, or its line where the statement is long."""
    said = _one_line(" ".join(match.around))
    if len(said) > _SENTENCE:
        match, said = replace(match, first=match.line, around=(match.text,)), _one_line(match.text)
    return f"{short(match.shown)}: {_short(said, _SENTENCE)}{_also(match)}"


def _also(match: LineMatch) -> str:
    return f" (and {match.copies} more)" if match.copies else ""


def line_hit(match: LineMatch, rank: int) -> ConciseHit:
    """A matching line as a hit, cited as its text is."""
    return replace(concise_hit(ListedPlace(match.hit, ()), short(match.shown)), rank=rank)


def passage_lines(found: CitedPassage) -> str:
    """The lines of a citation, numbered for code, under what they stand in; who calls it below, if that was asked."""
    hit = found.hit
    inside = f" in {_one_line(found.symbol)} (from line {found.defined_at})" if found.symbol else ""
    code = hit.work.kind == "code"
    lines = [inline(line.replace("\t", "    ")) for line in hit.chunk.text.split("\n")]
    body = numbered_lines([(number, 0, line.rstrip()) for number, line in enumerate(lines, hit.chunk.start_line)]) if code else "\n".join(lines)
    calls = [f"{short(caller.shown)}: {_one_line(caller.text)}" for caller in found.callers]
    head = f"{short(hit)} ({', '.join(about(hit))}){inside}" + (f"; {found.lines} lines" if code else "")
    return "\n".join([head, body, *(["named in:", *calls] if calls else [])])


def concise_hit(place: ListedPlace, cited: str) -> ConciseHit:
    """The hit of a place without text, cited as its text is."""
    view = hit_view(place.hit)
    lineage = replace(view.lineage, why=_short(view.lineage.why, _WHY))
    flags = tuple(flag for flag in view.flags if flag != "text-cut")
    copies = tuple(map(short, place.copies))
    return ConciseHit(view.rank, view.chunk, cited, view.source, view.focus, lineage, view.license, view.from_target, flags, copies)
