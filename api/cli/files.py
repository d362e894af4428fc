"""Files that the user names: read whole, of bounded size, with errors that say which line; written only where a file may be."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lineage.errors import BadBundle, SettingsError, UsageError, there

if TYPE_CHECKING:
    from retrieval.evaluation import Case

STDIN = "-"
_LINE = "the file must hold one JSON object per line"
MAX_BATCH = 100_000
MAX_FILE = 64 * 1024 * 1024
_NO_ARCHIVE = {"text": "it is plain text", "tex": "it is TeX", "empty": "it is empty", "binary": "it is not an archive"}


def absolute(text: str) -> str:
    """A path made absolute, so that the same request means the same from another folder; anything else as it is."""
    path = None if "://" in text else there(text)
    return str(path.resolve()) if path else text


def writable(path: Path) -> Path:
    """The path of a file to make or to replace; raises `UsageError` where its folder is not there or something else has its name.

    What is written whole gets its name at the end: a device, a pipe or a link of that name would be gone.
    """
    folder = path.parent
    try:
        if os.path.lexists(path) and (path.is_symlink() or not path.is_file()):
            raise UsageError(f"{path} exists and is not a regular file", hint="name a file that is new, or one to replace")
        if not folder.is_dir():
            raise UsageError(f"there is no folder {folder.absolute()}", hint="create it first, or choose another")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise UsageError(f"the folder {folder.absolute()} cannot be written", hint="name a file in a folder of yours")
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}") from error
    return path


def fragments(path: Path | None) -> tuple[str, ...]:
    """The URL fragments of a blacklist file (PaperBench's form: one a line, `#` begins a comment); raises `SettingsError`."""
    if not path:
        return ()
    lines = (line.strip() for line in _lines(path, SettingsError))
    return tuple(line for line in lines if line and not line.startswith("#"))


def _lines(path: Path, kind: type[UsageError]) -> list[str]:
    """The lines of a text file that the user names, of bounded size; raises `kind`."""
    name = label(path)
    try:
        content = _read(path)
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise kind(f"{name} is not UTF-8 text (byte {error.start:,})", hint="convert it first: iconv -f latin1 -t utf-8 FILE") from error
    except (OSError, ValueError) as error:
        raise kind(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}", hint="check the path") from error
    if len(content) > MAX_FILE:
        raise kind(f"{name} has more than {MAX_FILE:,} bytes")
    return text.removesuffix("\n").split("\n")  # JSON may hold the other characters that end a line elsewhere


def label(path: Path) -> str:
    """What an error calls a file that is read; `-` is standard input."""
    return "standard input" if str(path) == STDIN else str(path)


def _read(path: Path) -> bytes:
    """A little more than is allowed of a file or of standard input, at most."""
    if str(path) == STDIN:
        return sys.stdin.buffer.read(MAX_FILE + 1)
    with path.open("rb") as file:
        return file.read(MAX_FILE + 1)


def objects(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The JSON objects of a file of one a line, each with the number of its line; raises `UsageError`, which names the line."""
    return ((number, _object(path, number, line)) for number, line in _numbered(path))


def _object(path: Path, number: int, line: str) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{label(path)}, line {number}: not JSON", hint=_LINE) from error
    if not isinstance(row, dict):
        raise UsageError(f"{label(path)}, line {number}: a JSON object is expected", hint=_LINE)
    return row


def _numbered(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that hold something, by number; raises `UsageError` for too many."""
    lines = _lines(path, UsageError)
    if len(lines) > MAX_BATCH:
        raise UsageError(f"{label(path)} has {len(lines):,} lines; at most {MAX_BATCH:,} are taken")
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip())


def check_archive(path: Path) -> None:
    """Raise `BadBundle` for a file that is no archive, as every bundle is; one that cannot be read is for others to tell of."""
    from indexer.archives.sniff import HEAD, sniff

    try:
        with path.open("rb") as file:
            kind = sniff(file.read(HEAD))
    except (OSError, ValueError):
        return
    if kind not in {"gzip", "tar"}:
        raise BadBundle(f"{path} is not a bundle: {_NO_ARCHIVE.get(kind, f'it is a {kind} file')}", hint="`lineage export` makes one")


def questions(path: Path) -> tuple[list[tuple[str, str]], bool]:
    """The (id, text) of each question of a file, and whether they are JSON: all as {"id", "text"}, or one a plain line (its id is the line's number).

    Raises `UsageError`.
    """
    lines = list(_numbered(path))
    plain = bool(lines) and not lines[0][1].lstrip().startswith(("{", "["))
    return [
        _question(path, number, {"id": number, "text": line.strip()} if plain else _object(path, number, line)) for number, line in lines
    ], not plain


def _question(path: Path, number: int, row: Mapping[str, Any]) -> tuple[str, str]:
    text = row.get("text", row.get("query"))
    if "id" not in row or text is None:
        raise UsageError(f'{label(path)}, line {number}: {{"id": …, "text": …}} is expected')
    if not isinstance(text, str) or not text.strip():
        raise UsageError(f"{label(path)}, line {number}: `text` must be a question")
    return str(row["id"]), text


def lineage_of(path: Path) -> str:
    """The one lineage that every line of a gold file names; empty where some name none, or they name several."""
    named = {str(row.get("lineage") or "") for _, row in objects(path)}
    return named.pop() if len(named) == 1 else ""


def cases(path: Path, lineage: str) -> list[Case]:
    """The questions of a gold file that are asked of a lineage; raises `UsageError`, which names the line."""
    from retrieval.evaluation import case_of

    gold_cases = []
    for number, row in objects(path):
        if row.get("lineage") in {None, "", lineage}:
            try:
                gold_cases.append(case_of({"id": number, **row}))
            except (ValueError, TypeError) as error:
                raise UsageError(f"{label(path)}, line {number}: {error}") from error
    if not gold_cases:
        raise UsageError(f"{label(path)} has no question for {lineage}")
    return gold_cases
