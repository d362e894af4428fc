"""The list of details: what kind of paper needs which, and that the list fits the ontology."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lineage.errors import SettingsError
from lineage.hyperparameters.checklist import checklist, checklist_of
from lineage.hyperparameters.ontology import ontology


def test_every_fact_name_of_the_list_is_one_of_the_ontology() -> None:
    unknown = {name for need in checklist().needs for name in need.detail.facts if name not in ontology().terms}
    assert unknown == set()


def test_every_domain_of_the_list_exists_and_every_detail_belongs_to_one() -> None:
    known = {domain.name for domain in checklist().domains} | {"any"}
    assert all(need.domains and need.domains <= known for need in checklist().needs)


def test_a_paper_is_known_by_its_terms_and_they_are_told() -> None:
    title, abstract = "Offline Reinforcement Learning with Rewards", "We train a policy with an actor-critic; the replay buffer holds episodes."
    found = checklist().recognized(title, abstract, abstract * 3)
    assert found[0].name == "rl"
    assert "reinforcement learning" in found[0].terms


def test_one_term_alone_names_no_domain() -> None:
    assert checklist().recognized("Forecasting", "forecasting " * 50, "forecasting " * 50) == ()


def test_a_paper_about_prompts_needs_no_optimiser() -> None:
    names = {need.detail.name for need in checklist().of(["llm"])}
    assert "llm_temperature" in names
    assert "learning_rate" not in names


def test_a_file_of_ones_own_adds_details_and_replaces_those_of_one_name(tmp_path: Path) -> None:
    rows = [
        {"name": "telescope", "question": "Which telescope?", "mentions": ["telescope"], "values": "words"},
        {"name": "seeds", "question": "Seeds?", "mentions": ["seed"], "values": "number", "weight": 1.0},
    ]
    (tmp_path / "own.json").write_text(json.dumps({"details": rows}), "utf-8")
    needs = {need.detail.name: need.detail for need in checklist(tmp_path / "own.json").of([])}
    assert needs["telescope"].topic == "other"
    assert needs["seeds"].weight == 1.0


def test_a_file_of_another_form_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text('{"details": [{"name": "x"}]}', "utf-8")
    with pytest.raises(SettingsError, match="setting details"):
        checklist(tmp_path / "own.json")
    with pytest.raises(ValueError, match="not a list of details"):
        checklist_of({"details": [{"name": "x", "question": "?", "mentions": ["x"], "values": "colour"}]})


def test_details_are_named_as_the_ontology_names_their_facts_but_not_where_a_mention_alone_states_them() -> None:
    by_name = {need.detail.name: need for need in checklist().needs}
    assert ("num", "head") in by_name["heads"].mentions
    assert ("training", "took") not in by_name["hardware"].mentions


def test_details_of_a_domain_are_told_from_those_of_all_that_train() -> None:
    by_name = {need.detail.name: need for need in checklist().needs}
    assert by_name["window"].of_a_domain
    assert not by_name["learning_rate"].of_a_domain
    assert not by_name["seeds"].of_a_domain
