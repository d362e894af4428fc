"""Where code does otherwise than a paper says, as a chat model reads it: the target's own, or that of a reproduction.

The model first lists what the text says that code can show. Search chooses the passages of the code that these statements are about, and
the model reads them whole, in the order of their files. What it then claims it checks once more, beside the paragraph and other places that the
statement leads to. A contradiction is kept only with words of the text and a line of the code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from lineage.file_roles import ASIDE
from lineage.records import Chunk, ChunkKind, FileRole, Hit, Query, WorkId
from lineage.results import AuditFinding, Conflict, FactOccurrence
from lineage.text.hidden_text import inline, own_words, visible
from retrieval.decisions.provenance import evidence, line_at
from retrieval.decisions.target_text import OWN, section_weight
from retrieval.gaps.model_reader import MOST_WINDOWS, QUOTED, Claim, Reader, ShownPlace, batched, fact_of, is_verbatim, lines_of, window_text, windows
from retrieval.search.batch import asked
from retrieval.search.engine import Engine
from retrieval.search.exact import ExactQuery, grep

_EACH, _SEARCHED, _STATEMENTS = 40, 12, 128
"""Statements that are taken of one part of a text, hits of a statement that are counted, and statements beside which some code is read."""
_AT_ONCE, _OTHERS, _PARAGRAPH = 6, 2, 1_500
"""Claims that are checked in one call; other places and characters of the text that each is checked beside."""
_NAMES, _OF_A_NAME, _USES = 12, 4, 10
"""Names of a claim's line that are looked for elsewhere, lines of each, and lines that are shown of all."""
_NAME = re.compile(r"[A-Za-z_]\w+")
_KINDS: frozenset[ChunkKind] = frozenset(("code", "config", "docs"))
_CODE, _WINDOW = 180_000, 15_000
"""Characters of code that are read in all, and in one call."""
_INSTRUCTIONS = (".md", ".rst")
_SEVERITY, _HOLDS = 0.8, "contradicts"
_LIST = """You read part of a machine-learning paper for one who will compare it with the authors' code. List what it says the authors did that
code can show: values, also of tables and algorithms; formulas; steps and their order; layers and other parts; which data, split or metric; what is
trained, frozen, sampled, averaged or repeated. Nothing of other works, of results, or of what is only motivated. Give for each the words of the text
and, in a few words of your own, what they are about: of which model, data set, experiment and stage."""
_COMPARE = """You compare a machine-learning paper with code of its authors. First come statements of the paper, then places of the code. Report
each contradiction: a place that does otherwise than a statement says. Take the statements one by one and look in all places for what each is about:
values, defaults and what commands set; formulas, signs and constants; parts and steps that are left out, added or in another order; which data, split
and metric, how many of what, drawn and averaged how. Report small and likely ones too: each is checked once more. Both must be of the same
experiment, model, data set and stage: read names of files, functions and branches for that. No contradiction is a default that a command or
configuration shown overrides, what the code merely does not show, another name or notation for the same, an option that is off, code that is never
called, or a detail that the statement leaves open. Give the numbers of the statement and of the place, the line of the code that does otherwise, a
title of a few words, and why in one short sentence: what the paper says and what the line does. Where there is none give an empty list."""

_CHECK = """A first reader of a machine-learning paper and of code claims the contradictions below; some are wrong. Judge each by what is shown, as a
sceptical reviewer who has to defend it before the authors. Beside a claim stand its paragraph, the code around the line, other places that the words
lead to, and lines that have names of the line: they may define, set, override or call it. Write first what the words demand, then what the line does
where their experiment runs, then the verdict:
contradicts: it does otherwise there than the words, the formula, the algorithm or the table say, or has a further step or part where they give
all, or lacks one; even if only the paper is mistaken
open: the words leave it open, or the code only does not show what they say
elsewhere: it is of another experiment, model, data set, stage or baseline, or of an option, default or function that is not used there
explained: the paragraph or another place shown says so too
same: another unit, notation, name or form that gives the same numbers"""
_REPEATED = """Below are claims of contradictions between a machine-learning paper and code. Some tell one difference twice: of the same line or of a
copy of it, where a value is set and where it is used, of a log or a description of it. Give the numbers of each such set of claims, first that whose
line decides it in the main experiment. Differences in other values, steps, parts or experiments are not one. Leave out a claim that none repeats."""


