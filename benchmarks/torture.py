"""What survives damage, faults and hostile files: `python -m benchmarks.torture [--flips N --faults N --inputs N --cuts N --turns N --stops N]`.

Over the demonstration's lineage and a loopback upstream, seeded, nothing sent out. Flips: one bit of one file, every kind of
file in turn; found by `check --read-data`, answers of a rebuild unchanged, mended by `check --repair`. Faults: one answer of
the upstream spoiled during a build, the fault gone, built again; told (a row or an error) and healed (the content of a build
without the fault). Inputs: archives and TeX with random damage; a status each, no exception, no dead
parent. Cuts: e-prints that end early; none is plainly ok. Turns: two processes that ask arXiv; the least gap between requests.
Stops: a server that embeds is told to cancel the build, and another to end; the seconds until it has, and processes that stay.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from api.server.jobs import Jobs
from benchmarks.rest_load import nobody
from indexer.archives.members import members
from indexer.parsers.latex.parser import parse
from indexer.parsers.pdf.parser import parse as parse_pdf
from indexer.plan import BuildRequest
from indexer.store.verify import check_lineage, check_shared
from indexer.transport.upstreams import UPSTREAMS
from lineage import generation as layout
from lineage.errors import LineageError, ParseError
from lineage.generation import open_generation
from lineage.records import Status, WorkId
from tests.crash import children, gone
from tests.demo import DEMO, NAME, TARGET, Demo
from tests.upstream import Upstream, World
from tests.upstream.archives import Member, gz, tar_gz
from tests.upstream.faults import Action, Drop, Fault, Faults, LieAboutLength, Redirect, ReplaceBody, Shorten, Stall, Truncate, captcha, too_many
from tests.upstream.faults import Status as Answer

KINDS = (
    *("catalog.db", "vectors.npy", "manifest.json", "CURRENT", "blobs", "requests", "politeness"),
    *("derived.db", "vectors.db", "derived.seal", "vectors.seal"),
)
HOSTS = (
    "api.semanticscholar.org",
    "export.arxiv.org",
    "api.github.com",
    "codeload.github.com",
    "huggingface.co",
    "api.openalex.org",
    "api.crossref.org",
)
SPOILS: dict[str, Callable[[str], Action]] = {
    **{str(status): partial(lambda status, _: Answer(status), status) for status in (401, 403, 404, 410, 451, 500, 503)},
    "429": lambda _: too_many("0"),
    "dropped": lambda _: Drop(),
    "cut off": lambda _: Truncate(0.5),
    "half of it": lambda _: Shorten(0.5),
    "stalled": lambda _: Stall(10),
    "longer than said": lambda _: LieAboutLength(-10),
    "login page": lambda _: captcha(),
    "redirected away": lambda _: Redirect("https://login.example.org/"),
    "redirected to a private address": lambda _: Redirect("http://169.254.169.254/latest/meta-data/"),
    "redirected in circles": lambda host: Redirect(f"https://{host}/repos/a/b"),
    **{body or "nothing": partial(lambda body, _: ReplaceBody(body.encode()), body) for body in ("", "null", "{}", "[]", '{"data": null}')},
}
WHEN: dict[str, dict[str, int]] = {"all": {}, "the first": {"times": 1}, "all but the first": {"skip": 1}}


def of_kind(home: Path, kind: str) -> list[Path]:
    """The files of one kind in a home."""
    paths = [path for path in home.rglob("*") if path.is_file() and path.stat().st_size and not path.name.startswith(".") and path.suffix != ".lock"]
    return sorted(path for path in paths if path.name == kind or kind in {path.parent.name, path.parent.parent.name})


def flips(home: Path, dice: random.Random, count: int) -> dict[str, dict[str, int]]:
    """Flip a bit, look, and set it right again, `count` times over all kinds of file."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for n in range(count):
        kind = KINDS[n % len(KINDS)]
        path = dice.choice(of_kind(home, kind))
        whole = path.read_bytes()
        bit = dice.randrange(8 * len(whole))
        path.chmod(0o600)
        path.write_bytes(whole[: bit // 8] + bytes([whole[bit // 8] ^ 1 << bit % 8]) + whole[bit // 8 + 1 :])
        sums[kind]["flipped"] += 1
        sums[kind]["found"] += _is_found(home)
        path.write_bytes(whole)
    return {kind: dict(counts) for kind, counts in sums.items()}


def _is_found(home: Path) -> bool:
    try:
        return bool(next(check_shared(home), None) or check_lineage(home, NAME, read_data=True))
    except LineageError:
        return True


def faults(world: World, folder: Path, dice: random.Random, count: int) -> dict[str, Any]:
    """Spoil one host's answers in one way, build, and build again without the fault: as it is, when negative answers have expired, refreshed.

    Every home has the results of parsing and embedding, which no fault touches.
    """
    sums: Counter[str] = Counter({"faults": 0, "told": 0, "healed at once": 0, "healed when refusals expired": 0, "healed by --refresh all": 0})
    unhealed: Counter[str] = Counter()
    with Upstream(world) as upstream:
        good = _content(_demo(folder / "good", upstream), ())
    every = [*product(HOSTS, SPOILS, WHEN)]
    for n, (host, kind, when) in enumerate(dice.sample(every, min(count, len(every)))):
        home = shutil.copytree(folder / "good", folder / f"fault-{n}", ignore=shutil.ignore_patterns("blobs", "lineages", "politeness", "requests"))
        with Upstream(world, Faults((Fault(f" {host}/", SPOILS[kind](host), **WHEN[when]),))) as upstream:
            told = _told(_demo(home, upstream, deadline=1.0), good)
            if not upstream.faults:
                continue  # nobody is asked twice
        with Upstream(world) as upstream:
            at_once = _content(_demo(home, upstream), ()) == good
            expired = at_once or _content(_demo(home, upstream, negative_days=0.0), ()) == good
            refreshed = expired or _content(_demo(home, upstream), ("all",)) == good
        shutil.rmtree(home, ignore_errors=True)
        sums.update(
            {"faults": 1, "told": told, "healed at once": at_once, "healed when refusals expired": expired, "healed by --refresh all": refreshed}
        )
        unhealed.update([f"{host}: {kind}"] if not expired else [])
        if sums["faults"] % 20 == 0:
            print(dict(sums), file=sys.stderr, flush=True)
        if not (told and expired):
            print(f"{host}: {kind}, {when}: told {told}, at once {at_once}, expired {expired}, refreshed {refreshed}", file=sys.stderr, flush=True)
    return {**sums, "only by refresh": dict(unhealed)}


def published(world: World) -> World:
    """The world with a DOI for the target: Crossref is asked for DOIs of publishers only."""
    target = world.by_arxiv(TARGET.removeprefix("arxiv:"))
    assert target
    return replace(world, papers={**world.papers, target.key: replace(target, doi="10.5555/tinymask")})


def _demo(home: Path, upstream: Upstream, **flags: Any) -> Demo:
    return Demo(home, upstream.url, sources="openalex,crossref", **flags)


def _content(demo: Demo, refresh: Sequence[str]) -> str:
    try:
        return demo.service.build(BuildRequest(TARGET), refresh=refresh).content_hash
    except LineageError as error:
        return f"{type(error).__name__}: {error}"


def _told(demo: Demo, good: str) -> bool:
    """Whether a spoiled build either lost nothing or said what it lost."""
    try:
        made = demo.build(TARGET)
    except LineageError:
        return True
    with open_generation(demo.home, made.lineage, made.generation) as generation:
        return made.content_hash == good or any(row.status.outcome != "ok" for row in generation.catalog.ledger("source"))


def inputs(dice: random.Random, count: int) -> dict[str, int]:
    """Damaged archives of damaged TeX, each read to a status."""
    sums: Counter[str] = Counter({"inputs": 0, "exceptions": 0})
    for data in _hostile(dice, count):
        sums["inputs"] += 1
        try:
            found = [*members(data)]
            files = {member.name: member.data for member in found if member.data is not None}
            sums["without a row"] += not found
            sums[str(parse(files, WorkId("arxiv:1"), "").status)] += 1
        except ParseError as error:
            sums[str(error.status)] += 1
        except Exception as error:  # noqa: BLE001 - what is counted here
            sums["exceptions"] += 1
            print(f"{type(error).__name__}: {error}")
    return dict(sums)


def truncations(dice: random.Random, count: int) -> dict[str, int]:
    """Whole e-prints (TeX, gzip, tar, PDF) cut short anywhere; none of them may be read as plainly ok."""
    tex, pdf = (DEMO / "papers" / name for name in ("9908.00105.tex", "9909.00104.pdf"))
    wholes = [tex.read_bytes().rstrip(), gz(tex.read_bytes()), tar_gz([Member("main.tex", tex.read_bytes())]), pdf.read_bytes().rstrip()]
    sums: Counter[str] = Counter({"cut": 0, "plainly ok": 0, "exceptions": 0})
    for n in range(count):
        whole = wholes[n % len(wholes)]
        sums["cut"] += 1
        try:
            sums["plainly ok"] += _is_plainly_ok(whole[: dice.randrange(1, len(whole))])
        except ParseError:
            continue
        except Exception as error:  # noqa: BLE001 - what is counted here
            sums["exceptions"] += 1
            print(f"{type(error).__name__}: {error}")
    return dict(sums)


def _is_plainly_ok(data: bytes) -> bool:
    found = [*members(data)]
    files = {member.name: member.data for member in found if member.data is not None}
    read = parse_pdf if any(name.endswith(".pdf") for name in files) else parse
    return read(files, WorkId("arxiv:1"), "").status is Status.OK and all(member.status is Status.OK for member in found)


TURNS = """
import sys, time
from pathlib import Path
from indexer.transport.politeness import Limiter, Pace
turns, pace = Limiter(Path(sys.argv[1]), 60), Pace("arxiv", "x", float(sys.argv[2]), alone=True)
for _ in range(int(sys.argv[3])):
    with turns.turn(pace, 10):
        print(time.time(), flush=True)
        time.sleep(0.005)
        print(time.time(), flush=True)
"""


def turns(folder: Path, seconds: float, count: int) -> list[tuple[float, float]]:
    """When requests to arXiv began and ended that two processes sent `seconds` apart, `count` each, in order."""
    command = [sys.executable, "-c", TURNS, str(folder), str(seconds), str(count)]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [run.communicate(timeout=60 + 4 * count * seconds)[0].split() for run in runs]
    return sorted((float(start), float(end)) for lines in said for start, end in zip(lines[::2], lines[1::2], strict=True))


def least_gap(folder: Path, count: int) -> dict[str, float]:
    """The least time between the beginnings of two requests to arXiv, at the pace that builds keep."""
    held = turns(folder, UPSTREAMS["export.arxiv.org"].interval, count)
    return {"requests": len(held), "least gap, seconds": round(min(later[0] - earlier[0] for earlier, later in pairwise(held)), 3)}


def stops(folder: Path, count: int) -> dict[str, Any]:
    """Seconds until a build that embeds is cancelled and until its server ends, and what is left running, `count` times each."""
    code, took, left = folder / "code", defaultdict[str, list[float]](list), 0
    code.mkdir(parents=True)
    for n in range(40):
        (code / f"m{n}.py").write_text("".join(f"def f{n}_{k}(x):\n    return x * {k} + sum(i for i in range({n}))\n\n\n" for k in range(60)))
    for n in range(count):
        for what in ("cancel", "stop"):
            home = folder / f"{what}-{n}"
            command = [
                sys.executable,
                "-c",
                "from api.cli.app import main; main()",
                "serve",
                "--port",
                "0",
                "--json",
                "--offline",
                "--home",
                str(home),
            ]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
                assert server.stdout
                assert server.stdout.readline()
                jobs = Jobs(home, nobody)
                job = jobs.submit(BuildRequest(str(code)))
                while not any(event.data.get("name") == "embed" for event in jobs.events(job.id)):
                    time.sleep(0.02)
                under, begun = children(server.pid), time.monotonic()
                if what == "cancel":
                    jobs.cancel(job.id)
                    while not jobs.get(job.id).finished:
                        time.sleep(0.01)
                    took[what].append(time.monotonic() - begun)
                    server.terminate()
                else:
                    server.terminate()
                    server.wait()
                    took[what].append(time.monotonic() - begun)
            time.sleep(0.5)
            left += sum(not gone(pid) for pid in under)
    return {f"{what}, seconds": [round(least, 2) for least in (min(each), max(each))] for what, each in took.items()} | {"left running": left}


def _hostile(dice: random.Random, count: int) -> Iterator[bytes]:
    tex = "\n".join(path.read_text(errors="replace") for path in sorted(DEMO.rglob("*.tex"))[:3])
    pieces = [
        r"\csname ",
        r"\input{main}",
        "{" * 200,
        "$",
        r"\begin{",
        r"\def\a{\a\a}",
        "\0",
        r"\ifx",
        "%",
        r"\end{document}",
        r"\hspace{-9cm}",
        "\u2028",
    ]
    for _ in range(count):
        source = list(tex)
        for _ in range(dice.randrange(1, 20)):
            at = dice.randrange(len(source))
            source[at : at + dice.randrange(50)] = dice.choice(pieces)
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=dice.choice((tarfile.USTAR_FORMAT, tarfile.PAX_FORMAT, tarfile.GNU_FORMAT))) as archive:
            for name in ("main.tex", dice.choice(["../x.tex", "a/b.tex", "/etc/x", "x" * 90 + ".tex"])):
                info = tarfile.TarInfo(name)
                body = "".join(source).encode("utf-8", "surrogateescape")
                info.size = len(body)
                archive.addfile(info, io.BytesIO(body))
        data = bytearray(out.getvalue())
        for _ in range(dice.randrange(4)):
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        packed = gzip.compress(bytes(data), 1) if dice.random() < 0.5 else bytes(data)
        yield packed[: dice.randrange(1, len(packed))] if dice.random() < 0.2 else packed


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--flips", type=int, default=2_000)
    parser.add_argument("--faults", type=int, default=440)
    parser.add_argument("--inputs", type=int, default=3_000)
    parser.add_argument("--cuts", type=int, default=1_000)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--stops", type=int, default=5)
    asked = parser.parse_args()
    world = World.load(DEMO)
    with tempfile.TemporaryDirectory() as place:
        folder, figures = Path(place), {"seed": asked.seed}
        if asked.flips:
            with Upstream(world) as upstream:
                Demo(folder / "home", upstream.url).build(TARGET)
            assert layout.current(folder / "home", NAME)
            figures["flips"] = flips(folder / "home", random.Random(asked.seed), asked.flips)
        if asked.faults:
            figures["faults"] = faults(published(world), folder, random.Random(asked.seed), asked.faults)
        if asked.inputs:
            figures["inputs"] = inputs(random.Random(asked.seed), asked.inputs)
        if asked.cuts:
            figures["truncations"] = truncations(random.Random(asked.seed), asked.cuts)
        if asked.turns:
            figures["arXiv"] = least_gap(folder / "turns", asked.turns)
        if asked.stops:
            figures["stops"] = stops(folder / "stops", asked.stops)
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
