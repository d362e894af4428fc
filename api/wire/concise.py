"""Hits as an agent pays for them: file by file, `line: text`, the lines that answer first, within a token budget.

A listing grows step by step: of every hit its best line, then what stands around it, better hits first. As many steps are taken
as fit, counted on the whole text that is sent. Near-copies and neighbors in a file are one place.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from api.wire.encode import MAX_TOKENS
from api.wire.hits import MOST_LINES, LineageRelation, Source, hit_view
from lineage.citation import citation
from lineage.licenses import called
from lineage.reasons import foremost
from lineage.records import Answer, Focus, Hit
from lineage.text.hidden_text import inline
from lineage.text.phrases import sentences
from lineage.text.tokens import terms, tokens
from retrieval.search.focus import SIGNATURES

_BESIDE = 3
"""Lines between two hits of a file that are shown as one, at most."""
_SAME = 0.8
"""Share of the lines of the shorter of two hits that stand in the other where they are near-copies."""
_COPIES, _NOTES = 2, 3
_LINE, _SENTENCE, _NOTE, _REASON, _WHY = 160, 280, 240, 48, 120
_REACH = (6, 4, 3, 2)
"""Lines above and below the focus that there may be room for: of the first hit, the second, the third, and of others."""
_SENTENCES = 4
_CALL, _OPEN = 3, (",", "(", "[", "{", "\\")
"""How far a statement is followed up and down, and how a line ends on which it goes on."""
_PROSE = frozenset({"paper", "docs"})
_SLOWER = 0.5
"""How much later a hit's next line comes than that of the hit before it."""


@dataclass(frozen=True)
class ListedPiece:
    """A line of code, or a sentence (the `part`th of its line)."""

    line: int
    part: int
    text: str


@dataclass(frozen=True)
class ListedPlace:
    """A hit as it is listed: its pieces, what is needed most first (`core` of them are its focus), and the hits that say the same."""

    hit: Hit
    pieces: tuple[ListedPiece, ...]
    core: int
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
        """What there is nothing of."""
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
    """The next piece of a place (its number in the question's answer), or a note, which has no place."""

    level: float
    question: int
    place: int
    piece: int


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
    """The next best call, in words of ours: the `ways` to see more, if anything is shown, and whether something was cut."""
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
            made[near] = _joined(made[near], _place(hit, asked, len(made)))
        elif same is not None:
            made[same] = replace(made[same], copies=(*made[same].copies, hit))
        else:
            made.append(_place(hit, asked, len(made)))
    return tuple(made)


def _place(hit: Hit, asked: frozenset[str], number: int) -> ListedPlace:
    pieces, core = (_prose if hit.chunk.kind in _PROSE else _code)(hit, asked, _REACH[min(number, len(_REACH) - 1)])
    return ListedPlace(hit, tuple(pieces), core)


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
    """Both as one; the better one's pieces first."""
    chunk, theirs = place.hit.chunk, other.hit.chunk
    lines = (min(chunk.start_line, theirs.start_line), max(chunk.end_line, theirs.end_line))
    known = {(piece.line, piece.part) for piece in place.pieces}
    new = tuple(piece for piece in other.pieces if (piece.line, piece.part) not in known)
    core = sum(piece in new for piece in other.pieces[: other.core])
    hit = replace(place.hit, chunk=replace(chunk, start_line=lines[0], end_line=lines[1]))
    pieces = (*place.pieces[: place.core], *new[:core], *place.pieces[place.core :], *new[core:])
    return replace(place, hit=hit, pieces=pieces, core=place.core + core)


