"""How well papers and repositories are linked, by what each witness says.

    python -m benchmarks.links --data DIR [--repos DIR] [--json]

Three parts, each on what the data can show and no more:

* `text`: every repository address in the LaTeX e-prints under `references/src` and in its PDFs is judged own or not. What
  is truly the paper's own was read by hand (OWN, OWN_PDF); e-prints that nobody has read are listed, not counted. The baseline
  takes every address for the paper's own.
* `merge`: rows of `links/paper_code_links.jsonl` that say which side names the other (RSEF). Witnesses are built from
  those flags, so this measures the rule that joins them against the annotators' `bidirectional`, not the reading.
* `address`: the same file's repositories: how many addresses on a forge become a repository, and that nothing else does.
* `readme` (with --repos, bare repositories OWNER+NAME/repo): READMEs of the cited repositories in `lineage/`, judged
  against all papers of both lineages at once: each should claim its own paper and no other.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.parts import part, run_benchmark
from indexer.parsers.latex.parser import parse
from indexer.parsers.pdf.parser import parse as parse_pdf
from lineage.code_links.links import from_abstract, from_text, merge, repo_of
from lineage.code_links.readme import from_readme
from lineage.errors import ParseError
from lineage.records import CodeLink, Document, Tier, Work, WorkId

OWN = {
    "1911.02782": {"allenai/s2orc"},
    "2004.14974": set(),
    "2306.17806": set(),
    "2403.18886": {"huiyiwang01/sema-cl"},
    "2405.03064": {"chengzelei/rice"},
    "2410.07839": set(),
}
"""Repositories that the e-print says are its own, read by hand; an empty set is a paper that gives none."""
OWN_PDF = {
    "1911.02782.acl": {"allenai/s2orc"},
    "2410.07839v2": set(),
    "2020.acl-main.207": {"allenai/specter", "allenai/scidocs"},
    "N18-3011": {"allenai/citeomatic", "allenai/deepfigures-open", "allenai/science-parse"},
    "Transformer": {"tensorflow/tensor2tensor"},
}
"""The same for PDFs, by file name."""


@dataclass
class Part:
    """Counts of one part: `right` of `said` were true, of `true` there were."""

    name: str
    said: int = 0
    right: int = 0
    true: int = 0
    note: str = ""

    @property
    def precision(self) -> float:
        return self.right / self.said if self.said else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.true if self.true else 1.0


def name_of(repo: str) -> str:
    return repo.split("/", 1)[1].lower()


def text(data: Path) -> Iterator[Part]:
    ours, all_of_them = Part("text: official"), Part("text: baseline, every address")
    unread: list[str] = []
    for archive in sorted((data / "references" / "src").glob("*.tar.gz")):
        found = re.match(r"\d{4}\.\d{5}", archive.name)
        links = own_links(archive)
        if not found or found[0] not in OWN:
            unread += [f"{archive.name}: {link.repo} {link.tier}" for link in links]
            continue
        truth = OWN[found[0]]
        said = {name_of(link.repo) for link in links if link.tier is Tier.OFFICIAL}
        count(ours, said, truth)
        count(all_of_them, {name_of(link.repo) for link in links}, truth)
    ours.note = "; ".join(unread)
    for path in sorted((data / "references").glob("*/*.pdf")):
        if path.stem in OWN_PDF:
            links = judged(parse_pdf({path.name: path.read_bytes()}, WorkId("arxiv:benchmark"), ""), "pdf")
            count(ours, {name_of(link.repo) for link in links if link.tier is Tier.OFFICIAL}, OWN_PDF[path.stem])
            count(all_of_them, {name_of(link.repo) for link in links}, OWN_PDF[path.stem])
    yield from (ours, all_of_them)


def count(part: Part, said: set[str], truth: set[str]) -> None:
    part.said += len(said)
    part.right += len(said & truth)
    part.true += len(truth)


def own_links(archive: Path) -> tuple[CodeLink, ...]:
    with tarfile.open(fileobj=io.BytesIO(archive.read_bytes())) as tar:
        files = {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}  # type: ignore[union-attr]
    try:
        document = parse(files, WorkId("arxiv:benchmark"), "")
    except ParseError as error:
        print(f"{archive.name}: {error}", file=sys.stderr)
        return ()
    return judged(document, "latex")


def judged(document: Document, said_by: str) -> tuple[CodeLink, ...]:
    paper = Work(document.work, title=document.title, abstract=document.abstract)
    said = from_text(paper, document.links, mentions=document.mentions, bibliography=document.bibliography, said_by=said_by)
    return merge([*said.own, *from_abstract(paper)])


def rows(data: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (data / "links" / "paper_code_links.jsonl").read_text().splitlines()]


def merging(data: Path) -> Part:
    part = Part("merge: both sides name each other")
    for row in rows(data):
        repo = repo_of(row["repo"] or "")
        if row.get("bidirectional") is None or not repo:
            continue
        paper = WorkId(f"arxiv:{row['arxiv']}")
        witnesses = [CodeLink(paper, repo, Tier.MENTIONED, ("pdf",))] if row["mentioned_in_paper"] else []
        witnesses += [CodeLink(paper, repo, Tier.AUTHOR, ("readme",))] if row["id_in_repo"] or row["title_in_repo"] else []
        official = any(link.tier is Tier.OFFICIAL for link in merge(witnesses))
        part.said += official
        part.true += row["bidirectional"]
        part.right += official and row["bidirectional"]
    return part


def address(data: Path) -> Part:
    part = Part("address: forge addresses read")
    others = []
    for row in rows(data):
        url = row["repo"] or ""
        forge = bool(re.match(r"https?://(?:www\.)?(?:github\.com|gitlab\.com|bitbucket\.org)/[^/]+/[^/]+", url))
        part.true += forge
        part.said += repo_of(url) is not None
        part.right += forge and repo_of(url) is not None
        if forge and repo_of(url) is None:
            others.append(url)
    part.note = "refused: " + ", ".join(others) if others else ""
    return part


def readmes(data: Path, repos: Path) -> Part:
    part = Part("readme: its own paper")
    papers = _papers(data)
    wrong = []
    for line in (data / "lineage" / "repos.jsonl").read_text().splitlines():
        row = json.loads(line)
        readme = _readme(repos / row["repo"].replace("/", "+") / "repo", row["commit"])
        if not readme:
            continue
        repo = Work(WorkId(f"repo:github.com/{row['repo']}"), kind="code")
        links = from_readme(repo, readme, papers)
        said = {link.paper for link in links if link.tier in {Tier.OFFICIAL, Tier.AUTHOR}}
        truth = {WorkId(f"arxiv:{row['arxiv']}")} if row.get("arxiv") else set()
        count(part, set(map(str, said)), set(map(str, truth)))
        wrong += [f"{row['repo']} says {work}" for work in said - truth] + [f"{row['repo']} is silent on {work}" for work in truth - said]
    part.note = "; ".join(wrong)
    return part


def _papers(data: Path) -> list[Work]:
    names = [data / "lineage" / name for name in ("repos.jsonl", "references.jsonl", "targets.jsonl")]
    found = [json.loads(line) for path in names for line in path.read_text().splitlines()]
    unique = {row["arxiv"]: row.get("title", "") for row in found if row.get("arxiv")}
    return [Work(WorkId(f"arxiv:{arxiv}"), title=title) for arxiv, title in unique.items()]


def _readme(git: Path, commit: str) -> str:
    if not git.is_dir():
        return ""
    names = _git(git, "ls-tree", "--name-only", commit).split("\n")
    name = next((name for name in names if name.lower().startswith("readme")), "")
    return _git(git, "show", f"{commit}:{name}") if name else ""


def _git(git: Path, *arguments: str) -> str:
    return subprocess.run(["git", f"--git-dir={git}", *arguments], capture_output=True, text=True, check=False).stdout


def main(arguments: Sequence[str] | None = None) -> int:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--data", type=Path, required=True)
    reader.add_argument("--repos", type=Path)
    reader.add_argument("--json", action="store_true")
    given = reader.parse_args(arguments)
    parts = list(part("text", text, given.data) or ())
    parts += [one for name, measure in (("merging", merging), ("address", address)) if (one := part(name, measure, given.data))]
    if given.repos and (one := part("READMEs", readmes, given.data, given.repos)):
        parts.append(one)
    if given.json:
        print(json.dumps([{**asdict(one), "precision": one.precision, "recall": one.recall} for one in parts], indent=1))
        return 0
    for one in parts:
        shares = f"precision {one.precision:.3f} ({one.right}/{one.said})  recall {one.recall:.3f} ({one.right}/{one.true})"
        print(f"{one.name:36s} {shares}  {one.note}")
    return 0


if __name__ == "__main__":
    run_benchmark(main)
