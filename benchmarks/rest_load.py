"""How long a warm `POST /api/v1/search` takes: by how many ask at once, while a build runs, and for hours.

    python -m benchmarks.rest_load --home STORE --lineage NAME [--requests 200] [--rebuild CODE] [--soak MINUTES --clients 2] [--unread CLIENTS]

Starts `lineage serve` over the store in a process of its own, asks one question for warmth, then so many different
ones from 1 and from 8 clients that each wait for their answer. With `--rebuild`, one client asks in rounds, in turn
while nothing else happens and while the server builds a lineage of that folder. With `--soak`, clients ask that long
with words of the lineage by chance, so that every cache fills, while the folder is built and built again; memory (its
own and mapped files apart), threads and files of the server are noted twice a minute, and their slope over the second
half with its standard error. With `--unread`, one client asks alone and
beside so many of another address that ask for the graph and the OpenAPI document again and again and never read. Prints
milliseconds and requests a second.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import numpy as np

from api.server.jobs import Jobs
from benchmarks.parts import run_benchmark
from indexer.plan import BuildReport, BuildRequest
from lineage.generation import open_generation

WHAT = ("encoder", "decoder", "optimizer", "learning rate schedule", "augmentation", "batch size", "weight decay", "loss", "tokenizer", "dropout")
ASKED = ("how is the {} initialized?", "which {} is used for training?", "where is the {} defined?", "default value of {} in the configuration")
ROUNDS = 4


def timed(client: httpx2.Client, lineage: str, number: int, what: Sequence[str] = WHAT) -> float:
    """Seconds of one search, whose question is its own."""
    text = ASKED[number % len(ASKED)].format(what[number // len(ASKED) % len(what)]) + f" run {number}"
    start = time.perf_counter()
    client.post("/api/v1/search", json={"text": text, "lineage": lineage}).raise_for_status()
    return time.perf_counter() - start


def shown(took: list[float]) -> dict[str, float]:
    """Milliseconds at the median, the 95th and the 99th percentile."""
    return {f"p{part}_ms": round(1000 * float(np.percentile(took, part)), 1) for part in (50, 95, 99)}


def measured(url: str, lineage: str, requests: int, clients: int) -> dict[str, float]:
    """Milliseconds, and requests a second."""
    with httpx2.Client(base_url=url, timeout=120, trust_env=False) as client, ThreadPoolExecutor(clients) as pool:
        timed(client, lineage, 0)
        start = time.perf_counter()
        took = list(pool.map(lambda number: timed(client, lineage, number), range(requests)))
        return {"clients": clients, **shown(took), "per_s": round(requests / (time.perf_counter() - start), 1)}


def nobody(*_: object) -> BuildReport:
    """What a queue builds with that another process works at."""
    raise AssertionError("the server builds")


class Builds:
    """A queue that the server under test works at, and a copy of a folder of code that differs each time it is built."""

    def __init__(self, home: Path, code: Path, folder: Path) -> None:
        self.folder = Path(shutil.copytree(code, folder / "code"))
        self.jobs, self.request, self.done = Jobs(home, nobody), BuildRequest(str(self.folder), name=f"rest-load-{os.getpid()}"), 0

    def ask(self) -> str:
        """Queue the build, unless it is under way; the id of its job."""
        job = self.jobs.of_lineage(self.request.name)
        if job and not job.finished:
            return job.id
        (self.folder / "turn.py").write_text(f"turn = {time.time()}\n")
        return self.jobs.submit(self.request).id

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """A build that embeds while the block runs, and how long it takes to end one."""
        id_ = self.ask()
        while not any(event.kind == "stage" and event.data["name"] == "embed" for event in self.jobs.events(id_)) and not self.jobs.get(id_).finished:
            time.sleep(0.2)
        yield
        self.done += self.jobs.get(id_).finished
        self.jobs.cancel(id_)
        while not self.jobs.get(id_).finished:
            time.sleep(0.05)


def beside_builds(url: str, lineage: str, requests: int, builds: Builds) -> dict[str, Any]:
    """One client, in turns idle and beside a build."""
    idle: list[float] = []
    beside: list[float] = []
    with httpx2.Client(base_url=url, timeout=120, trust_env=False) as client:
        for turn in range(ROUNDS):
            numbers = range(turn * requests // ROUNDS, (turn + 1) * requests // ROUNDS)
            idle += [timed(client, lineage, number) for number in numbers]
            with builds.under_way():
                beside += [timed(client, lineage, number) for number in numbers]
    ratios = {name: round(value / shown(idle)[name], 2) for name, value in shown(beside).items()}
    return {"idle": shown(idle), "beside a build": shown(beside), "ratio": ratios, "builds that ended meanwhile": builds.done}


def beside_unread(url: str, lineage: str, requests: int, count: int) -> dict[str, Any]:
    """One client, alone and beside `count` that never read."""
    host, _, port = url.removeprefix("http://").partition(":")
    heads = [f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n" for path in (f"/api/v1/lineages/{lineage}/graph", *["/openapi.json"] * 30)]
    with httpx2.Client(base_url=url, timeout=120, trust_env=False) as client, ExitStack() as lines:
        alone = [timed(client, lineage, number) for number in range(requests)]
        for _ in range(count):
            line = lines.enter_context(socket.socket())
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            line.bind(("127.0.0.2", 0))
            line.connect((host, int(port)))
            line.sendall("".join(heads).encode())
        beside = [timed(client, lineage, number) for number in range(requests)]
    return {"alone": shown(alone), f"beside {count} that never read": shown(beside)}


def words_of(home: Path, lineage: str) -> list[str]:
    """Pairs of words of a lineage's texts, by chance."""
    with open_generation(home, lineage) as generation:
        rows = range(min(generation.manifest.counts["chunks"], 5_000))
        words = sorted({word for chunk in generation.catalog.chunks(rows) for word in re.findall("[A-Za-z]{4,20}", chunk.text)})
    return [" ".join(random.Random(n).sample(words, 2)) for n in range(20_000)]


