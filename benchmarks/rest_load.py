"""How long a warm `POST /api/v1/search` takes, by how many ask at once.

    python -m benchmarks.rest_load --home STORE --lineage NAME [--requests 200]

Starts `lineage serve` over the store in a process of its own, asks one question for warmth, then so many different
ones from 1 and from 8 clients that each wait for their answer. Prints milliseconds and requests a second.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2

from benchmarks.parts import run_benchmark

WHAT = ("encoder", "decoder", "optimizer", "learning rate schedule", "augmentation", "batch size", "weight decay", "loss", "tokenizer", "dropout")
ASKED = ("how is the {} initialized?", "which {} is used for training?", "where is the {} defined?", "default value of {} in the configuration")


def timed(client: httpx2.Client, lineage: str, number: int) -> float:
    """Seconds of one search, whose question is its own."""
    text = ASKED[number % len(ASKED)].format(WHAT[number // len(ASKED) % len(WHAT)]) + f" run {number}"
    start = time.perf_counter()
    client.post("/api/v1/search", json={"text": text, "lineage": lineage}).raise_for_status()
    return time.perf_counter() - start


def measured(url: str, lineage: str, requests: int, clients: int) -> dict[str, float]:
    """Milliseconds at the median and the 95th percentile, and requests a second."""
    with httpx2.Client(base_url=url, timeout=120, trust_env=False) as client, ThreadPoolExecutor(clients) as pool:
        timed(client, lineage, 0)
        start = time.perf_counter()
        took = sorted(pool.map(lambda number: timed(client, lineage, number), range(requests)))
        rate = requests / (time.perf_counter() - start)
    return {
        "clients": clients,
        "p50_ms": round(1000 * took[len(took) // 2], 1),
        "p95_ms": round(1000 * took[int(len(took) * 0.95)], 1),
        "per_s": round(rate, 1),
    }


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--lineage", default="")
    parser.add_argument("--requests", type=int, default=200)
    wanted = parser.parse_args()
    command = [sys.executable, "-c", "from api.cli.app import main; main()", "serve", "--port", "0", "--json", "--home", str(wanted.home)]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"LINEAGE_RATE": "1000000"}) as server:
        try:
            url = json.loads(server.stdout.readline() if server.stdout else "{}")["data"]["url"]
            up = time.perf_counter() - start
            rows = [measured(url, wanted.lineage, wanted.requests, clients) for clients in (1, 8)]
        finally:
            server.send_signal(signal.SIGTERM)
    print(json.dumps({"seconds_to_listen": round(up, 2), "load": os.getloadavg()[0], "searches": rows}, indent=1))


if __name__ == "__main__":
    run_benchmark(main)
