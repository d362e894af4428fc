"""`lineage facts` on the demonstration, from the build to the words."""

from __future__ import annotations

import json
import sys

import pytest

from api.cli import app
from lineage.errors import NotFound
from lineage.generation import open_generation


@pytest.fixture
def lineage(monkeypatch, capsys, built):
    def run(*words):
        monkeypatch.setattr(sys, "argv", ["lineage", *words, "--home", str(built.home)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            app.main()
        return ended.value.code, capsys.readouterr().out

    return run


def test_a_build_counts_its_facts_and_its_hash_covers_them(built):
    assert built.report.facts > 150
    with open_generation(built.home, built.report.lineage) as generation:
        facts = generation.catalog.facts("mask_ratio")
        assert {(fact.value, fact.kind) for fact in facts} >= {("0.6", "table"), ("0.75", "command"), ("0.75", "default"), ("0.75", "config")}
        assert generation.catalog.content_hash() == generation.manifest.content_hash


def test_any_name_gives_every_value_and_who_holds_it(lineage):
    code, out = lineage("facts", "wd", "--json")
    data = json.loads(out)["data"]
    assert (code, data["name"], data["title"]) == (0, "weight_decay", "weight decay")
    first = data["values"][0]
    assert (first["value"], first["inherited"]) == ("0.05", True)
    assert {"fact", "citation", "since", "overridden", "evidence"} == set(first["held"][0])
    assert first["held"][0]["citation"].startswith("arXiv:9912.00001")
    assert any(held["citation"].startswith("github.com/northlake-vision/patchmask/scripts/pretrain.sh#L12-L12@") for held in first["held"])


def test_what_a_repository_overrides_is_told(lineage):
    code, out = lineage("facts", "batch size")
    assert code == 0
    assert "configs/small.yaml#L5-L5@" in out
    assert "overrides 512 (default, line 24)" in out
    assert "the target says so itself" in out


def test_without_a_name_the_details_are_listed(lineage):
    code, out = lineage("facts")
    assert code == 0
    assert "learning_rate" in out
    assert "optimizer" in out
    assert json.loads(lineage("facts", "--json")[1])["data"]["rows"]


def test_an_unknown_name_ends_with_three_and_the_nearest(lineage, built):
    assert lineage("facts", "wieght decay")[0] == 3
    with pytest.raises(NotFound) as caught:
        built.service.facts("wieght decay")
    assert "weight_decay" in caught.value.hint


def test_the_users_own_details_are_read_by_the_next_build(tmp_path, upstream):
    from tests.demo import Demo

    own = tmp_path / "details.json"
    row = {"name": "prefetch", "title": "prefetched batches", "topic": "data", "type": "integer", "identifiers": ["prefetch"]}
    own.write_text(json.dumps({"details": [row]}))
    demo = Demo(tmp_path / "home", upstream.url, ontology=own)
    demo.build(papers=1, repos=4)
    found = demo.service.facts("prefetch")
    assert [(value.value, value.held[0].evidence.chunk.path) for value in found.values] == [("4", "config/pretrain.toml")]
