"""A paper's LaTeX becomes one document: readable text, spans, citations with their sentences, links."""

from __future__ import annotations

import io
import tarfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.parsers.latex.parser import parse
from lineage.errors import ParseError
from lineage.records import Document, Status, WorkId
from tests.data import EVAL, needs_eval

PAPER = WorkId("arxiv:2501.00001")


def read(body: str, preamble: str = "", **members: str) -> Document:
    source = r"\documentclass{article}" + preamble + r"\begin{document}" + body + r"\end{document}"
    return parse({"main.tex": source.encode(), **{name.replace("__", "."): text.encode() for name, text in members.items()}}, PAPER, "blob")


def texts(document: Document, role: str) -> list[str]:
    return [document.text[span.start : span.end] for span in document.spans if span.role == role]


def test_formatting_accents_quotes_and_ties_read_as_plain_prose():
    document = read(r"\textbf{M\"uller}~and \emph{Erd\H{o}s} said ``na\"{\i}ve'' -- \v{S}\'ilj{\aa}k, 95\%.")
    assert document.text == "Müller and Erdős said “naïve” – Šíljåk, 95%."


def test_inline_mathematics_keeps_compact_tex_and_bare_numbers_lose_their_dollars():
    document = read(r"We set $\alpha  = 0.5$ for $10$ runs at $92\%$, $\times$ two.")
    assert document.text == r"We set $\alpha= 0.5$ for 10 runs at 92%, × two."


def test_sections_are_numbered_lettered_and_give_the_path():
    document = read(r"\section{Model}a\subsection{Setup}b\subsubsection*{Free}c\section{End}d\appendix\section{More}e\subsection{Deep}f")
    found = [(span.path, span.label) for span in document.spans if span.role == "section"]
    assert found == [
        (("Model",), "1"),
        (("Model", "Setup"), "1.1"),
        (("Model", "Setup", "Free"), ""),
        (("End",), "2"),
        (("More",), "A"),
        (("More", "Deep"), "A.1"),
    ]
    assert texts(document, "heading") == ["1 Model", "1.1 Setup", "Free", "2 End", "A More", "A.1 Deep"]


def test_references_forward_and_back_become_numbers_and_unknown_ones_say_so():
    document = read(r"See \S\ref{b}, \cref{t} and \ref{no}.\section{A}\label{b}x\begin{table}\caption{T}\label{t}\end{table}")
    assert document.text.startswith("See §1, Table 1 and [ref].")


def test_a_citation_has_its_sentence_section_offsets_and_company():
    document = read(r"\section{Intro}\subsection{Past} First one. We follow Kim et al.~\cite[see][p.~3]{kim, lee} in Fig. 2 here. Last one.")
    first, second = document.mentions
    assert (first.key, second.key) == ("kim", "lee")
    assert first.sentence == "We follow Kim et al. [see kim; lee, p. 3] in Fig. 2 here."
    assert document.text[first.start : first.end] == first.sentence
    assert first.section == ("Intro", "Past")
    assert first.together == ("kim", "lee")
    assert first.said_by == "latex"


@pytest.mark.parametrize(
    "command",
    [
        r"\cite{k}",
        r"\citep[e.g.][]{k}",
        r"\Citet*{k}",
        r"\citeauthor{k}",
        r"\autocite{k}",
        r"\parencite[2]{k}",
        r"\textcite{k}",
        r"\footcite{k}",
        r"\mine{k}",
    ],
)
def test_every_kind_of_citation_is_a_mention(command: str):
    document = read("A " + command + " b.", r"\newcommand{\mine}[1]{(\citealp{#1})}")
    assert [mention.key for mention in document.mentions] == ["k"]


def test_multiple_citation_commands_of_biblatex_give_every_key():
    assert [mention.key for mention in read(r"x \parencites[1]{a}[2]{b}{c} y").mentions] == ["a", "b", "c"]


def test_citations_in_captions_footnotes_titles_tables_and_theorem_notes_count():
    document = read(
        r"\section{T \cite{a}}x\footnote{y \cite{b}}\begin{table}\caption{z \cite{c}}\begin{tabular}{l}q \cite{d}\\\end{tabular}\end{table}"
        r"\begin{theorem}[\cite{e}]s\end{theorem}"
    )
    assert sorted(mention.key for mention in document.mentions) == ["a", "b", "c", "d", "e"]


