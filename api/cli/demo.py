"""`lineage demo`: the demonstration lineage, built and asked as any other, over a loopback upstream.

The pipeline knows nothing of it: the upstream is a program of its own that answers on 127.0.0.1 as the public
services would, and the build reaches it as it reaches any mirror.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from api.bootstrap import Parts
from api.cli import display
from api.cli.common import Json, Quiet
from api.cli.exit_codes import say, show
from api.cli.progress import watching
from api.operations import Service
from api.wire.encode import envelope
from indexer.plan import BuildRequest
from lineage import settings as configuration
from lineage.errors import NotFound, check_home

HERE = Path(__file__).resolve().parents[1]
ROOTS = (HERE.parent, HERE / "demonstration")
"""Where the demonstration's data and upstream lie: in the source tree, or in an installed package."""
TARGET = "arxiv:9912.00001"
QUESTIONS = (
    "how is the encoder initialized?",
    "what learning rate schedule and warmup is used?",
    "which augmentations are applied during pretraining?",
)


def demo(
    home: Annotated[Path, typer.Option("--home", "--folder", help="Folder of the demonstration's store.")] = Path(".demo"),
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Build the demonstration lineage against a loopback upstream and answer three questions. Sends nothing out.

    Example:

      lineage demo --home .demo
    """
    start = time.monotonic()
    check_home(home)
    with upstream() as url:
        operations = Service(Parts(configuration.load(home=home.resolve(), mirror=url, offline=False)))
        with watching(quiet) as watch:
            made = operations.build(BuildRequest(TARGET), watch=watch)
    answers = [operations.query(question, k=3) for question in QUESTIONS]
    if json:
        from api.table import BY_NAME

        say(envelope({"report": BY_NAME["build_now"].present(made), "answers": list(map(BY_NAME["query"].present, answers))}), exact=True)
        return
    show(display.report(made).rsplit("\nask:", 1)[0])
    for question, answer in zip(QUESTIONS, answers, strict=True):
        show(f"\n$ lineage query {question!r} -k 3 --home {home}\n\n{display.answer(answer)}")
    show(f"\ndone in {time.monotonic() - start:.1f} s; nothing left this machine. Ask it yourself: lineage query TEXT --home {home}")


@contextmanager
def upstream() -> Iterator[str]:
    """The demonstration's loopback upstream, running; gives its URL."""
    root = next((root for root in ROOTS if (root / "examples" / "demo" / "upstream.json").is_file()), None)
    if not root:
        raise NotFound("the demonstration's data are not part of this installation", hint="install the wheel, or run it in a checkout: make demo")
    command = [sys.executable, "-m", "tests.upstream", "--data", "examples/demo", "--port", "0"]
    surroundings = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(command, cwd=root, env=surroundings, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own program
        try:
            if not process.stdout:
                raise NotFound("the loopback upstream did not start")
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
