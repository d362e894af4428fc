"""The insight tools: gaps (with the consensus on one value) and context for a task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from api.mcp import results
from api.mcp.arguments import ContextArguments, GapsArguments
from api.mcp.context import Desk
from api.mcp.fence import NOTICE
from api.mcp.results import ResourceLink, Result
from api.mcp.rows import Row, conflict_row, gap_row, item_row, value_row
from lineage.licenses import called
from lineage.results import Consensus
from lineage.text.hidden_text import visible

_CONFLICTS, _LINKS = 10, 20


def gaps(desk: Desk, asked: GapsArguments) -> Result:
    """One page of gaps, or all values of one named detail with their sources."""
    if asked.name:
        return _consensus(desk.service.facts(asked.name, lineage=asked.lineage, no_target_code=asked.no_target_code), asked)
    gaps_result = desk.service.gaps(lineage=asked.lineage, state=asked.state, no_target_code=asked.no_target_code)
    shown = gaps_result.gaps[asked.offset : asked.offset + asked.limit]
    more = len(gaps_result.gaps) > asked.offset + asked.limit
    conflicts = gaps_result.conflicts[:_CONFLICTS] if not asked.offset else ()
    body: Row = {
        "lineage": gaps_result.lineage,
        "generation": gaps_result.generation,
        "target": gaps_result.target.id,
        "domains": list(gaps_result.domains),
    }
    body |= {"conflicts": [conflict_row(conflict) for conflict in conflicts], "gaps": [gap_row(gap) for gap in shown]}
    body |= {"total": len(gaps_result.gaps), "limit": asked.limit, "offset": asked.offset, "has_more": more} | _ending(gaps_result.notes)
    page = f"Details {asked.offset + 1}-{asked.offset + len(shown)} of {len(gaps_result.gaps)}, what is not stated first, weightiest first."
    page += f" More with offset={asked.offset + asked.limit}." if more else ""
    parts = [(f"Conflict ({row['kind']}, severity {row['severity']:.2f}), {row['title']}:", _conflict_text(row)) for row in body["conflicts"]]
    parts += [(f"{row['title']} ({row['name']}): {row['state']}", _gap_text(row)) for row in body["gaps"]]
    return Result(body, results.told(body, page, parts), _links(gaps_result.lineage, _chunks(body["gaps"])))


def _consensus(consensus: Consensus, asked: GapsArguments) -> Result:
    """The values of one detail, the inherited one first."""
    shown = consensus.values[asked.offset : asked.offset + asked.limit]
    more = len(consensus.values) > asked.offset + asked.limit
    body: Row = {"lineage": consensus.lineage, "generation": consensus.generation, "name": consensus.name, "title": consensus.title}
    body |= {"values": [value_row(value) for value in shown], "why": [visible(n)[0] for n in consensus.why]}
    body |= {"total": len(consensus.values), "limit": asked.limit, "offset": asked.offset, "has_more": more} | _ending(consensus.notes)
    page = f"{consensus.title}: {len(consensus.values)} values." + (f" More with offset={asked.offset + asked.limit}." if more else "")
    parts = [(_holders(row), _value_text(row)) for row in body["values"]]
    parts += [("Why:", "\n".join(body["why"]))] if body["why"] else []
    return Result(body, results.told(body, page, parts), _links(consensus.lineage, _chunks(body["values"])))


def context(desk: Desk, asked: ContextArguments) -> Result:
    """A context pack for a task, within its token budget."""
    pack = desk.service.context(asked.task, lineage=asked.lineage, tokens=asked.tokens, stage=asked.stage, no_target_code=asked.no_target_code)
    body: Row = {"lineage": pack.lineage, "generation": pack.generation, "stage": pack.stage or "", "text": visible(pack.text)[0]}
    body |= {"used": pack.used, "allowed": pack.allowed, "tokenizer": pack.tokenizer, "items": [item_row(pack_item) for pack_item in pack.items]}
    body |= {"left_out": [visible(title)[0] for title in pack.left_out]} | _ending(pack.notes)
    size = f"{pack.used} of {pack.allowed} tokens ({pack.tokenizer}); {len(pack.left_out)} items did not fit."
    hits = (hit.chunk.id for pack_item in pack.items for hit in pack_item.evidence)
    return Result(body, results.told(body, size, [("The pack:", body["text"])]), _links(pack.lineage, hits))


def _ending(notes: Iterable[str]) -> Row:
    return {"notes": [visible(note)[0] for note in notes], "notice": NOTICE}


def _links(lineage: str, chunks: Iterable[str]) -> tuple[ResourceLink, ...]:
    return tuple(ResourceLink(lineage, chunk) for chunk in list(dict.fromkeys(chunks))[:_LINKS])


def _chunks(said: Any) -> Iterator[str]:
    """Chunk ids of the evidence shown, in order."""
    if isinstance(said, list):
        for item in said:
            yield from _chunks(item)
    elif isinstance(said, dict):
        if "chunk" in said:
            yield said["chunk"]
        yield from _chunks(list(said.values()))


def _gap_text(row: Row) -> str:
    lines = [row["why"]] if row["why"] else []
    lines += [f"stated: {_cited(passage)}" for passage in row["stated"]]
    lines += [f"the target has {_valued(occurrence)}: {_cited(occurrence)}" for occurrence in row["values"]]
    for offer in row["offers"]:
        lines.append(f"the lineage offers {_valued(offer)} ({offer['grade']}: {offer['reason']})" if offer["value"] else "passages of the lineage:")
        lines += [f"  {link}" for link in offer["chain"]]
        lines += [f"  {_cited(source)}" for source in (*offer["held"], *offer["evidence"])]
    return "\n".join(lines) or "the lineage offers nothing"


def _conflict_text(row: Row) -> str:
    return "\n".join([row["why"], *(f"{_valued(side)}: {_cited(side)}" for side in row["sides"])])


def _holders(row: Row) -> str:
    return f"Held by {row['works']} work{'s' if row['works'] != 1 else ''}" + (", inherited by the target:" if row["inherited"] else ":")


def _value_text(row: Row) -> str:
    return "\n".join([_valued(row), *_sources(row["held"])])


def _sources(held: Sequence[Row]) -> list[str]:
    return [f"  {_cited(occurrence)}" + (f" since {occurrence['since']}" if occurrence["since"] else "") for occurrence in held]


def _valued(row: Row) -> str:
    return f"{row['value']} {row['unit']}".rstrip()


def _cited(row: Row) -> str:
    text = " ".join(str(row["text"]).split())
    return f"{row['citation']} ({called(row['license'])}): {text}"