class Statement(Claim):
    """Words of the text, and what they are about."""

    text: str
    about: str


class Statements(Claim):
    """What one part of a text says that code can show."""

    statements: tuple[Statement, ...]


class Contradiction(Claim):
    """A line of a place that does otherwise than a statement says."""

    statement: int
    place: int
    line: int
    title: str
    why: str


class Contradictions(Claim):
    """The contradictions between statements and some places."""

    contradictions: tuple[Contradiction, ...]


class Judged(Claim):
    """What a reviewer finds of a claim."""

    claim: int
    words: str
    line: str
    verdict: Literal["contradicts", "open", "elsewhere", "explained", "same"]


class Verdicts(Claim):
    """The verdict on each of some claims."""

    verdicts: tuple[Judged, ...]


class Repetitions(Claim):
    """Claims that tell one difference more than once."""

    repeated: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class _Stated:
    """Words of the text with their passage."""

    text: str
    about: str
    chunk: Chunk


@dataclass(frozen=True)
class _Claimed:
    """A contradiction that is not checked yet, and the place of its line."""

    claim: Contradiction
    stated: _Stated
    place: ShownPlace

    @property
    def line(self) -> str:
        """The line that does otherwise."""
        return self.place.line(self.claim.line)


_Checked = tuple[_Claimed, Judged | None]


def contradictions(reader: Reader, target: WorkId, engine: Engine, own: Sequence[WorkId]) -> list[Conflict]:
    """Every contradiction between the target's text and the code of some works of an engine that the model reads and that both sides prove."""
    return [_conflict(reader, claim, engine) for claim in _distinct(reader, _checked(reader, target, engine, own))]


def deviations(reader: Reader, target: WorkId, engine: Engine, known: Sequence[AuditFinding]) -> Iterator[AuditFinding]:
    """The findings on a repository and what else it does otherwise than the target's text says; a deviation that is `known` by rules and that
    the model does not confirm cannot be judged."""
    works = [work.id for work in engine.generation.catalog.works()]
    by_rules = [(finding, claim) for finding in known if finding.verdict == "deviation" for claim in _by_rule(engine, finding, works)]
    checked = _checked(reader, target, engine, works, [claim for _, claim in by_rules])
    doubted = {id(finding): judged for (finding, _), (_, judged) in zip(by_rules, checked, strict=False) if judged and judged.verdict != _HOLDS}
    there = {finding.where for finding in known if finding.verdict == "deviation" and id(finding) not in doubted}
    for finding in known:
        why = f"{inline(reader.chat.model)} does not confirm it: {own_words(doubted[id(finding)].line)}" if id(finding) in doubted else ""
        yield replace(finding, verdict="cannot judge", why=why[: 2 * QUOTED]) if why else finding
    for claim in _distinct(reader, checked[len(by_rules) :]):
        conflict, where = _conflict(reader, claim, engine), f"{claim.place.hit.chunk.path}#L{claim.claim.line}"
        if where not in there:
            stated, done = conflict.sides
            values = (stated.fact.said, done.fact.said, where, (stated.evidence,))
            yield AuditFinding("method", conflict.name, conflict.title, "deviation", *values, conflict.severity, conflict.why)


def _by_rule(engine: Engine, finding: AuditFinding, works: Sequence[WorkId]) -> Iterator[_Claimed]:
    """A deviation that rules found as a claim, where its line and words are at hand."""
    (path, _, at), catalog = finding.where.partition("#L"), engine.generation.catalog
    here = (chunk for work in works for chunk in catalog.chunks(catalog.neighbours(work, path)) if line_at(chunk, int(at)))
    for hit, chunk in islice(zip(finding.evidence, here, strict=False), 1):
        said = line_at(hit.chunk, hit.focus.start_line) if hit.focus else hit.chunk.text
        why = f"the paper has {finding.expected}, the line {finding.found}"
        claim = Contradiction(statement=0, place=0, line=int(at), title=finding.title, why=why)
        stated = _Stated(inline(said)[: 2 * QUOTED], finding.scope, hit.chunk)
        yield _Claimed(claim, stated, ShownPlace.whole(evidence(chunk, engine.relations, int(at))))


