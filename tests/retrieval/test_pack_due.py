"""What is due: the passages in which the target states what is asked, and its own settings, before all that resembles the task."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lineage.generation import open_generation
from lineage.records import Fact, Hit, Work
from lineage.results import Detail, FactOccurrence, Gap, Gaps, Specification
from retrieval.context.compose import pack
from retrieval.context.required_context import Due, due
from retrieval.context.token_budget import TokenEstimator
from retrieval.search.engine import Engine
from tests.fakes import small_lineage as small

SETUP = "All runs use AdamW at 0.0003, batches of 96 examples, 400K steps, on eight machines."
ABLATION = "In a study of this choice we halve the batches to 48 examples."
OWN_CONFIG = "name: adamw\nlr: 3e-4\nbatch_size: 96\nsteps: 400000\nwarmup: 100"
TASK = "write the training loop that adapts by entropy with an optimizer, initialise with trunc_normal_"
SETUP_CHUNK = small.chunk(small.TARGET, "main.tex", f"{SETUP}\n\n{ABLATION}", "paper", 200, section=("4 Experiments", "4.1 Setup"))
CONFIG_CHUNK = small.chunk(small.OWN, "conf/run.yaml", OWN_CONFIG, "config")
COPY_CHUNK = small.chunk(small.OWN, "conf/run2.yaml", OWN_CONFIG + "\nseed: 1", "config")
PIECES = [*small.chunks(), SETUP_CHUNK, CONFIG_CHUNK, COPY_CHUNK]
NAMES = ("optimizer", "learning_rate", "batch_size", "steps")


def held(name, line=200, chunk=SETUP_CHUNK, kind="prose"):
    hit = Hit(1, 1.0, chunk, Work(small.TARGET), from_target=True)
    return FactOccurrence(Fact(name, "1", "", chunk.work, chunk.id, kind, line), hit)


def gap(name, facts):
    detail = Detail(name, name.replace("_", " "), "optimiser", f"which {name}", (name,), 0.8)
    return Gap(detail, Specification.SPECIFIED if facts else Specification.UNSPECIFIED, tuple(one.evidence for one in facts), tuple(facts))


def gaps(names=NAMES, line=200):
    return Gaps("small", "g", Work(small.TARGET), (), tuple(gap(name, [held(name, line)]) for name in names))


@pytest.fixture
def engine(tmp_path):
    facts = [Fact(name, "1", "", small.OWN, one.id, "config", at + 1) for one in (CONFIG_CHUNK, COPY_CHUNK) for at, name in enumerate(NAMES)]
    small.build(tmp_path, pieces=PIECES, facts=facts)
    with Engine(open_generation(tmp_path, "small")) as found:
        yield found


def packed(engine, task=TASK, stage=None, allowed=700, found=None, **more):
    return pack(engine, task, stage, allowed, TokenEstimator(), gaps=found or gaps(), **more)


@pytest.mark.parametrize("stage", [None, "planning", "analysis", "coding"])
def test_the_set_up_paragraph_comes_first_though_the_task_shares_no_word_with_it(engine, stage):
    made = packed(engine, stage=stage)
    assert SETUP in made.items[0].text
    assert made.used <= made.allowed


def test_only_the_paragraph_that_states_it_is_due(engine):
    assert ABLATION not in packed(engine, allowed=500).text


def test_a_passage_that_states_one_detail_of_which_the_task_does_not_speak_is_not_due(engine):
    assert SETUP not in packed(engine, "adapt by entropy", allowed=400, found=gaps(("learning_rate",))).text
    assert SETUP in packed(engine, "adapt by entropy with this learning rate", allowed=400, found=gaps(("learning_rate",))).text


def test_the_targets_own_settings_come_after_its_words_and_once(engine):
    made = packed(engine)
    assert "4.1" in made.items[0].title
    assert "own/conf/run.yaml" in made.items[1].title
    found = due(gaps(), TASK, None, engine)
    assert [unit.hit.chunk.path for unit in found.set] == ["conf/run.yaml", "conf/run2.yaml"]
    assert [unit.hit.chunk.path for unit in found.adding(found.set)] == ["conf/run.yaml"]


def test_a_task_that_asks_for_settings_asks_for_every_detail_that_is_stated(engine):
    found = gaps(("learning_rate",))
    assert SETUP not in packed(engine, "adapt by entropy: forward", allowed=400, found=found).text
    assert SETUP in packed(engine, "adapt by entropy: forward and settings", allowed=400, found=found).text


def test_options_of_the_own_program_are_due_and_options_that_nobody_asked_for_are_not_telling(tmp_path):
    chunks = (small.chunk(small.OWN, f"o{n}.py", f"parser.add_argument('--o{n}', default={n})", symbol="args") for n in (1, 2))
    options = [replace(one, role="config") for one in chunks]
    small.build(tmp_path, pieces=[*PIECES, *options], facts=[Fact("learning_rate", "1", "", small.OWN, options[0].id, "default", 1)])
    with Engine(open_generation(tmp_path, "small")) as engine:
        found = due(gaps(), "the optimiser", None, engine)
    assert [unit.hit.chunk.path for unit in found.set] == ["o1.py"]
    hits = [replace(found.set[0], hit=replace(found.set[0].hit, chunk=one)) for one in options]
    assert [found.telling(unit) for unit in hits] == [True, False]


def test_own_settings_are_left_out_with_the_rest_of_the_targets_code(engine):
    assert "own/conf" not in packed(engine.without_target_code()).text


def test_what_is_due_leaves_room_for_the_rest(tmp_path):
    said = "\n\n".join(f"Quantity {at} equals {at}{at}, without exception." for at in range(40))
    chunk = small.chunk(small.TARGET, "main.tex", said, "paper", 300, section=("4 Experiments", "4.2 Quantities"))
    rows = [gap(f"thing_{at}", [held(f"thing_{at}", 300 + 2 * (at // 2), chunk)]) for at in range(80)]
    small.build(tmp_path, pieces=[*small.chunks(), chunk])
    with Engine(open_generation(tmp_path, "small")) as engine:
        made = packed(engine, allowed=800, found=replace(gaps(), gaps=tuple(rows)))
    assert "Quantity 0 equals 00" in made.items[0].text
    assert small.INIT.splitlines()[0] in made.text
    assert small.ADAPT.splitlines()[0] in made.text


def test_what_holds_for_all_files_comes_before_them(engine):
    made = packed(engine, "Reproduce it\n- model.py: trunc_normal_ initialisation\n- adapt.py: entropy of predictions", "analysis", 900)
    assert made.text.index("# For all of it") < made.text.index(SETUP) < made.text.index("# `model.py`")


def test_a_sentence_that_a_service_quoted_is_no_passage(engine):
    only = gaps()
    rows = tuple(replace(one, stated=(replace(one.stated[0], flags=("quoted",)),), facts=()) for one in only.gaps)
    assert due(only, TASK, None, engine).said
    assert not due(replace(only, gaps=rows), TASK, None, engine).said


def test_without_a_report_of_gaps_nothing_is_due(engine):
    assert due(None, TASK, None, engine) == Due()