def test_the_authors_own_commands_are_expanded_with_xspace_and_optional_arguments():
    document = read(
        r"\ours beats \ours, \rate{} and \rate[9] by \def\x#1{<#1>}\x{3}.",
        r"\usepackage{xspace}\newcommand{\ours}{\textsc{SciFact}\xspace}\newcommand{\rate}[1][5]{#1 points}",
    )
    assert document.text == "SciFact beats SciFact, 5 points and 9 points by <3>."


def test_let_keeps_the_old_meaning_and_a_definition_may_wrap_itself():
    document = read(
        r"\a{} \b{}", r"\newcommand{\a}{one}\let\olda\a\renewcommand{\a}{\olda{} two}\def\b{x}\expandafter\def\expandafter\b\expandafter{\b y}"
    )
    assert document.text == "one two xy"
    assert document.status is Status.OK


def test_a_drawing_is_text_only_where_it_cites():
    document = read(r"a \begin{tikzpicture}\node {plain};\end{tikzpicture} b \begin{forest}[root[\cite{k}]]\end{forest}")
    assert "plain" not in document.text
    assert [mention.key for mention in document.mentions] == ["k"]


def test_a_lost_dollar_costs_a_paragraph_and_not_the_paper():
    assert read("a $x + y\n\nNext \\cite{k} one $z").text == "a $x + y$\n\nNext [k] one $z$"


def test_definitions_in_a_style_file_beside_the_paper_are_known():
    assert read(r"\sys{} works", r"\usepackage{mine}", mine__sty=r"\newcommand{\sys}{Hydra}\newcommand\a@b{no}").text == "Hydra works"


def test_footnotes_follow_their_paragraph_and_links_name_the_nearest_citation():
    document = read(r"We use code\footnote{At \url{https://github.com/a/b_c}.} of \cite{kim} here.")
    assert document.text == "We use code of [kim] here.\n\nAt https://github.com/a/b_c."
    assert document.links == (("https://github.com/a/b_c", "We use code of [kim] here. — At https://github.com/a/b_c."),)


def test_tables_keep_rows_on_lines_and_know_their_caption():
    document = read(
        r"\begin{table}\begin{tabular}{lc}\toprule lr & 0.1\\ \cmidrule(lr){1-2} wd & \multicolumn{1}{c}{0.05}\\\end{tabular}\caption{Use}\end{table}"
    )
    table = next(span for span in document.spans if span.role == "table")
    assert document.text[table.start : table.end] == "lr | 0.1\nwd | 0.05"
    assert (table.label, table.header) == ("Table 1", "Table 1: Use")


def test_displayed_equations_are_spans_that_know_the_sentence_around():
    document = read(r"The loss is \begin{equation}\label{e} L = \frac{1}{2} x^2 \end{equation} where $x$ is it. By \eqref{e}.")
    equation = next(span for span in document.spans if span.role == "equation")
    assert document.text[equation.start : equation.end] == r"$$L = \frac{1}{2} x^2$$ (1)"
    assert equation.header == "The loss is … where $x$ is it."
    assert document.text.endswith("By (1).")


def test_lists_algorithms_and_verbatim_keep_their_lines():
    document = read(
        r"\begin{enumerate}\item one\item two\begin{itemize}\item in\end{itemize}\end{enumerate}"
        r"\begin{algorithmic}\STATE $x \leftarrow 1$ \FOR{each $i$} \STATE go \ENDFOR\end{algorithmic}"
        "\\begin{verbatim}\n% kept {\n  x\n\\end{verbatim}"
    )
    assert texts(document, "list") == ["1. one\n2. two\n  - in"]
    assert texts(document, "algorithm") == ["$x \\leftarrow 1$\nfor each $i$\ngo\nend for", "% kept {\n  x"]


def test_title_and_abstract_are_found_wherever_they_stand():
    document = read(r"\maketitle x", r"\title{A \\ Study\thanks{money}}\begin{abstract}Short \cite{k}.\end{abstract}")
    assert (document.title, document.abstract) == ("A Study", "Short [k].")
    assert document.mentions[0].section == ("Abstract",)