def _checked(reader: Reader, target: WorkId, engine: Engine, own: Sequence[WorkId], further: Sequence[_Claimed] = ()) -> list[_Checked]:
    """Further claims and what the model claims, each with what a second look says of it."""
    stated = list(_stated(reader, target)) if own else []
    reader.proceed()
    code = _code(engine, own, stated)
    claimed = [*further, *sorted(_claimed(reader, stated, code), key=lambda claim: claim.claim.statement)]
    reader.proceed()
    groups = (claimed[start : start + _AT_ONCE] for start in range(0, len(claimed), _AT_ONCE))
    return [row for group in groups for row in _judged(reader, group, code, engine)]


def _stated(reader: Reader, target: WorkId) -> Iterator[_Stated]:
    for window in islice(windows(reader.engine, target), MOST_WINDOWS):
        if max(section_weight(chunk) for chunk in window) <= OWN:
            continue
        answer = reader.ask(_LIST, window_text(window), Statements)
        unread = (Statement(text=visible(chunk.text)[0][: 2 * QUOTED], about="") for chunk in window)
        for claim in islice(answer.statements if answer else unread, _EACH):
            chunk = next((chunk for chunk in window if is_verbatim(claim.text, visible(chunk.text)[0])), None)
            if reader.is_kept(chunk is not None) and chunk:
                yield _Stated(inline(claim.text.strip())[: 2 * QUOTED], inline(claim.about)[: QUOTED // 2], chunk)


def _code(engine: Engine, own: Sequence[WorkId], stated: Sequence[_Stated]) -> list[tuple[ShownPlace, Counter[int]]]:
    """The passages of the own code that most statements lead to, as far as they are read, in the order of their files; with the numbers of
    the statements, weighted."""
    numbered = [(n, row, work) for n, row in enumerate(stated, 1) for work in own]
    ranked = asked(engine, [Query(f"{row.text} {row.about}", _SEARCHED, _KINDS, work=work) for _, row, work in numbered])[0]
    hits_by_chunk: dict[str, tuple[Hit, Counter[int]]] = {}
    for (n, _, _), hits in zip(numbered, ranked, strict=True):
        for hit in hits:
            hits_by_chunk.setdefault(hit.chunk.id, (hit, Counter()))[1][n] += _SEARCHED + 1 - hit.rank
    read = [row for row in hits_by_chunk.values() if _is_read(row[0])]
    main = [row for row in read if ASIDE.isdisjoint(row[0].roles)]
    if not any(hit.chunk.kind == "code" for hit, _ in main):  # all of it may be notebooks that are named as examples
        main = read
    size, chosen = 0, list[tuple[ShownPlace, Counter[int]]]()
    for hit, about in sorted(main, key=lambda row: (-row[1].total(), row[0].chunk.id)):
        if (size := size + len(hit.chunk.text)) > _CODE:
            break
        chosen.append((ShownPlace.whole(hit), about))
    return sorted(chosen, key=lambda row: (row[0].hit.work.id, row[0].hit.chunk.path, row[0].first))


def _is_read(hit: Hit) -> bool:
    """Whether a passage is of code, settings or instructions, not of a paper's sources or of records of runs."""
    return FileRole.DATA not in hit.roles and (hit.chunk.kind != "docs" or hit.chunk.path.lower().endswith(_INSTRUCTIONS))


def _claimed(reader: Reader, stated: Sequence[_Stated], code: Sequence[tuple[ShownPlace, Counter[int]]]) -> Iterator[_Claimed]:
    """What the model claims of the code, each line once for a statement."""
    seen: set[tuple[int, str]] = set()
    for batch in batched(code, _WINDOW, lambda row: row[0].text):
        places, about = [place for place, _ in batch], sum((numbers for _, numbers in batch), Counter[int]())
        numbers = sorted(sorted(about, key=lambda n: (-about[n], n))[:_STATEMENTS])
        listed = "\n".join(f"Statement {n}: {stated[n - 1].text} ({stated[n - 1].about})" for n in numbers)
        shown = "\n\n".join(f"Place {n}: {place.where}\n{place.text}" for n, place in enumerate(places, 1))
        answer = reader.ask(_COMPARE, f"{listed}\n\n{shown}", Contradictions)
        for claim in answer.contradictions if answer else ():
            place = places[claim.place - 1] if 1 <= claim.place <= len(places) else None
            known = claim.statement in numbers
            line = place.line(claim.line) if place and known else ""
            if reader.is_kept(bool(line)) and place and (claim.statement, line) not in seen:
                seen.add((claim.statement, line))
                yield _Claimed(claim, stated[claim.statement - 1], place)


def _judged(reader: Reader, group: Sequence[_Claimed], code: Sequence[tuple[ShownPlace, Counter[int]]], engine: Engine) -> Iterator[_Checked]:
    """The claims with what a second look says of each."""
    shown, paragraph = list[str](), ""
    for n, claimed in enumerate(group, 1):
        number, words, place = claimed.claim.statement, claimed.stated, claimed.place
        others = [other for other, about in sorted(code, key=lambda row: -row[1][number]) if about[number] and other is not place][:_OTHERS]
        if words.chunk.id != paragraph:
            paragraph = words.chunk.id
            shown.append(f"Paragraph: {words.chunk.text[:_PARAGRAPH]}")
        near = (place.around(claimed.claim.line), *(ShownPlace.of(other.hit) for other in others))
        shown += [f"{_told(n, claimed)}\nWords: {words.text} ({words.about})", *(f"{one.where}\n{one.text}" for one in near), *_uses(claimed, engine)]
    answer = reader.ask(_CHECK, "\n\n".join(shown), Verdicts)
    verdicts = {judged.claim: judged for judged in answer.verdicts} if answer else {}
    return ((claimed, verdicts.get(n)) for n, claimed in enumerate(group, 1))


def _told(number: int, claimed: _Claimed) -> str:
    claim = claimed.claim
    return f"Claim {number}: line {claim.line} of {claimed.place.where}: {claimed.line[:QUOTED]}\n{claim.title}: {claim.why}"


def _uses(claimed: _Claimed, engine: Engine) -> Iterator[str]:
    """Lines elsewhere that have a name of the line or the name of what it stands in, the rarest names first."""
    here, names = claimed.place.hit.chunk, dict.fromkeys(_NAME.findall(f"{claimed.line} {claimed.place.hit.chunk.symbol.rpartition('.')[2]}"))
    found = [grep(engine, ExactQuery(name, True, True, False, ("code", "config"), here.work, _OF_A_NAME)) for name in islice(names, _NAMES)]
    lines = [
        f"{match.hit.chunk.path}:{match.line}: {match.text.strip()[:QUOTED]}"
        for answer in sorted(found, key=lambda answer: answer.total)
        for match in answer.matches
        if (match.hit.chunk.path, match.line) != (here.path, claimed.claim.line)
    ]
    if lines:
        yield "\n".join(("Lines with its names:", *islice(dict.fromkeys(lines), _USES)))


def _distinct(reader: Reader, checked: Sequence[_Checked]) -> list[_Claimed]:
    """The claims that hold, each difference once."""
    listed = "\n\n".join(_told(n, claim) for n, (claim, _) in enumerate(checked, 1))
    answer = reader.ask(_REPEATED, listed, Repetitions) if len(checked) > 1 else None
    told = {n: claim for n, (claim, judged) in enumerate(checked, 1) if judged and judged.verdict == _HOLDS}
    for group in answer.repeated if answer else ():
        for again in [n for n in dict.fromkeys(group) if n in told][1:]:
            del told[again]
    return list(told.values())


def _conflict(reader: Reader, claimed: _Claimed, engine: Engine) -> Conflict:
    """The contradiction with both sides."""
    title = own_words(claimed.claim.title)[: QUOTED // 2]
    name = "_".join(re.findall(r"[a-z0-9]+", title.lower())) or "contradiction"
    stated = fact_of(name, claimed.stated.text[:QUOTED], claimed.stated.chunk, "prose", 0, claimed.stated.text, claimed.stated.about)
    done = fact_of(name, inline(claimed.line)[:QUOTED], claimed.place.hit.chunk, "call", claimed.claim.line, claimed.line)
    shown = replace(evidence(claimed.stated.chunk, reader.engine.relations), focus=lines_of(claimed.stated.text, claimed.stated.chunk))
    sides = (FactOccurrence(stated, shown), FactOccurrence(done, evidence(claimed.place.hit.chunk, engine.relations, claimed.claim.line)))
    return Conflict(
        name, title, "paper-code", sides, _SEVERITY, f"{inline(reader.chat.model)} reads it: {own_words(claimed.claim.why)}"[: 2 * QUOTED], "model"
    )
