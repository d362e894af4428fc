"""Entry point of the programs: Ctrl-C during the imports ends them cleanly, as it does later."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from contextlib import suppress

GARBAGE = 50_000, 20, 20
"""When garbage is looked for: what is imported and read stays, and to look through it costs a command a twentieth."""


def main() -> None:
    """Import the command line and run it; ends with 130 where it is interrupted before it can say so itself."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a question's matrices are small: a second thread costs more than it does
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")  # looking for them reads what every installed package says of itself
    gc.set_threshold(*GARBAGE)
    try:
        from api.cli import app

        app.main()
    except SystemExit as end:
        _leave(end)
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        sys.exit(130)


def _leave(end: SystemExit) -> None:
    """End at once, without taking apart what was imported and read, which costs a command a tenth of a second; exit handlers run."""
    if not isinstance(end.code, int) or threading.active_count() > 1:
        raise end
    atexit._run_exitfuncs()  # noqa: SLF001 - what the interpreter itself calls at its end
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(end.code)


if __name__ == "__main__":
    main()
