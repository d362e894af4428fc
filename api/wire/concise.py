"""Hits as an agent pays for them: the values that works have, then the lines that answer, within a token budget.

The first places come with the lines around their statement, so that they need not be read again; then each further place in a line. Where room
is left, the first grow to the block that they stand in. As many steps are taken as fit, counted on the whole text that is sent. Places that say
the same are one. A path stands once over its lines; the first of a repository names its owner and commit.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from typing import NamedTuple

from api.wire.encode import MAX_TOKENS, QUESTION_TOKENS, view
from lineage.citation import citation, owner, short
from lineage.licenses import called
from lineage.reasons import UNSUPPORTED
from lineage.records import Answer, Focus, Hit, Setting, Settled, WorkId
from lineage.text.hidden_text import inline, printable, shortened
from lineage.text.phrases import sentences
from lineage.text.tokens import terms, tokens
from retrieval.search.definitions import names_read
from retrieval.search.focus import SIGNATURES, block, indentation, statement

Piece = tuple[int, int, str]
_SAME = 0.8
"""Share of the lines of the shorter of two hits that stand in the other where they are near-copies."""
_NOTES = 3
_ONE, LINE, _SENTENCE, _NOTE, _TITLE, _OWNER = 120, 160, 240, 240, 32, 48
_WINDOWS, _WINDOW, _CHOSEN, _BLOCK = 3, 4, 8, 12
"""Places that are shown with what stands around them before others are shown; lines of such a place, of one whose lines were told apart as a
whole, and of a block, at most."""
_SENTENCES = (1, 2, 3)
_PROSE = frozenset({"paper", "docs"})
_FULL, _FULL_OF_SEVERAL, _WHOLE = 8, 16, 3
"""Places that are shown by a line before the first of them grows, and after how many further lines the next one does."""
_COMMENTS = ("#", "//")
_SETS, _VALUE = 2, 40
"""Names of a place that are told with what sets them, and characters of such a value."""
_LEADING, _CITED = 2, 2
"""Sentences that stand before code, at most; values of a detail that are told with their place."""


@dataclass(frozen=True)
class ListedPlace:
    """A hit as it is listed: in `sizes`, smallest first, the pieces (line, part of it, text) that it is shown by; and the hits that say the same.

    The smallest is printed as one line. `sets` are by name what sets the names that it may use.
    """

    hit: Hit
    sizes: tuple[tuple[Piece, ...], ...]
    copies: tuple[Hit, ...] = ()
    sets: Mapping[str, Setting] = field(default_factory=dict)

    @property
    def file(self) -> tuple[str, str]:
        """What hits are grouped by."""
        return self.hit.chunk.work, self.hit.chunk.path


@dataclass(frozen=True)
class ConciseSource:
    """Where a hit stands, in as few words as finding it takes."""

    work: str
    path: str
    start_line: int
    end_line: int


@dataclass(frozen=True)
class ConciseRelation:
    """What a work is for the target."""

    distance: int | None
    role: str | None


@dataclass(frozen=True)
class ConciseHit:
    """A hit without its text, whose lines stand once, in the text of the result."""

    rank: int
    chunk: str
    citation: str
    source: ConciseSource
    focus: Focus
    lineage: ConciseRelation
    license: str | None
    from_target: bool
    flags: tuple[str, ...] = ()

    @property
    def absent(self) -> tuple[str, ...]:
        """Fields that are empty, which JSON leaves out."""
        return () if self.flags else ("flags",)


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


def budget(given: int | None, asked: int, each: int = QUESTION_TOKENS) -> int:
    """The tokens of an answer to so many questions, patterns or citations: as many for each as are given, else `each`."""
    return given * asked if given else max(MAX_TOKENS, each * asked)


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
    """The places that answer, best first; those that say the same are one."""
    asked = frozenset(terms(answer.query.text))
    made: list[ListedPlace] = []
    for hit in _ordered(answer):
        place = ListedPlace(hit, (_prose if hit.chunk.kind in _PROSE else _code)(hit, asked))
        at = next((n for n, other in enumerate(made) if _is_in(place, other)), None)
        same = next((n for n, other in enumerate(made) if at is None and _says_the_same(place, other)), None)
        if at is not None:
            made[at] = _joined(made[at], place)
        elif same is not None:
            made[same] = replace(made[same], copies=(*made[same].copies, _line_of(place)))
        else:
            made.append(place)
    return tuple(replace(place, sets=_sets(place.hit, answer.definitions)) for place in made)


def _sets(hit: Hit, definitions: Mapping[tuple[WorkId, str, str], Setting]) -> Mapping[str, Setting]:
    """What sets names in the file of a hit, by name."""
    here = (hit.chunk.work, hit.chunk.path)
    return {name: one for (work, path, name), one in definitions.items() if (work, path) == here}


def _ordered(answer: Answer) -> Iterator[Hit]:
    """The hits, sentences that rank below code last."""
    prose = [hit for hit in answer.hits if hit.chunk.kind in _PROSE]
    code = [hit for hit in answer.hits if hit.chunk.kind not in _PROSE]
    leading = [hit for hit in prose[:_LEADING] if not code or hit.rank < code[0].rank]
    return chain(leading, code, prose[len(leading) :])


def _is_in(place: ListedPlace, other: ListedPlace) -> bool:
    """Whether two places are one: they share lines of what says most, or stand in one section of a paper."""
    if place.file != other.file:
        return False
    if place.hit.chunk.kind == "paper":
        return citation(place.hit) == citation(other.hit)
    return not {piece[:2] for piece in place.sizes[0]}.isdisjoint(piece[:2] for piece in other.sizes[0])


def _says_the_same(place: ListedPlace, other: ListedPlace) -> bool:
    """Whether code elsewhere is the same: its statement, or where both are hits the shorter text for the most part, line by line."""
    hit, first = place.hit, other.hit
    if place.file == other.file or "paper" in (hit.chunk.kind, first.chunk.kind):
        return False
    if _said(place) == _said(other):
        return True
    mine, theirs = (frozenset(filter(None, map(str.strip, one.chunk.text.split("\n")))) for one in (hit, first))
    return len(mine & theirs) >= _SAME * max(1, min(len(mine), len(theirs)))


def _line_of(place: ListedPlace) -> Hit:
    """A hit of just the lines that say most."""
    (first, *_), (last, *_) = place.sizes[0][0], place.sizes[0][-1]
    return place.hit if place.hit.chunk.kind in _PROSE else replace(_lines(place.hit, first, last), focus=None)


def _said(place: ListedPlace) -> str:
    return " ".join(text.strip() for _, _, text in place.sizes[0])


def _joined(place: ListedPlace, other: ListedPlace) -> ListedPlace:
    """Both as one: the line of the better one, then what both have."""
    chunk, theirs = place.hit.chunk, other.hit.chunk
    lines = (min(chunk.start_line, theirs.start_line), max(chunk.end_line, theirs.end_line))
    hit = replace(place.hit, chunk=replace(chunk, start_line=lines[0], end_line=lines[1]))
    both = tuple(tuple(sorted({*mine, *their})) for mine, their in zip(place.sizes[1:], other.sizes[1:], strict=True))
    return replace(place, hit=hit, sizes=(place.sizes[0], *both))


def _code(hit: Hit, asked: frozenset[str]) -> tuple[tuple[Piece, ...], ...]:
    """The line that says most; the lines of its statement and those beside it; the block around it."""
    lines, first = hit.chunk.text.split("\n"), hit.chunk.start_line
    start, end = (hit.focus.start_line - first, hit.focus.end_line - first) if hit.focus else _anchor(hit, lines, asked)
    start, end = max(0, min(start, len(lines) - 1)), max(0, min(end, len(lines) - 1))
    best = max(range(start, end + 1), key=lambda at: (_hold(lines[at], asked), any(map(str.isalnum, lines[at]))))
    most = max(_WINDOW, min(_CHOSEN, end - start + 1))
    start, end = statement(lines, start, end)
    sizes = (_shortest(lines, best), _window(lines, start, end, best, most), block(lines, start, end, _BLOCK) or [best])
    return tuple(tuple((first + at, 0, cut_line(lines[at])) for at in some) for some in sizes)


def _window(lines: Sequence[str], start: int, end: int, best: int, most: int) -> list[int]:
    """The lines of a statement, the one before and the one after it; of more than `most` those nearest to the line that says most."""
    telling = [at for at, line in enumerate(lines) if any(map(str.isalnum, line))]
    before, after = bisect(telling, start - 1), bisect(telling, end)
    return sorted(sorted(telling[max(0, before - 1) : after + 1], key=lambda at: (abs(at - best), at < best))[:most]) or [best]


def _shortest(lines: Sequence[str], at: int) -> list[int]:
    """The statement of a line if it fits into one, and the next ones while it only opens a block or is a comment on them."""
    start, end = statement(lines, at, at)
    while end + 1 < len(lines) and (lines[end].rstrip().endswith((":", "{")) or lines[end].lstrip().startswith(_COMMENTS)):
        end += 1
    kept = [near for near in range(start, end + 1) if lines[near].strip()] or [at]
    while len(kept) > 1 and kept[-1] > at and sum(len(lines[near].strip()) + 1 for near in kept) > _ONE:
        kept.pop()
    return kept if sum(len(lines[near].strip()) + 1 for near in kept) <= _ONE else [at]


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


def cut_line(text: str) -> str:
    """A line of code as it is shown, cut if it is long."""
    return shortened(printable(inline(text.replace("\t", "    "))).rstrip(), LINE)


def _sentence(text: str) -> str:
    return shortened(one_line(text), _SENTENCE)


def one_line(text: str) -> str:
    """A text on one line, printable."""
    return " ".join(printable(inline(text)).split())


# -- steps


def _steps(answers: Sequence[Answer], found: Sequence[Sequence[ListedPlace]]) -> Iterator[_Step]:
    """The first places with what stands around them, the values, then each place's line; once some lines are there, the first places grow."""
    full = _FULL if len(answers) == 1 else _FULL_OF_SEVERAL
    for question, (answer, listed) in enumerate(zip(answers, found, strict=True)):
        yield from (_Step(full + note, question, -1, note) for note in range(len(_notes(answer))))
        yield from (_Step(-1 + row / 10, question, -2, row) for row in range(len(answer.settled)))
        for number, place in enumerate(listed):
            early = number - _WINDOWS - 1 if number < _WINDOWS else number
            yield _Step(early, question, number, 0)
            for size in range(1, len(place.sizes)):
                if place.sizes[size] != place.sizes[size - 1] and (answer.supported or (size == 1 and early < 0)):
                    yield _Step(early if size == 1 and early < 0 else full + _WHOLE * number + size, question, number, size)


