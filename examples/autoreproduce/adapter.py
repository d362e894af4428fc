"""AutoReproduce (AI9Stars/AutoReproduce) with its paper-lineage phase answered by Lineage.

    python adapter.py --autoreproduce CHECKOUT --paper PAPER.txt --lineage NAME --work FOLDER
                      [--home STORE] [--instruction TEXT] [--dataloader FILE] [--model o3-mini] [--steps 20] [--papers 5]
                      [--tokens 12000] [--command "lineage"]

Run it with the Python that has AutoReproduce's packages; Lineage itself may live in another one (`--command`).

Nothing of AutoReproduce's files is changed. It ships with the phase switched off and unfinished: the phase is not in its
list, it reads an attribute `related_work` that nothing sets, it asks arXiv for what it then does not use, and what it
downloads from GitHub it saves where it does not look. All of that has a place to be answered from outside, and here is
what answers:

- the paper that it reads begins with the works that the target inherits most from, so that the model chooses among them;
- arXiv is a loopback server over the lineage: a title gives the work that it names, and its text what the lineage holds;
- `related_work` is the file of the work asked for last: what the lineage says for the task out of that paper, and its repository;
- `paper_lineage/TITLE.json`, its cache of repositories, is filled with the units of code chosen for the task, by path.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape

_ENTRY = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">
<opensearch:totalResults>1</opensearch:totalResults><opensearch:startIndex>0</opensearch:startIndex><opensearch:itemsPerPage>1</opensearch:itemsPerPage>
<entry><id>{base}/abs/{id}</id><title>{title}</title><summary>{summary}</summary><author><name>as the lineage says</name></author><published>2020-01-01T00:00:00Z</published>
<updated>2020-01-01T00:00:00Z</updated><link title="pdf" href="{base}/pdf/{id}" rel="related" type="application/pdf"/>
<arxiv:primary_category xmlns:arxiv="http://arxiv.org/schemas/atom" term="cs.LG"/><category term="cs.LG"/></entry></feed>"""


@dataclass(frozen=True)
class Related:
    """A work that the target inherits from: its title, arXiv number (or a made one), text for the task, repository and files."""

    title: str
    number: str
    text: str
    repository: str = ""
    files: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The title as AutoReproduce writes it into the name of a file."""
        return re.sub(r"[/\\]", " ", self.title.replace("-", " "))


class Lineage:
    """The service, asked through its command line."""

    def __init__(self, command: tuple[str, ...], name: str, home: str) -> None:
        self._command, self._name, self._home = command, name, home

    def ask(self, *words: str) -> Any:
        """The data of a command's JSON."""
        home = ["--home", self._home] if self._home else []
        done = subprocess.run([*self._command, *words, *home, "--json"], check=True, capture_output=True, text=True)
        return json.loads(done.stdout)["data"]

    def related(self, task: str, papers: int, tokens: int) -> list[Related]:
        """The works that carry the lineage, those with code first, each with what it adds to the task."""
        texts, code = _by_work(self.ask("context", task, "--lineage", self._name, "--stage", "coding", "--tokens", str(tokens), "--no-target-code"))
        shown = self.ask("show", self._name)
        found = []
        for n, row in enumerate(shown["references"]):
            linked = [link["repo"] for link in shown["links"] if link["paper"] == row["cited"]]
            work, repository = row["work"] or {}, max(linked, key=lambda one: len(code[one]), default="")
            if work.get("title"):
                files = {path: "\n\n".join(parts) for path, parts in code[repository].items()}
                found.append(Related(work["title"], _number(row["cited"], n), _text(work, row, texts[row["cited"]], repository), repository, files))
        return sorted(found, key=lambda one: -len(one.files))[:papers]


def _by_work(pack: Any) -> tuple[dict[str, list[str]], dict[str, dict[str, list[str]]]]:
    """The pack's parts by work: passages, and units of code by path."""
    texts: dict[str, list[str]] = defaultdict(list)
    code: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for item in pack["items"]:
        start, end = item["span"]
        for hit in item["evidence"][:1]:
            source, text = hit["source"], pack["text"][start:end]
            if hit["kind"] == "code":
                code[source["work"]][source["path"]].append(text)
            else:
                texts[source["work"]].append(text)
    return texts, code


def _number(cited: str, n: int) -> str:
    scheme, _, rest = cited.partition(":")
    return rest if scheme == "arxiv" else f"9999.{n:05}"


def _text(work: Any, row: Any, passages: list[str], repository: str) -> str:
    host = repository.removeprefix("repo:")
    said = [f"# {work['title']}", work.get("abstract") or "", "Why it matters to the target: " + "; ".join(row["why"][:4]), *passages]
    return "\n\n".join(filter(None, [*said, f"Code: [{work['title']}](https://{host})" if host else ""]))


