"""How much hidden text is left out, and how much seen text with it: `python -m benchmarks.hidden_text [--papers FOLDER]`.

Generated TeX and PDFs, one way of hiding a paper, seeded; with `--papers` the papers of a folder (`*.tex`) as well, for false alarms.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymupdf

from indexer.parsers.latex.parser import parse
from indexer.parsers.pdf.parser import parse as parse_pdf
from lineage.errors import ParseError
from lineage.records import WorkId

WORK = WorkId("arxiv:2501.00001")
WAYS_OF_TEX = {
    "white": r"\textcolor{white}{SECRET}",
    "white group": r"{\color{white} SECRET}",
    "white by numbers": r"\textcolor[rgb]{1,1,1}{SECRET}",
    "white by hex": r"{\color[HTML]{FFFFFF}SECRET}",
    "defined white": r"\definecolor{paper}{RGB}{255,255,255}\textcolor{paper}{SECRET}",
    "let white": r"\colorlet{ground}{white}{\color{ground}SECRET}",
    "one point": r"{\fontsize{1pt}{1pt}\selectfont SECRET}",
    "transparent": r"{\transparent{0}SECRET}",
    "text transparent": r"\texttransparent{0.0}{SECRET}",
    "scaled": r"\scalebox{0.01}{SECRET}",
    "resized": r"\resizebox{1pt}{!}{SECRET}",
    "rlap": r"\rlap{SECRET}",
    "negative space": r"\hspace*{-100cm}SECRET",
    "raised": r"\raisebox{100cm}[0pt][0pt]{SECRET}",
    "phantom": r"\phantom{SECRET}",
    "white by an environment": r"\newenvironment{quiet}{\color{white}}{}\begin{quiet}SECRET\end{quiet}",
    "white in a list": r"\begin{itemize}\item\color{white}SECRET\end{itemize}",
    "white from here on": r"\color{white}SECRET\color{black}",
    "no part of black": r"\textcolor{black!0}{SECRET}",
    "pale yellow": r"{\color{yellow!8}SECRET}",
    "white by operators": r"\pdfliteral{1 1 1 rg}SECRET\pdfliteral{0 0 0 rg}",
    "no ink": r"\pdfliteral direct{3 Tr}SECRET\pdfliteral direct{0 Tr}",
    "size of a command": r"\newcommand{\speck}{0.01}\scalebox{\speck}{SECRET}",
    "scaled twice": r"\scalebox{0.3}{\scalebox{0.3}{SECRET}}",
    "small and scaled": r"\scalebox{0.4}{\fontsize{4}{4}\selectfont SECRET}",
    "lifted": r"\vspace*{-100cm}SECRET" + "\n\n" + r"\vspace*{100cm}",
    "far right": r"\hspace*{300cm}SECRET",
    "put off the page": r"\put(-900,0){SECRET}",
    "box without width": r"\makebox[0pt][l]{SECRET}",
    "clipped": r"\clipbox{0 0 0 1cm}{SECRET}",
    "unused box": r"\newsavebox{\store}\sbox{\store}{SECRET}",
    "unused environment": r"\newsavebox{\store}\begin{lrbox}{\store}SECRET\end{lrbox}",
    "faint by a command": r"\newcommand{\faint}{\color[gray]{0.985}}{\faint SECRET}",
    "mix of a mix": r"\definecolor{one}{HTML}{FEFEFE}\colorlet{two}{one!90!white}\textcolor{two}{SECRET}",
    "length of a name": r"\newlength{\far}\setlength{\far}{-300cm}\hspace*{\far}SECRET",
    "type of a command's size": r"\newcommand{\speck}{0.4}{\fontsize{\speck pt}{\speck pt}\selectfont SECRET}",
    "no height": r"\resizebox{!}{0.5pt}{SECRET}",
    "box of a number": r"\setbox0=\hbox{SECRET}",
    "font of its own": r"{\font\speck=cmr10 at 0.5pt \speck SECRET}",
    "box to nothing": r"\hbox to 0pt{SECRET\hss}",
    "raised by TeX": r"\raise 100cm\hbox{SECRET}",
    "black on black": r"\colorbox{black}{\textcolor{black}{SECRET}}",
    "registers": r"\newdimen\far\far=-50cm\hskip\far SECRET",
    "sum of lengths": r"\hspace{\dimexpr-3cm-8cm\relax}SECRET",
    "lines off the page": r"{\leftskip=100cm SECRET\par}",
    "command by its name": r"\csname textcolor\endcsname{white}{SECRET}",
    "command defined by its name": r"\expandafter\def\csname quiet\endcsname#1{\textcolor{white}{#1}}\quiet{SECRET}",
    "scaled font": r"{\font\speck=cmr10 scaled 40\relax\speck SECRET}",
    "moved box": r"\moveleft 900pt\vbox{SECRET}",
    "unused vertical box": r"\newbox\store\setbox\store=\vbox to 3cm{SECRET}",
    "options of an environment": r"\begin{adjustbox}{scale=0.01}SECRET\end{adjustbox}",
    "options of a box": r"\adjustbox{width=1pt}{SECRET}",
    "colors of an environment": r"\begin{tcolorbox}[colback=white,coltext=white]SECRET\end{tcolorbox}",
    "colors of a defined environment": r"\newtcolorbox{quiet}[1]{colback=white,coltext=white}\begin{quiet}{A}SECRET\end{quiet}",
}
UNSEEN_TEX = {
    "font command": r"\DeclareTextFontCommand{\quiet}{\color{white}}\quiet{SECRET}",
    "added length": r"\newlength{\far}\addtolength{\far}{-200cm}\addtolength{\far}{-100cm}\hspace*{\far}SECRET",
    "text block": r"\begin{textblock*}{10cm}(90cm,90cm)SECRET\end{textblock*}",
    "drawn node": r"\tikz[overlay]\node[opacity=0,text width=9cm]{SECRET};",
    "font feature": r"{\addfontfeature{Color=FFFFFF}SECRET}",
    "special color": r"\special{color push gray 1}SECRET\special{color pop}",
}
"""Written before anybody looked whether they are found, and no rule was made for them: what they give says how far the rules reach."""
PLAIN_TEX = (
    r"\textcolor{red}{seen}",
    r"\definecolor{mine}{RGB}{200,30,30}\textcolor{mine}{seen}",
    r"{\fontsize{9pt}{11pt}\selectfont seen}",
    r"\scalebox{0.8}{seen}",
    r"\resizebox{0.5\textwidth}{!}{seen}",
    r"\rlap{seen}",
    r"\hspace{-2mm}seen",
    r"\raisebox{-1ex}{seen}",
    r"{\transparent{0.6}seen}",
    r"\colorbox{black}{\textcolor{white}{seen}}",
    r"\pagecolor{black}\color{white}seen",
    r"\begin{tcolorbox}[colback=black]\color{white}seen\end{tcolorbox}",
    r"\color{white}\color{black}seen",
    r"\textcolor{gray!50}{seen}",
    r"\scalebox{0.5}{\scalebox{0.5}{seen}}",
    r"\makebox[3cm][l]{seen}",
    r"\vspace*{-5cm}seen",
    r"\put(10,20){seen}",
    r"\clipbox{0 0 1cm 0}{seen}",
    r"\newsavebox{\store}\sbox{\store}{seen}\usebox{\store}",
    r"\newsavebox{\store}\begin{lrbox}{\store}seen\end{lrbox}\usebox{\store}",
    r"\pdfliteral{0 Tr}seen",
    r"\setbox0=\hbox{seen}\box0",
    r"\setbox\store\hbox to 3cm{seen}\copy\store",
    r"\hbox to 3cm{seen\hfil}",
    r"\raise 1ex\hbox{seen}",
    r"\lower-2pt\hbox to 1em{seen}",
    r"{\font\big=cmr12 at 14pt \big seen}",
    r"\hskip 1em plus 1fill seen",
    r"\hrule height 1pt depth .5ex width 3cm seen",
    r"{\leftskip=1cm seen\par}",
    r"\begin{adjustbox}{max width=\textwidth}seen\end{adjustbox}",
    r"\begin{tcolorbox}[colback=black,coltext=white]seen\end{tcolorbox}",
    r"\csname emph\endcsname{seen}",
)
_WORDS = [
    "we",
    "train",
    "the",
    "model",
    "with",
    "a",
    "rate",
    "and",
    "then",
    "report",
    "its",
    "score",
    "on",
    "every",
    "set",
    "that",
    "others",
    "use",
    "for",
    "this",
    "task",
]


def document_of(body: str) -> dict[str, bytes]:
    """The files of a small paper with `body` between two sentences."""
    return {"main.tex": (r"\documentclass{article}\begin{document}Before." + "\n\n" + body + "\n\nAfter." + r"\end{document}").encode()}


def measured_tex(seed: int, papers: int) -> dict[str, int]:
    """Papers with hidden words and how many lost just them; papers with the same commands in seen words and how many lost any."""
    dice, sums = random.Random(seed), Counter({"hidden": 0, "left out": 0, "seen": 0, "false alarms": 0})
    for _ in range(papers):
        secret = " ".join(["zyxwv", *dice.choices(_WORDS, k=dice.randrange(8, 40))])
        text = parse(document_of(dice.choice([*WAYS_OF_TEX.values()]).replace("SECRET", secret)), WORK, "").text
        sums["hidden"] += 1
        sums["left out"] += "zyxwv" not in text and "After." in text
        seen = parse(document_of(dice.choice(PLAIN_TEX)), WORK, "")
        sums["seen"] += 1
        sums["false alarms"] += "seen" not in seen.text or bool(seen.lost)
    return dict(sums)


def _put(page: Any, words: str, where: tuple[float, float] = (72, 300), **how: Any) -> None:
    page.insert_text(where, words, **{"fontsize": 10, **how})


def _clip(page: Any, box: str) -> None:
    xref = page.get_contents()[-1]
    page.parent.update_stream(xref, f"q {box} re W n ".encode() + page.parent.xref_stream(xref) + b" Q")


def _covered(page: Any, words: str) -> None:
    _put(page, words)
    page.draw_rect((50, 280, 560, 320), color=None, fill=(1, 1, 1))


def _clipped(page: Any, words: str) -> None:
    _put(page, words)
    _clip(page, "0 0 5 5")


WAYS_OF_PDF: dict[str, Callable[[Any, str], None]] = {
    "no ink": lambda page, words: _put(page, words, render_mode=3),
    "white": lambda page, words: _put(page, words, color=(1, 1, 1)),
    "nearly white": lambda page, words: _put(page, words, color=(0.99, 0.99, 0.99)),
    "transparent": lambda page, words: _put(page, words, fill_opacity=0.0),
    "one point": lambda page, words: _put(page, words, fontsize=1),
    "off the page": lambda page, words: _put(page, words, (900, 300)),
    "covered": _covered,
    "clipped": _clipped,
}


def _boxed(page: Any, words: str) -> None:
    page.draw_rect((50, 280, 560, 320), color=None, fill=(0.9, 0.95, 1))
    _put(page, words)


def _in_clip(page: Any, words: str) -> None:
    _put(page, words)
    _clip(page, "0 0 600 800")


def _on_dark(page: Any, words: str) -> None:
    page.draw_rect((50, 280, 560, 320), fill=(0, 0, 0.4))
    _put(page, words, color=(1, 1, 1))


PLAIN_PDF: tuple[Callable[[Any, str], None], ...] = (
    *(_put, _boxed, _in_clip, _on_dark),
    lambda page, words: _put(page, words, color=(0.5, 0.5, 0.5)),
    lambda page, words: _put(page, words, fontsize=6),
    lambda page, words: _put(page, words, fill_opacity=0.6),
)


def _pdf_text(way: Callable[[Any, str], None], words: str) -> str:
    """What is read of a page with two plain sentences, after others were put on it in some way."""
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        way(page, words)
        _put(page, "Before.", (72, 100))
        _put(page, "After.", (72, 500))
        return parse_pdf({"paper.pdf": pdf.tobytes()}, WORK, "").text


def unseen() -> dict[str, bool]:
    """Whether each of the ways that no rule was made for is left out."""
    return {
        name: "zyxwv" not in parse(document_of(way.replace("SECRET", "zyxwv " + "train the model " * 5)), WORK, "").text
        for name, way in UNSEEN_TEX.items()
    }


def measured_pdf(seed: int, papers: int) -> dict[str, int]:
    """The same over PDFs, every way in turn."""
    dice, sums = random.Random(seed), Counter({"hidden": 0, "left out": 0, "seen": 0, "false alarms": 0})
    ways = [*WAYS_OF_PDF.values()]
    for n in range(papers):
        words = " ".join(["zyxwv", *dice.choices(_WORDS, k=dice.randrange(5, 15))])
        text = _pdf_text(ways[n % len(ways)], words)
        sums["hidden"] += 1
        sums["left out"] += "zyxwv" not in text and "Before." in text and "After." in text
        sums["seen"] += 1
        sums["false alarms"] += "zyxwv" not in _pdf_text(PLAIN_PDF[n % len(PLAIN_PDF)], words)
    return dict(sums)


def alarms(folder: Path) -> dict[str, list[str]]:
    """What is taken for hidden in the papers of a folder, by file."""
    noted: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*.tex")):
        try:
            document = parse({path.name: path.read_bytes()}, WORK, "")
        except ParseError:
            continue
        noted[str(path.relative_to(folder))] = [how for how, _, words in document.lost if "left out" in words]
    return noted


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--generated", type=int, default=1000)
    parser.add_argument("--papers", type=Path)
    asked = parser.parse_args()
    print(json.dumps({"unseen ways of tex": unseen()}))
    print(json.dumps({"tex": measured_tex(asked.seed, asked.generated), "pdf": measured_pdf(asked.seed, asked.generated)}))
    if asked.papers:
        noted = alarms(asked.papers)
        print(json.dumps({"papers": len(noted), "with alarms": {name: ways for name, ways in noted.items() if ways}}, indent=1))


if __name__ == "__main__":
    main()
