"""How completely a paper's own references and citations are read from its LaTeX source.

    python -m benchmarks.references --data DIR [--kind latex|pdf] [--json] [--wrong] [--as-given]
    python -m benchmarks.references --torture 0.1,1,10

DIR has the form of the evaluation data: `references/src/<id>*.tar.gz` (e-prints) and the truth in
`references/gold/<id>.refs.jsonl` and `.contexts.jsonl`. Entries are matched by key; `title` columns match by title
alone. A context is one citation of one key; it is right when as many are found as the truth counts, and in the right
section when its top-level section is the truth's (whose titles have their macros dropped). The baseline of the same
run reads every .tex file in the archive with regular expressions. `--wrong` prints each disagreement, for judging by
eye. `--kind pdf` runs `benchmarks.references_pdf`.

The truth was made by regular expressions too, and some of its values are none: years that are the first digits of an
arXiv number or a page, people that are a title or a number, arXiv's own DOIs (which belong to `arxiv`). Those are left
out, counted in `left_out` and printed by `--wrong`; `--as-given` counts them all the same.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.parts import run_benchmark
from indexer.parsers.latex.parser import parse
from lineage.errors import ParseError
from lineage.ids import normal_title
from lineage.records import BibEntry, WorkId

FRONT = "(front)"


@dataclass(frozen=True)
class Read:
    """What a reader makes of one paper: entries by key, and (key, top-level section) per citation."""

    entries: Mapping[str, BibEntry]
    citations: Sequence[tuple[str, str]]
    seconds: float = 0.0
    status: str = ""


@dataclass
class Row:
    """Shares, over one paper or all; `wrong` are disagreements in words."""

    paper: str
    reader: str
    entries: int = 0
    recall: float = 0.0
    precision: float = 0.0
    title_recall: float = 0.0
    title: float = 0.0
    first_author: float = 0.0
    year: float = 0.0
    arxiv: float = 0.0
    doi: float = 0.0
    contexts: float = 0.0
    section: float = 0.0
    seconds: float = 0.0
    left_out: int = 0
    wrong: list[str] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path())
    parser.add_argument("--kind", choices=("latex", "pdf"), default="latex")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--torture", metavar="MB,MB", help="time the hostile generators of the tests at these sizes instead")
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--as-given", action="store_true")
    arguments = parser.parse_args()
    if arguments.kind == "pdf":
        sys.argv = [sys.argv[0], "--data", str(arguments.data), *(["--json"] if arguments.json else [])]
        importlib.import_module("benchmarks.references_pdf").main()
        return
    if arguments.torture:
        torture([float(size) for size in arguments.torture.split(",")])
        return
    rows = list(measure_all(arguments.data / "references", as_given=arguments.as_given))
    if arguments.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    else:
        _print(rows, wrong=arguments.wrong)


def torture(sizes: Sequence[float]) -> None:
    """Processor seconds per megabyte of every hostile generator."""
    for name, make in importlib.import_module("tests.indexer.test_latex_torture").CASES.items():
        figures = []
        for size in sizes:
            members = make(int(size * 1e6))
            start = time.process_time()
            try:
                status = parse(members, WorkId("local:benchmark"), "").status.value
            except ParseError as error:
                status = error.status.value
            seconds = time.process_time() - start
            figures.append(f"{seconds * 1e6 / sum(map(len, members.values())):8.2f} s/MB {status:>8}")
        print(f"{name:>22}", *figures, flush=True)


def measure_all(folder: Path, *, as_given: bool = False) -> Iterator[Row]:
    """A row per paper and reader, then the pooled rows."""
    pooled: dict[str, list[tuple[str, Read, list[dict[str, Any]]]]] = {}
    for archive in sorted((folder / "src").glob("*.tar.gz")):
        paper = archive.name.split(".textonly")[0].removesuffix(".tar.gz")
        path = folder / "gold" / f"{paper}.refs.jsonl"
        if not path.is_file():
            print(f"{archive.name}: no truth, left out", file=sys.stderr)
            continue
        gold = [json.loads(line) for line in path.read_text().splitlines()]
        members = unpacked(archive)
        for name, read in (("lineage", read_ours(members)), ("baseline", read_naively(members))):
            pooled.setdefault(name, []).append((paper, read, gold))
            yield score(paper, name, [(paper, read, gold)], as_given=as_given)
    for name, parts in pooled.items():
        yield score("all", name, parts, as_given=as_given)


def unpacked(archive: Path) -> dict[str, bytes]:
    """Regular members of an archive by name."""
    with tarfile.open(archive) as tar:
        return {item.name: (tar.extractfile(item) or sys.exit(1)).read() for item in tar if item.isreg()}


def read_ours(members: Mapping[str, bytes]) -> Read:
    start = time.perf_counter()
    document = parse(members, WorkId("local:benchmark"), "")
    seconds = time.perf_counter() - start
    citations = [(mention.key, mention.section[0] if mention.section else "") for mention in document.mentions]
    return Read({entry.key: entry for entry in document.bibliography}, citations, seconds, document.status.value)


def read_naively(members: Mapping[str, bytes]) -> Read:
    start = time.perf_counter()
    texts = {name: data.decode("utf-8", "replace") for name, data in sorted(members.items()) if name.endswith((".tex", ".bbl"))}
    entries = {}
    for name, text in texts.items():
        for key, body in re.findall(r"\\bibitem\s*(?:\[[^\]]*\])?\s*\{([^}]*)\}((?:(?!\\bibitem|\\end\{thebib)[\s\S])*)", text) if name else ():
            entries[key] = _naive_entry(key, body)
    citations = []
    for name, text in texts.items():
        section = ""
        for found in re.finditer(r"\\section\*?\{([^}]*)\}|\\cite[a-z]*\*?(?:\[[^\]]*\])*\{([^}]*)\}", text) if name.endswith(".tex") else ():
            section = found[1] if found[1] is not None else section
            citations += [(key.strip(), section) for key in (found[2] or "").split(",") if key.strip()]
    return Read(entries, citations, time.perf_counter() - start)


def _naive_entry(key: str, body: str) -> BibEntry:
    blocks = [re.sub(r"\\[a-z]+|[{}~]", " ", block) for block in body.split("\\newblock")]
    year = re.findall(r"\b(?:19|20)\d\d\b", body)
    arxiv = re.search(r"\d{4}\.\d{4,5}", body)
    doi = re.search(r"10\.\d{4,}/[^\s}]+", body)
    first = re.split(r",| and ", blocks[0])[0]
    return BibEntry(
        key,
        body,
        title=" ".join(([*blocks, ""])[1].split()).rstrip("."),
        authors=(first,),
        year=int(year[-1]) if year else None,
        arxiv=arxiv[0] if arxiv else None,
        doi=doi[0] if doi else None,
    )


def score(paper: str, reader: str, parts: Sequence[tuple[str, Read, list[dict[str, Any]]]], *, as_given: bool = False) -> Row:
    """Pooled shares over these papers."""
    row = Row(paper, reader)
    counts: Counter[str] = Counter()
    for name, read, gold in parts:
        _count(name, read, gold, counts, row.wrong, as_given)
    row.left_out = counts["left out"]
    row.entries = counts["gold"]
    row.recall = _share(counts, "found", "gold")
    row.precision = _share(counts, "found", "ours")
    row.title_recall = _share(counts, "by title", "gold")
    for name in ("title", "first_author", "year", "arxiv", "doi", "contexts", "section"):
        setattr(row, name, _share(counts, name, name + " known"))
    row.seconds = sum(read.seconds for _, read, _ in parts) / max(1, len(parts))
    return row


def _share(counts: Counter[str], part: str, whole: str) -> float:
    return counts[part] / counts[whole] if counts[whole] else 1.0


def _count(paper: str, read: Read, gold: list[dict[str, Any]], counts: Counter[str], wrong: list[str], as_given: bool) -> None:
    counts["gold"] += len(gold)
    counts["ours"] += len(read.entries)
    titles = {normal_title(entry.title) for entry in read.entries.values()}
    cited = Counter(key for key, _ in read.citations)
    for truth in gold:
        key = truth["key"]
        counts["by title"] += bool(titles & {normal_title(title) for title in _titles(truth)})
        entry = read.entries.get(key)
        if entry is None:
            wrong.append(f"{paper} {key}: not among the entries")
        else:
            counts["found"] += 1
            _count_fields(paper, truth, entry, counts, wrong, as_given)
        counts["contexts known"] += truth["mentions"]
        counts["contexts"] += min(cited[key], truth["mentions"])
        if cited[key] != truth["mentions"]:
            wrong.append(f"{paper} {key}: {cited[key]} contexts, the truth has {truth['mentions']}")
        _count_sections(paper, truth, [section for each, section in read.citations if each == key], counts, wrong)
    wrong += [f"{paper} {key}: an entry the truth does not have" for key in read.entries.keys() - {truth["key"] for truth in gold}]


def _titles(truth: Mapping[str, Any]) -> list[str]:
    return [title for title in (truth["title"], truth["title_bbl"]) if title and not title.startswith("<http")]


def _count_fields(paper: str, truth: Mapping[str, Any], entry: BibEntry, counts: Counter[str], wrong: list[str], as_given: bool) -> None:
    ours = {
        "title": normal_title(entry.title),
        "first_author": _surname(entry.authors[0]) if entry.authors else "",
        "year": entry.year,
        "arxiv": entry.arxiv,
        "doi": (entry.doi or "").lower() or None,
    }
    for name, values in _truths(truth).items():
        usable = _usable(name, truth)
        if values and not usable:
            counts["left out"] += 1
            wrong.append(f"{paper} {truth['key']}: {name} of the truth left out: {sorted(map(str, values))}; ours is {ours[name]!r}")
        if values and (usable or as_given):
            counts[name + " known"] += 1
            counts[name] += ours[name] in values
            if ours[name] not in values:
                wrong.append(f"{paper} {truth['key']}: {name} {ours[name]!r}, the truth has {sorted(map(str, values))}")


def _truths(truth: Mapping[str, Any]) -> dict[str, set[Any]]:
    people = truth["authors"] or [re.split(r", | and ", re.sub(r"(?<=\S)[.,]? (?:19|20)\d\d[a-z]?$", "", truth["authors_bbl"] or ""))[0]]
    return {
        "title": {normal_title(title) for title in _titles(truth)} - {""},
        "first_author": {_surname(people[0])} - {""},
        "year": {truth["year"]} - {None},
        "arxiv": {truth["arxiv"]} - {None},
        "doi": {(truth["doi"] or "").lower()} - {""},
    }


def _usable(name: str, truth: Mapping[str, Any]) -> bool:
    if name == "year":
        return _plausible(truth)
    if name == "first_author" and not truth["authors"]:
        people, title = normal_title(truth["authors_bbl"] or ""), normal_title(truth["title"])
        return not people.isdigit() and people not in title and title not in people
    return name != "doi" or "arxiv" not in (truth["doi"] or "").lower()


def _plausible(truth: Mapping[str, Any]) -> bool:
    """Whether the truth's year can be one: some are the first digits of an arXiv number, a page, or the date of a visit."""
    year, raw = str(truth["year"]), truth["raw_bbl"] or ""
    part_of_number = re.search(rf"(?<!\d){year}\.\d{{4}}|\d[-–]+{year}\b|\b{year}[-–]+\d|Accessed[^.]*{year}", raw)
    alone = re.search(rf"(?<![\d.:–-]){year}[a-z]?(?![\d:–-]|\.\d)", re.sub(r"Accessed[^.]*", "", raw))
    return not part_of_number or bool(alone)


