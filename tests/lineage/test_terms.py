"""The table of details as a user's own file extends it, and how a file of another form is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineage.errors import SettingsError
from lineage.hyperparameters.checklist import checklist
from lineage.hyperparameters.ontology import ontology
from lineage.hyperparameters.terms import TermTable, extended, fold
from lineage.tables import MAX_BYTES, packaged

ROW = {"name": "zeta", "title": "zeta", "topic": "model", "type": "number"}


def table(tmp_path: Path, more: Any) -> TermTable:
    path = tmp_path / "own.json"
    path.write_text(json.dumps(more))
    return extended(path)


def test_rows_of_a_known_name_add_to_its_lists_and_replace_what_is_none(tmp_path: Path) -> None:
    row = {"name": "learning_rate", "identifiers": ["eta0"], "title": "step width", "range": [0, 5], "flags": {"stride": "0"}}
    before = ontology().terms["learning_rate"]
    (after,) = [term for term in table(tmp_path, {"details": [row]}).terms if term.name == "learning_rate"]
    assert after.identifiers == (*before.identifiers, "eta0")
    assert (after.title, after.range, after.type) == ("step width", (0.0, 5.0), before.type)
    assert after.flags == {**before.flags, "stride": "0"}


def test_choices_contexts_calls_and_qualifiers_are_added(tmp_path: Path) -> None:
    more = {
        "details": [{"name": "optimizer", "values": {"adamw": ["adam_w_mine"], "sonic": ["Sonic"]}}],
        "contexts": {"optimizer": ["My-Optim"], "mine": ["Own"]},
        "calls": {"mylib.Sonic": {"positional": ["params", "lr"], "states": {"optimizer": "sonic"}}},
        "qualifiers": ["teacher2"],
    }
    made = table(tmp_path, more)
    (optimizer,) = [term for term in made.terms if term.name == "optimizer"]
    assert optimizer.choices["adamwmine"] == "adamw"
    assert optimizer.choices["sonic"] == "sonic"
    assert {"myoptim", *ontology()._contexts["optimizer"]} <= made.contexts["optimizer"]
    assert made.contexts["mine"] == {"own"}
    assert made.calls["mylib.Sonic"].states == {"optimizer": "sonic"}
    assert "teacher2" in made.qualifiers


def test_a_new_row_is_a_detail_of_its_own_and_another_table_has_another_digest(tmp_path: Path) -> None:
    made = table(tmp_path, {"details": [{**ROW, "identifiers": ["zeta_w"], "flags": {"use_zeta": "true"}}]})
    assert made.terms[-1].name == "zeta"
    assert made.terms[-1].range == (float("-inf"), float("inf"))
    assert made.terms[-1].flags == {"use_zeta": "true"}
    assert made.digest != ontology().digest
    assert table(tmp_path, {"details": []}).digest == table(tmp_path, {"details": [], "contexts": {}}).digest


@pytest.mark.parametrize(
    "more",
    [
        [],
        5,
        {},
        {"details": {"learning_rate": {"identifiers": ["eta0"]}}},
        {"details": [5]},
        {"details": [{"title": "nameless"}]},
        {"details": [{**ROW, "type": "colour"}]},
        {"details": [{**ROW, "type": ["number"]}]},
        {"details": [{"name": "zeta", "title": "without a type", "topic": "model"}]},
        {"details": [{**ROW, "identifiers": "zeta"}]},
        {"details": [{**ROW, "range": [1]}]},
        {"details": [{**ROW, "range": [1, None]}]},
        {"details": [{**ROW, "within": {"optimizer": "eps"}}]},
        {"details": [{**ROW, "flags": ["use_zeta"]}]},
        {"details": [{**ROW, "lists_above": "many"}]},
        {"details": [], "contexts": {"optimizer": "optim"}},
        {"details": [], "contexts": ["optim"]},
        {"details": [], "calls": {"mylib.Sonic": []}},
        {"details": [], "qualifiers": 5},
        {"details": [], "qualifiers": "teacher"},
    ],
)
def test_a_file_of_another_form_is_refused_with_its_name_and_the_form(tmp_path: Path, more: Any) -> None:
    with pytest.raises(SettingsError, match=r"setting ontology: .*own\.json cannot be read") as refused:
        table(tmp_path, more)
    assert '"details"' in refused.value.hint


def test_a_file_that_is_missing_too_large_or_nested_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    with pytest.raises(SettingsError):
        extended(path)
    for text in ("[" * 200_000, " " * (MAX_BYTES + 1), "\xff"):
        path.write_text(text, encoding="latin-1")
        with pytest.raises(SettingsError):
            extended(path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "x", "number", "learning_rate"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["x", "lr"]), inner, max_size=2),
    max_leaves=4,
)
FIELDS = ["name", "title", "topic", "type", "range", "identifiers", "within", "values", "flags", "kinds", "closed", "lists_above"]


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), JSON), st.dictionaries(st.sampled_from(["contexts", "calls", "qualifiers", "parts"]), JSON))
def test_any_json_is_a_table_or_refused(tmp_path: Path, row: dict[str, Any], more: dict[str, Any]) -> None:
    try:
        made = table(tmp_path, {"details": [ROW | row], **more})
    except SettingsError:
        return
    assert len(made.terms) in {len(packaged("ontology")["details"]), len(packaged("ontology")["details"]) + 1}


@pytest.mark.parametrize(
    "more",
    [
        {"details": [{"name": "x", "question": "?", "mentions": "seed"}]},
        {"details": [{"name": "x", "question": "?", "mentions": ["seed"], "domains": "training"}]},
        {"details": [{"name": "x", "question": "?", "mentions": ["seed"], "facts": "seed"}]},
        {"details": [{"name": "x", "question": "?", "mentions": ["seed"], "values": "some"}]},
        {"details": [{"name": "x", "question": "?", "mentions": ["seed"], "weight": None}]},
        {"details": [{"name": "x", "mentions": ["seed"]}]},
        {"domains": {"mine": {"terms": {"a b": 1}, "implies": "training"}}},
        {"domains": {"mine": {"terms": {"a b": "much"}}}},
        {"domains": {"mine": {}}},
        {"domains": [1]},
    ],
)
def test_a_list_of_needs_with_a_word_where_a_list_is_wanted_is_refused(tmp_path: Path, more: Any) -> None:
    path = tmp_path / "details.json"
    path.write_text(json.dumps(more))
    with pytest.raises(SettingsError, match="setting details"):
        checklist(path)


@given(st.text(max_size=30))
def test_names_are_compared_without_case_and_separators(text: str) -> None:
    assert fold(text) == fold(fold(text)) == fold("_" + text + "-") == fold(f" {text}")