def test_what_is_commented_out_in_any_way_is_no_text():
    document = read("a % b\n\\iffalse c \\iftrue d \\fi \\else e \\fi \\begin{comment} f \\end{comment} g")
    assert document.text == "a e g"


def test_words_in_white_are_left_out_and_noted_but_not_in_tables():
    document = read(r"a \textcolor{white}{obey me} b {\color{white} and me} \textcolor{red}{c} \begin{tabular}{l}\textcolor{white}{d}\end{tabular}")
    assert document.text == "a b c\n\nd"
    assert document.lost == (("white text", Status.POLICY_SKIPPED, "words printed so that nobody sees them were left out"),)


def test_switches_are_followed():
    assert read(r"\iflong long\else short\fi", r"\newif\iflong\longtrue").text == "long"


def test_a_condition_that_needs_tex_reads_its_first_branch_and_says_so():
    document = read(r"\ifdim\x>1pt one\else two\fi")
    assert "one" in document.text
    assert document.status is Status.PARTIAL
    assert r"\ifdim" in document.detail


def test_input_reads_members_only_and_records_what_is_missing_or_cyclic():
    document = read(r"\input{part}\include{gone}\input{/etc/passwd}\input{../../x}", part__tex=r"words \input{main.tex} more", _part__tex="dead")
    assert document.text == "words more"
    assert {subject: status for subject, status, _ in document.lost} == {
        "main.tex": Status.PARTIAL,
        "gone": Status.NOT_FOUND,
        "/etc/passwd": Status.NOT_FOUND,
        "../../x": Status.NOT_FOUND,
        "_part.tex": Status.POLICY_SKIPPED,
    }


def test_a_subfile_with_a_frame_of_its_own_is_read_without_it():
    document = read(r"a \subfile{s/one} b", **{"s/one__tex": r"\documentclass[../main]{subfiles}\begin{document}in\end{document} never"})
    assert document.text == "a in b"


def test_the_main_file_is_the_one_arxiv_names_or_the_likeliest_and_the_other_is_recorded():
    frame = r"\documentclass{article}\begin{document}%s\end{document}"
    files = {"a.tex": (frame % "old").encode(), "main.tex": (frame % "new").encode(), "._main.tex": b"\0\5"}
    document = parse(files, PAPER, "b")
    assert (document.path, document.text) == ("main.tex", "new")
    assert document.lost[0][:2] == ("a.tex", Status.POLICY_SKIPPED)
    declared = parse(files | {"00README.json": b'{"sources": [{"filename": "a.tex", "usage": "toplevel"}]}'}, PAPER, "b")
    assert declared.path == "a.tex"


def test_a_single_file_without_a_name_ending_and_latex_209_are_read():
    assert parse({"2004.14974": rb"\documentstyle{article}\begin{document}old\end{document}"}, PAPER, "b").text == "old"


@pytest.mark.parametrize(
    ("data", "text"),
    [("caf\u00e9".encode("latin-1"), "café"), ("“x”".encode("cp1252"), "“x”"), ("\ufeffé".encode("utf-8"), "é"), (b"a\x00b\x1bc\xe2\x80\x8b", "abc")],
)
def test_encodings_are_guessed_and_unseen_characters_dropped(data: bytes, text: str):
    assert parse({"m.tex": rb"\documentclass{a}\begin{document}" + data + rb"\end{document}"}, PAPER, "b").text == text


@pytest.mark.parametrize(
    "members", [{}, {"a.tex": b"no tex at all"}, {"x.png": b"\x89PNG"}, {"m.tex": rb"\documentclass{a}\begin{document}\end{document}"}]
)
def test_what_holds_no_text_is_a_parse_error_with_a_status(members: dict[str, bytes]):
    with pytest.raises(ParseError) as caught:
        parse(members, PAPER, "b")
    assert caught.value.status in (Status.NO_TEXT, Status.EMPTY)


