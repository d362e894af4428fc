"""Generators run for real with our context: does it reach their prompts, and for how many tokens?

    python -m benchmarks.generators --home HOME --lineage NAME [--papercoder CHECKOUT] [--autoreproduce CHECKOUT --python PYTHON]
                                    [--latex PAPER.tex] [--tokens 6000] [--work FOLDER]

CHECKOUT is a clone of going-doer/Paper2Code or AI9Stars/AutoReproduce; nothing in it is changed (its files are hashed before and after). PYTHON is
one that has AutoReproduce's packages. The model is a loopback endpoint that is scripted: it answers in the form that each
prompt asks for, with what it finds in the prompt (the settings of our `config.yaml`, our first unit of code, the titles and
files that we name), so that what the generators write in the end came through them from us. Every request is recorded. For
each stage is printed how many requests there were, their tokens, and how many held every line of the pack.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from api.bootstrap import Parts  # noqa: E402
from benchmarks.parts import run_benchmark  # noqa: E402
from lineage import settings  # noqa: E402
from lineage.generation import open_generation  # noqa: E402
from tests.fakes.scripted_model import ScriptedModel, prompt  # noqa: E402

COMMAND = shlex.join([sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); from api.cli.app import main; main()"])
FILES = {"data.py": "loads the data and its splits", "model.py": "the model and its loss", "main.py": "trains and evaluates; the entry point"}


@dataclass(frozen=True)
class Stage:
    """What reached the model in one stage: requests, of them those that held the whole pack, and tokens."""

    name: str
    requests: int
    held: int
    pack: int
    prompts: int

    def __str__(self) -> str:
        reached = f"requests {self.requests:>2}, with all of ours {self.held:>2}"
        return f"{self.name:<56} {reached}; ours {self.pack:>6} tokens, prompts {self.prompts:>7}"


def lines_of(text: str) -> list[str]:
    return [line for line in (line.strip() for line in text.splitlines()) if line]


def holds(asked: str, text: str) -> bool:
    """Whether every line of a text stands in a prompt, as it is or as Python prints it (AutoReproduce puts `repr` into some)."""
    return all(line in asked or _printed(line) in asked for line in lines_of(text))


def _printed(line: str) -> str:
    """A line as it stands in the `repr` of a text that holds both kinds of quotes."""
    return repr("'\"" + line)[4:-1]


# -- PaperCoder


def coder(asked: Mapping[str, Any]) -> str:
    """Answers PaperCoder's prompts in their forms, out of what they hold."""
    text, last = prompt(dict(asked)), str(asked["messages"][-1]["content"])
    if "You must write `config.yaml`" in last:
        found = re.search(r"## config\.yaml\n\n`{3,}yaml untrusted\n(.*?)\n`{3,}", text, re.DOTALL)
        return f"## Code: config.yaml\n```yaml\n## config.yaml\n{found[1] if found else 'training: {}'}\n```"
    if '"Logic Analysis"' in last and "break down tasks" in last:
        listed = {"Required packages": ["torch"], "Logic Analysis": [[name, about] for name, about in FILES.items()], "Task list": list(FILES)}
        return f"[CONTENT]\n{json.dumps(listed)}\n[/CONTENT]"
    if "software system design" in last:
        return "[CONTENT]\n" + json.dumps({"Implementation approach": "as planned", "File list": list(FILES)}) + "\n[/CONTENT]"
    if "Write code with triple quoto" in text:
        found = re.search(r"`{3,}(?:python|bash|text) untrusted\n(.*?)\n`{3,}", text.split("## Code to imitate")[-1], re.DOTALL)
        return f"```python\n# imitates what the context shows\n{found[1] if found else 'pass'}\n```"
    return "Read as asked; the settings are those of the context."


def papercoder(given: argparse.Namespace, paper: Path, work: Path) -> Iterable[Stage]:
    out = work / f"papercoder_{paper.suffix[1:]}"
    with ScriptedModel(coder) as model:
        env = {**os.environ, "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": model.url}
        words = [sys.executable, str(ROOT / "examples" / "papercoder" / "adapter.py"), "--papercoder", str(given.papercoder), "--paper", str(paper)]
        words += ["--lineage", given.lineage, "--home", str(given.home), "--out", str(out), "--tokens", str(given.tokens), "--command", COMMAND]
        subprocess.run(words, check=True, env=env)
    prompts = list(map(prompt, model.requests))
    groups = {"planning": prompts[:4], "analysis": prompts[4 : 4 + len(FILES)], "coding": prompts[4 + len(FILES) :]}
    counter = Parts(settings.load(home=given.home)).tokens
    for stage, asked in groups.items():
        file = out / f"paper_{stage}{paper.suffix}"
        text = file.read_text(encoding="utf-8") if paper.suffix == ".tex" else json.loads(file.read_text(encoding="utf-8"))
        pack = text.split("\n\n-----\n\n# The paper\n\n")[0]
        whole = sum(pack.rstrip() in one for one in asked)
        yield Stage(f"PaperCoder {paper.suffix[1:]} {stage}", len(asked), whole, counter.count(pack), sum(map(counter.count, asked)))
    config = (out / "repo" / "config.yaml").read_text(encoding="utf-8")
    cited = sum("# " in line for line in lines_of(config))
    files = sorted(path.name for path in (out / "repo").iterdir())
    print(f"  config.yaml of the generated repository: {len(lines_of(config))} lines, {cited} with a source; files {files}")


