"""The smallest services that show whose code is whose: one target with its code, and everything that may be taken for it.

The target vendors three files of a baseline and of a tool that it merely mentions by URL; there is a fork of its code, a
renamed copy, a copy under another name, an unofficial one, a cited repository that took one file from it, and a later one of
which it vendors two files, whose README is the second witness of whose it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.upstream.world import Citation, Paper, Repository, World

TARGET = "arxiv:9912.00901"
OWN, BASE, TOOL, SHARED, TAKER, LATER = "lab/quillnet", "base/line", "tools/oldtool", "twice/shared", "later/taker", "new/words"
FORK, COPY, REMADE = "fan/feathers2", "some/innocent", "amateur/redo"
RATES = {OWN: "0.0003", FORK: "0.0004", COPY: "0.0005", BASE: "0.001", TOOL: "0.002"}
"""What the configuration of each has as its learning rate."""
KEPT = (BASE, TOOL, SHARED, TAKER, LATER)
OUT = (OWN, FORK, COPY, REMADE)


def code(name: str, word: str) -> str:
    """A file long enough to tell whose it is."""
    return f"def {name}_{word}(x, scale=0.25):\n" + "".join(f"    x = {word}_step_{n}(x) * {n}.5  # {name}\n" for n in range(12)) + "    return x\n"


_OURS = {f"{name}.py": code(name, "quill") for name in ("train", "model", "loss", "data")}
_BASE = {f"{name}.py": code(name, "baseline") for name in ("encoder", "decoder", "sampler", "runner")}
_TOOL = {f"{name}.py": code(name, "tool") for name in ("reader", "writer", "cutter")}
_TAKEN = {
    "borrowed.py": f"# Adapted from https://github.com/{OWN}/blob/main/model.py\n" + code("borrowed", "quillish"),
    "solo.py": code("solo", "taker"),
}
_VENDORED = {f"{name}.py": code(name, "later") for name in ("answers", "tables")}
_LATER = _VENDORED | {f"{name}.py": code(name, "later") for name in ("words", "phrases", "letters", "signs", "marks", "notes")}
_SHARED = {f"{name}.py": code(name, "shared") for name in ("common", "twice", "joint")}

PAPERS = {
    "9912.00901": "QuillNet: Feathered Networks for Small Things",
    "9911.00902": "Baseline Rows: A Line of Encoders",
    "9911.00903": "Sharing Twice Is Sharing Once More",
    "9911.00904": "Taking Features Where They Stand",
    "9911.00905": "Later Words for Pictures and Tables",
}
README = "# {0}\n\nThis is the official code of the paper **{0}**, https://arxiv.org/abs/{1}.\n\n## Citation\n\n@article{{x, title={{{0}}}}}\n"
FILES: Mapping[str, Mapping[str, str]] = {
    OWN: {
        **_OURS,
        **{f"vendor/{n}": t for n, t in (_BASE | _TOOL | _VENDORED).items()},
        "README.md": README.format(PAPERS["9912.00901"], "9912.00901"),
    },
    BASE: {**_BASE, "README.md": README.format(PAPERS["9911.00902"], "9911.00902")},
    TOOL: _TOOL,
    SHARED: {**_SHARED, "README.md": README.format(PAPERS["9911.00903"], "9911.00903")},
    TAKER: {**_TAKEN, "README.md": README.format(PAPERS["9911.00904"], "9911.00904")},
    LATER: {**_LATER, "README.md": f"# {PAPERS['9911.00905']}\n\n[Paper](https://arxiv.org/abs/9911.00905)\n"},
    FORK: {**_OURS, "extra.py": code("extra", "fan")},
    COPY: {**_OURS, "own_start.py": code("start", "innocent")},
    REMADE: {"redo.py": code("redo", "amateur"), "README.md": f"# Unofficial re-implementation of {PAPERS['9912.00901']} (arXiv:9912.00901)\n"},
}
_CREATED = {BASE: "2020-01-01", TOOL: "2019-01-01", SHARED: "2024-03-01", TAKER: "2024-04-01", OWN: "2024-02-01"}
_TEXT = r"""\documentclass{article}\title{%s}\begin{document}\maketitle
\section{Method} Our code is available at \url{https://github.com/lab/quillnet}. Our implementation is released at \url{https://github.com/twice/shared}.
We build on baseline rows~\cite{b} (\url{https://github.com/base/line}), sharing~\cite{s} words~\cite{l} and taking~\cite{t} (\url{https://github.com/later/taker}).
Files are read with \url{https://github.com/tools/oldtool}. Others keep mirrors: \url{https://github.com/fan/feathers2},
\url{https://github.com/some/innocent} and \url{https://github.com/amateur/redo}.
\begin{thebibliography}{9}\bibitem{b} A. One. %s. arXiv:9911.00902, 2020.\bibitem{s} B. Two. %s. arXiv:9911.00903, 2024.
\bibitem{t} C. Three. %s. arXiv:9911.00904, 2024.\bibitem{l} D. Four. %s. arXiv:9911.00905, 2024.\end{thebibliography}\end{document}
"""


def world(root: Path) -> World:
    """The services, their folders written under `root`."""
    (root / "papers").mkdir(parents=True)
    (root / "papers" / "target.tex").write_text(_TEXT % tuple(PAPERS.values()))
    keys = {arxiv: f"{n:040x}" for n, arxiv in enumerate(PAPERS, 1)}
    papers = {}
    for n, (arxiv, title) in enumerate(PAPERS.items(), 1):
        first = n == 1
        cited = tuple(Citation(keys[name], intents=("methodology",)) for name in list(PAPERS)[1:]) if first else ()
        day = "2024-02-05T00:00:00Z" if first else "2020-02-05T00:00:00Z"
        source = "papers/target.tex" if first else ""
        papers[keys[arxiv]] = Paper(keys[arxiv], title, 990000 + n, arxiv, authors=("A. Body",), published=day, source=source, references=cited)
    repositories = {}
    for n, (name, files) in enumerate(FILES.items(), 1):
        folder = root / "repos" / name
        for path, text in (dict(files) | ({"config.yaml": f"optimizer:\n  lr: {RATES[name]}\n"} if name in RATES else {})).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        created = _CREATED.get(name, "2024-06-01") + "T00:00:00Z"
        former = ("before/innocent",) if name == COPY else ()
        repositories[name] = Repository(
            name, n, f"{n:040x}", "2024-09-01T00:00:00Z", created, former=former, parent=OWN if name == FORK else "", folder=f"repos/{name}"
        )
    hub = {
        arxiv: {"arxiv": arxiv, "githubRepo": f"https://github.com/{name}"}
        for arxiv, name in zip(PAPERS, (OWN, BASE, SHARED, TAKER, LATER), strict=True)
    }
    return World(root, papers, repositories, hub)
