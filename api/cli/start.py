"""Entry point of the programs: Ctrl-C during the imports ends them cleanly, as it does later."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Import the command line and run it; ends with 130 where it is interrupted before it can say so itself."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a question's matrices are small: a second thread costs more than it does
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")  # looking for them reads what every installed package says of itself
    gc.set_threshold(50_000, 20, 20)  # what is imported and read stays: to look through it for garbage costs a command a twentieth
    try:
        from api.cli import app

        app.main()
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