_PIECES = [
    *[
        r"\cite{k}",
        r"{",
        r"}",
        r"$",
        r"$$",
        r"\[",
        r"[",
        r"]",
        r"&",
        r"\\",
        r"word.",
        r"\section{S}",
        r"\footnote{",
        r"\begin{table}",
        r"\end{table}",
        r"\begin{tabular}{c}",
        r"\end{tabular}",
        r"\caption{",
    ],
    *[
        r"\item",
        r"\begin{itemize}",
        r"\end{itemize}",
        r"\def\x#1{",
        r"\x",
        r"\iffalse",
        r"\fi",
        r"\input{main}",
        r"\begin{equation}",
        r"\end{equation}",
        r"\url{a",
        r"\verb|",
        r"#1",
        r"é",
    ],
    *[
        r"\newcommand{\y}[2][",
        r"\y",
        r"\begin{abstract}",
        r"\'",
        r"\bibitem{k}",
        r"\begin{thebibliography}{1}",
        r"\end{thebibliography}",
        r"\newblock",
        r"\emph{",
    ],
    *[r"\href{u}{", r"\ref{a}", r"\end{document}", "%\n", "\n\n", " "],
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=40))
def test_spans_and_mentions_of_any_source_lie_in_order_inside_the_text(pieces: list[str]):
    try:
        document = read("start " + "".join(pieces))
    except ParseError:
        return
    keys = [(span.start, -span.end) for span in document.spans]
    assert keys == sorted(keys)
    assert all(0 <= span.start < span.end <= len(document.text) for span in document.spans)
    assert all(0 <= mention.start <= mention.end <= len(document.text) for mention in document.mentions)
    assert document == read("start " + "".join(pieces))


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(["a.tex", "b.bib", "a.bbl", "x", "00README.json"]), st.binary(max_size=200), max_size=4))
def test_garbage_gives_a_document_or_a_parse_error(members: dict[str, bytes]):
    try:
        document = parse(members, PAPER, "b")
    except ParseError:
        return
    assert document.text.strip()


@needs_eval
@pytest.mark.parametrize(
    ("paper", "entries", "mentions"), [("1911.02782.textonly", 55, 88), ("2004.14974.textonly", 36, 49), ("2306.17806v1.textonly", 85, 125)]
)
def test_real_papers_are_read_whole(paper: str, entries: int, mentions: int):
    with tarfile.open(fileobj=io.BytesIO((EVAL / "references" / "src" / f"{paper}.tar.gz").read_bytes())) as tar:
        members = {item.name: tar.extractfile(item).read() for item in tar if item.isreg()}
    document = parse(members, PAPER, "b")
    assert (len(document.bibliography), len(document.mentions)) == (entries, mentions)
    assert document.status is Status.OK


def test_code_announced_in_the_thanks_of_a_title_or_among_the_authors_is_a_link_of_the_paper():
    source = rb"""\documentclass{article}\title{A Title\thanks{Code: \url{https://github.com/a/b}}}
    \author{Ann Onym\thanks{Equal contribution.}\\ \url{https://github.com/ann}}
    \begin{document}\maketitle Some words stand here.\footnote{A note.}\end{document}"""
    document = parse({"main.tex": source}, WorkId("w:1"), "b")
    assert sorted(url for url, _ in document.links) == ["https://github.com/a/b", "https://github.com/ann"]
    assert document.title == "A Title"
    assert "Ann Onym" not in document.text
    assert [span.label for span in document.spans if span.role == "footnote"][-1] == "Footnote 1"


def test_a_rule_of_the_papers_own_leaves_nothing_in_the_cell_behind_it():
    rule = r"\newlength\savewidth\newcommand\shline{\noalign{\global\savewidth\arrayrulewidth \global\arrayrulewidth 1pt}\hline}"
    document = read(r"\begin{tabular}{ll}config & value \\ \shline layers & 32 \\ \noalign{\vskip 2mm} width & 1024 \\\end{tabular}", rule)
    assert document.text == "config | value\nlayers | 32\nwidth | 1024"


TABLE = r"\begin{tabular}{lccc} & \multicolumn{2}{c}{ViT} & \makecell{Res\\Net} \\ \arrayrulecolor{black!30}\midrule lr & 1 & 2 & 3 \\\end{tabular}"


def test_a_shared_cell_leaves_empty_ones_and_lines_within_a_cell_are_no_rows():
    document = read(r"\begin{table}" + TABLE + r"\caption{Use}\end{table}")
    assert texts(document, "table") == ["| ViT | | Res Net\nlr | 1 | 2 | 3"]