def _code(hit: Hit, asked: frozenset[str], reach: int) -> tuple[list[ListedPiece], int]:
    """The focus (else the line with most of the words), the signature it stands under, and the lines around it in turn."""
    lines, first = hit.chunk.text.split("\n"), hit.chunk.start_line
    start, end = (hit.focus.start_line - first, hit.focus.end_line - first) if hit.focus else _anchor(hit, lines, asked)
    around = (at for step in range(1, reach + 1) for at in (end + step, start - step))
    order = dict.fromkeys((*range(start, end + 1), *_statement(lines, start, end), *_signature(lines, start), *around))
    pieces = [ListedPiece(first + at, 0, _line(lines[at])) for at in order if 0 <= at < len(lines) and any(map(str.isalnum, lines[at]))]
    pieces = pieces or [ListedPiece(first, 0, _line(lines[0]))]
    return pieces, max(1, sum(start <= piece.line - first <= end for piece in pieces))


def _anchor(hit: Hit, lines: Sequence[str], asked: frozenset[str]) -> tuple[int, int]:
    """The line to begin with where no focus is known: the one with most of the question's words, else where its symbol is defined."""
    name = hit.chunk.symbol.rpartition(".")[2]
    worth = [(_hold(line, asked), bool(name) and name in line and line.lstrip().startswith(SIGNATURES)) for line in lines]
    best = max(range(len(lines)), key=worth.__getitem__)
    return best, best


def _statement(lines: Sequence[str], start: int, end: int) -> Iterator[int]:
    """The lines that begin and end a statement of which `start` to `end` are a part: a call over several lines, a few of them."""
    for above in range(start - 1, max(-1, start - 1 - _CALL), -1):
        if not lines[above].rstrip().endswith(_OPEN):
            break
        yield above
    for at in range(end, min(len(lines) - 1, end + _CALL)):
        if not lines[at].rstrip().endswith(_OPEN):
            break
        yield at + 1


def _signature(lines: Sequence[str], at: int) -> list[int]:
    """The nearest line above that begins a function or a class that line `at` stands in."""
    indent = _indent(lines[at]) if 0 <= at < len(lines) else 0
    for above in range(min(at, len(lines)) - 1, -1, -1):
        if lines[above].strip() and _indent(lines[above]) < indent and lines[above].lstrip().startswith(SIGNATURES):
            return [above]
    return []


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _prose(hit: Hit, asked: frozenset[str], reach: int) -> tuple[list[ListedPiece], int]:
    """The sentences of the focus: the one with most of the words, then those around it."""
    lines, first = hit.chunk.text.split("\n"), hit.chunk.start_line
    at = range(hit.focus.start_line - first, hit.focus.end_line - first + 1) if hit.focus else range(len(lines))
    spoken = [ListedPiece(first + n, part, _sentence(text)) for n in at if 0 <= n < len(lines) for part, text in enumerate(sentences(lines[n]))]
    spoken = [piece for piece in spoken if piece.text] or [ListedPiece(first, 0, _sentence(hit.chunk.text))]
    best = max(range(len(spoken)), key=lambda n: _hold(spoken[n].text, asked))
    near = sorted(range(len(spoken)), key=lambda n: (abs(n - best), -n))[: min(_SENTENCES, reach)]
    return [spoken[n] for n in near], 1


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
    """Every piece of every place: the first hit's focus, each hit's first line, then line after line, better hits sooner."""
    for question, (answer, listed) in enumerate(zip(answers, found, strict=True)):
        for note in range(len(answer.notes[:_NOTES])):
            yield _Step(0.5, question, -1, note)
        for number, place in enumerate(listed):
            for piece in range(len(place.pieces)):
                yield _Step(_level(place, number, piece), question, number, piece)


def _level(place: ListedPlace, number: int, piece: int) -> float:
    if not number and piece < place.core:
        return -1 + piece / (1 + len(place.pieces))
    return piece * (1 + _SLOWER * number) if piece else number / 1000


# -- text


