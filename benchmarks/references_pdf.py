"""How well PDF bibliographies, their fields and their citations are read.

    python -m benchmarks.references_pdf --data DIR [--json] [--half insight|keptout] [--only NAME]

DIR has the form of the evaluation data: `references/{pdf,tei,transformer}/*.pdf` with the truth in
`references/gold/<arxiv id>.refs.jsonl` and `.contexts.jsonl` (made from the LaTeX sources), or, second best, in
another parser's `<stem>.json` beside the PDF (silver: its own errors count against us). The baseline of the same
run cuts the plain text after "References" at blank lines, labels and lines that follow a full stop.

What `benchmarks.typeset` made (`references/{insight,keptout}/*.pdf`) is summed up by layout: `entries` is the share of
works with an entry of their own; `title`, `author` and `year` are shares of all works, exact; `linked` the share of
(citing sentence, work) pairs that a mention gives, `links_right` the share of given pairs that are true.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from benchmarks.parts import run_benchmark
from indexer.parsers.pdf.parser import parse
from lineage.ids import normal_title
from lineage.records import BibEntry, Document, WorkId

HALVES = ("insight", "keptout")
SUMMED = ("entries", "title", "author", "year", "linked", "links_right")


@dataclass(frozen=True)
class Truth:
    """One entry that is known to be there."""

    key: str
    title: str
    author: str
    year: int | None
    arxiv: str | None
    doi: str | None
    sections: Mapping[str, int] = field(default_factory=dict)
    markers: Sequence[str] = ()


@dataclass
class Row:
    """What was measured on one PDF; every figure but `pages`, `truth`, `found` and `seconds_page` is a share."""

    pdf: str
    kind: str
    pages: int
    truth: int
    found: int
    seconds_page: float
    recall_title: float = 0.0
    precision_title: float = 0.0
    recall_author_year: float = 0.0
    recall_raw: float = 0.0
    precision_raw: float = 0.0
    title: float = 0.0
    first_author: float = 0.0
    year: float = 0.0
    arxiv: float = 1.0
    doi: float = 1.0
    cited: float = 1.0
    section: float = 1.0
    linked: float = 1.0
    links_right: float = 1.0
    baseline_recall_raw: float = 0.0
    baseline_precision_raw: float = 0.0


def surname(author: str) -> str:
    words = normal_title(author.split(",")[0]).split()
    return words[-1] if words else ""


def gold(path: Path) -> list[Truth]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [
        Truth(
            str(row["key"]), re.sub(r",? \(?\d{4}[a-z]?\)?$", "", row["title_bbl"]) if row.get("title_bbl") else row["title"] or "",
            (row["authors"] or [_first(row.get("authors_bbl") or "")])[0],
            row["year"], row["arxiv"], row["doi"], row.get("sections") or {}, row.get("markers") or (),
        )
        for row in lines
    ]  # fmt: skip


def _first(names: str) -> str:
    names = re.sub(r"\.? \d{4}[a-z]?$", "", names)
    return re.split(r", | and ", names)[0]


def silver(path: Path) -> list[Truth]:
    entries = json.loads(path.read_text())["pdf_parse"]["bib_entries"]
    found = []
    for key, row in entries.items():
        first = (row["authors"] or [{"first": "", "last": ""}])[0]
        if row["title"]:
            found.append(Truth(key, row["title"], f"{first['first']} {first['last']}", row["year"], None, None))
    return found


def truth_of(pdf: Path, folder: Path) -> tuple[str, list[Truth]]:
    for stem in (pdf.stem, pdf.stem.rsplit(".", 1)[0]):
        if (path := folder / "gold" / f"{stem}.refs.jsonl").is_file():
            return "gold", gold(path)
    beside = pdf.with_suffix(".json")
    return ("silver", silver(beside)) if beside.is_file() else ("none", [])


def alike(one: str, other: str) -> float:
    one, other = normal_title(one).replace(" ", ""), normal_title(other).replace(" ", "")
    if not one or not other:
        return 0.0
    if one == other:
        return 1.0
    short, long = sorted((one, other), key=len)
    if len(short) > 12 and long.startswith(short):
        return 0.9
    return SequenceMatcher(None, one, other, autojunk=False).ratio() if len(short) * 1.6 > len(long) else 0.0


def match(truth: Sequence[Truth], found: Sequence[BibEntry]) -> dict[int, int]:
    """Truth -> entry, one to one, best likeness of titles first."""
    scores = sorted(((alike(t.title, e.title), a, b) for a, t in enumerate(truth) for b, e in enumerate(found)), reverse=True)
    pairs: dict[int, int] = {}
    for score, a, b in scores:
        if score >= 0.85 and a not in pairs and b not in pairs.values():
            pairs[a] = b
    return pairs


def author_year(truth: Sequence[Truth], found: Sequence[BibEntry]) -> float:
    left = [(surname(e.authors[0]) if e.authors else "", e.year) for e in found]
    hits = 0
    for item in truth:
        pair = (surname(item.author), item.year)
        if pair in left:
            left.remove(pair)
            hits += 1
    return hits / max(1, len(truth))


def by_raw(truth: Sequence[Truth], raws: Sequence[str], authors: Sequence[str] = ()) -> tuple[float, float]:
    """Recall and precision of entries as cut: one that holds the title of exactly one work and starts where it should.

    `authors` stand for names that are printed as a dash.
    """
    bare = [normal_title(raw).replace(" ", "") for raw in raws]
    firsts = [raw[:120] + surname(name) for raw, name in zip(bare, authors or [""] * len(bare), strict=True)]
    titles = [normal_title(item.title).replace(" ", "")[:60] for item in truth]
    holds = [[n for n, title in enumerate(titles) if len(title) > 5 and title in raw] for raw in bare]
    single = [(inside[0], first) for inside, first in zip(holds, firsts, strict=True) if len({titles[n] for n in inside}) == 1]
    right = {n for n, first in single if surname(truth[n].author) in first}
    return len(right) / max(1, len(truth)), len(right) / max(1, len(raws))


def baseline(data: bytes) -> list[str]:
    import pymupdf

    with pymupdf.open(stream=data, filetype="pdf") as pdf:
        text = "\n".join(page.get_text() for page in pdf)
    _, _, tail = text.rpartition("\nReferences\n")
    raws = re.split(r"\n\s*\n|\n(?=\[\d+\])|(?<=\.)\n(?=[A-Z])", tail)
    return [" ".join(raw.replace("-\n", "").split()) for raw in raws if len(raw) > 30]


def share(values: Iterable[bool]) -> float:
    known = list(values)
    return sum(known) / len(known) if known else 1.0


def contexts(truth: Sequence[Truth], document: Document, pairs: Mapping[int, int]) -> tuple[float, float]:
    """Share of the keys that have mentions, and of their top-level sections that our mentions name."""
    cited, sections = [], []
    for a, item in enumerate(truth):
        if not item.sections:
            continue
        key = document.bibliography[pairs[a]].key if a in pairs else ""
        ours = [mention for mention in document.mentions if mention.key == key]
        cited.append(bool(ours))
        named = {normal_title(re.sub(r"^([A-Z]|[\d.]+)\s+", "", mention.section[0] if mention.section else "")) for mention in ours}
        named |= {"front"} if "abstract" in named or "" in named else set()
        # the truth drops macros from titles ("Applications of \\gorc" is "Applications of")
        sections += [any(ours.startswith(normal_title(name)) for ours in named) for name in item.sections]
    return share(cited), share(sections)


def links(truth: Sequence[Truth], document: Document, pairs: Mapping[int, int]) -> tuple[float, float]:
    """Recall and precision of (marker word of a citing sentence, work)."""
    known = {(marker, a) for a, item in enumerate(truth) for marker in item.markers}
    if not known:
        return 1.0, 1.0
    works = {document.bibliography[b].key: a for a, b in pairs.items()}
    markers = {marker for marker, _ in known}
    words = ((set(re.findall(r"\w+", mention.sentence)), works.get(mention.key, -1)) for mention in document.mentions)
    given = {(marker, a) for inside, a in words for marker in inside & markers}
    return len(given & known) / len(known), len(given & known) / max(1, len(given))


def measure(pdf: Path, folder: Path) -> Row:
    data = pdf.read_bytes()
    start = time.perf_counter()
    document = parse({pdf.name: data}, WorkId("local:benchmark"), "")
    seconds = time.perf_counter() - start
    kind, truth = truth_of(pdf, folder)
    found = document.bibliography
    row = Row(pdf.name, kind, document.pages, len(truth), len(found), round(seconds / max(1, document.pages), 4))
    if not truth:
        return row
    pairs = match(truth, found)
    row.recall_title, row.precision_title = len(pairs) / len(truth), len(pairs) / max(1, len(found))
    row.recall_author_year = author_year(truth, found)
    row.recall_raw, row.precision_raw = by_raw(truth, [entry.raw for entry in found], [(*entry.authors, "")[0] for entry in found])
    row.baseline_recall_raw, row.baseline_precision_raw = by_raw(truth, baseline(data))
    both = [(truth[a], found[b]) for a, b in pairs.items()]
    row.title = share(alike(t.title, e.title) == 1.0 for t, e in both)
    row.first_author = share(bool(e.authors) and surname(t.author) == surname(e.authors[0]) for t, e in both)
    row.year = share(t.year == e.year for t, e in both if t.year)
    row.arxiv = share(t.arxiv == e.arxiv for t, e in both if t.arxiv and t.arxiv in e.raw)
    row.doi = share((t.doi or "").lower() == (e.doi or "").lower() for t, e in both if t.doi)
    row.cited, row.section = contexts(truth, document, pairs)
    row.linked, row.links_right = links(truth, document, pairs)
    return row


def main(arguments: Sequence[str] | None = None) -> int:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--data", type=Path, required=True)
    reader.add_argument("--json", action="store_true")
    reader.add_argument("--half", choices=HALVES)
    reader.add_argument("--only", default="")
    given = reader.parse_args(arguments)
    folder = given.data / "references"
    parse_warm(folder)
    paths = [pdf for pdf in sorted(folder.glob("*/*.pdf")) if given.half in (None, pdf.parent.name) and given.only in pdf.name]
    if not paths:
        raise FileNotFoundError(2, "no PDF", f"{folder}/*/*.pdf")
    rows = [(pdf.parent.name, measure(pdf, folder)) for pdf in paths]
    if given.json:
        print(json.dumps([{**asdict(row), "folder": name} for name, row in rows], indent=1))
        return 0
    if real := [asdict(row) for name, row in rows if name not in HALVES]:
        table(real)
    for name in HALVES:
        if made := [row for folder_name, row in rows if folder_name == name]:
            print(f"\n{name}")
            by_layout(made)
    return 0


def by_layout(rows: Sequence[Row]) -> None:
    """A line for each layout, then their mean; shares are of all works, so an entry that is missed counts everywhere."""
    print(f"{'':26s}" + "".join(f"{name:>12s}" for name in SUMMED) + f"{'naive':>12s}")
    layouts = sorted({row.pdf.rsplit("-", 1)[0] for row in rows})
    means = [_mean([row for row in rows if row.pdf.rsplit("-", 1)[0] == name]) for name in layouts]
    for name, figures in zip([*layouts, "mean of layouts"], [*means, [sum(column) / len(means) for column in zip(*means, strict=True)]], strict=True):
        print(f"{name:26s}" + "".join(f"{figure:12.3f}" for figure in figures))


def _mean(rows: Sequence[Row]) -> list[float]:
    values = [
        (
            r.recall_raw,
            r.recall_title * r.title,
            r.recall_title * r.first_author,
            r.recall_title * r.year,
            r.linked,
            r.links_right,
            r.baseline_recall_raw,
        )
        for r in rows
    ]
    return [sum(column) / len(rows) for column in zip(*values, strict=True)]


def parse_warm(folder: Path) -> None:
    """Import MuPDF before the clock runs."""
    for pdf in sorted(folder.glob("*/*.pdf"))[:1]:
        parse({pdf.name: pdf.read_bytes()}, WorkId("local:benchmark"), "")


def table(rows: Sequence[Mapping[str, Any]]) -> None:
    for name in rows[0]:
        cells = [f"{row[name]:.3f}" if isinstance(row[name], float) else str(row[name])[:18] for row in rows]
        print(f"{name:24s}" + "".join(f"{cell:>20s}" for cell in cells))


if __name__ == "__main__":
    run_benchmark(main)
