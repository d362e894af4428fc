"""What is found exactly and what is read, as an agent pays for it: each path once, `line: text` beneath, and one budget for all of a call."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from api.wire.concise import LINE, ConciseHit, ListedPlace, about, concise_hit, cut_line, numbered_lines, one_line, what_sets
from lineage.citation import short
from lineage.text.hidden_text import inline, shortened

if TYPE_CHECKING:
    from retrieval.search.exact import ExactAnswer, LineMatch
    from retrieval.search.read import CitedPassage


class _Entry(NamedTuple):
    """A statement or some lines around it: what they stand in, and their text, numbered in code."""

    head: str
    between: str
    text: str


def matching_lines(found: Sequence[ExactAnswer], count: Callable[[str], int], max_tokens: int, *, blocks: bool = False) -> str:
    """The matches of each pattern, statements or `blocks` of lines around them, file by file.

    Patterns take turns until the budget of all is spent, so that what one does not need is left to the others.
    """
    entries = [list(dict.fromkeys((_blocks if blocks else _statements)(answer.matches))) for answer in found]
    turns = sorted((nth, pattern) for pattern, some in enumerate(entries) for nth in range(len(some)))

    def made(taken: int) -> str:
        kept = Counter(pattern for _, pattern in turns[:taken])
        return "\n".join(_listed(answer, some, kept[nth], len(found) > 1) for nth, (answer, some) in enumerate(zip(found, entries, strict=True)))

    fitting = bisect(range(len(turns) + 1), False, key=lambda taken: count(made(taken)) > max_tokens) - 1
    return made(fitting) if fitting > 0 or not turns else _cut(made(1), count, max_tokens)


def _listed(answer: ExactAnswer, entries: Sequence[_Entry], kept: int, headed: bool) -> str:
    files: dict[str, list[_Entry]] = {}
    for entry in entries[:kept]:
        files.setdefault(entry.head, []).append(entry)
    texts = [_file(head, some) for head, some in files.items()]
    left = answer.total - answer.offset - len(answer.matches) + len(entries) - kept
    more = f"{left} more of {answer.total} lines that match" if left else ""
    if headed or not answer.total:
        note = f" ({more})" if more else "" if answer.total else ": no line matches"
        return "\n".join([f"== {one_line(answer.pattern)}{note}", *texts])
    return "\n".join([*texts, *([f"… {more}"] if more else [])])


def _file(head: str, entries: Sequence[_Entry]) -> str:
    """`path:line: text` of one line, else the path over `line: text`."""
    first, *others = entries
    return "\n".join([head, *(entry.text for entry in entries)]) if others or not first.between else f"{head}{first.between}{first.text}"


def _statements(found: Sequence[LineMatch]) -> Iterator[_Entry]:
    """The statement of each match on one line, or its line where the statement is long; of the same in several files the first."""
    alike = Counter(_said(match) for match in found)
    for match in found:
        if (said := _said(match)) not in alike:
            continue
        copies = match.copies + alike.pop(said) - 1
        if len(said) > LINE:
            match, said = replace(match, first=match.line, around=(match.text,)), one_line(match.text)
        cited, said = short(match.shown), shortened(said, LINE) + (f" (and {copies} more)" if copies else "")
        head, _, line = cited.rpartition(":") if match.hit.work.kind == "code" else (cited, "", "")
        yield _Entry(head, ":" if line else ": ", f"{line}: {said}" if line else said)


def _said(match: LineMatch) -> str:
    return one_line(" ".join(match.around))


def _blocks(found: Sequence[LineMatch]) -> Iterator[_Entry]:
    """The lines around matches, file by file, each line once."""
    order = {match.hit.chunk.path: number for number, match in reversed(list(enumerate(found)))}
    for _, group in groupby(
        sorted(found, key=lambda match: order[match.hit.chunk.path]), key=lambda match: (match.hit.work.id, match.hit.chunk.path)
    ):
        matches = list(group)
        lines = {number: line for match in matches for number, line in enumerate(match.around, match.first)}
        for run in _runs(sorted(lines)):
            body = numbered_lines([(number, 0, cut_line(lines[number])) for number in run if lines[number].strip()])
            shown = short(matches[0].shown)
            yield _Entry(shown.rpartition(":")[0] if matches[0].hit.work.kind == "code" else shown, "", body)


def _runs(numbers: Sequence[int]) -> Iterator[list[int]]:
    """Numbers in runs that follow one another."""
    for _, run in groupby(enumerate(numbers), key=lambda row: row[1] - row[0]):
        yield [number for _, number in run]


def line_hit(match: LineMatch, rank: int) -> ConciseHit:
    """A matching line as a hit, cited as its text is."""
    return replace(concise_hit(ListedPlace(match.hit, ()), short(match.shown)), rank=rank)


def passages(found: Sequence[CitedPassage], count: Callable[[str], int], max_tokens: int) -> list[str]:
    """The lines of citations, numbered for code, under what they stand in; who calls it below, if that was asked.

    Short ones leave their room to the others; of one that is cut, the end says which lines are left.
    """
    known, told = set[str](), set[tuple[object, ...]]()
    texts = [_passage(passage, known, told) for passage in found]
    room, shown = max_tokens, dict[int, str]()
    for nth, at in enumerate(sorted(range(len(texts)), key=lambda at: count(texts[at]))):
        shown[at] = _bounded(found[at], texts[at], count, room // (len(texts) - nth))
        room -= count(shown[at])
    return [shown[at] for at in range(len(texts))]


def _passage(found: CitedPassage, known: set[str], told: set[tuple[object, ...]]) -> str:
    hit = found.hit
    inside = f" in {one_line(found.symbol)} (from line {found.defined_at})" if found.symbol else ""
    code = hit.work.kind == "code"
    lines = [inline(line.replace("\t", "    ")) for line in hit.chunk.text.split("\n")]
    numbered = numbered_lines([(number, 0, line.rstrip()) for number, line in enumerate(lines, hit.chunk.start_line) if line.strip()])
    told.update((hit.chunk.work, hit.chunk.path, number) for number in range(hit.chunk.start_line, hit.chunk.end_line + 1))
    shown = [line + what_sets(line, hit.chunk.path, found.sets, told) for line in numbered.split("\n")]
    body = "\n".join(shown if code else lines)
    calls = [f"{short(caller.shown)}: {one_line(caller.text)}" for caller in found.callers]
    whose = "" if hit.work.id in known else f" ({', '.join(about(hit))})"
    known.add(hit.work.id)
    head = f"{short(hit)}{whose}{inside}" + (f"; {found.lines} lines" if code else "")
    return "\n".join([head, body, *_rest(found, hit.chunk.end_line + 1), *(["named in:", *calls] if calls else [])])


def _rest(found: CitedPassage, first: int) -> list[str]:
    """How to read on from a line, if more was asked for."""
    return [f"… goes on: {short(found.hit).rpartition(':')[0]}:{first}-{found.last}"] if found.hit.work.kind == "code" and first <= found.last else []


def _bounded(found: CitedPassage, text: str, count: Callable[[str], int], max_tokens: int) -> str:
    """The text, or as many of its lines as fit and how to read on; of a text without numbers of lines how much there is."""
    if count(text) <= max_tokens:
        return text
    lines = text.split("\n")

    def made(kept: int) -> str:
        number = lines[kept - 1].partition(":")[0]
        first = int(number) + 1 if number.isdigit() else found.hit.chunk.start_line
        rest = _rest(found, first) or [f"… cut to the budget, of {len(text):,} characters"]
        return "\n".join([*lines[:kept], *rest])

    fitting = bisect(range(1, len(lines) + 1), False, key=lambda kept: count(made(kept)) > max_tokens)
    return made(fitting) if fitting > 1 else _cut(text, count, max_tokens)


def _cut(text: str, count: Callable[[str], int], max_tokens: int) -> str:
    """As much of a text as fits."""
    return text[: max(0, bisect(range(len(text)), False, key=lambda length: count(text[:length] + "…") > max_tokens) - 1)] + "…"
