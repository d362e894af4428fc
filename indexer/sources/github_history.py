"""Which commit of a list of commits is meant: the code that was there when a paper came out (pure).

GitHub lists commits newest first, a hundred a page, and its `Link` header says which page is the last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from indexer.sources.fields import items, mapping, text

PER_PAGE, MOST_PAGES = 100, 10
"""Commits on a page, and the pages that are read where nobody says which is the last."""
_SHA = re.compile(r"[0-9a-f]{40}\Z")
_LAST = re.compile(r'[?&]page=(\d{1,6})[^,<>]{0,300}>;\s*rel="last"')


def parse_commit(raw: Any) -> tuple[str, str] | None:
    """(commit, date) of GitHub's record of a commit, or None where it is none."""
    row = mapping(raw)
    sha = text(row.get("sha")).lower()
    detail = mapping(row.get("commit"))
    date = text(mapping(detail.get("committer")).get("date")) or text(mapping(detail.get("author")).get("date"))
    return (sha, date) if _SHA.match(sha) else None


def oldest(raw: Any, since: str) -> tuple[str, str] | None:
    """The oldest commit of a page with a date from `since` on (ISO 8601); of several on one date the last listed."""
    rows = [commit_and_date for row in reversed(items(raw)) if (commit_and_date := parse_commit(row)) and commit_and_date[1] >= since]
    return min(rows, key=lambda row: row[1], default=None)


def earlier(found: Iterable[tuple[str, str] | None]) -> tuple[str, str] | None:
    """The oldest of the pages' oldest, of several on one date that of the later page."""
    return min(reversed([row for row in found if row]), key=lambda row: row[1], default=None)


def last_page(headers: Mapping[str, str]) -> int:
    """The number of the last page, by the Link header (RFC 8288); 0 where it does not say."""
    match = _LAST.search(headers.get("link", "")[:4000])
    return int(match[1]) if match else 0
