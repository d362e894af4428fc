"""Without the target's code: nothing of it is left under any name, and nothing else is lost; in builds and in answers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from lineage.generation import open_generation
from tests import honest_world as small
from tests.demo import Demo
from tests.upstream import Upstream


def chunks(demo, name):
    """How many chunks each repository has, by OWNER/NAME."""
    with open_generation(demo.home, name) as generation:
        found = generation.catalog.chunks([int(row) for row in generation.catalog.rows()])
    return Counter(chunk.work.partition("github.com/")[2] for chunk in found if chunk.work.startswith("repo:"))


def rows(demo, name):
    with open_generation(demo.home, name) as generation:
        return {row.subject.partition("github.com/")[2]: row.detail for row in generation.catalog.ledger("source") if row.stage == "code"}


def test_a_build_with_everything_holds_everything(honest):
    assert set(chunks(honest, "with")) == {*small.KEPT, *small.OUT}


def test_a_build_without_the_targets_code_loses_nothing_else(honest):
    everything, without = chunks(honest, "with"), chunks(honest, "without")
    assert set(without) == set(small.KEPT)
    assert without == {name: everything[name] - (name == small.TAKER) for name in small.KEPT}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (small.OWN, "the target's own code"),
        (small.FORK, "a fork of github.com/lab/quillnet"),
        (small.COPY, "files of the target's own code"),
        (small.REMADE, "its README says that it is the target's code"),
    ],
)
def test_whatever_is_the_targets_is_out_and_its_row_says_why(honest, name, why):
    assert why in rows(honest, "without")[name]


def test_a_file_that_says_it_was_taken_from_the_target_is_out_and_its_row_says_so(honest):
    with open_generation(honest.home, "without") as generation:
        row = next(row for row in generation.catalog.ledger("member") if row.subject == "borrowed.py")
        assert row.status.outcome == "excluded"
        assert "lab/quillnet" in row.detail
        assert {document.path for document in generation.catalog.documents(f"repo:github.com/{small.TAKER}")} == {"solo.py", "README.md"}


def test_check_finds_nothing_wrong_with_either(honest):
    assert honest.service.check(read_data=True) == ()


def hits(demo, name, text, **flags):
    return {hit.work.id.partition("github.com/")[2] or hit.work.id for hit in demo.service.query(text, lineage=name, k=100, **flags).hits}


def test_an_answer_without_the_targets_code_loses_nothing_else(honest):
    asked = "quill_step baseline_step tool_step shared_step taker_step amateur_step innocent_step"
    assert set(small.OUT) <= hits(honest, "with", asked)
    without = hits(honest, "with", asked, no_target_code=True)
    assert set(small.KEPT) <= without
    assert not set(small.OUT) & without
    paths = {hit.chunk.path for hit in honest.service.query("quillish_step borrowed", lineage="with", k=100, no_target_code=True).hits}
    assert "borrowed.py" not in paths


def test_an_answer_of_either_holds_the_same(honest):
    asked = "quill_step baseline_step tool_step shared_step taker_step"
    assert hits(honest, "with", asked, no_target_code=True) == hits(honest, "without", asked)


def holders(found):
    return {held.fact.work.partition("github.com/")[2] for value in found.values for held in value.held}


def test_every_operation_leaves_it_out(honest, tmp_path):
    """Facts, gaps, context, answers and audits: no evidence of the target's code, none of a copy, the baselines' still there."""
    service = honest.service
    assert holders(service.facts("learning rate", lineage="with")) == {small.OWN, small.BASE}, "what is only mentioned gives no value"
    assert holders(service.facts("learning rate", lineage="with", no_target_code=True)) == {small.BASE}
    assert holders(service.facts("learning rate", lineage="without")) == {small.BASE}
    tallies = [service.facts_table(each, no_target_code=True).rows for each in ("with", "without")]
    assert tallies[0] == tallies[1]
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "train.py").write_text(small.code("train", "made"))
    told = [
        repr(service.gaps(lineage="with", no_target_code=True)),
        repr(service.context("write the encoder with quill_step", lineage="with", no_target_code=True)),
        repr(service.answer("which scale does quill_step use?", lineage="with", no_target_code=True)),
        repr(service.audit(tmp_path / "made", lineage="with", no_target_code=True)),
    ]
    for text in told:
        assert not [out for out in small.OUT if f"work='repo:github.com/{out}" in text or f"id='repo:github.com/{out}" in text]
        assert not [rate for name, rate in small.RATES.items() if name in small.OUT and rate in text]
    assert "base/line" in told[1], "gaps offers no rate: the target states one"


def test_renamed_copies_are_known_by_their_present_name(tmp_path):
    """The target's repository was renamed since its paper was written: the link has the former name."""
    made = small.world(tmp_path / "world")
    moved = replace(made.repositories[small.OWN], full_name="lab/feathers", former=(small.OWN,))
    repositories = {("lab/feathers" if name == small.OWN else name): repo for name, repo in made.repositories.items()} | {"lab/feathers": moved}
    with Upstream(replace(made, repositories=repositories)) as running:
        demo = Demo(tmp_path / "home", running.url)
        demo.build(small.TARGET, name="without", no_target_code=True, add=("https://github.com/lab/feathers",))
    assert set(chunks(demo, "without")) == set(small.KEPT)
    assert demo.service.check(read_data=True) == ()