class Shelf:
    """arXiv as AutoReproduce asks it, on loopback: by title, by number, and the text as a PDF."""

    def __init__(self, works: list[Related]) -> None:
        self.works = {one.number: one for one in works}
        self.asked: list[str] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self.base = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()

    def named(self, title: str) -> Related:
        """The work whose title has most of the words."""
        words = set(re.findall(r"\w+", title.lower()))
        return max(self.works.values(), key=lambda one: len(words & set(re.findall(r"\w+", one.title.lower()))))

    def entry(self, query: dict[str, list[str]]) -> str:
        """The Atom feed of a query; what was asked by title is remembered."""
        if "id_list" in query and query["id_list"][0]:
            found = self.works[re.sub(r"v\d+\Z", "", query["id_list"][0])]
        else:
            found = self.named(query.get("search_query", [""])[0].removeprefix("ti:"))
            self.asked.append(found.number)
        return _ENTRY.format(base=self.base, id=found.number, title=escape(found.title), summary=escape(found.text[:1000]))

    def pdf(self, number: str) -> bytes:
        """The text of a work as a PDF of one page."""
        import fitz

        document = fitz.open()
        document.new_page().insert_textbox(fitz.Rect(36, 36, 560, 800), self.works[number].text[:3000], fontsize=7)
        return bytes(document.tobytes())


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, shelf: Shelf, *more: Any) -> None:
        self._shelf = shelf
        super().__init__(*more)

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        pdf = parts.path.startswith("/pdf/")
        body = self._shelf.pdf(parts.path.rsplit("/", 1)[1]) if pdf else self._shelf.entry(parse_qs(parts.query)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/pdf" if pdf else "application/atom+xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def prepared(works: list[Related], paper: Path, work: Path) -> Path:
    """The folder that AutoReproduce runs in: its cache of repositories, the texts, the paper with its lineage in front."""
    for name in ("paper_lineage", "texts"):
        (work / name).mkdir(parents=True, exist_ok=True)
    for one in works:
        (work / "texts" / f"{one.number.replace('/', '_')}.txt").write_text(one.text, encoding="utf-8")
        if one.files:
            held = {"repo_name": one.repository, "files": [{"path": path, "content": text} for path, text in one.files.items()]}
            (work / "paper_lineage" / f"{one.key}.json").write_text(json.dumps(held), encoding="utf-8")
    listed = "\n".join(
        f"{n}. {one.title}" + (f" (code: {one.repository.removeprefix('repo:')})" if one.repository else "") for n, one in enumerate(works, 1)
    )
    path = work / "paper.txt"
    path.write_text(f"Works that this paper inherits most from:\n{listed}\n\n{paper.read_text(encoding='utf-8')}", encoding="utf-8")
    return path


def run(given: argparse.Namespace, works: list[Related], paper: Path, shelf: Shelf) -> None:
    """AutoReproduce itself, with its phases in order and the paper-lineage phase among them."""
    sys.path.insert(0, str(given.autoreproduce))
    os.chdir(given.work)
    import arxiv
    from reproduce import AutoReproduce

    arxiv.Client.query_url_format = f"{shelf.base}/api/query?{{}}"
    # The package goes to arXiv's own host for the file, whatever the feed says: the shelf answers as its proxy.
    os.environ |= {"http_proxy": shelf.base, "no_proxy": "127.0.0.1,localhost", "GITHUB_TOKEN": os.environ.get("GITHUB_TOKEN", "")}

    class Reproduction(AutoReproduce):  # type: ignore[misc]
        save_state = lambda self, phase: None  # noqa: E731 - a class made here cannot be pickled

        @property
        def related_work(self) -> str:
            """The text of the work that was looked up last."""
            return str(given.work / "texts" / f"{shelf.asked[-1].replace('/', '_')}.txt")

    loader = given.dataloader.read_text(encoding="utf-8") if given.dataloader else None
    lab = Reproduction("", str(paper), given.instruction, loader, max_steps=given.steps, agent_model_backbone=given.model, notes=[])
    lab.phases.insert(1, ("paper lineage", ["paper lineage"]))
    lab.phase_status["paper lineage"] = False
    lab.perform_research()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("autoreproduce", "paper", "work"):
        parser.add_argument(f"--{name}", type=lambda text: Path(text).resolve(), required=True)
    parser.add_argument("--dataloader", type=lambda text: Path(text).resolve())
    parser.add_argument("--lineage", required=True)
    parser.add_argument("--home", default="")
    parser.add_argument("--instruction", default="Reproduce the main experiment of the paper.")
    parser.add_argument("--model", default="o3-mini")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--papers", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=12000)
    parser.add_argument("--command", type=lambda text: tuple(shlex.split(text)), default=("lineage",))
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    works = Lineage(given.command, given.lineage, given.home).related(given.instruction, given.papers, given.tokens)
    run(given, works, prepared(works, given.paper, given.work), Shelf(works))


if __name__ == "__main__":
    main()