def test_a_cell_over_several_rows_is_said_in_each_that_leaves_it_empty():
    document = read(
        r"\begin{tabular}{lccc}\multirow{2}{*}{Data} & \multicolumn{2}{c}{SGD} & \multirow{2}*{Seeds} \\ \cmidrule{2-3} & lr & wd & \\ \midrule"
        r"\multirow[t]{3}[1]{2cm}[2pt]{\textbf{CIFAR} 10} & 0.1 & 0 & 5 \\ & 0.2 & 1 \\[2pt]"
        r" & \newline 0.3 & \multirow{2}{*}{2} & $k$ \\ \hline MNIST & 0.4 & &"
        r"\end{tabular}"
    )
    assert texts(document, "table")[0].split("\n") == [
        "Data | SGD | | Seeds",
        "Data | lr | wd | Seeds",
        "CIFAR 10 | 0.1 | 0 | 5",
        "CIFAR 10 | 0.2 | 1",
        "CIFAR 10 | 0.3 | 2 | $k$",
        "MNIST | 0.4 | 2 |",
    ]


def test_a_cell_in_a_row_below_that_has_words_of_its_own_keeps_them():
    document = read(
        r"\begin{tabular}{ll}\multirow{9}{*}{a} & 1 \\ b & 2 \\ \multirow{2}{*}{c} & 3 \\ & 4 \\ & 5 \\ \end{tabular}"
        r" \begin{tabular}{l} & 6\end{tabular}"
    )
    assert texts(document, "table") == ["a | 1\nb | 2\nc | 3\nc | 4\n| 5", "| 6"]


def test_a_cell_that_claims_to_be_endless_is_no_more_than_forty_wide():
    document = read(r"\begin{tabular}{l}\multicolumn{999999999999}{c}{a} & b \\\end{tabular}")
    assert document.text.count("|") == 40


ONE = r"\begin{table}\caption{x}\begin{tabular}{l}a & 1\end{tabular}\end{table}"


@pytest.mark.parametrize(
    ("preamble", "labels"),
    [
        ("", ["Table 1", "Table 2"]),
        (r"\renewcommand{\thetable}{S\arabic{table}}", ["Table S1", "Table S2"]),
        (r"\makeatletter\renewcommand\thetable{\@arabic\c@table}", ["Table 1", "Table 2"]),
        (r"\renewcommand{\thetable}{\thesection.\arabic{table}}", ["Table 1.1", "Table 2.2"]),
        (r"\renewcommand{\thetable}{\Roman{table}}", ["Table", "Table"]),
        (r"\numberwithin{table}{section}", ["Table 1.1", "Table 2.1"]),
        (r"\counterwithin*{table}{section}", ["Table 1", "Table 1"]),
    ],
)
def test_a_table_has_the_number_that_is_printed_or_none(preamble, labels):
    document = read(r"\section{A}" + ONE + r"\section{B}" + ONE, preamble)
    assert [span.label for span in document.spans if span.role == "table"] == labels


def test_a_caption_without_a_number_takes_none_and_a_continued_table_has_that_of_the_first():
    document = read(ONE.replace("caption", "caption*") + ONE + ONE.replace(r"\caption", r"\ContinuedFloat\caption"))
    assert [span.label for span in document.spans if span.role == "table"] == ["Table", "Table 1", "Table 1"]
    assert texts(document, "caption") == ["x", "Table 1: x", "Table 1: x"]


def test_of_two_tables_in_one_float_each_has_its_own_caption():
    above = read(
        r"\begin{table}\caption{One}\begin{tabular}{l}a & 1\end{tabular}"
        r"\begin{minipage}{1cm}\caption{Two}\begin{tabular}{l}b & 2\end{tabular}\end{minipage}\end{table}"
    )
    below = read(
        r"\begin{table}\begin{tabular}{l}a & 1\end{tabular}\caption{One}"
        r"\begin{minipage}{1cm}\begin{tabular}{l}b & 2\end{tabular}\caption{Two}\end{minipage}\end{table}"
    )
    assert [span.header for span in above.spans if span.role == "table"] == ["Table 1: One", "Table 2: Two"]
    assert [span.header for span in below.spans if span.role == "table"] == ["Table 1: One", "Table 2: Two"]