# -- text


def _listed(answers: Sequence[Answer], found: Sequence[Sequence[ListedPlace]], steps: Sequence[_Step], *, cut: bool) -> Listing:
    """The text and the hits of the steps taken; what stands there for a question is not repeated for the next one."""
    blocks, shown, told, notes = [], [], _Told(set(), set(), set()), dict[str, None]()
    for question, (answer, listed) in enumerate(zip(answers, found, strict=True)):
        taken: dict[int, int] = {}
        for step in steps:
            if step.question == question:
                taken[step.place] = max(step.size, taken.get(step.place, 0))
        kept = [(place, taken[number]) for number, place in enumerate(listed) if number in taken]
        order = {place.file: number for number, (place, _) in reversed(list(enumerate(kept)))}
        asked = f"== {question + 1}. {shortened(one_line(answer.query.text), _TITLE)}{'' if answer.supported else ' (only near hits)'}"
        head = [asked] if len(answers) > 1 else []
        settled = [_settled(row) for row in answer.settled[: taken.get(-2, -1) + 1]]
        printed = [(place, size, _shown(place, size, told)) for place, size in sorted(kept, key=lambda row: order[row[0].file])]
        ranked = sorted((row for row in printed if row[2].lines), key=lambda row: row[0].hit.rank)
        told.pieces.update(told.here)
        told.here.clear()
        notes.update(dict.fromkeys(f"note: {shortened(one_line(note), _NOTE)}" for note in _notes(answer)[: taken.get(-1, -1) + 1]))
        files = groupby((row for row in printed if row[2].lines), key=lambda row: row[2].head)
        blocks.append("\n".join([*head, *settled, *(_of_file([text for _, _, text in rows]) for _, rows in files)]))
        hits = tuple(concise_hit(place, _cited(place, size)) for place, size, _ in ranked)
        left = min((place.hit.rank for number, place in enumerate(listed) if number not in taken), default=0)
        shown.append(ShownHits(answer.query.text, answer.supported, hits, tuple(map(one_line, answer.notes)), left))
    return Listing("\n".join(filter(None, [*blocks, *notes])), tuple(shown), cut)


