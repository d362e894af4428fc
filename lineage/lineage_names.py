"""Which lineage is meant: by its name, or by its target in any form that a build takes.

The exact name of a lineage counts first; then the name that a build of the target gives by default; then every lineage
of that target, whether it is given by an identifier, an alias, a URL, a title or the path that it was built from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from lineage import generation as layout
from lineage import ids
from lineage.errors import AmbiguousTarget, BadIdentifier, NotFound, StoreError, UsageError
from lineage.generation import Lineages, open_generation
from lineage.ids import Target
from lineage.records import Work
from lineage.text.hidden_text import shortened

_LISTED = 10
_NEAREST = 3
_LONGEST = 80
"""Characters of a title or of what was asked for that an error shows."""


@dataclass(frozen=True)
class NamedLineage:
    """A lineage of the store with its target, and the target as it was asked for."""

    name: str
    target: Work
    request: str = ""

    @property
    def title(self) -> str:
        """The target's title, cut; its identifier where it has none."""
        return shortened(" ".join(self.target.title.split()) or self.target.id, _LONGEST)

    @property
    def is_default(self) -> bool:
        """Whether it has the name that a build without `--name` gives."""
        return self.name == ids.slug(self.target.id)


def resolve(home: Lineages, text: str) -> str:
    """The name of the lineage that `text` means, of the only one if it is empty.

    Raises `NotFound` with the nearest names, `AmbiguousTarget` where several lineages fit, `UsageError` for an empty text
    where there are several.
    """
    lineage_names = layout.names(home)
    if not lineage_names:
        built = text if text and identifier(text) else "arxiv:2504.17192"
        raise NotFound(f"there is no lineage in {home}", hint=f"build one: lineage build {_quoted(built)}")
    if not text:
        return _only(lineage_names)
    return text if text in lineage_names else _of_target(home, lineage_names, text)


def default_name(text: str) -> str:
    """The name that a build of the target `text` gives by default; empty where only a service could say."""
    target = identifier(text)
    return ids.slug(target.id) if target and target.id else ""


def identifier(text: str) -> Target | None:
    """The identifier that `text` names as a target, or None."""
    try:
        return ids.parse(text)
    except BadIdentifier:
        return None


def _only(lineage_names: Sequence[str]) -> str:
    if len(lineage_names) > 1:
        raise UsageError("which lineage is meant?", hint=f"name one of: {_some(lineage_names)}")
    return lineage_names[0]


def _of_target(home: Lineages, lineage_names: Sequence[str], text: str) -> str:
    if len(text) > ids.MAX_LENGTH:
        raise NotFound(f"there is no lineage {shortened(text, _LONGEST)!r}", hint=f"known: {_some(lineage_names)}")
    if (name := default_name(text)) in lineage_names and (candidate := candidate_of(home, name)) and ids.slug(candidate.target.id) == name:
        return name
    candidates = [candidate for name in lineage_names if (candidate := candidate_of(home, name))]
    matches = list(_preferred([candidate for candidate in candidates if _is_meant(candidate, text)]))
    if not matches:
        raise _unknown(home, lineage_names, candidates, text)
    if len(matches) > 1:
        lines = [f"{lineage.name}  {lineage.title}" for lineage in matches]
        raise AmbiguousTarget(f"{len(matches)} lineages are of {shortened(text, _LONGEST)!r}", lines)
    return matches[0].name


def candidate_of(home: Lineages, name: str) -> NamedLineage | None:
    """A lineage with its target; None for one that cannot be read."""
    try:
        with open_generation(home, name) as generation:
            work = generation.catalog.work(generation.manifest.target)
            request = generation.catalog.meta().get("request") or {}
    except (StoreError, NotFound):
        return None
    return NamedLineage(name, work, str(request.get("target") or "")) if work else None


def _preferred(matches: Sequence[NamedLineage]) -> Iterator[NamedLineage]:
    """Of several lineages of one target only the one that has its default name, where there is one."""
    named = {match.target.id for match in matches if match.is_default}
    return (match for match in matches if match.is_default or match.target.id not in named)


def _is_meant(candidate: NamedLineage, text: str) -> bool:
    target, work = identifier(text), candidate.target
    target_ids = {name.lower() for name in (work.id, *work.aliases)}
    if text.strip().lower() in target_ids or (target and target.id and target.id.lower() in target_ids):
        return True
    title = ids.normal_title(text)
    if title and title == ids.normal_title(work.title):
        return True
    requested_id = identifier(candidate.request)
    same = bool(target and target.id and requested_id and requested_id.id == target.id)
    return same or (candidate.request.startswith("/") and _same_path(candidate.request, text))


def _same_path(path: str, text: str) -> bool:
    try:
        return Path(text).expanduser().resolve() == Path(path)
    except (OSError, ValueError, RuntimeError):
        return False


def _unknown(home: Lineages, lineage_names: Sequence[str], candidates: Sequence[NamedLineage], text: str) -> NotFound:
    near = _nearest(candidates, text)
    build = f"build it: lineage build {_quoted(text)}" if identifier(text) else ""
    hint = (
        "\n  ".join([f"{build}; or did you mean one of:" if build else "did you mean one of:", *near]) if near else f"known: {_some(lineage_names)}"
    )
    return NotFound(f"there is no lineage {shortened(text, _LONGEST)!r} in {home}", hint=hint if near or not build else f"{build}\n{hint}")


def _nearest(candidates: Iterable[NamedLineage], text: str) -> list[str]:
    """Lineages whose name, target or title is near what was written, or whose title holds it."""
    wanted = ids.normal_title(text)
    lines = {
        ids.normal_title(key): f"{candidate.name}  {candidate.title}"
        for candidate in candidates
        for key in (candidate.name, candidate.target.id, candidate.title)
    }
    holding = [key for key in lines if len(wanted) > 2 and wanted in key]
    near = dict.fromkeys(lines[key] for key in (*holding, *get_close_matches(wanted, lines, n=_NEAREST, cutoff=0.75)))
    return list(near)[:_NEAREST]


def _some(lineage_names: Sequence[str]) -> str:
    return ", ".join(lineage_names[:_LISTED]) + (f" and {len(lineage_names) - _LISTED} more (lineage list)" if len(lineage_names) > _LISTED else "")


def _quoted(text: str) -> str:
    """As a shell takes it."""
    return f'"{text}"' if " " in text else text
