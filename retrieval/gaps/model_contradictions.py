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

from lineage.file_roles import ASIDE
from lineage.records import Chunk, ChunkKind, Hit, Query, WorkId
from lineage.results import AuditFinding, Conflict, FactOccurrence
from lineage.text.hidden_text import inline, own_words, visible
from retrieval.decisions.provenance import evidence
from retrieval.decisions.target_text import OWN, section_weight
from retrieval.gaps.model_reader import MOST_WINDOWS, QUOTED, Claim, Reader, ShownPlace, batched, fact_of, is_verbatim, lines_of, window_text, windows
from retrieval.search.batch import asked
from retrieval.search.engine import Engine

_EACH, _SEARCHED, _STATEMENTS = 40, 12, 48
"""Statements that are taken of one part of a text, hits of a statement that are counted, and statements beside which some code is read."""
_AT_ONCE, _OTHERS, _PARAGRAPH = 6, 2, 1_500
"""Claims that are checked in one call; other places and characters of the text that each is checked beside."""
_KINDS: frozenset[ChunkKind] = frozenset(("code", "config", "docs"))
_CODE, _WINDOW = 180_000, 15_000
"""Characters of code that are read in all, and in one call."""
_SEVERITY = 0.8
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

_CHECK = """A first reader of a machine-learning paper and of its authors' code claims the contradictions below. Check each as a strict reviewer. It
holds if the line, as it runs in the experiment that the words are about, does otherwise than they say. It does not hold if the line is of another
experiment, model, data set or stage, of code or a default that is not used there, or a matter of notation; if the paragraph or another place
explains it; or if the words leave it open. Of claims of one difference in several places only the one nearest to the main experiment holds. Give the
numbers of the claims that hold."""


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


class Checked(Claim):
    """The numbers of the claims that hold."""

    hold: tuple[int, ...]


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


def contradictions(reader: Reader, target: WorkId, engine: Engine, own: Sequence[WorkId]) -> list[Conflict]:
    """Every contradiction between the target's text and the code of some works of an engine that the model reads and that both sides prove."""
    stated = list(_stated(reader, target)) if own else []
    reader.proceed()
    code = _code(engine, own, stated)
    claimed = sorted(_claimed(reader, stated, code), key=lambda claim: claim.claim.statement)
    reader.proceed()
    groups = (claimed[start : start + _AT_ONCE] for start in range(0, len(claimed), _AT_ONCE))
    return [_conflict(reader, claim, engine) for group in groups for claim in _checked(reader, group, code)]


def deviations(reader: Reader, target: WorkId, engine: Engine, known: Sequence[AuditFinding]) -> Iterator[AuditFinding]:
    """What a repository does otherwise than the target's text says, as findings, but for what is `known` of the same lines."""
    there = {finding.where for finding in known if finding.verdict == "deviation"}
    for conflict in contradictions(reader, target, engine, [work.id for work in engine.generation.catalog.works()]):
        stated, done = conflict.sides
        where = f"{done.evidence.chunk.path}:{done.fact.line}"
        if where not in there:
            values = (stated.fact.said, done.fact.said, where, (stated.evidence,))
            yield AuditFinding("method", conflict.name, conflict.title, "deviation", *values, conflict.severity, conflict.why)


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
    main = [row for row in hits_by_chunk.values() if ASIDE.isdisjoint(row[0].roles)]
    if not any(hit.chunk.kind == "code" for hit, _ in main):  # all of it may be notebooks that are named as examples
        main = list(hits_by_chunk.values())
    size, chosen = 0, list[tuple[ShownPlace, Counter[int]]]()
    for hit, about in sorted(main, key=lambda row: (-row[1].total(), row[0].chunk.id)):
        if (size := size + len(hit.chunk.text)) > _CODE:
            break
        chosen.append((ShownPlace.whole(hit), about))
    return sorted(chosen, key=lambda row: (row[0].hit.work.id, row[0].hit.chunk.path, row[0].first))


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


def _checked(reader: Reader, group: Sequence[_Claimed], code: Sequence[tuple[ShownPlace, Counter[int]]]) -> Iterator[_Claimed]:
    """The claims that hold."""
    shown = []
    for n, claimed in enumerate(group, 1):
        number, words = claimed.claim.statement, claimed.stated
        others = [place for place, about in sorted(code, key=lambda other: -other[1][number]) if place is not claimed.place][:_OTHERS]
        places = (claimed.place.around(claimed.claim.line), *(ShownPlace.of(other.hit) for other in others))
        claim = f"Claim {n}: line {claimed.claim.line} of {claimed.place.where}. {claimed.claim.title}: {claimed.claim.why}"
        paragraph = f"Words: {words.text} ({words.about})\nParagraph: {words.chunk.text[:_PARAGRAPH]}"
        shown.append("\n".join((claim, paragraph, *(f"{place.where}\n{place.text}" for place in places))))
    answer = reader.ask(_CHECK, "\n\n".join(shown), Checked)
    return (claimed for n, claimed in enumerate(group, 1) if answer and n in answer.hold)


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