def _of_file(texts: Sequence[_PlaceText]) -> str:
    """The lines of places in one file: below its path, or behind it where it is one line."""
    lines = [line for text in texts for line in text.lines]
    head, about = texts[0].head, texts[0].about
    if len(lines) > 1 or not head:
        return "\n".join([f"{head}{about}", *lines])
    number, _, said = lines[0].partition(": ")
    return f"{head}:{number}{about}: {said}" if texts[0].is_code else f"{head}{about}: {lines[0]}"


def _notes(answer: Answer) -> list[str]:
    """What limited the search; the heading already says if only near hits were found."""
    return [note for note in answer.notes if not note.startswith(UNSUPPORTED)][:_NOTES]


class _Told(NamedTuple):
    """What a text says already: works by name, and pieces by file, line and part, those of this question apart."""

    works: set[str]
    pieces: set[tuple[object, ...]]
    here: set[tuple[object, ...]]


class _PlaceText(NamedTuple):
    """A place as it is written: what it stands in, what is told about that, and its lines, numbered in code."""

    head: str
    about: str
    lines: Sequence[str]
    is_code: bool = False


def _settled(row: Settled) -> str:
    """`weight decay: 0 DiT/train.py:153 +2 · 0.02 mar/main_mar.py:81`, the last values without their places."""
    sides = (
        (one_line(side.said), f" {pinpointed(side.hit)}" if number < _CITED else "", f" +{side.works - 1}" if side.works > 1 else "")
        for number, side in enumerate(row.sides)
    )
    return f"{row.title}: " + " · ".join(map("".join, sides))


