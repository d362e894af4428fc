"""PaperCoder (going-doer/Paper2Code) with a lineage's context in front of its paper, at all three of its stages.

    python adapter.py --papercoder CHECKOUT --paper PAPER.json|PAPER.tex --lineage NAME --out FOLDER
                      [--home STORE] [--model o3-mini] [--tokens 6000] [--task TEXT] [--command "lineage"]

Nothing of PaperCoder is changed or imported: its scripts run as they are, and what they read as the paper is a file of ours
that begins with the context and goes on with the paper. A JSON paper may be any JSON value, and PaperCoder puts it into its
prompts as Python prints it; so the file holds one string, which is printed as it is, and what was counted is what is sent.
Planning is given the plan's context with a sourced `config.yaml`; analysis and coding are given theirs for the files that the
plan lists. OPENAI_API_KEY and OPENAI_BASE_URL are PaperCoder's own.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

RULE = "\n\n-----\n\n# The paper\n\n"


@dataclass(frozen=True)
class Run:
    """One paper through PaperCoder: where everything lies, and how `lineage` is called."""

    papercoder: Path
    paper: Path
    lineage: str
    out: Path
    model: str = "o3-mini"
    tokens: int = 6000
    task: str = ""
    home: str = ""
    command: tuple[str, ...] = ("lineage",)

    @property
    def latex(self) -> bool:
        return self.paper.suffix == ".tex"

    def context(self, stage: str, task: str) -> str:
        """The pack of a stage, as `lineage context` prints it."""
        words = [*self.command, "context", task, "--lineage", self.lineage, "--stage", stage, "--tokens", str(self.tokens)]
        words += ["--home", self.home] if self.home else []
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    def enriched(self, stage: str, task: str) -> Path:
        """The paper's file for one stage: the context, then the paper as PaperCoder would have got it."""
        text = self.context(stage, task) + RULE + self.paper.read_text(encoding="utf-8")
        path = self.out / f"paper_{stage}{self.paper.suffix}"
        path.write_text(text if self.latex else json.dumps(text), encoding="utf-8")
        return path

    def script(self, name: str, paper: Path | None = None, *more: str) -> None:
        """One of PaperCoder's scripts, in its own folder."""
        words = [sys.executable, name, "--paper_name", self.lineage, "--output_dir", str(self.out), *more]
        if paper:
            words += ["--gpt_version", self.model, "--paper_format", "LaTeX" if self.latex else "JSON"]
            words += ["--pdf_latex_path" if self.latex else "--pdf_json_path", str(paper)]
        subprocess.run(words, check=True, cwd=self.papercoder / "codes", stdout=subprocess.DEVNULL)

    def title(self) -> str:
        """The task in words: what was given, else the paper's title, else the lineage's name."""
        text = self.paper.read_text(encoding="utf-8")
        found = re.search(r"\\title\s*\{([^{}]{5,300})\}", text) if self.latex else None
        title = found[1] if found else "" if self.latex else json.loads(text).get("title", "")
        return self.task or f"Reproduce the paper {' '.join(title.split()) or self.lineage}"

    def files(self) -> str:
        """The task of the later stages: the files of PaperCoder's own plan, each with what it says of them."""
        turns = json.loads((self.out / "planning_trajectories.json").read_text(encoding="utf-8"))
        said = [turn["content"] for turn in turns if turn["role"] == "assistant"][2]
        body = re.sub(r"\[/?CONTENT\]", "", said)
        listed = dict(json.loads(body[body.index("{") : body.rindex("}") + 1])["Logic Analysis"])
        return "\n".join([self.title(), *(f"- {name}: {' '.join(about.split())[:400]}" for name, about in listed.items())])

    def all(self) -> None:
        """Planning, configuration, analysis, coding."""
        self.out.mkdir(parents=True, exist_ok=True)
        repository = self.out / "repo"
        repository.mkdir(exist_ok=True)
        self.script("1_planning.py", self.enriched("planning", self.title()))
        self.script("1.1_extract_config.py")
        shutil.copy(self.out / "planning_config.yaml", repository / "config.yaml")
        task = self.files()
        self.script("2_analyzing.py", self.enriched("analysis", task))
        self.script("3_coding.py", self.enriched("coding", task), "--output_repo_dir", str(repository))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("papercoder", "paper", "out"):
        parser.add_argument(f"--{name}", type=lambda text: Path(text).resolve(), required=True)
    parser.add_argument("--lineage", required=True)
    parser.add_argument("--model", default="o3-mini")
    parser.add_argument("--tokens", type=int, default=6000)
    parser.add_argument("--task", default="")
    parser.add_argument("--home", default="")
    parser.add_argument("--command", type=lambda text: tuple(shlex.split(text)), default=("lineage",))
    Run(**vars(parser.parse_args())).all()


if __name__ == "__main__":
    main()
