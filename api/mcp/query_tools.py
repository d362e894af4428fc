"""The tools that ask: search, read, gaps (with the consensus on one value) and context for a task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from api.mcp import results
from api.mcp.arguments import ContextArguments, GapsArguments, ReadArguments, SearchArguments
from api.mcp.results import BriefPack, ConciseAnswer, ConcisePage, GapsPage, HitsPage, ResourceLink, Result, WidenedEvidence
from api.table import Desk
from api.wire import concise, exact_lines
from api.wire.encode import CITATION_TOKENS, PATTERN_TOKENS, view
from lineage import lineage_names
from lineage.errors import LineageError, UsageError
from lineage.records import Answer, Hit
from lineage.results import Consensus
from lineage.text.hidden_text import inline
from retrieval.search.exact import ExactAnswer

_HEAD = 10
_AGENT = "an agent, over MCP"
_ALL = 100
_CONFLICTS, _LINKS = 10, 20
_OF_SEVERAL = 1
"""Structured hits of each of several questions; the lines of all stand in the text."""


def search(desk: Desk, asked: SearchArguments) -> Result:
    """One page of hits for a question, or for each of several; or of the lines that match."""
    if asked.mode != "hybrid":
        return _matching(desk, asked)
    pages = [page(partial(_ask, desk, asked, question), asked.hits, asked.offset) for question in asked.questions]
    return _full(asked, *pages[0]) if asked.detail == "full" else _concise(desk, asked, pages)


def _ask(desk: Desk, asked: SearchArguments, question: str, k: int) -> Answer:
    return desk.service.query(question, lineage=asked.lineage, k=k, kind=asked.kind, no_target_code=asked.no_target_code, work=asked.work)


def _full(asked: SearchArguments, answer: Answer, more: bool) -> Result:
    """Hits with the text of their chunks."""
    body = HitsPage.from_record(answer, limit=asked.hits, offset=asked.offset, has_more=more)
    line = f"Hits {asked.offset + 1}-{asked.offset + len(answer.hits)}." if answer.hits else "Nothing in this lineage answers that."
    text = results.told(body, line + _further(asked.hits, asked.offset, more), list(map(results.hit_block, body.hits)))
    return Result(body, text, tuple(ResourceLink(answer.lineage, hit.chunk.id) for hit in answer.hits))


def _concise(desk: Desk, asked: SearchArguments, pages: Sequence[tuple[Answer, bool]]) -> Result:
    """Hits whose lines stand once, in the text, within the budget."""
    answers, further = [answer for answer, _ in pages], [more for _, more in pages]
    fence = results.Fence([concise.listing(answers, lambda _: "", len).text])
    came = answers[0].provenance
    top = f"{answers[0].lineage}, generation {answers[0].generation}{f' ({came.words})' if came.words else ''}."

    def frame(listed: concise.Listing) -> str:
        supported = [answer.supported for answer in listed.answers]
        weak = "" if all(supported) else " Nothing clearly answers; these are the nearest." if not any(supported) else " Some have only near hits."
        left = [answer.left - 1 for answer in listed.answers if answer.left]
        more = f"offset={min(left, default=asked.offset + asked.hits)} (more hits)" if left or any(further) else ""
        end = concise.next_call(listed, "for what is open one mode=regex with a pattern each, or lineage_read with `citations`", more)
        return f"{top}{weak} {fence.brief_notice}\n{fence.around(listed.text)}\n{end}" if listed.text else f"{top} Nothing here answers that. {end}"

    listed = concise.listing(answers, frame, desk.service.tokens.count, concise.budget(asked.budget, len(answers)))
    most = _OF_SEVERAL if len(answers) > 1 else None
    shown = tuple(
        view(one, ConciseAnswer, hits=one.hits[:most], has_more=more or bool(one.left) or len(one.hits) > len(one.hits[:most]))
        for one, more in zip(listed.answers, further, strict=True)
    )
    return Result(_page(asked, answers[0], listed.sent, shown), listed.sent)


def _matching(desk: Desk, asked: SearchArguments) -> Result:
    """One page of matching lines of each pattern, each with its statement or the lines around it."""
    how: dict[str, Any] = {"fixed": asked.mode == "exact", "kind": asked.kind, "work": asked.work, "no_target_code": asked.no_target_code}
    how |= {"context": asked.context, "limit": asked.hits, "offset": asked.offset, "lineage": asked.lineage}
    matches = [desk.service.grep(pattern, **how) for pattern in asked.questions]
    answers = tuple(map(_matches, matches))
    first, total = matches[0], sum(answer.total for answer in matches)
    top = f"{total} lines match, definitions first." if total else "No line matches; mode=hybrid searches by meaning."
    top += _further(asked.hits, asked.offset, any(answer.has_more for answer in answers))
    allowed = concise.budget(asked.budget, len(matches), PATTERN_TOKENS)
    lines = exact_lines.matching_lines(matches, desk.service.tokens.count, allowed, blocks=asked.context > 0)
    text = results.blocks(top, [("", lines)] if total else [])
    return Result(_page(asked, first, text, answers), text)


def _matches(answer: ExactAnswer) -> ConciseAnswer:
    hits = tuple(exact_lines.line_hit(match, rank) for rank, match in enumerate(answer.matches, answer.offset + 1))
    return ConciseAnswer(query=answer.pattern, supported=bool(hits), hits=hits, notes=(), has_more=answer.offset + len(hits) < answer.total)


def _page(asked: SearchArguments, first: Answer | ExactAnswer, text: str, answers: tuple[ConciseAnswer, ...]) -> ConcisePage:
    """The structured content of one answer, or of several."""
    kept: dict[str, Any] = (
        {"answers": answers} if len(answers) > 1 else {name: getattr(answers[0], name) for name in ("query", "supported", "hits", "notes")}
    )
    paging: dict[str, Any] = {"limit": asked.hits, "offset": asked.offset, "has_more": any(answer.has_more for answer in answers)}
    return ConcisePage(lineage=first.lineage, generation=first.generation, text=text, **kept, **paging, provenance=first.provenance)


def _further(limit: int, offset: int, more: bool) -> str:
    return f" More with offset={offset + limit}." if more else ""


def page(ask: Callable[[int], Answer], limit: int, offset: int) -> tuple[Answer, bool]:
    """Hits `offset` to `offset + limit` in a fixed order, and whether there are more.

    What one work may fill of an answer depends on how long it is; so the order is that of a short answer, and after it
    whatever a long one adds. Pages of any size then fit together.
    """
    answer = ask(_HEAD)
    order = list(answer.hits)
    if offset + limit >= _HEAD and len(order) == _HEAD:
        known = {hit.chunk.id for hit in order}
        order += [hit for hit in ask(_ALL).hits if hit.chunk.id not in known]
    kept = order[offset : offset + limit]
    ranked: tuple[Hit, ...] = tuple(replace(hit, rank=rank) for rank, hit in enumerate(kept, offset + 1))
    return replace(answer, hits=ranked), len(order) > offset + limit


def read(desk: Desk, asked: ReadArguments) -> Result:
    """A piece of evidence with surrounding lines, or the lines of a citation, and how to read further."""
    if cited := asked.citations or ((asked.citation,) if asked.citation else ()):
        return _cited_lines(desk, asked, cited)
    if not asked.chunk:
        raise UsageError("citations, citation or chunk is needed", hint="they stand in every hit of lineage_search")
    window = desk.service.evidence(asked.chunk, lineage=asked.lineage, before=asked.before, after=asked.after, no_target_code=asked.no_target_code)
    body = WidenedEvidence.from_record(window)
    top = f"Lineage {window.lineage}, generation {window.generation}. {body.hit.kind}, lines {body.start_line}-{body.end_line}"
    top += f", {window.before} lines above and {window.after} below are left out."
    links = tuple(ResourceLink(window.lineage, chunk) for chunk in (window.previous, window.next) if chunk)
    top += "".join(f" {name}: chunk {chunk}." for name, chunk in (("Before it", window.previous), ("After it", window.next)) if chunk)
    return Result(body, results.blocks(top, [(f"Chunk {asked.chunk}:", results.described(body.hit))]), links)


def _cited_lines(desk: Desk, asked: ReadArguments, cited: Sequence[str]) -> Result:
    """The lines that citations mean, each under what they stand in; the first is the structured evidence."""
    how: dict[str, Any] = {"callers": asked.callers, "lineage": asked.lineage, "no_target_code": asked.no_target_code}
    first = desk.service.read(cited[0], lines=asked.lines if len(cited) == 1 else "", **how)
    passages, missed = [first], list[str]()
    for citation in cited[1:]:
        try:
            passages.append(desk.service.read(citation, **how))
        except LineageError as error:
            missed.append(f"{error}; {error.hint}")
    texts = [*exact_lines.passages(passages, desk.service.tokens.count, CITATION_TOKENS * len(passages)), *missed]
    chunk = first.hit.chunk
    around = {"before": chunk.start_line - 1, "after": max(0, first.lines - chunk.end_line), "previous": "", "next": ""}
    text = results.blocks(f"Lineage {first.lineage}.", [("", "\n".join(texts))])
    body = view(first, WidenedEvidence, start_line=chunk.start_line, end_line=chunk.end_line, text=text if len(texts) > 1 else "", **around)
    return Result(body, text)


def gaps(desk: Desk, asked: GapsArguments) -> Result:
    """One page of gaps, or all values of one named detail with their sources."""
    if asked.value:
        return _deciding(desk, asked)
    if asked.name:
        return _consensus(desk.service.facts(asked.name, lineage=asked.lineage, no_target_code=asked.no_target_code), asked)
    report = desk.service.gaps(lineage=asked.lineage, state=asked.state, no_target_code=asked.no_target_code)
    gaps = tuple(map(results.gap_row, report.gaps[asked.offset : asked.offset + asked.limit]))
    conflicts = tuple(map(results.conflict_row, () if asked.offset else report.conflicts[:_CONFLICTS]))
    body = view(report, GapsPage, target=report.target.id, gaps=gaps, conflicts=conflicts, **_paged(asked, len(report.gaps)))
    page = f"Details {asked.offset + 1}-{asked.offset + len(gaps)} of {body.total}, what is not stated first, weightiest first."
    parts = [(f"Conflict ({row['kind']}, severity {row['severity']:.2f}), {row['title']}:", results.conflict_text(row)) for row in conflicts]
    parts += [(f"{gap['title']} ({gap['name']}): {gap['state']}", results.gap_text(gap)) for gap in gaps]
    text = results.told(body, page + _further(asked.limit, asked.offset, body.has_more), parts)
    return Result(body, text, _links(report.lineage, results.chunks(gaps)))


def _deciding(desk: Desk, asked: GapsArguments) -> Result:
    """The decision as it was recorded."""
    made = desk.service.decide(asked.name, asked.value, asked.because, lineage=asked.lineage, note=asked.note, by=_AGENT)
    head = (lineage_names.resolve(desk.service.settings.home, asked.lineage), made.generation)
    why = (results.decided_line(made),)
    body = GapsPage(lineage=head[0], generation=head[1], name=made.name, title=made.title, why=why, notes=(), **_paged(asked, 1))
    return Result(body, results.told(body, f"Recorded: {inline(made.title)} = {inline(made.value)}.", [("Because these lines say so:", made.quote)]))


def _consensus(consensus: Consensus, asked: GapsArguments) -> Result:
    """The values of one detail, the inherited one first."""
    values = tuple(map(results.value_row, consensus.values[asked.offset : asked.offset + asked.limit]))
    body = view(consensus, GapsPage, values=values, **_paged(asked, len(consensus.values)))
    page = f"{consensus.title}: {body.total} values." + _further(asked.limit, asked.offset, body.has_more)
    parts = [(results.holders(value), results.value_text(value)) for value in body.values]
    parts += [("Why:", "\n".join(body.why))] if body.why else []
    return Result(body, results.told(body, page, parts), _links(consensus.lineage, results.chunks(body.values)))


def _paged(asked: GapsArguments, total: int) -> dict[str, Any]:
    return {"total": total, "limit": asked.limit, "offset": asked.offset, "has_more": total > asked.offset + asked.limit}


def context(desk: Desk, asked: ContextArguments) -> Result:
    """A context pack for a task, within its token budget."""
    pack = desk.service.context(asked.task, lineage=asked.lineage, tokens=asked.tokens, stage=asked.stage, no_target_code=asked.no_target_code)
    body = view(pack, BriefPack, stage=pack.stage or "")
    size = f"{pack.used} of {pack.allowed} tokens ({pack.tokenizer}); {len(pack.left_out)} items did not fit."
    chunks = (hit.chunk.id for pack_item in pack.items for hit in pack_item.evidence)
    return Result(body, results.told(body, size, [("The pack:", body.text)]), _links(pack.lineage, chunks))


def _links(lineage: str, chunks: Iterable[str]) -> tuple[ResourceLink, ...]:
    return tuple(ResourceLink(lineage, chunk) for chunk in list(dict.fromkeys(chunks))[:_LINKS])