def _also(place: ListedPlace) -> str:
    """` (also in POPLIN)`: another repository where the same stands."""
    other = next((copy for copy in place.copies if copy.work.id != place.hit.work.id), None)
    return f" (also in {short(other).partition('/')[0]})" if other else ""


def pinpointed(hit: Hit) -> str:
    """The short citation of the lines that answer."""
    return short(_lines(hit, hit.focus.start_line, hit.focus.end_line) if hit.focus and hit.work.kind == "code" else hit)


def _lines(hit: Hit, first: int, last: int) -> Hit:
    """A hit that is cited by these lines."""
    return replace(hit, chunk=replace(hit.chunk, start_line=first, end_line=last))


def _shown(place: ListedPlace, size: int, told: _Told) -> _PlaceText:
    """A place in one of its sizes, without the indentation that all lines have.

    What an earlier question was told stands above; what this one was, nowhere again.
    """
    keys = {piece: (*place.file, *piece[:2]) for piece in place.sizes[size]}
    new = [piece for piece, key in keys.items() if key not in told.here]
    pieces = [piece for piece in new if keys[piece] not in told.pieces]
    told.here.update(keys.values())
    is_code = place.hit.work.kind == "code" and place.hit.chunk.kind not in _PROSE
    head = _cited(place, size).rpartition(":")[0] if is_code else short(place.hit)
    if not new:
        return _PlaceText(head, "", ())
    about = _about(place.hit, told.works)
    also, sets = _also(place), (place.hit.chunk.path, place.sets, told.pieces)
    if not is_code:
        said = " ".join(("… " if n and not _follows(pieces[n - 1], piece) else "") + piece[2] for n, piece in enumerate(pieces))
        return _PlaceText(head, about, [(said if size else shortened(said, LINE)) or "above"])
    if not pieces:
        return _PlaceText(head, about, [f"{_range(new)}: above"], is_code)
    if not size:
        said = " ".join(text.strip() for _, _, text in pieces)
        return _PlaceText(head, about, [f"{_range(pieces)}: {shortened(said, _ONE)}{also}{what_sets(said, *sets)}"], is_code)
    lines = [f"{line}{what_sets(line, *sets)}" for line in numbered_lines(pieces).split("\n")]
    return _PlaceText(head, about, [lines[0] + also, *lines[1:]], is_code)