def _listed(answers: Sequence[Answer], found: Sequence[Sequence[ListedPlace]], steps: Sequence[_Step], *, cut: bool) -> Listing:
    """The text and the hits of the steps taken."""
    blocks, shown = [], []
    for question, (answer, listed) in enumerate(zip(answers, found, strict=True)):
        taken: dict[int, list[int]] = {}
        for step in steps:
            if step.question == question:
                taken.setdefault(step.place, []).append(step.piece)
        kept = [(place, [place.pieces[n] for n in taken[number]]) for number, place in enumerate(listed) if number in taken]
        head = [f"== {_short(_one_line(answer.query.text), _LINE)}"] if len(answers) > 1 else []
        notes = [f"note: {_short(_one_line(answer.notes[n]), _NOTE)}" for n in taken.get(-1, ())]
        blocks.append("\n".join([*head, *_files(kept), *notes]))
        hits = tuple(concise_hit(place) for place, _ in kept)
        left = next((place.hit.rank for number, place in enumerate(listed) if number not in taken), 0)
        shown.append(ShownHits(answer.query.text, answer.supported, hits, tuple(map(_one_line, answer.notes)), left))
    return Listing("\n".join(filter(None, blocks)), tuple(shown), cut)


def _files(kept: Sequence[tuple[ListedPlace, Sequence[ListedPiece]]]) -> Iterator[str]:
    """Places file by file, in the order of each file's best hit: the citation in full, further places of it by their lines."""
    order = {place.file: number for number, (place, _) in reversed(list(enumerate(kept)))}
    for _, group in groupby(sorted(kept, key=lambda pair: order[pair[0].file]), key=lambda pair: pair[0].file):
        for number, (place, pieces) in enumerate(group):
            cited = citation(place.hit)
            yield _heading(place, cited if not number else "#" + cited.partition("#")[2].partition("@")[0])
            yield from _lines(place, sorted(pieces, key=lambda piece: (piece.line, piece.part)))


def _heading(place: ListedPlace, cited: str) -> str:
    """`[rank] citation · license · role: reason · also CITATION`."""
    hit = place.hit
    also = [f"also {', '.join(map(citation, place.copies[:_COPIES]))}"] if place.copies else []
    section = [_short(_one_line(hit.chunk.section[-1]), _REASON)] if hit.chunk.section and hit.chunk.kind == "paper" else []
    terms_of_use = [called(hit.work.license)] if hit.work.kind == "code" else []
    return f"[{hit.rank}] {cited} · " + " · ".join([*section, *terms_of_use, _reason(hit), *also])


def _reason(hit: Hit) -> str:
    """The role of the work for the target, and the reason that weighs most."""
    edge = hit.reference
    role = "target" if hit.from_target else edge.roles[0].role.value if edge and edge.roles else "cited"
    why = foremost(hit)
    return role + (f": {_short(_one_line(why), _REASON)}" if why else "")


def _lines(place: ListedPlace, pieces: Sequence[ListedPiece]) -> Iterator[str]:
    """`line: text` without the indentation that all have; the sentences of a paper as a quotation."""
    if place.hit.chunk.kind in _PROSE:
        yield "> " + " ".join(("… " if n and not _follows(pieces[n - 1], piece) else "") + piece.text for n, piece in enumerate(pieces))
        return
    indent = min((_indent(piece.text) for piece in pieces if piece.text.strip()), default=0)
    for piece in pieces:
        yield f"{piece.line}: {piece.text[indent:]}"


def _follows(piece: ListedPiece, other: ListedPiece) -> bool:
    return (other.line, other.part) == (piece.line, piece.part + 1) or (other.line > piece.line and not other.part)


def concise_hit(place: ListedPlace) -> ConciseHit:
    """The hit of a place without text."""
    view = hit_view(place.hit)
    lineage = replace(view.lineage, why=_short(view.lineage.why, _WHY))
    flags = tuple(flag for flag in view.flags if flag != "text-cut")
    copies = tuple(map(citation, place.copies))
    return ConciseHit(view.rank, view.chunk, view.citation, view.source, view.focus, lineage, view.license, view.from_target, flags, copies)
