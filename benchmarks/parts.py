"""Data that a benchmark may lack: a missing part is named and skipped, and a benchmark that lacks all ends with 3; results that are kept."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from lineage.errors import LineageError

P = ParamSpec("P")
R = TypeVar("R")
NOTHING = 3
_MISSING = (FileNotFoundError, NotADirectoryError)


def part(name: str, measure: Callable[P, R], *args: P.args, **named: P.kwargs) -> R | None:
    """What `measure` gives; None, and a line on stderr that names the missing file, where its data are not there."""
    try:
        return measure(*args, **named)
    except _MISSING as error:
        print(f"# skipped {name}: there is no {error.filename or error}", file=sys.stderr)
        return None


def have(name: str, *paths: Path) -> bool:
    """Whether all files or folders of a part are there; a line on stderr names one that is not."""
    missing = next((path for path in paths if not path.exists()), None)
    if missing:
        print(f"# skipped {name}: there is no {missing}", file=sys.stderr)
    return not missing


def record(path: Path | None, name: str, value: object) -> None:
    """Put what was measured under a name into a file of results, where one is named; what stands there under other names stays."""
    if path:
        results = json.loads(path.read_text("utf-8")) if path.exists() else {}
        rows = (f"{json.dumps(key)}: {json.dumps(one)}" for key, one in sorted({**results, name: value}.items()))
        path.write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf-8")


def run_benchmark(main: Callable[[], object]) -> None:
    """Run a benchmark; what it cannot do without ends it with one clear line."""
    try:
        sys.exit(main() or 0)  # type: ignore[arg-type]
    except _MISSING as error:
        print(f"nothing to measure: there is no {error.filename or error}", file=sys.stderr)
        sys.exit(NOTHING)
    except LineageError as error:
        print(f"nothing to measure: {error}" + (f"\n  hint: {error.hint}" if error.hint else ""), file=sys.stderr)
        sys.exit(error.exit_code)