def as_json(home: Path, lineage: str, path: Path) -> Path:
    """The target's text in the shape of PaperCoder's cleaned JSON papers."""
    with open_generation(home, lineage) as generation:
        target = generation.catalog.work(generation.manifest.target)
        rows = generation.catalog.chunks(range(generation.manifest.counts["chunks"]))
        body = [{"text": one.text, "section": " > ".join(one.section)} for one in rows if target and one.work == target.id]
    title, abstract = (target.title, target.abstract) if target else ("", "")
    made = {"paper_id": lineage, "title": title, "abstract": abstract, "pdf_parse": {"body_text": body}}
    path.write_text(json.dumps(made), encoding="utf-8")
    return path


# -- AutoReproduce


def agent(asked: Mapping[str, Any]) -> str:
    """Answers AutoReproduce's prompts in their forms, out of what they hold."""
    system, text = str(asked["messages"][0]["content"]), str(asked["messages"][-1]["content"])
    researcher, phase = "review expert" in system, (re.search(r"Phase: ([a-z ]+)", text) or ["", ""])[1].strip()
    if phase == "paper lineage" and researcher:
        offered = text.split("Works that this paper inherits most from:")[1].split("\n\n")[0]
        titles = re.findall(r"^\d+\. (.+?)(?: \(code: .*\))?$", offered, re.MULTILINE)
        return f"```ADD\n{titles!r}\n```"
    if phase == "paper lineage":
        return f"```ADD\n{list(dict.fromkeys(re.findall(r'^File: (.+)$', text, re.MULTILINE)))!r}\n```"
    if phase == "overall summary" and "related work of the paper" in text:
        found = re.search(r"\[[^\]\n]+\]\(https://[^)\s]+\)", text)
        return f"A related work. {found[0] if found else ''}"
    if "summary" in phase:
        return "A summary of the paper."
    if researcher:
        return "```SUBMIT\n```" if "You should choose to" in text else "The code agrees with the summary."
    code = f"print({phase!r})"
    return f"```EDIT 0 0\n{code}\n```" if "The previous code base\n" in text else f"```python\n{code}\n```"


def autoreproduce(given: argparse.Namespace, paper: Path, work: Path) -> Iterable[Stage]:
    out = work / "autoreproduce"
    with ScriptedModel(agent) as model:
        env = {**os.environ, "OPENAI_API_KEY": "none", "BASE_URL": model.url, "PATH": f"{given.python.parent}:{os.environ['PATH']}"}
        words = [str(given.python), str(ROOT / "examples" / "autoreproduce" / "adapter.py"), "--autoreproduce", str(given.autoreproduce)]
        words += ["--paper", str(paper), "--lineage", given.lineage, "--home", str(given.home), "--work", str(out), "--tokens", str(given.tokens)]
        subprocess.run([*words, "--command", COMMAND], check=True, env=env, stdout=subprocess.DEVNULL)
    prompts = list(map(prompt, model.requests))
    counter = Parts(settings.load(home=given.home)).tokens
    listed = (out / "paper.txt").read_text(encoding="utf-8").split("\n\n")[0]
    texts = [path.read_text(encoding="utf-8") for path in sorted((out / "texts").iterdir())]
    held = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((out / "paper_lineage").iterdir())]
    code = ["\n".join(file["content"] for file in one["files"]) for one in held]
    yield from _reached("works offered for choice", prompts, "Phase: paper lineage", [listed], counter)
    yield from _reached("related papers read", prompts, "related work of the paper", texts, counter)
    yield from _reached("related code filtered", prompts, "code repository mentioned above", code, counter)
    yield from _reached("method replication", prompts, "Baseline works implmentations", code, counter)
    wrote = sorted(path.name for path in (out / "output_dir" / "ckpts").iterdir())
    print(f"  {len(held)} repositories in its cache, {sum(len(one['files']) for one in held)} files; wrote {wrote}")


def _reached(name: str, prompts: Sequence[str], marker: str, texts: Sequence[str], counter: Any) -> Iterable[Stage]:
    """Requests of one kind, and how many of the texts reached one of them whole (as written or as Python prints them)."""
    asked = [one for one in prompts if marker in one]
    whole = sum(any(holds(one, text) for one in asked) for text in texts)
    ours, all_ = sum(map(counter.count, texts)), sum(map(counter.count, asked))
    yield Stage(f"AutoReproduce {name}: {whole} of {len(texts)} texts whole", len(asked), whole, ours, all_)


def hashes(folder: Path | None) -> dict[str, str]:
    """The source files of a checkout by their SHA-256."""
    found = sorted(path for path in folder.rglob("*") if path.suffix in {".py", ".sh", ".txt"} and "__pycache__" not in path.parts) if folder else []
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in found if path.is_file()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--lineage", required=True)
    for name in ("papercoder", "autoreproduce", "latex", "work"):
        parser.add_argument(f"--{name}", type=lambda text: Path(text).resolve())
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    parser.add_argument("--tokens", type=int, default=6000)
    given = parser.parse_args()
    before = {**hashes(given.papercoder), **hashes(given.autoreproduce)}
    with tempfile.TemporaryDirectory() as folder:
        work = given.work or Path(folder)
        work.mkdir(parents=True, exist_ok=True)
        paper = as_json(given.home, given.lineage, work / "paper.json")
        if given.papercoder:
            for one in filter(None, (paper, given.latex)):
                print("\n".join(map(str, papercoder(given, one, work))))
        if given.autoreproduce:
            text = work / "paper_text.txt"
            text.write_text("\n\n".join(row["text"] for row in json.loads(paper.read_text())["pdf_parse"]["body_text"]), encoding="utf-8")
            print("\n".join(map(str, autoreproduce(given, text, work))))
    after = {**hashes(given.papercoder), **hashes(given.autoreproduce)}
    print(f"files of the generators: {len(before)}, changed {sum(after.get(path) != value for path, value in before.items())}")


if __name__ == "__main__":
    run_benchmark(main)
