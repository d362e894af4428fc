"""Result of a tool call: structured content, the same as text, and links to resources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.mcp.fence import Fence
from lineage.errors import LineageError

SCHEME = "lineage"
_MOST = 600
_NEXT = "lineage_status without arguments says which lineages and jobs there are"


@dataclass(frozen=True)
class ResourceLink:
    """A link to evidence that can be read as a resource. Its name is our identifier, never third-party text."""

    lineage: str
    chunk: str

    @property
    def uri(self) -> str:
        """`lineage://NAME/evidence/CHUNK`."""
        return f"{SCHEME}://{self.lineage}/evidence/{self.chunk}"


@dataclass(frozen=True)
class Result:
    """`structured` matches the tool's output schema, `text` has the same content for readers, and `is_error` marks a failure.

    `job` names a build that is not finished, for those who stay to see.
    """

    structured: Mapping[str, Any] | None
    text: str
    links: tuple[ResourceLink, ...] = ()
    is_error: bool = False
    job: str = ""


def failed(error: LineageError) -> Result:
    """An error as a result, with a hint. Titles in a list of candidates are third-party text."""
    message = f"{type(error).__name__}: {_short(str(error))}"
    first, *more = [_short(line) for line in error.hint.splitlines()[:20]] or [_NEXT]
    text = f"{message}\nWhat to do: {first}"
    return Result(None, blocks(text, [("Candidates:", "\n".join(more))] if more else []), is_error=True)


def _short(text: str) -> str:
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= _MOST else text[: _MOST - 1] + "…"


def told(said: Mapping[str, Any], line: str, parts: Sequence[tuple[str, str]]) -> str:
    """The text of a result: generation, summary line, parts, and limits."""
    notes = [("Notes:", "\n".join(said["notes"]))] if said.get("notes") else []
    return blocks(f"Lineage {said['lineage']}, generation {said['generation']}.\n{line}", [*parts, *notes])


def blocks(top: str, parts: Sequence[tuple[str, str]]) -> str:
    """The text of a result: `top`, the notice, and each heading with its fenced third-party text."""
    fence = Fence([top, *(text for part in parts for text in part)])
    if not parts:
        return top
    return "\n\n".join([f"{top}\n{fence.notice}", *(f"{own}\n{fence.around(theirs)}" for own, theirs in parts)])


def hit_block(row: Mapping[str, Any]) -> tuple[str, str]:
    """One hit: our description and its third-party text."""
    own = f"{row['rank']}. {row['kind']}, score {row['score']:.2f}, chunk {row['chunk']}"
    own += ", of the target itself" if row["from_target"] else ""
    return own, described(row)


def described(row: Mapping[str, Any]) -> str:
    """The third-party parts of a hit: citation, title, section, text and the citing sentence."""
    return "\n".join([*_about(row), "", str(row["text"])])


def _about(row: Mapping[str, Any]) -> Iterable[str]:
    lines, kin, source = row["focus"], row["lineage"], row["source"]
    yield f"citation: {row['citation']}"
    yield f"title: {source['title']}" + (f"; section: {' > '.join(source['section'])}" if source.get("section") else "")
    yield f"licence: {row['license']}; answering lines: {lines['start_line']}-{lines['end_line']}; url: {source['url']}"
    if kin["why"]:
        yield f"in the lineage as {kin['role']} (of {kin['of']}): {kin['why']}"
    if row["flags"]:
        yield f"flags: {', '.join(row['flags'])}"
