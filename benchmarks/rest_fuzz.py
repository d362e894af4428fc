"""Attack a live server with what its OpenAPI document allows and forbids, and look whether it keeps its word (E1).

    python -m benchmarks.rest_fuzz --cases 20000

Schemathesis makes the requests (its examples, coverage, fuzzing and stateful phases, positive and negative) and checks
each answer: no 5xx, documented status and type, a body that fits its schema, refused where it must be. Half of the
cases make up the identifiers in paths, half are given some that are there. The server runs offline over the
demonstration lineage, with bounds of rate and queue out of the way, so that what is counted is the application.
Schemathesis is no dependency of the project: `pip install schemathesis`.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.parts import run_benchmark
from tests.demo import DEMO, NAME, Demo
from tests.serving import Serving
from tests.upstream import Upstream, World

PHASES = "examples,coverage,fuzzing,stateful"
UNMEANT = "use_after_free"
"""DELETE ends a job, which can still be looked at and resumed."""
DEAR = ("context", "answer")
OPEN = {"rate": 1e9, "burst": 10**9, "concurrency": 256}


def identifiers(url: str) -> dict[str, str]:
    """A chunk and a finished job that are there."""
    with httpx2.Client(base_url=url, timeout=60, trust_env=False) as client:
        hits = client.post("/api/v1/search", json={"text": "how is the encoder initialized?"}).json()["hits"]
        job = client.post("/api/v1/lineages", json={"target": "arxiv:9908.00105"}).json()
        while client.get(job["links"]["self"]).json()["state"] in {"queued", "running"}:
            time.sleep(0.1)
    return {"path.chunk": hits[0]["chunk"], "path.job": job["id"], "path.lineage": NAME}


def attack(url: str, examples: int, seed: int, parent: Path, given: Mapping[str, str]) -> tuple[int, str]:
    """One run: its exit code and what it printed. Every fourth takes in the operations that cost seconds, with fewer examples of each."""
    folder = parent / f"run-{seed}"
    folder.mkdir()
    config = folder / "schemathesis.toml"
    (folder / "hooks.py").write_text(_HOOKS, encoding="utf-8")
    lines = [
        f"hooks = {json.dumps(str(folder / 'hooks.py'))}",
        *_JUDGED,
        "[parameters]",
        *(f"{json.dumps(name)} = {json.dumps(value)}" for name, value in given.items()),
    ]
    config.write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = [
        "schemathesis",
        "--config-file",
        str(config),
        "run",
        url + "/openapi.json",
        "--url",
        url,
        "--phases",
        PHASES,
        "--checks",
        "all",
        "--exclude-checks",
        UNMEANT,
    ]
    words += [word for name in DEAR for word in ("--exclude-operation-id", name)] if seed % 4 else []
    words += [
        "--max-examples",
        str(examples if seed % 4 else max(10, examples // 10)),
        "--seed",
        str(seed),
        "--continue-on-failure",
        "--request-timeout",
        "60",
        "--workers",
        "1",
    ]
    words += ["--suppress-health-check", "all", "--no-color"]
    done = subprocess.run([str(Path(sys.executable).with_name(words[0])), *words[1:]], capture_output=True, text=True, check=False, cwd=folder)
    return done.returncode, done.stdout + done.stderr


_HOOKS = """
import schemathesis

@schemathesis.serializer("application/gzip", "application/zip", "application/x-tar")
def archive(_, value):
    return value if isinstance(value, bytes) else str(value).encode()
"""
"""Schemathesis does not know how to send an archive; any bytes will do."""
# What no schema can say: a target that is no identifier, a question of 4,096 characters and more bytes, a pattern, an archive. 422 is their answer.
_JUDGED = [
    *("[[operations]]", 'include-operation-id = ["audit", "build", "query", "gaps", "answer", "context", "grep", "read"]'),
    "[operations.checks.positive_data_acceptance]",
    'expected-statuses = ["2xx", "401", "403", "404", "409", "422", "429", "5xx"]',
]


def cases(text: str) -> int:
    """Test cases that a run says it generated."""
    found = re.search(r"Test cases:\s*\n?\s*([\d,]+) generated|([\d,]+) generated", text)
    return int((found[1] or found[2]).replace(",", "")) if found else 0


def statuses(url: str) -> dict[str, int]:
    """Requests by status, as the server itself counts them."""
    text = httpx2.get(url + "/metrics", trust_env=False, timeout=60).text
    found: Counter[str] = Counter()
    for status, number in re.findall(r'^lineage_http_requests_total\{.*status="(\d+)"\} ([\d.e+]+)', text, re.MULTILINE):
        found[status] += int(float(number))
    return dict(sorted(found.items()))


def measured(wanted: int, examples: int, at_once: int, show: bool) -> dict[str, Any]:
    """Run until so many cases were made."""
    with tempfile.TemporaryDirectory() as name, Upstream(World.load(DEMO)) as upstream:
        folder, home = Path(name), Path(name) / "store"
        Demo(home, upstream.url, packaged=True).build()
        shutil.rmtree(home / "requests")  # offline, no build that is asked for ends well, and there stays one lineage
        start, made, failed, seed = time.monotonic(), 0, 0, 1
        with Serving(home, OPEN, offline=True, queue=10_000) as server:
            real = identifiers(server.url)
            with ThreadPoolExecutor(at_once) as pool:
                while made < wanted:
                    seeds = range(seed, seed + at_once)
                    for code, text in pool.map(lambda n: attack(server.url, examples, n, folder, real if n % 2 else {}), seeds):
                        made, failed, seed = made + cases(text), failed + (code != 0), seed + 1
                        if show or code or not cases(text):
                            print(text, file=sys.stderr, flush=True)
                    print(f"{made:,} cases, {failed} runs with findings, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
            said = {"cases": made, "runs": seed - 1, "runs_with_findings": failed, "statuses": statuses(server.url)}
            return said | {"seconds": round(time.monotonic() - start)}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--examples", type=int, default=150, help="examples of each operation in one run")
    parser.add_argument("--at-once", type=int, default=2, help="runs at the same time")
    parser.add_argument("--show", action="store_true", help="print what schemathesis prints, also where it found nothing")
    wanted = parser.parse_args()
    print(json.dumps(measured(wanted.cases, wanted.examples, wanted.at_once, wanted.show), indent=1))


if __name__ == "__main__":
    run_benchmark(main)
