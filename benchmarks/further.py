"""Makes the data for eight further lineages, in the form that the mirror serves, out of papers and repositories at hand.

    python -m benchmarks.further --papers CORPORA/rcb --repos DIR --out DATA
    mirror.py --data DATA --repos DIR --port 9000
    LINEAGE_MIRROR=http://127.0.0.1:9000 lineage build arxiv:2504.10483     and the other seven
    lineage eval benchmarks/questions_further.jsonl --lineage arxiv-2504.10483

The LaTeX of the eight targets comes with ResearchCodeBench (FOLDER/paper.tex; without it, FOLDER/paper.pdf is served); `further.json` names
them, the few references that matter with their repositories, and what to add by hand. Every other reference stays unresolved and no cited
paper has a text.
Repositories are git folders OWNER+NAME/repo; their newest commit is pinned.
"""

from __future__ import annotations

import argparse
import io
import json
import shutil
import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.parts import run_benchmark

WANTED = Path(__file__).with_name("further.json")
Row = Mapping[str, Any]


def eprint(paper: Path, target: Row) -> bytes:
    """The paper as an e-print, with a bibliography of the references that are named."""
    files = {"main.tex": paper.read_bytes()}
    if target["bibliography"]:
        files[f"{target['bibliography']}.bib"] = "".join(map(entry, target["references"])).encode()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def entry(one: Row) -> str:
    """A reference in BibTeX."""
    journal = {"journal": f"arXiv preprint arXiv:{one['arxiv']}"} if one["arxiv"] else {}
    fields = {"title": one["title"], "author": one["author"], **journal, "year": one["year"]}
    return f"@article{{{one['key']},\n" + "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items()) + "}\n"


def repository(name: str, target: str, title: str, arxiv: str | None, role: str, repos: Path) -> Row:
    """A repository at its newest commit."""
    folder = repos / name.replace("/", "+") / "repo"
    said = subprocess.run(["git", "-C", str(folder), "log", "-1", "--format=%H %cs"], capture_output=True, text=True, check=True)
    commit, date = said.stdout.split()
    row = {"repo": name, "url": f"https://github.com/{name}", "targets": [target], "reference": title, "arxiv": arxiv, "role": role}
    return {**row, "commit": commit, "commit_date": date, "licence": None, "bytes": 0}


def repositories(target: Row, repos: Path) -> Iterator[Row]:
    """The target's own, those of its references, and what is added by hand."""
    yield repository(target["repo"], target["arxiv"], target["title"], target["arxiv"], "own", repos)
    for one in target["references"]:
        if "repo" in one:
            yield repository(one["repo"], target["arxiv"], one["title"], one["arxiv"], "cited", repos)
    for one in target["add"]:
        yield repository(one["repo"], target["arxiv"], one["repo"], one["arxiv"], "cited", repos)


def references(target: Row) -> Iterator[Row]:
    """Rows of `lineage/references.jsonl`."""
    for number, one in enumerate(target["references"], 1):
        row = {"target": target["arxiv"], "n": number, "first_author": one["author"].partition(",")[0], "year": one["year"]}
        yield {**row, "title": one["title"], "arxiv": one["arxiv"], "doi": None, "url": None}


def write(path: Path, rows: Iterable[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("papers", "repos", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--wanted", type=Path, default=WANTED, help="benchmarks/decisions/lineages.json: those of the decision sheets")
    args = parser.parse_args()
    wanted = json.loads(args.wanted.read_text(encoding="utf-8"))
    write(args.out / "lineage/targets.jsonl", ({name: one[name] for name in ("arxiv", "title", "year", "first_author")} for one in wanted))
    write(args.out / "lineage/references.jsonl", (row for one in wanted for row in references(one)))
    write(args.out / "lineage/repos.jsonl", (row for one in wanted for row in repositories(one, args.repos)))
    for kind in ("src", "pdf"):
        (args.out / "references" / kind).mkdir(parents=True, exist_ok=True)
    for one in wanted:
        folder = args.papers / one["folder"]
        if (folder / "paper.tex").exists():
            (args.out / "references/src" / f"{one['arxiv']}.tar.gz").write_bytes(eprint(folder / "paper.tex", one))
        else:
            shutil.copyfile(folder / "paper.pdf", args.out / "references/pdf" / f"{one['arxiv']}.pdf")


if __name__ == "__main__":
    run_benchmark(main)