def _range(pieces: Sequence[Piece]) -> str:
    """`81-82`, `81`."""
    return f"{pieces[0][0]}-{pieces[-1][0]}" if pieces[-1][0] > pieces[0][0] else str(pieces[0][0])


def what_sets(said: str, path: str, sets: Mapping[str, Setting], known: set[tuple[object, ...]]) -> str:
    """What sets the names that a line of a file uses, where neither it nor what is `known` already says so: ` [lr = 0.1, train.py:9]`."""
    used = [sets[name] for name in names_read(said) if name in sets and len(sets[name].value) <= _VALUE]
    new = [one for one in used if one.value not in said and (one.work, one.path, one.line) not in known][:_SETS]
    known.update((one.work, one.path, one.line) for one in new)
    places = (f"line {one.line}" if one.path == path else f"{inline(one.path)}:{one.line}" for one in new)
    return "".join(f" [{one.name} = {one_line(one.value)}, {where}]" for one, where in zip(new, places, strict=True))


def _cited(place: ListedPlace, size: int) -> str:
    """The citation of a place by the lines that are shown."""
    return short(replace(_lines(place.hit, place.sizes[size][0][0], place.sizes[size][-1][0]), focus=None))


def numbered_lines(pieces: Sequence[Piece]) -> str:
    """Lines as `line: text` without the indentation that all have."""
    indent = min((indentation(text) for _, _, text in pieces if text.strip()), default=0)
    return "\n".join(f"{line}: {text[indent:]}" for line, _, text in pieces)


def _about(hit: Hit, known: set[str]) -> str:
    """For the first place of a work its owner, commit, license and role."""
    told = "" if hit.work.id in known else f" ({', '.join(about(hit))})"
    known.add(hit.work.id)
    return told


def about(hit: Hit) -> list[str]:
    """Owner and commit, license, and the role for the target, of the work of a hit."""
    edge = hit.reference
    role = "target" if hit.from_target else edge.roles[0].role.value if edge and edge.roles else "cited"
    return [shortened(one_line(owner(hit.work)), _OWNER), *([called(hit.work.license)] if hit.work.kind == "code" else []), role]


def _follows(piece: Piece, other: Piece) -> bool:
    return other[:2] == (piece[0], piece[1] + 1) or (other[0] > piece[0] and not other[1])


def concise_hit(place: ListedPlace, cited: str) -> ConciseHit:
    """The hit of a place without text, cited as its text is."""
    from api.wire.hits import hit_view  # brings the views of all results along

    made = hit_view(place.hit)
    return view(made, ConciseHit, citation=cited, flags=tuple(flag for flag in made.flags if flag != "text-cut"))
