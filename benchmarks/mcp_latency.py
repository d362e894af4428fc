"""What an agent waits for: seconds to connect, to the first answer and to every further one, and the size of what it reads first.

    python -m benchmarks.mcp_latency --home HOME [--lineage L] [--rounds 20]

The SDK's own client, over stdio (`lineage mcp`) and HTTP (`lineage serve`), in both revisions of the protocol.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from benchmarks.parts import run_benchmark

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = "from api.cli.app import main; main()"
QUESTIONS = (
    "how is the encoder initialised",
    "learning rate warm-up and schedule",
    "optimizer betas and weight decay",
    "data augmentation",
    "batch size",
)


async def measured(made: Any, mode: str, lineage: str, rounds: int) -> dict[str, float]:
    """Seconds of connecting, of the first search and of later calls (medians)."""
    found: dict[str, float] = {}
    start = time.perf_counter()
    async with Client(made, mode=mode, read_timeout_seconds=60) as client:
        found["connect"] = time.perf_counter() - start
        tools = await client.list_tools()
        found["tools/list characters"] = len(tools.model_dump_json(by_alias=True, exclude_none=True))
        calls: dict[str, list[float]] = {}
        for n in range(rounds + 1):
            for tool, arguments in _calls(n, lineage):
                at = time.perf_counter()
                answer = await client.call_tool(tool, arguments)
                if answer.is_error:
                    sys.exit(answer.content[0].text)
                calls.setdefault(tool, []).append(time.perf_counter() - at)
        found["first search"] = calls["lineage_search"][0]
        found |= {tool: statistics.median(seconds[1:]) for tool, seconds in calls.items()}
    return found


def _calls(n: int, lineage: str) -> list[tuple[str, dict[str, Any]]]:
    named = {"lineage": lineage}
    few = [("lineage_gaps", named), ("lineage_context", {"task": QUESTIONS[n % 5], **named})] if n < 4 else []
    return [("lineage_search", {"query": QUESTIONS[n % 5], **named}), ("lineage_status", {}), *few]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--lineage", default="")
    parser.add_argument("--rounds", type=int, default=20)
    asked = parser.parse_args()
    home = str(asked.home.resolve())
    command = StdioServerParameters(command=sys.executable, args=["-c", PROGRAM, "mcp", "--home", home], cwd=ROOT, env=dict(os.environ))
    serve = [sys.executable, "-c", PROGRAM, "serve", "--port", "0", "--json", "--home", home]
    with subprocess.Popen(serve, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        url = json.loads(server.stdout.readline())["data"]["url"] + "/mcp"
        for where, made in (("stdio", command), ("HTTP", url)):
            for mode in ("auto", "legacy"):
                found = asyncio.run(measured(made, mode, asked.lineage, asked.rounds))
                print(where, "2026-07-28" if mode == "auto" else "2025-11-25", {name: round(value, 3) for name, value in found.items()})
        server.terminate()


if __name__ == "__main__":
    run_benchmark(main)
