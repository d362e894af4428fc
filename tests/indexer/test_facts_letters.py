"""Letters that stand for one setting in a paper that is about it."""

import time

import pytest

from indexer.extraction import extract, formulas
from indexer.extraction.collector import Sink
from lineage.hyperparameters.ontology import ontology
from lineage.records import Document, Span, WorkId


def paper(said, about="DPO " * 12, role="paragraph"):
    text = f"{about}\n\n{said}"
    spans = (Span(0, len(about), "paragraph", ("1 Introduction",)), Span(len(about) + 2, len(text), role, ("5 Experiments",)))
    sink = Sink(ontology(), "prose")
    extract.read(Document(WorkId("arxiv:2001.00001"), "main.tex", text, spans, "latex@2", "paper"), sink)
    return [(one.name, one.value, one.scope) for one in sink.found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We set β = 0.1.", [("dpo_beta", "0.1", "")]),
        (
            "We present main SD1.5 results with $\\beta=2000$ and SDXL results with $\\beta=5000$.",
            [("dpo_beta", "2000", "SD1.5"), ("dpo_beta", "5000", "SDXL")],
        ),
        ("We run all experiments on SD 1.5 with $\\beta=5k$.", [("dpo_beta", "5000", "SD 1.5")]),
        ("training ($\\beta=5000$, 2000 steps) the model", [("steps", "2000", ""), ("dpo_beta", "5000", "")]),
    ],
)
def test_in_a_paper_on_dpo_beta_is_its(text, expected):
    assert paper(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "We set $\\beta_1=0.9$.",
        "We use $\\gamma=0.1$.",
        "We obtain $\\beta=2\\log p$.",
        "The bound holds with β = 1.",
        "For simplicity we set β = 1.",
    ],
)
def test_other_letters_formulas_and_assumptions_are_not(text):
    assert ("dpo_beta", "1", "") not in paper(text)
    assert not [one for one in paper(text) if one[0] == "dpo_beta"]


def test_an_equation_and_a_paper_on_something_else_state_nothing():
    assert paper("We set β = 0.1.", role="equation") == []
    assert paper("We set β = 0.1.", about="Variational autoencoders. DPO is different.") == []


@pytest.mark.parametrize("piece", ["$\\beta=", "β = 1", "we set \\", "1.5 results with ", "β=5k^", "on A b with "])
def test_endless_letters_end_quickly(piece):
    started = time.perf_counter()
    paper("We set " + piece * (20_000 // len(piece)))
    assert formulas.meant("DPO " * 5_000, ontology())
    assert time.perf_counter() - started < 2
