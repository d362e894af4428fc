"""A citation names the place as the source itself prints it, and no number that the source does not print."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lineage.citation import citation, floats, name, numbered, pinpoint
from lineage.records import Chunk, Focus, Hit, Work, WorkId

WORK = Work(WorkId("arxiv:2006.10726"), meta={"version": "v3"})
ROWS = Chunk("c_1", WORK.id, "main.tex", "paper", "table", "lr | 0.1", "", 0, 8, 1, 1, section=("4 Experiments", "4.1 Setup"), label="Table 3")


def cited(chunk: Chunk) -> str:
    return citation(Hit(1, 1.0, chunk, WORK))


def test_rows_of_a_table_are_cited_with_the_number_of_the_table():
    assert cited(ROWS) == "arXiv:2006.10726v3#4.1, Table 3"
    assert cited(replace(ROWS, section=("Experiments",))) == "arXiv:2006.10726v3#Experiments, Table 3"
    assert cited(replace(ROWS, section=(), page=6)) == "arXiv:2006.10726v3#page=6, Table 3"
    assert cited(replace(ROWS, section=())) == "arXiv:2006.10726v3#Table 3"


@pytest.mark.parametrize(
    ("label", "printed"),
    [
        ("Figure 2", "Figure 2"),
        ("Fig. 2", "Figure 2"),
        ("TABLE IV", "Table IV"),
        ("Tab. A.1", "Table A.1"),
        ("Algorithm 1", "Algorithm 1"),
        ("Supplementary Table 1", "Supplementary table 1"),
        ("Table S1", "Table S1"),
        ("Table", ""),
        ("(a)", ""),
        ("4.1", ""),
        ("tab:results", ""),
        ("Table of figures", ""),
        ("Footnote 3", ""),
    ],
)
def test_a_float_is_called_what_papers_call_it_or_nothing(label, printed):
    assert floats(replace(ROWS, role="caption", text="x", label=label)) == ([printed] if printed else [])


def test_words_beside_a_figure_are_not_cited_as_the_figure():
    assert cited(replace(ROWS, role="paragraph", label="Figure 2")) == "arXiv:2006.10726v3#4.1"


def test_captions_that_stand_together_are_all_cited():
    text = "Figure 2: One, as in Figure 7.\n\nFigure 3: Two.\n\nTable 4. On average they are."
    assert cited(replace(ROWS, role="caption", text=text, label="Figure 3")) == "arXiv:2006.10726v3#4.1, Figure 2, Figure 3"


CODE = Work(WorkId("repo:github.com/O/N"), "code", meta={"commit": "e9e926a6" + "0" * 32})
LINES = Chunk("c_2", CODE.id, "src/train.py", "code", "function", "x", "", 0, 1, 9, 68)


def test_code_is_cited_by_its_lines_and_commit_where_one_is_known():
    assert citation(Hit(1, 1.0, LINES, CODE)) == "github.com/O/N/src/train.py#L9-L68@e9e926a6"
    assert citation(Hit(1, 1.0, LINES, replace(CODE, meta={}))) == "github.com/O/N/src/train.py#L9-L68"


def test_the_lines_that_answer_are_cited_where_they_are_known_and_of_code_only():
    focus = Focus(31, 33)
    assert pinpoint(Hit(1, 1.0, LINES, CODE, focus=focus)) == "github.com/O/N/src/train.py#L31-L33@e9e926a6"
    assert pinpoint(Hit(1, 1.0, LINES, CODE)) == citation(Hit(1, 1.0, LINES, CODE))
    assert pinpoint(Hit(1, 1.0, ROWS, WORK, focus=focus)) == cited(ROWS)


@pytest.mark.parametrize(
    ("work", "called"),
    [
        (Work(WorkId("arxiv:2006.10726")), "arXiv:2006.10726"),
        (Work(WorkId("arxiv:2006.10726"), meta={"version": 3}), "arXiv:2006.10726v3"),
        (Work(WorkId("arxiv:hep-th/9901001"), meta={"version": "v1"}), "arXiv:hep-th/9901001v1"),
        (CODE, "github.com/O/N"),
        (Work(WorkId("doi:10.1000/x")), "doi:10.1000/x"),
        (Work(WorkId("local:0011")), "local:0011"),
    ],
)
def test_a_work_is_called_by_its_identifier(work, called):
    assert name(work) == called


@pytest.mark.parametrize(
    ("label", "section", "told"),
    [
        ("4.1", ("Experiments", "Setup"), ["4 Experiments", "4.1 Setup"]),
        ("A.2", ("Details", "Losses"), ["A Details", "A.2 Losses"]),
        ("4.1", ("4 Experiments", "4.1 Setup"), ["4 Experiments", "4.1 Setup"]),
        ("Table 3", ("Experiments",), ["Experiments"]),
        ("", ("Experiments",), ["Experiments"]),
        ("4.1", (), []),
    ],
)
def test_titles_are_told_with_the_numbers_that_are_printed(label, section, told):
    chunk = replace(ROWS, role="paragraph", label=label, section=section)
    assert numbered(chunk) == told
    assert cited(chunk) == "arXiv:2006.10726v3" + (f"#{told[-1].split()[0]}" if told else "")


def test_an_inner_title_without_a_number_is_cited_by_the_number_around_it():
    assert cited(replace(ROWS, role="paragraph", label="", section=("4 Experiments", "Setup"))) == "arXiv:2006.10726v3#4"
    assert numbered(replace(ROWS, label="4", section=("Experiments", "Setup"))) == ["4 Experiments", "Setup"]
    assert cited(replace(ROWS, role="paragraph", label="", section=("A. Details",))) == "arXiv:2006.10726v3#A"
    assert cited(replace(ROWS, role="paragraph", label="", section=("A Details",))) == "arXiv:2006.10726v3#A"
    assert cited(replace(ROWS, role="paragraph", label="", section=("A priori bounds",))) == "arXiv:2006.10726v3#A priori bounds"


def test_lines_of_a_folder_are_cited_by_its_name_with_what_it_is_a_checkout_of():
    chunk = Chunk("c_2", WorkId("local:1bbe974229afbc64"), "main_dit.py", "code", "module", "x", "", 0, 1, 1, 20)
    folder = Work(chunk.work, "code", "rcg", meta={"file": "rcg"})
    checkout = replace(folder, meta={"file": "rcg", "commit": "e9e926a6" + "0" * 32, "remote": "github.com/LTH14/rcg"})
    assert citation(Hit(1, 1.0, chunk, folder)) == "rcg/main_dit.py#L1-L20"
    assert citation(Hit(1, 1.0, chunk, checkout)) == "rcg/main_dit.py#L1-L20@e9e926a6 (github.com/LTH14/rcg)"
    assert name(replace(folder, title="", meta={})) == "local:1bbe974229afbc64"
    assert name(replace(folder, meta={"file": "a\x1b[31m\u202eb"})).isprintable()
