"""The Papers-with-Code archive of links between papers and code, from a file of the user's own. Nothing is fetched.

The file is a JSON list of some 300,000 rows, plain or gzipped. It is read as a stream, one row at a time, and only rows
that name a wanted paper are kept, so that neither its size nor a hostile row decides how much memory is taken.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from lineage.code_links import links
from lineage.errors import ParseError, SettingsError
from lineage.records import CodeLink, Status, Work

SOURCE = "papers-with-code"
MAX_ROWS = 3_000_000
MAX_CHARS = 4 * 1024**3
"""Characters of the unpacked file that are read."""
MAX_ROW = 1 << 20
_BLOCK = 1 << 18
_GAP, _END = re.compile(r"[\s,]*"), re.compile(r"[\s,]*\]")
_DECODER = json.JSONDecoder()
_FIELDS = ("paper_arxiv_id", "paper_title", "repo_url", "is_official", "mentioned_in_paper", "mentioned_in_github")


class PapersWithCode:
    """The archive file of the settings; raises `SettingsError` where there is none to read."""

    name = SOURCE

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise SettingsError(f"links_archive: there is no file {path}", hint="give the path of links-between-papers-and-code.json or .json.gz")
        self.path = path

    def links(self, papers: Sequence[Work]) -> tuple[CodeLink, ...]:
        """The repositories that the archive links to any of `papers`; raises `ParseError`."""
        wanted = {name.removeprefix("arxiv:") for paper in papers for name in (paper.id, *paper.aliases) if name.startswith("arxiv:")}
        titles = {_folded(paper.title) for paper in papers if paper.title}
        chosen = (row for row in rows(self.path) if _asked(row, wanted, titles))
        paper_works = [Work(name, title=paper.title) for paper in papers for name in (paper.id, *paper.aliases)]
        by_name = {name: paper.id for paper in papers for name in (paper.id, *paper.aliases)}
        paper_links = links.from_papers_with_code(({key: row.get(key) for key in _FIELDS} for row in chosen), paper_works)
        return links.merge(CodeLink(by_name[link.paper], link.repo, link.tier, link.said_by, link.evidence) for link in paper_links)


def _asked(row: dict[str, Any], wanted: set[str], titles: set[str]) -> bool:
    arxiv, title = row.get("paper_arxiv_id"), row.get("paper_title")
    return (isinstance(arxiv, str) and arxiv.partition("v")[0] in wanted) or (isinstance(title, str) and _folded(title) in titles)


def _folded(title: str) -> str:
    """Letters and digits alone: cheap, and finer than what `lineage.code_links.links` compares afterwards."""
    return "".join(c for c in title[:500].lower() if c.isalnum())


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file that is one JSON list, in order; raises `ParseError` for anything else, `SettingsError` if it cannot be read."""
    with _opened(path) as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        plain: Any = gzip.GzipFile(fileobj=file) if packed else file
        try:
            yield from _rows(io.TextIOWrapper(plain, encoding="utf-8-sig", errors="replace"))
        except (OSError, EOFError, zlib.error) as error:
            raise ParseError(Status.BAD_ARCHIVE, f"it cannot be unpacked: {error}") from error


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise SettingsError(f"links_archive: {path} cannot be read: {error.strerror}") from error


def _rows(file: TextIO) -> Iterator[dict[str, Any]]:
    """Rows as they come whole into a buffer that never holds more than a block and a row."""
    buffer, count, read = _past_bracket(file), 0, 0
    while True:
        at = 0
        while (row_and_end := _row(buffer, at)) is not None:
            row, at = row_and_end
            count += 1
            yield row
        buffer = buffer[at:]
        if _END.match(buffer):
            return
        read += _BLOCK
        if count > MAX_ROWS or read > MAX_CHARS or len(buffer) > MAX_ROW:
            raise ParseError(Status.TOO_LARGE, f"row {count + 1:,} is one too many, too long, or cannot be read")
        block = file.read(_BLOCK)
        if not block:
            raise ParseError(Status.TRUNCATED, f"it ends after {count:,} rows without closing its list")
        buffer += block


def _past_bracket(file: TextIO) -> str:
    """The first block from after the bracket that opens the list."""
    start = file.read(_BLOCK).lstrip()
    if not start.startswith("["):
        raise ParseError(Status.WRONG_TYPE, "it is no JSON list")
    return start[1:]


def _row(held: str, at: int) -> tuple[dict[str, Any], int] | None:
    """The object that begins at `at`, but for white space and a comma, and where it ends; None while it is not whole."""
    start = _GAP.match(held, at)
    begin = start.end() if start else at
    if not held.startswith("{", begin):
        if held[begin : begin + 1] not in {"", "]"}:
            raise ParseError(Status.WRONG_TYPE, "a row of it is no JSON object")
        return None
    try:
        return _DECODER.raw_decode(held, begin)
    except RecursionError:
        raise ParseError(Status.WRONG_TYPE, "a row is nested too deeply") from None
    except ValueError:
        return None
