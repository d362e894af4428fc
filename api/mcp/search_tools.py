"""The search tools: search and read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from api.mcp import results
from api.mcp.arguments import ReadArguments, SearchArguments
from api.mcp.context import Desk
from api.mcp.fence import NOTICE
from api.mcp.results import ResourceLink, Result
from api.wire import hits
from lineage.records import Answer, Hit

_HEAD = 10
_ALL = 100


def search(desk: Desk, asked: SearchArguments) -> Result:
    """One page of hits for a question."""

    def ask(k: int) -> Answer:
        service = desk.service
        return service.query(asked.query, lineage=asked.lineage, k=k, kind=asked.kind, no_target_code=asked.no_target_code, work=asked.work)

    answer, more = page(ask, asked.limit, asked.offset)
    body = hits.answer_to_json(answer) | {"limit": asked.limit, "offset": asked.offset, "has_more": more, "notice": NOTICE}
    shown = f"Hits {asked.offset + 1}-{asked.offset + len(answer.hits)}." if answer.hits else "Nothing in this lineage answers that."
    further = f" More with offset={asked.offset + asked.limit}." if more else ""
    text = results.told(body, shown + further, [results.hit_block(row) for row in body["hits"]])
    return Result(body, text, tuple(ResourceLink(answer.lineage, hit.chunk.id) for hit in answer.hits))


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
    shown = order[offset : offset + limit]
    ranked: tuple[Hit, ...] = tuple(replace(hit, rank=rank) for rank, hit in enumerate(shown, offset + 1))
    return replace(answer, hits=ranked), len(order) > offset + limit


def read(desk: Desk, asked: ReadArguments) -> Result:
    """A piece of evidence with surrounding lines, and how to read further."""
    window = desk.service.evidence(asked.chunk, lineage=asked.lineage, before=asked.before, after=asked.after)
    body = hits.evidence_to_json(window) | {"notice": NOTICE}
    top = f"Lineage {window.lineage}, generation {window.generation}. {body['hit']['kind']}, lines {body['start_line']}-{body['end_line']}"
    top += f", {window.before} lines above and {window.after} below are left out."
    links = tuple(ResourceLink(window.lineage, chunk) for chunk in (window.previous, window.next) if chunk)
    top += "".join(f" {name}: chunk {chunk}." for name, chunk in (("Before it", window.previous), ("After it", window.next)) if chunk)
    return Result(body, results.blocks(top, [(f"Chunk {asked.chunk}:", results.described(body["hit"]))]), links)