def soaked(url: str, lineage: str, what: Sequence[str], minutes: float, clients: int, builds: Builds, pid: int) -> dict[str, Any]:
    """Ask and build for so long, and what the server takes."""
    rows: list[tuple[float, ...]] = []
    start, number = time.monotonic(), 0
    with httpx2.Client(base_url=url, timeout=120, trust_env=False) as client, ThreadPoolExecutor(clients) as pool:
        while (at := time.monotonic() - start) < 60 * minutes:
            list(pool.map(lambda n: timed(client, lineage, n, what), range(number, number + 5 * clients)))
            number += 5 * clients
            if not rows or at - rows[-1][0] > 30:
                builds.ask()
                rows.append((at, *taken(pid)))
    late = np.array(rows[len(rows) // 2 :])
    slopes = {name: _slope(late[:, 0] / 3600, late[:, n + 1]) for n, name in enumerate(TAKEN)}
    ended = Counter(job.state for job in builds.jobs.all() if job.lineage == builds.request.name)
    shown_rows = {"first": rows[0][1:], "middle": rows[len(rows) // 2][1:], "last": rows[-1][1:]}
    return {"minutes": minutes, "searches": number, "builds": dict(ended), "taken": TAKEN, **shown_rows, "slope per hour of the second half": slopes}


def _slope(hours: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> str:
    """The slope of a line through values and its standard error."""
    line, spread = np.polyfit(hours, values, 1, cov=True)
    return f"{line[0]:.2f} ± {spread[0, 0] ** 0.5:.2f}"


TAKEN = ("anonymous MB", "file MB", "threads", "files")


def taken(pid: int) -> tuple[float, float, int, int]:
    """Megabytes that are the process's own and megabytes of mapped files, threads and open files of a process (Linux)."""
    about = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    own, mapped = (round(sum(int(about[name].split()[0]) for name in names) / 1024, 1) for names in (["RssAnon"], ["RssFile", "RssShmem"]))
    return own, mapped, int(about["Threads"]), sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--lineage", default="")
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--rebuild", type=Path, help="a folder of code to build meanwhile")
    parser.add_argument("--unread", type=int, default=0, help="clients that never read")
    parser.add_argument("--soak", type=float, default=0.0, help="minutes")
    parser.add_argument("--clients", type=int, default=2, help="clients of the soak")
    wanted = parser.parse_args()
    command = [sys.executable, "-c", "from api.cli.app import main; main()", "serve", "--port", "0", "--json", "--home", str(wanted.home)]
    start = time.perf_counter()
    env = os.environ | {"LINEAGE_RATE": "1000000"}
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as server:
        try:
            url = json.loads(server.stdout.readline() if server.stdout else "{}")["data"]["url"]
            made: dict[str, Any] = {"seconds_to_listen": round(time.perf_counter() - start, 2), "load": os.getloadavg()[0]}
            measured(url, wanted.lineage, 1, 1)
            if wanted.soak:
                builds, what = Builds(wanted.home, wanted.rebuild, Path(folder)), words_of(wanted.home, wanted.lineage)
                made["soak"] = soaked(url, wanted.lineage, what, wanted.soak, wanted.clients, builds, server.pid)
            elif wanted.unread:
                made |= beside_unread(url, wanted.lineage, wanted.requests, wanted.unread)
            elif wanted.rebuild:
                made |= beside_builds(url, wanted.lineage, wanted.requests, Builds(wanted.home, wanted.rebuild, Path(folder)))
            else:
                made["searches"] = [measured(url, wanted.lineage, wanted.requests, clients) for clients in (1, 8)]
        finally:
            server.send_signal(signal.SIGTERM)
    print(json.dumps(made, indent=1))


if __name__ == "__main__":
    run_benchmark(main)
