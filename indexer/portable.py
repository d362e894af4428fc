"""A build request that came in somebody else's file, a bundle or a lock: within bounds, and without a file of this machine."""

from __future__ import annotations

from dataclasses import replace

from indexer.plan import BOUNDS, BuildRequest
from indexer.sources.local import is_path
from lineage import ids
from lineage.errors import BadIdentifier


def excess(request: BuildRequest) -> str:
    """What in a request no person could have asked for, in words, or the empty string."""
    for name, (least, most) in BOUNDS.items():
        if not least <= getattr(request, name) <= most:
            return f"its request has a {name} that is not between {least} and {most:,}"
    try:
        ids.check_name(request.name or "none")
    except BadIdentifier:
        return "its request names the lineage as none can be called"
    return ""


def files(request: BuildRequest) -> tuple[str, ...]:
    """The target and additions that mean files of a machine."""
    return tuple(requested_path for requested_path in (request.target, *request.add) if is_path(requested_path))


def without_files(request: BuildRequest) -> tuple[BuildRequest, tuple[str, ...]]:
    """The request with only what an identifier, URL or title names, written so that no file can ever be meant, and what was dropped.

    Which words are a path depends on the folder one stands in, so that asking `is_path` once is not enough for a request
    that is kept. A target that is dropped is empty.
    """
    portable_names = {requested_item: identifier(requested_item) for requested_item in (request.target, *request.add)}
    add = tuple(portable_names[requested_item] for requested_item in request.add if portable_names[requested_item])
    dropped = tuple(requested_item for requested_item, portable_name in portable_names.items() if requested_item and not portable_name)
    return replace(request, target=portable_names[request.target], add=add), dropped


def identifier(text: str) -> str:
    """A target written so that it means the same in every folder, or the empty string for a path and for what names nothing."""
    if is_path(text):
        return ""
    if repo := ids.repo_id(text):
        return ids.abs_url(repo)
    try:
        target = ids.parse(text)
    except BadIdentifier:
        return ""
    if target.title:
        return f'"{target.title}"'
    if "://" in text:
        return text.strip()
    return f"{target.id}{target.version}".replace("s2:CorpusId:", "CorpusId:")
