"""Typeset bibliographies in many classes and styles: PDFs to read, with the truth about each of them.

    python -m benchmarks.typeset --out DIR [--data EVAL] [--half insight|keptout] [--only NAME] [--documents 3]
    python -m benchmarks.references_pdf --data DIR

Needs pdflatex, bibtex and biber (Debian: texlive-latex-extra texlive-publishers texlive-bibtex-extra texlive-science
biber). Only what is written here is run through TeX: of the gold lists under EVAL nothing but plain field values is used.
Half of the layouts, and the gold lists of every second paper, are kept out: a reader is written against the others.
Two documents in three are stripped of links and named places, as many publishers do, so that a list is read from
its looks alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.typeset_layouts import LAYOUTS, Layout, half, listing
from benchmarks.typeset_works import CORES, Made, bib, draw, plain, pool

HALVES = ("insight", "keptout")
SYLLABLES = ["ba", "ko", "li", "mu", "ne", "pra", "sto", "ti", "vu", "we", "xi", "zor", "da", "fe", "gi", "hul"]
WORDS = """the model of a and its results we that show data for method with training loss on each step are given in this section as before
larger batch gradient error bound noise sample layer feature score baseline setting previous estimate observed under""".split()
_AFFILIATION = r"\affiliation{\institution{Some University}\country{Norway}}"
MODERN, CLASSIC = r"\usepackage[utf8]{inputenc}\usepackage[T1]{fontenc}\usepackage{lmodern,url}", r"\usepackage[utf8]{inputenc}\usepackage{url}"


class TypesettingError(Exception):
    """TeX gave no PDF, or one without citations."""


def document(layout: Layout, works: Sequence[Made], dice: random.Random, linked: bool) -> tuple[str, dict[str, list[str]]]:
    """LaTeX that cites every work, and key -> the marker words of the sentences that do."""
    cited: dict[str, list[str]] = {made.key: [] for made in works}
    queue = [made.key for made in works]
    dice.shuffle(queue)
    queue += dice.sample(queue, len(queue) // 3)
    sections = []
    for title in ("Introduction", "Related Work", "Experiments"):
        share, queue = (queue[: len(works) // 2], queue[len(works) // 2 :]) if title != "Experiments" else (queue, [])
        sections.append(rf"\section{{{title}}}" + "\n" + _paragraphs(layout, share, cited, dice))
    tail = rf"\appendix\section{{Details}}{_prose(dice, 60)}" if dice.random() < 0.4 else ""
    parts = [_head(layout, works, linked, dice), *sections, _bibliography(layout, works), tail, r"\end{document}"]
    return "\n".join(parts), cited


def _head(layout: Layout, works: Sequence[Made], linked: bool, dice: random.Random) -> str:
    modern = dice.random() < 0.7 or any(c in bib(works) for c in (r"\dh", r"\th", r"\k{"))
    base = "" if "acmart" in layout.document_class else MODERN if modern else CLASSIC
    load = r"\usepackage[backref=page]{hyperref}" if linked and layout.tool == "" else r"\usepackage{hyperref}"
    hyper = load if linked and "acmart" not in layout.document_class else ""
    title = f"Notes on {dice.choice(CORES)} and {dice.choice(CORES)}"
    front = rf"\title{{{title}}}\author{{Ann Author}}"
    if "acmart" in layout.document_class or "revtex" in layout.document_class:
        front += _AFFILIATION if "acmart" in layout.document_class else r"\affiliation{Some University}"
    abstract = rf"\begin{{abstract}}{_prose(dice, 40)}\end{{abstract}}"
    before = "acmart" in layout.document_class or "ams" in layout.document_class
    if "elsarticle" in layout.document_class:
        opening = rf"\begin{{frontmatter}}{front}{abstract}\end{{frontmatter}}"
    elif "revtex" in layout.document_class or before:
        opening = rf"{front}{abstract}\maketitle"
    else:
        opening = rf"{front}\maketitle{abstract}"
    return "\n".join([layout.document_class, base, layout.preamble, hyper, r"\providecommand{\BIBand}{and}\sloppy", r"\begin{document}", opening])


def _bibliography(layout: Layout, works: Sequence[Made]) -> str:
    if layout.tool == "biber":
        return r"\printbibliography"
    if not layout.tool:
        return listing(layout, works)
    style = "" if "revtex" in layout.document_class else rf"\bibliographystyle{{{layout.style}}}"  # the class chooses it, with titles
    return rf"{style}\bibliography{{refs}}"


def _paragraphs(layout: Layout, keys: Sequence[str], cited: dict[str, list[str]], dice: random.Random) -> str:
    sentences = []
    keys = list(keys)
    while keys:
        group = tuple(dict.fromkeys(keys[: dice.choice([1, 1, 2, 3, 5])]))
        keys = keys[len(group) :]
        marker = "".join(dice.choice(SYLLABLES) for _ in range(5))
        for key in group:
            cited[key].append(marker)
        sentences.append(_citing(layout, group, marker, dice))
        sentences.append(_prose(dice, dice.randint(6, 25)))
        if dice.random() < 0.2:
            sentences.append("\n\n")
    return " ".join(sentences)


def _citing(layout: Layout, group: Sequence[str], marker: str, dice: random.Random) -> str:
    if layout.text and dice.random() < 0.35:
        others = f" {layout.paren % ','.join(group[1:])}" if group[1:] else ""
        return rf"Here {layout.text % group[0]} and \mbox{{{marker}}} {_words(dice, 5)}{others}."
    lead = " " if "super" not in layout.preamble + layout.paren else ""
    return rf"The \mbox{{{marker}}} of {_words(dice, 6)}{lead}{layout.paren % ','.join(group)} {_words(dice, 4)}."


def _words(dice: random.Random, count: int) -> str:
    return " ".join(dice.choice(WORDS) for _ in range(count))


def _prose(dice: random.Random, count: int) -> str:
    return _words(dice, count).capitalize() + "."


def typeset(source: str, works: Sequence[Made], layout: Layout, folder: Path) -> bytes:
    """The PDF of a document. TeX may run no program, and read and write nothing outside its folder."""
    (folder / "paper.tex").write_text(source)
    (folder / "refs.bib").write_text(bib(works, accents=layout.tool != "biber"))
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "openout_any": "p", "openin_any": "p"}
    environment |= {"SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1"}
    latex = ["pdflatex", "-no-shell-escape", "-interaction=batchmode", "paper.tex"]
    for command in [latex, *([[layout.tool, "paper"]] if layout.tool else []), latex, latex]:
        subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, timeout=180)
    made = folder / "paper.pdf"
    log = (folder / "paper.log").read_text(errors="replace") if (folder / "paper.log").is_file() else ""
    if not made.is_file() or "undefined citations" in log or "There were undefined references" in log:
        raise TypesettingError(next((line for line in log.splitlines() if line.startswith("!")), "undefined citations or no PDF"))
    errors = sorted({line for line in log.splitlines() if line.startswith("! ")})
    if errors:
        raise TypesettingError("; ".join(errors))
    return made.read_bytes()


def stripped(data: bytes) -> bytes:
    """The PDF without links and named places."""
    import pymupdf

    with pymupdf.open(stream=data, filetype="pdf") as pdf:
        for page in pdf:
            pdf.xref_set_key(page.xref, "Annots", "null")
        for name in ("Names", "Dests", "Outlines", "OpenAction"):
            pdf.xref_set_key(pdf.pdf_catalog(), name, "null")
        return bytes(pdf.tobytes(garbage=3, deflate=True))


def make(layout: Layout, number: int, works: Sequence[Made], out: Path) -> str:
    """Typeset one document and write the truth beside it; a line of the report."""
    dice = random.Random(int.from_bytes(hashlib.sha256(f"{layout.name} {number}".encode()).digest()[:8], "big"))
    chosen = draw(works, dice.choice([14, 24, 36, 55]), dice)
    linked = number % 3 == 2
    source, cited = document(layout, chosen, dice, linked)
    stem = f"{layout.name}-{number}"
    folder = Path(tempfile.mkdtemp(prefix="typeset-"))
    try:
        data = typeset(source, chosen, layout, folder)
    except (TypesettingError, subprocess.TimeoutExpired) as error:
        return f"{stem}: {error} ({folder})"
    shutil.rmtree(folder)
    (out / "references" / half(layout.name) / f"{stem}.pdf").write_bytes(data if linked else stripped(data))
    rows = [_truth(n, made, cited[made.key]) for n, made in enumerate(chosen, 1)]
    (out / "references" / "gold" / f"{stem}.refs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"{stem}: {len(chosen)} entries"


def _truth(number: int, made: Made, markers: list[str]) -> dict[str, object]:
    return {
        "n": number, "key": made.key, "title": plain(made.title), "authors": [" ".join(filter(None, name)) for name in made.authors],
        "year": made.year, "arxiv": made.fields.get("arxiv"), "doi": None, "type": made.kind, "markers": markers,
    }  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--out", type=Path, required=True)
    reader.add_argument("--data", type=Path)
    reader.add_argument("--half", choices=HALVES)
    reader.add_argument("--only", default="")
    reader.add_argument("--documents", type=int, default=3)
    given = reader.parse_args(arguments)
    for name in (*HALVES, "gold"):
        (given.out / "references" / name).mkdir(parents=True, exist_ok=True)
    works = {name: pool(given.data, number) for number, name in enumerate(HALVES)}
    layouts = [layout for layout in LAYOUTS if given.only in layout.name and half(layout.name) in {given.half or half(layout.name)}]
    jobs = [(layout, number) for layout in layouts for number in range(given.documents)]
    with ThreadPoolExecutor(2) as threads:
        lines = threads.map(lambda job: make(job[0], job[1], works[half(job[0].name)], given.out), jobs)
        for line in lines:
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
