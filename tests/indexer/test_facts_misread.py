"""Names and numbers that TeX and phrases bring close to each other without one being the other's."""

import time

import pytest

from indexer.extraction import prose, tables
from indexer.extraction.collector import Sink
from lineage.hyperparameters.ontology import ontology


def said(text, around=""):
    sink = Sink(ontology(), "prose")
    prose.read(text, sink, around=around)
    return {(one.name, one.value) for one in sink.found}


@pytest.mark.parametrize(
    "names",
    [r"$\beta_1$ and $\beta_2$", r"$\beta_{1}$ and $\beta_{2}$", r"${\beta}_1$ and ${\beta}_2$", r"$\beta_1, \beta_2$", r"$\beta_1$, $\beta_2$"],
)
def test_names_in_tex_have_their_values_in_order(names):
    assert said(f"The {names} of AdamW are set to 0.9 and 0.95.") >= {("adam_beta1", "0.9"), ("adam_beta2", "0.95")}


def test_a_name_in_tex_has_the_number_after_it():
    assert said("We report results for temperature$=0.2$ and top-$p$ = 0.9.") == {("temperature", "0.2"), ("top_p", "0.9")}


@pytest.mark.parametrize(
    "piece", ["$", "}$ ", "$\\beta_1$ and ", "accumulated the ", "EMA of ", "no nor ", "multi-step ", "beta}2.", "learning rate$ of ", "[a] "]
)
def test_endless_tex_ends_quickly(piece):
    text = piece * (20_000 // len(piece))
    started = time.thread_time()
    said(text + "momentum of 128 steps, multi-step, AdamW")
    sink = Sink(ontology(), "table")
    for rows in tables.blocks(["Method | Dim.", f"{text[:3_900]} | 8", "Ours | 16"]):
        tables.read(rows, sink)
    assert time.thread_time() - started < 3
