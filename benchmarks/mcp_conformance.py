"""The official MCP conformance suite against `lineage serve`, for both revisions of the protocol.

    npm install --prefix DIR @modelcontextprotocol/conformance@0.2.0-alpha.12 node@22
    python -m benchmarks.mcp_conformance --suite DIR

The suite is written for SDKs: most of its scenarios call tools, prompts and resources of its own (`test_*`). Those ask
for what Lineage does not offer and says so in its capabilities; they are named in `NOT_OFFERED`, each with the reason.
Everything else has to pass. `--fixture` runs the suite against `benchmarks.mcp_fixture`, which offers what most of the
scenarios call for, behind the same endpoint and guard.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from benchmarks.parts import run_benchmark
from tests.fakes import small_lineage

ROOT = Path(__file__).resolve().parent.parent
REVISIONS = ("2025-11-25", "2026-07-28")
SERVE = "from api.cli.app import main; main()"
FIXTURE = "from benchmarks.mcp_fixture import main; main()"

NOT_OFFERED = {
    "tools-call-*": "calls the suite's own test_* tools",
    "resources-read-*": "reads the suite's own test:// resources",
    "resources-templates-read": "reads the suite's own test:// resources",
    "resources-*subscribe": "subscriptions are not offered: a generation never changes",
    "prompts-*": "prompts are not offered",
    "logging-set-level": "logging is not offered; logs go to stderr",
    "elicitation-*": "calls the suite's own test_* tools",
    "input-required-result-*": "calls the suite's own test_* tools; nothing here asks back",
    "json-schema-2020-12": "looks for the suite's own tool",
    "http-custom-header-server-validation": "looks for a tool with x-mcp-header arguments",
    "tasks-*": "the tasks extension is not offered; builds are jobs of our own",
}
"""Scenarios that need what a server may leave out, and why Lineage does."""
BEYOND = ("server-sse-polling", "input-required-result-*", "tasks-*", "http-custom-header-server-validation", "json-schema-2020-12")
"""What the fixture leaves out too."""
NOT_OFFERED_CHECKS = {
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel",
    "sep-2549-prompts-list-caching-hints",
}
"""Single checks, of scenarios that otherwise concern Lineage, that call the suite's own tools or prompts."""


_STAMP = re.compile(r"-\d{4}-\d{2}-\d{2}T[\d-]+Z\Z")


@dataclass(frozen=True)
class Check:
    """One check of one scenario and how it ended."""

    scenario: str
    name: str
    status: str
    said: str

    @property
    def concerns(self) -> bool:
        """Whether it asks for something that Lineage says it offers."""
        return self.name not in NOT_OFFERED_CHECKS and not any(fnmatch(self.scenario, pattern) for pattern in NOT_OFFERED)

    @property
    def beyond(self) -> bool:
        """Whether it asks for something that the fixture does not offer either."""
        return self.name in NOT_OFFERED_CHECKS or any(fnmatch(self.scenario, pattern) for pattern in BEYOND)


@contextmanager
def serving(home: Path, program: str) -> Iterator[str]:
    """The URL of a running endpoint over a small lineage."""
    small_lineage.build(home)
    command = [sys.executable, "-c", program, "serve", "--port", "0", "--json", "--home", str(home)]
    with subprocess.Popen(command, cwd=ROOT, env=os.environ | {"LINEAGE_RATE": "1000000"}, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield json.loads(process.stdout.readline())["data"]["url"] + "/mcp"
        finally:
            process.terminate()


def run(suite: Path, url: str, revision: str, out: Path) -> list[Check]:
    """Every check that the suite made at a revision."""
    node = suite / "node_modules" / ".bin" / "node"
    program = suite / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    command = [str(node if node.exists() else "node"), str(program), "server", "--url", url, "--requirements", revision, "-o", str(out)]
    subprocess.run(command, cwd=out, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=900)
    return [check for path in sorted(out.glob("server-*/checks.json")) for check in _checks(path)]


def _checks(path: Path) -> Iterator[Check]:
    scenario = _STAMP.sub("", path.parent.name.removeprefix("server-"))
    for row in json.loads(path.read_text()):
        if row["status"] in {"SUCCESS", "FAILURE", "WARNING"}:
            yield Check(scenario, row["id"], row["status"], str(row.get("errorMessage") or row.get("description") or "")[:200])


def told(revision: str, checks: list[Check], fixture: bool) -> bool:
    """Print how a revision went; whether everything that concerns the server passed."""
    asked = [check for check in checks if (not check.beyond if fixture else check.concerns)]
    passed = [check for check in asked if check.status != "FAILURE"]
    everything = sum(check.status != "FAILURE" for check in checks)
    print(f"{revision}: {len(passed)}/{len(asked)} checks of what is offered, {everything}/{len(checks)} of all")
    for check in asked:
        if check.status != "SUCCESS":
            print(f"  {check.status.lower()}: {check.scenario}: {check.name}: {check.said}")
    left = Counter(pattern for check in checks for pattern in NOT_OFFERED if check not in asked and fnmatch(check.scenario, pattern))
    for pattern, count in left.items():
        print(f"  left out: {count:>3} {pattern}: {NOT_OFFERED[pattern]}")
    return len(passed) == len(asked) > 0


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", type=Path, required=True, help="folder with node_modules/@modelcontextprotocol/conformance")
    parser.add_argument("--fixture", action="store_true", help="against a server that offers what the suite calls for")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "home", FIXTURE if asked.fixture else SERVE) as url:
        good = []
        for revision in REVISIONS:
            out = Path(folder) / revision
            out.mkdir()
            good.append(told(revision, run(asked.suite.resolve(), url, revision, out), asked.fixture))
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    run_benchmark(main)
