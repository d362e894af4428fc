"""What the target's own program sets goes before what others have and before what a class would take; experiments are not mixed."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml as reader

from lineage.hyperparameters.ontology import ontology
from lineage.records import Fact, Hit, Work
from lineage.results import Detail, FactOccurrence, Gap, Specification, Suggestion
from retrieval.context.settings_file import Programs, entries, yaml
from retrieval.decisions.experiments import Folders
from retrieval.decisions.fact_index import FactIndex
from tests.fakes import small_lineage as small

SAID = small.chunk(small.TARGET, "main.tex", small.STATED, "paper", section=("3 Model",))
README = ("README.md", "docs", "paragraph", "command")
OPTION = ("main.py", "code", "config", "default")
CALL = ("main.py", "code", "function", "call")
PARAMETER = ("util.py", "code", "function", "default")


def held(name, value, place, scope="", own=True, folder=""):
    path, kind, role, of = place
    text = f"def {scope}({name}={value}): ..." if place is PARAMETER else f"{name} {value}"
    work = small.OWN if own else small.REPO
    chunk = replace(small.chunk(work, folder + path, text, kind, symbol=scope), role=role)
    hit = Hit(1, 1.0, chunk, Work(work, "code"), from_target=own)
    return FactOccurrence(Fact(name, value, "", work, chunk.id, of, 1, name, name, scope), hit)


def stated(name, value, scope=""):
    hit = Hit(1, 1.0, SAID, Work(small.TARGET), from_target=True)
    return FactOccurrence(Fact(name, value, "", small.TARGET, SAID.id, "prose", 1, name, name, scope), hit)


def programs(*some, folders=()):
    by_name = {}
    for one in some:
        by_name.setdefault(one.fact.name, []).append(one)
    return Programs(FactIndex("l", "g", Work(small.TARGET), by_name), ontology(), Folders(frozenset((small.OWN, one) for one in folders)))


def read(own, *gaps):
    text = yaml(entries(gaps, own))
    return text, reader.safe_load(text)


def gap(name, *facts, suggestions=()):
    state = Specification.SPECIFIED if facts else Specification.UNSPECIFIED
    return Gap(Detail(name, name, "optimiser", "", (name,)), state, facts=facts, suggestions=suggestions)


@pytest.mark.parametrize("weaker", range(1, 4))
def test_a_command_goes_before_an_option_before_a_call_before_a_parameter(weaker):
    places = [README, OPTION, CALL, PARAMETER]
    some = [held("weight_decay", str(n), place, "get_groups" if place is PARAMETER else "") for n, place in enumerate(places)]
    assert programs(*some[weaker:], some[weaker - 1]).settings("weight_decay")[0].held.fact.value == str(weaker - 1)


def test_the_own_programs_value_goes_before_what_the_lineage_offers():
    other = Suggestion("0", "", "strong", "why", (held("weight_decay", "0", OPTION, own=False),))
    _, found = read(programs(held("weight_decay", "0.05", README)), gap("weight_decay", suggestions=(other,)))
    assert found == {"optimiser": {"weight_decay": 0.05}}


def test_what_the_own_program_does_without_is_no_setting_whatever_others_have():
    other = Suggestion("0.999", "", "strong", "why", (held("ema_decay", "0.999", OPTION, own=False),))
    text, found = read(programs(held("weight_decay", "0.05", README)), gap("ema_decay", suggestions=(other,)))
    assert found == {"optimiser": {"ema_decay": "UNSPECIFIED"}}
    assert "perhaps 0.999" in text


def test_of_several_stated_values_the_one_that_the_program_sets_is_the_setting():
    text, found = read(programs(held("epochs", "800", README)), gap("epochs", stated("epochs", "40"), stated("epochs", "800")))
    assert found == {"optimiser": {"epochs": 800}}
    assert "# stated: arXiv:2401.00001#3; also 40 (elsewhere)" in text


def test_of_a_stated_value_and_another_of_the_program_the_stated_one_is_the_setting_and_the_other_is_told():
    text, found = read(programs(held("epochs", "800", README)), gap("epochs", stated("epochs", "300")))
    assert found == {"optimiser": {"epochs": 300}}
    assert "; own code: 800, " in text


def test_where_there_are_experiments_beside_each_other_the_roots_program_is_the_setting():
    own = programs(held("epochs", "300", OPTION), held("epochs", "800", README, folder="other/mae/"), folders=["other/mae"])
    text, found = read(own, gap("epochs", stated("epochs", "100")))
    assert found == {"optimiser": {"epochs": 300}}
    assert "; stated: 100: arXiv" in text
    assert "; also 800 (mae)" in read(own, gap("epochs"))[0]


def test_what_only_an_experiment_beside_the_root_sets_is_a_remark():
    own = programs(held("epochs", "300", OPTION), held("seed", "7", README, folder="other/mae/"), folders=["other/mae"])
    text, found = read(own, gap("seed"))
    assert found == {"optimiser": None}
    assert "# seed: one for each model or experiment: 7 (mae)" in text


def test_the_size_that_a_models_class_would_take_is_not_sure_and_calls_that_differ_set_nothing():
    own = programs(held("layers", "32", OPTION, "ModelArgs"), held("layers", "3", CALL, "main:Loss"))
    assert [one.sure for one in own.settings("layers")] == [False, False]
    assert read(own, gap("layers"))[1] == {"optimiser": None}
