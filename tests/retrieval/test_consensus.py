"""What a lineage agrees on: values, holders, what overrides what, and what the target inherits."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from lineage.errors import NotFound
from lineage.generation import open_generation
from lineage.hyperparameters.ontology import ontology
from lineage.records import Fact, Hit, Role, RoleVerdict, Work
from lineage.results import FactOccurrence
from retrieval.decisions.consensus import consensus, tallies
from retrieval.decisions.fact_index import FactIndex, holders, standing
from retrieval.search.work_relations import WorkRelations
from tests.fakes import small_lineage as small
from tests.fakes.profiles import profiled

RUN = "set -e\npython train.py --lr 3e-4 \\\n  --config conf.yaml\npython eval.py --lr 7e-4"
TRAIN = "parser.add_argument('--lr', default=1e-2)\nparser.add_argument('--wd', default=0.1)"
PIECES = [
    *small.chunks(),
    small.chunk(small.REPO, "train.py", TRAIN),
    small.chunk(small.REPO, "run.sh", RUN),
    small.chunk(small.OWN, "main.py", "lr = 5e-4"),
    small.chunk(small.REPO, "tests/check.py", "lr = 9"),
    SAMPLE := small.chunk(small.OWN, "sample.py", "lr = 0.7"),
]


def fact(work, path, value, kind, line, written="lr", name="learning_rate", scope="", literal=True):
    chunk = next(one for one in PIECES if one.work == work and one.path == path and one.start_line <= line <= one.end_line)
    return Fact(name, value, "", work, chunk.id, kind, line, written, f"{written} {value}", scope, literal)


REPO = [
    fact(small.REPO, "train.py", "0.01", "default", 1),
    fact(small.REPO, "conf.yaml", "0.001", "config", 3, scope="optimizer"),
    fact(small.REPO, "run.sh", "0.0003", "command", 2, scope="train.py"),
    fact(small.REPO, "run.sh", "0.0007", "command", 4, scope="eval.py"),
]
CITED = fact(small.CITED, "main.tex", "0.001", "prose", 120, "learning rate")
OWN = fact(small.OWN, "main.py", "0.0005", "default", 1)
TARGET = fact(small.TARGET, "main.tex", "0.002", "table", 88, "learning rate")


@pytest.fixture
def read(tmp_path):
    def run(*facts):
        small.build(tmp_path, pieces=PIECES, facts=facts)
        with open_generation(tmp_path, "small") as generation:
            return holders(generation.catalog, WorkRelations.read(generation.catalog, small.TARGET), "small", generation.manifest.id, small.TARGET)

    return run


def test_a_command_overrides_the_settings_and_defaults_of_what_it_runs(read):
    by_place = {(one.fact.line, one.fact.kind, one.fact.value): one for one in read(*REPO).of("learning_rate")}
    command = by_place[2, "command", "0.0003"]
    assert [(old.kind, old.value) for old in command.overridden] == [("default", "0.01"), ("config", "0.001")]
    assert [old.value for old in by_place[3, "config", "0.001"].overridden] == ["0.01"]
    assert by_place[4, "command", "0.0007"].overridden == ()


def test_evidence_is_the_line_in_its_chunk_with_its_kin(read):
    held = next(one for one in read(*REPO).of("learning_rate") if one.fact.kind == "config")
    assert (held.evidence.chunk.path, held.evidence.focus.start_line, held.evidence.reference.cited) == ("conf.yaml", 3, small.CITED)
    assert (held.evidence.paper.id, held.since) == (small.CITED, "")
    assert next(one for one in read(CITED).of("learning_rate")).since == "2020"


def test_what_is_overridden_stands_for_nothing_by_itself(read):
    found = consensus(read(*REPO), "step size", ontology())
    assert [value.value for value in found.values] == ["0.0003", "0.0007"]
    assert found.notes == ("2 values are overridden within the same repository",)


def test_the_targets_own_text_comes_first_then_its_code_then_what_it_cites(read):
    def first(*facts):
        found = consensus(read(*facts), "lr", ontology())
        assert [value.inherited for value in found.values] == [True] + [False] * (len(found.values) - 1)
        return found.values[0].value, found.why[0]

    value, why = first(CITED, OWN, TARGET)
    assert value == "0.002"
    assert why.startswith("the target says so itself: arXiv:2401.00001")
    value, why = first(CITED, OWN)
    assert (value, why.split(":")[0]) == ("0.0005", "the target's own code says so")
    value, why = first(CITED)
    assert value == "0.001"
    assert "arxiv:2006.10726, baseline of arxiv:2401.00001 (“We build on Tent.”)" in why


def test_holders_of_one_value_stand_together_with_the_dissenters_after(read):
    found = consensus(read(CITED, fact(small.REPO, "conf.yaml", "0.001", "config", 3), OWN), "learning_rate", ontology())
    assert [(value.value, {one.fact.work for one in value.held}) for value in found.values] == [
        ("0.0005", {small.OWN}),
        ("0.001", {small.CITED, small.REPO}),
    ]
    assert found.why[-1] == "1 of 3 works hold it; 2 hold something else"


def test_what_a_test_sets_weighs_little(read):
    found = consensus(
        read(fact(small.REPO, "tests/check.py", "9", "config", 1), fact(small.REPO, "train.py", "0.01", "default", 1, "lr0")), "lr", ontology()
    )
    assert found.values[0].value == "0.01"


def test_an_expression_is_listed_last_and_said(read):
    computed = fact(small.REPO, "train.py", "args.lr * 2", "call", 1, literal=False)
    found = consensus(read(CITED, computed), "lr", ontology())
    assert [(value.value, value.held[0].fact.literal) for value in found.values] == [("0.001", True), ("args.lr * 2", False)]
    assert found.notes == ("1 place computes it: the expression is given as written, nothing was run",)


def test_a_detail_that_nobody_states_and_one_that_nobody_knows(read):
    found = consensus(read(CITED), "dropout", ontology())
    assert (found.values, found.notes) == ((), ("no source of small states it",))
    with pytest.raises(NotFound) as caught:
        consensus(read(CITED), "learnign rate", ontology())
    assert "learning_rate" in caught.value.hint


def test_the_table_counts_values_and_works(read):
    rows = tallies(read(*REPO, CITED), ontology()).rows
    assert [(row.name, row.topic, row.facts, row.values, row.works) for row in rows] == [("learning_rate", "optimizer", 5, 3, 2)]
    assert tallies(read(), ontology()).notes


def test_a_script_overrides_what_it_names_and_no_file_of_the_same_name_elsewhere(tmp_path):
    pieces = [
        *small.chunks(),
        small.chunk(small.REPO, "pie/run.py", TRAIN),
        small.chunk(small.REPO, "gen/run.py", TRAIN),
        small.chunk(small.REPO, "all.sh", "lr=3e-4\npython src/../pie/run.py $lr"),
    ]
    facts = [
        Fact("learning_rate", value, "", small.REPO, next(one.id for one in pieces if one.path == path), kind, 1, "lr", value)
        for path, value, kind in (("pie/run.py", "0.01", "default"), ("gen/run.py", "0.02", "default"), ("all.sh", "0.0003", "command"))
    ]
    small.build(tmp_path, pieces=pieces, facts=facts)
    with open_generation(tmp_path, "small") as generation:
        found = holders(generation.catalog, WorkRelations.read(generation.catalog, small.TARGET), "small", generation.manifest.id, small.TARGET)
    (command,) = (one for one in found.of("learning_rate") if one.fact.kind == "command")
    assert [old.value for old in command.overridden] == ["0.01"]


EMA = (
    "def update_ema(ema, model, decay=0.9999):\n    pass\n\ndef main(args):\n"
    "    update_ema(ema, model, decay=0)\n    for x in loader:\n        if True:\n            update_ema(ema, model.parts())\n"
)


def _averages(tmp_path, text):
    default = Fact("ema_decay", "0.9999", "", small.REPO, "", "default", 1, "decay", "decay=0.9999", "update_ema")
    call = Fact("ema_decay", "0", "", small.REPO, "", "call", 5, "decay", "decay=0", "main:update_ema")
    return _standing_of(tmp_path, text, default, call)


def _standing_of(tmp_path, text, *facts, path="loop.py"):
    piece = small.chunk(small.REPO, path, text)
    small.build(tmp_path, pieces=[*PIECES, piece], facts=[replace(one, chunk=piece.id) for one in facts])
    with open_generation(tmp_path, "small") as generation:
        found = holders(generation.catalog, WorkRelations.read(generation.catalog, small.TARGET), "small", generation.manifest.id, small.TARGET)
    return [one.fact.value for one in standing(found.of(facts[0].name))]


def test_a_neutral_literal_of_every_call_is_one(tmp_path):
    assert sorted(_averages(tmp_path, EMA.replace("model.parts()", "model.parts(), decay=0"))) == ["0", "0.9999"]


def test_what_a_program_for_sampling_sets_and_what_a_baseline_has_weigh_less(read):
    sampling = replace(OWN, chunk=SAMPLE.id, value="0.7", kind="config", line=1)
    assert consensus(read(OWN, sampling), "learning_rate", ontology()).values[0].value == "0.0005"


def replace_path(one, path):
    return replace(one, evidence=profiled(replace(one.evidence, chunk=replace(one.evidence.chunk, path=path))))


def holder(value, work=small.REPO, kind="config", role=Role.BASELINE, score=0.5, distance=1, path="a.yaml", own=False, scope="", **fact):
    """Who holds a value of the learning rate, with the edge that brought the work in."""
    edge = None if role is None else replace(small.reference(score), roles=(RoleVerdict(role, 0.5),) if role else (), distance=distance)
    chunk = small.chunk(work, path, f"lr: {value}", "paper" if work.startswith("arxiv:") else "config")
    hit = profiled(Hit(1, 1.0, chunk, Work(work, "paper" if work.startswith("arxiv:") else "code"), reference=edge, from_target=own))
    return FactOccurrence(Fact("learning_rate", value, "", work, f"{chunk.id}{value}{kind}{path}", kind, 1, "lr", scope=scope, **fact), hit)


def concluded(*some):
    return consensus(FactIndex("small", "1", Work(small.TARGET), {"learning_rate": some}), "learning_rate", ontology())


def inherited(*some):
    found = concluded(*some)
    assert found == replace(concluded(*some[::-1]), notes=found.notes) or len({one.fact.value for one in some}) < len(some)
    assert [value.inherited for value in found.values] == [True] + [False] * (len(found.values) - 1)
    return found.values[0].value


ROLES = [Role.BASE, Role.SETUP, Role.METHOD, Role.BASELINE, Role.DATA, Role.METRIC, Role.BACKGROUND, "", None]


@pytest.mark.parametrize(("stronger", "weaker"), itertools.pairwise(ROLES), ids=str)
def test_what_the_target_builds_on_outweighs_what_it_only_cites(stronger, weaker):
    assert inherited(holder("2", small.FORK, role=weaker), holder("1", role=stronger)) == "1"


@pytest.mark.parametrize(("stronger", "weaker"), itertools.pairwise(["command", "config", "prose", "call", "default"]))
def test_a_command_speaks_louder_than_a_setting_and_a_default_least(stronger, weaker):
    assert inherited(holder("2", small.FORK, weaker), holder("1", kind=stronger)) == "1"
    assert inherited(holder("2", small.OWN, weaker, own=True), holder("1", small.OWN, stronger, own=True)) == "1"


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        ({"score": 0.9}, {"score": 0.4}),
        ({"score": 0.3}, {"score": 0.9, "distance": 3}),
        ({"path": "a.yaml"}, {"path": "tests/a.yaml"}),
        ({"path": "test.yaml", "kind": "default"}, {"path": "x/third_party/y/a.yaml"}),
        ({"path": "a.yaml"}, {"path": "Examples/a.yaml"}),
        ({"path": "a.yaml"}, {"path": "baselines/a.yaml"}),
        ({"path": "train.yaml"}, {"path": "sample.yaml", "kind": "command"}),
    ],
    ids=str,
)
def test_near_and_weighty_references_and_files_in_use_come_first(stronger, weaker):
    assert inherited(holder("2", small.FORK, **weaker), holder("1", **stronger)) == "1"


def test_the_targets_text_comes_before_its_code_and_that_before_all_others_unless_it_is_kept_aside():
    text = holder("1", small.TARGET, "prose", role=None, own=True)
    code = holder("2", small.OWN, "command", role=None, own=True)
    test = holder("3", small.OWN, "default", role=None, own=True, path="tests/a.yaml")
    base = holder("4", role=Role.BASE, score=1.0, kind="command")
    assert inherited(code, text, base) == "1"
    assert inherited(base, code) == "2"
    assert inherited(base, test) == "3"
    assert inherited(test, code) == "2"


def test_further_values_come_by_the_number_of_their_works_and_then_by_their_weight():
    some = [holder("1", small.OWN, own=True), holder("2", small.FORK), holder("2", small.REPO, score=0.1), holder("3", small.CITED, score=0.9)]
    assert [value.value for value in concluded(*some).values] == ["1", "2", "3"]
    assert [value.value for value in concluded(some[0], *some[2:]).values] == ["1", "3", "2"]
    assert [one.fact.work for one in concluded(*some[1:3]).values[0].held] == [small.FORK, small.REPO]


def test_the_words_say_by_what_the_first_is_inherited():
    def words(*some):
        return concluded(*some).why

    assert words(holder("1", role=None))[0].startswith("nothing that the target cites says it; this work was added to the lineage: ")
    assert words(holder("1", role=""))[0].startswith(f"strongest of what the target inherits: {small.REPO}, reference of {small.TARGET}:")
    assert len(words(holder("1"))) == 1
    assert words(holder("1"), holder("1", small.FORK))[1] == "2 of 2 works hold it"
    assert words(holder("1", score=0.9), holder("2", small.FORK))[1] == "1 of 2 works hold it; 1 holds something else"
    assert words(holder("1"), holder("x * 2", small.FORK, literal=False)) == words(holder("1"))
    over = replace(holder("1"), overridden=(holder("9", kind="default").fact,))
    assert words(over)[1] == "it overrides 9 (default) of the same repository"
    assert concluded(holder("x * 2", literal=False)).why == ()


def test_a_table_of_details_goes_by_topic_and_then_by_how_many_speak():
    held = {"seed": (holder("1"),), "learning_rate": (holder("1"), holder("1")), "momentum": (holder("1"), holder("2", small.FORK))}
    rows = tallies(FactIndex("small", "1", Work(small.TARGET), held), ontology()).rows
    assert [(row.name, row.facts, row.values, row.works) for row in rows] == [("momentum", 2, 2, 2), ("learning_rate", 2, 1, 1), ("seed", 1, 1, 1)]


def test_the_table_counts_the_values_that_consensus_lists(read):
    computed = fact(small.OWN, "main.py", "base_lr * 4", "default", 1, literal=False)
    held = read(*REPO, CITED, computed)
    (row,) = tallies(held, ontology()).rows
    values = consensus(held, "learning_rate", ontology()).values
    assert sorted(value.value for value in values) == ["0.0003", "0.0007", "0.001", "base_lr * 4"]
    assert row.values == len(values)


def test_a_work_with_two_values_is_not_counted_twice(read):
    found = consensus(read(OWN, TARGET, fact(small.TARGET, "main.tex", "0.001", "table", 88, "learning rate")), "learning_rate", ontology())
    assert found.why[-1] == "1 of 2 works hold it; 1 holds something else"


def test_values_of_a_repository_that_a_paper_only_mentions_are_not_offered(read):
    found = read(CITED, *REPO)
    mentioned = {name: tuple(replace(one, mentioned=one.fact.work == small.REPO) for one in some) for name, some in found.held.items()}
    made = consensus(replace(found, held=mentioned), "learning_rate", ontology())
    assert {one.fact.work for value in made.values for one in value.held} == {small.CITED}
    assert "4 places are in repositories that a paper only mentions; their values are not offered" in made.notes
    assert [row.works for row in tallies(replace(found, held=mentioned), ontology()).rows] == [1]
