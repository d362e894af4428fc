"""The target's own function for each part of a task is in before any choice; others' code answers what no own function does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lineage.generation import open_generation
from lineage.records import Hit, Query, Work
from retrieval.context.compose import pack
from retrieval.context.required_context import answering, without_answered
from retrieval.context.task import Subquestion, subquestions
from retrieval.context.token_budget import TokenEstimator
from retrieval.context.units import NEARLY_NOTHING, PackUnit, distinct, units, words_of
from retrieval.search.engine import Engine
from tests.fakes import small_lineage as small

CODE = frozenset({"code"})
LOOP = Subquestion("training loop", 0.5, "part", kinds=CODE)
FIT = "def fit(model, data):\n" + "\n".join(f"    unrelated_{n}(model, {n})" for n in range(60)) + "\n    loss(model, data).backward()\n"
TASK = "reproduce the paper: training loop and settings"


def unit(name, text, relevance, own=True, path="train.py", **more):
    work = small.OWN if own else small.REPO
    hit = Hit(1, 1.0, small.chunk(work, path, text, symbol=name), Work(work, "code"), from_target=own)
    return PackUnit(hit, "imitate", text, relevance, frozenset(text.split()), **more)


def test_the_parts_of_a_task_are_what_its_colon_lists_and_settings_alone_are_no_question():
    assert [one.text for one in subquestions(TASK) if one.of == "part" and not one.kinds] == ["training loop"]


def test_the_most_relevant_own_function_does_a_part_and_of_those_that_train_if_training_is_asked():
    some = [unit("hook", "def hook(): ...", {0: 0.9}), unit("step", "loss.backward()", {0: 0.1}), unit("other", "b.backward()", {0: 1.0}, own=False)]
    assert answering(some, [LOOP])[0].hit.chunk.symbol == "step"
    assert answering(some, [replace(LOOP, text="checks of hooks")])[0].hit.chunk.symbol == "hook"


def test_what_others_have_hardly_answers_what_own_code_does_unless_own_code_calls_it():
    own = unit("fit", "adapt_all(model)", {0: 0.5})
    others = [unit("copy", "x", {0: 0.8, 1: 0.8}, own=False), unit("adapt_all", "x", {0: 0.8}, own=False)]
    questions = [LOOP, Subquestion("noise", 0.5, "part", kinds=CODE)]
    found = without_answered([own, *others], questions, {0: own})
    assert [{number: round(one, 2) for number, one in unit.relevance.items()} for unit in found] == [{0: 0.5}, {0: 0.08, 1: 0.8}, {0: 0.8}]
    assert without_answered(others, questions, {}) == others


@pytest.mark.parametrize("stage", [None, "coding", "analysis"])
def test_the_own_training_function_is_in_the_pack_cut_if_need_be(tmp_path, stage):
    long = replace(small.chunk(small.OWN, "fit.py", FIT, first=11, symbol="fit"), language="python")
    loops = (f"def training_loop_{n}(steps):\n    return steps + {n}" for n in range(9))
    foreign = [small.chunk(small.REPO, f"t{n}.py", text, symbol="training_loop") for n, text in enumerate(loops)]
    small.build(tmp_path, pieces=[*small.chunks(), long, *foreign])
    with Engine(open_generation(tmp_path, "small")) as engine:
        made = pack(engine, "implement the model: fit", stage, 900, TokenEstimator())
    assert ".backward()" in made.text
    assert made.used <= 900


def test_units_that_differ_in_names_only_are_one_and_numbers_are_no_names():
    def guide(name, n=1):
        return f"this guide tells how to run the {name} model with our changes for {n} epochs in all steps below as in the paper"

    told = [("a", guide("mae"), {0: 0.2}), ("b", guide("dino"), {0: 0.5}), ("c", guide("mae", 2), {})]
    some = [unit(*one, order=(n, 0)) for n, one in enumerate(told)]
    assert [(one.hit.chunk.symbol, one.relevance) for one in distinct(some)] == [("a", {0: 0.5}), ("c", {})]


@pytest.mark.parametrize(
    ("path", "kind", "text"),
    [
        ("README.md", "docs", "# Runs\n\nThis guide tells how to run the experiments of our paper in all steps."),
        ("CODE_OF_CONDUCT.md", "docs", "The experiments of participants are welcome whatever their number and their training."),
        ("demo.ipynb", "code", "!pip install timm\nmodel = experiments()"),
    ],
)
def test_titles_of_guides_customs_and_first_cells_are_worth_nearly_nothing(tmp_path, path, kind, text):
    catalog = open_small(tmp_path, small.chunk(small.OWN, path, text, kind))
    with Engine(catalog) as engine:
        answers = [engine.ask(Query("experiments of the paper"))]
        found = units(engine.generation.catalog, answers, words_of(engine.generation.catalog, [LOOP], answers, 9))
    assert [max(one.relevance.values()) <= NEARLY_NOTHING for one in found if one.hit.chunk.path == path] == [True]


def open_small(tmp_path, chunk):
    small.build(tmp_path, pieces=[*small.chunks(), chunk])
    return open_generation(tmp_path, "small")