def _surname(author: str) -> str:
    words = normal_title(author.split(",")[0]).split()
    return words[-1] if words else ""


def _count_sections(paper: str, truth: Mapping[str, Any], ours: Sequence[str], counts: Counter[str], wrong: list[str]) -> None:
    left = list(ours)
    for section, count in truth["sections"].items():
        counts["section known"] += count
        right = [each for each in left if same_section(each, section)][:count]
        for each in right:
            left.remove(each)
        counts["section"] += len(right)
        if len(right) < count:
            wrong.append(f"{paper} {truth['key']}: {count - len(right)} of {count} not in section {section!r} but in {left}")


def same_section(ours: str, truth: str) -> bool:
    """Whether a section is the truth's: its words, in order, with words that macros stand for left out."""
    if truth == FRONT:
        return ours in ("", "Abstract")
    words = iter(normal_title(ours).split())
    return all(word in words for word in normal_title(truth).split())


def _print(rows: Sequence[Row], *, wrong: bool) -> None:
    names = [name for name in Row.__dataclass_fields__ if name != "wrong"]
    print("  ".join(f"{name:>12}" for name in names))
    for row in rows:
        print("  ".join(f"{value:>12.3f}" if isinstance(value, float) else f"{value!s:>12}" for value in (getattr(row, name) for name in names)))
    if wrong:
        for row in rows:
            if row.paper != "all" and row.reader == "lineage":
                print(*row.wrong, sep="\n")


if __name__ == "__main__":
    run_benchmark(main)
