"""A citation names the place as the source itself prints it, and no number that the source does not print."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lineage.cite import citation, floats
from lineage.model import Chunk, Hit, Work, WorkId

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
