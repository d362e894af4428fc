"""Hostile LaTeX: every generator makes members of about `size` bytes; the parser answers each with text or a ParseError.

`benchmarks/references.py --torture` times the same generators at 0.1, 1 and 10 MB.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from indexer.parsers.latex.parser import parse
from lineage.errors import ParseError
from lineage.records import Status, WorkId

Members = Mapping[str, bytes]
HEAD = r"\documentclass{article}\begin{document}\section{Kept} Kept words. "
TAIL = r" \end{document}"


def one(body: str) -> Members:
    return {"main.tex": (HEAD + body + TAIL).encode()}


def repeated(unit: str) -> Callable[[int], Members]:
    return lambda size: one(unit * (size // len(unit)))


def diamond(size: int) -> Members:
    members = {"main.tex": (HEAD + r"\input{a0}" + TAIL).encode()}
    for level in range(30):
        members[f"a{level}.tex"] = (rf"level {level} \input{{a{level + 1}}}\input{{a{level + 1}}} " + "word " * (size // 300)).encode()
    return members | {"a30.tex": b"bottom"}


def laughs(size: int) -> Members:
    definitions = "".join(rf"\def\{chr(97 + n)}x{{\{chr(98 + n)}x\{chr(98 + n)}x\{chr(98 + n)}x}}" for n in range(24))
    return one(definitions + r"\def\yx{ha }" + r"\ax " * (size // 4))


def doubling(size: int) -> Members:
    return one(r"\newcommand{\twice}[1]{#1#1}" + r"\twice{" * 40 + "ha " + "}" * 40 + " words" * (size // 6))


def bibliography(size: int) -> Members:
    items = "".join(
        f"@article{{k{n}, title={{Title number {n}}}, author={{Doe, J. and Roe, R.}}, year={{2001}}, journal=jan # {{ x}}}}\n"
        for n in range(size // 95)
    )
    return one(r"\nocite{*}\cite{k1}\bibliography{refs}") | {"refs.bib": items.encode()}


def broken_bib(size: int) -> Members:
    return one(r"\nocite{*}\bibliography{refs}") | {"refs.bib": b"@article{k, title={never closed \n" * (size // 33)}


def bibitems(size: int) -> Members:
    items = "".join(rf"\bibitem{{k{n}}} A. Doe, B. Roe. \newblock The title {n}. \newblock \emph{{Journal}}, 2001. " for n in range(size // 85))
    return one(r"\begin{thebibliography}{9}" + items + r"\end{thebibliography}")


CASES: dict[str, Callable[[int], Members]] = {
    "prose": repeated("Words of a plain sentence that goes on, with nothing in it at all.\n"),
    "one line": repeated("word "),
    "one word": repeated("w"),
    "dense": repeated(r"\textbf{a} $x_1$ \cite{k} & \emph{b}~\ref{s}. "),
    "blank lines": repeated("\n\n"),
    "spaces": repeated(" "),
    "space and newlines": repeated("  \n"),
    "comments": repeated("% comment\n"),
    "percent signs": repeated("%"),
    "open braces": repeated("{"),
    "closing braces": repeated("}"),
    "open brackets": repeated("["),
    "items in brackets": repeated(r"\item["),
    "dollars": repeated("$"),
    "dollars apart": repeated("$ "),
    "nul bytes": repeated("\0"),
    "backslashes": repeated("\\"),
    "carets": repeated("^^M"),
    "open footnotes": repeated(r"\footnote{"),
    "open sections": repeated(r"\section{"),
    "open arguments": repeated(r"\vspace{"),
    "open macros": lambda size: one(r"\newcommand{\m}[1]{#1}" + r"\m{" * (size // 3)),
    "nested macros": lambda size: one(r"\newcommand{\m}[1]{#1}" + r"\m{" * (size // 4) + "}" * (size // 4)),
    "open environments": repeated(r"\begin{itemize}"),
    "open figures": repeated(r"\begin{figure}\caption{x"),
    "closing environments": repeated(r"\end{itemize}"),
    "open tables": repeated(r"\begin{tabular}{c} a & b \\ "),
    "open formulas": repeated(r"\begin{equation} x "),
    "open verbatim": repeated(r"\begin{verbatim} x "),
    "open conditions": repeated(r"\iffalse x "),
    "closing conditions": repeated(r"\fi x \else "),
    "open definitions": repeated(r"\def\x{ "),
    "definitions": repeated(r"\def\x#1{y#1}\x z "),
    "self": lambda size: one(r"\def\x{\x a}\x " + "word " * (size // 5)),
    "mutual": lambda size: one(r"\def\x{\y}\def\y{\x}\x " + "word " * (size // 5)),
    "laughs": laughs,
    "doubling": doubling,
    "catcode games": repeated(r"\catcode`\%=12 \catcode`\{=13 % x "),
    "csname": repeated(r"\csname abc\endcsname "),
    "open csname": repeated(r"\csname "),
    "cites": repeated(r"\cite{a,b,c}"),
    "long cite": lambda size: one(r"\cite{" + "k," * (size // 2) + "}"),
    "sections": repeated(r"\section{T} x "),
    "footnotes": repeated(r"x\footnote{y} "),
    "urls": repeated(r"\url{http://a.b/c} "),
    "open urls": repeated(r"\url{http"),
    "labels": repeated(r"\label{a}\ref{a} "),
    "refs": repeated(r"\ref{a}"),
    "stops": repeated(". A"),
    "quotes": repeated("`'"),
    "diamond": diamond,
    "cycle": lambda size: one(r"\input{main}\input{a}" + "word " * (size // 5)) | {"a.tex": b"\\input{b} x", "b.tex": b"\\input{a} y"},
    "bibliography": bibliography,
    "broken bibliography": broken_bib,
    "bibitems": bibitems,
    "open bibitems": lambda size: one(r"\begin{thebibliography}{9}" + r"\bibitem{k} \emph{x " * (size // 20)),
    "bib strings": lambda size: (
        one(r"\nocite{*}\bibliography{r}")
        | {"r.bib": ("@string{a = {x}}\n" + "@string{a = a # a # a}\n" * (size // 24) + "@misc{k, title=a # a}").encode()}
    ),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_hostile_source_ends_in_a_document_or_a_parse_error(name: str):
    try:
        document = parse(CASES[name](20_000), WorkId("local:x"), "b")
    except ParseError:
        return
    assert document.status in (Status.OK, Status.PARTIAL)
    assert all(0 <= span.start < span.end <= len(document.text) for span in document.spans)


KEPT = sorted(set(CASES) - {"percent signs", "comments", "backslashes"})


@pytest.mark.parametrize("name", KEPT)
def test_text_before_the_trouble_is_kept(name: str):
    assert "Kept words." in parse(CASES[name](5_000), WorkId("local:x"), "b").text
