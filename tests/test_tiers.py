"""Two tiers: a lineage answers by words and their vectors within seconds, and by the transformer's vectors when they are there."""

from __future__ import annotations

import pytest

from indexer import pipeline
from indexer.embedders.static import Static
from indexer.plan import BuildRequest
from lineage.generation import CATALOG, REPORT, SETTLED, VECTORS, Generation, open_generation
from tests.demo import NAME, TARGET, Demo
from tests.fakes.embedder import HashingEmbedder


@pytest.fixture
def demo(upstream, tmp_path):
    return Demo(tmp_path / "home", upstream.url)


def test_a_build_of_the_first_tier_answers_and_says_by_what(demo):
    made = demo.service.build(BuildRequest(TARGET), tier="first")
    assert made.tier == "static"
    found = demo.service.query("how are the weights initialised?", lineage=NAME)
    assert {signal.retriever for hit in found.hits for signal in hit.signals} == {"lexical", "static"}
    assert found.notes[0] == "fast index: lexical search and static vectors; the dense vectors are not computed yet"
    with open_generation(demo.home, NAME) as generation:
        assert generation.manifest.embedder == Static.id


def test_what_works_settle_is_made_by_the_build_and_the_same_as_made_when_asked(demo, monkeypatch):
    demo.service.build(BuildRequest(TARGET), tier="first")
    questions = ("which learning rate is used for training?", "how are the weights initialised?")

    def settled():
        answers = [demo.service.query(question, lineage=NAME) for question in questions]
        return [(answer.settled, answer.statements) for answer in answers]

    kept = settled()
    assert kept[0][0]
    assert kept[1][1]
    with open_generation(demo.home, NAME) as generation:
        assert SETTLED in generation.manifest.files
    monkeypatch.setattr(Generation, "file", lambda self, name: None)
    assert settled() == kept


def test_the_same_build_in_full_goes_on_from_there_and_changes_the_vectors_only(demo, upstream):
    first = demo.service.build(BuildRequest(TARGET), tier="first")
    full = demo.build()
    assert (full.tier, full.unchanged) == ("dense", False)
    assert full.content_hash == first.content_hash
    assert full.requests == {}
    found = demo.service.query("how are the weights initialised?", lineage=NAME)
    assert {signal.retriever for hit in found.hits for signal in hit.signals} == {"lexical", "dense"}
    with open_generation(demo.home, NAME) as generation:
        assert generation.manifest.embedder == HashingEmbedder().id


def test_what_has_the_transformers_vectors_already_is_not_taken_back(demo):
    full = demo.build()
    again = demo.service.build(BuildRequest(TARGET), tier="first")
    assert (again.unchanged, again.tier, again.generation) == (True, "dense", full.generation)


def test_a_large_build_writes_the_first_tier_on_its_way(demo, monkeypatch):
    monkeypatch.setattr(pipeline, "_WORTH_WAITING", 10)
    assert demo.build().tier == "dense"
    written = sorted((demo.home / "lineages" / NAME / "gen").iterdir())
    with open_generation(demo.home, NAME, written[0].name) as generation:
        assert generation.manifest.tier == "static"


def test_what_many_chunks_hold_is_searched_before_its_report_is_made(demo, monkeypatch):
    monkeypatch.setattr(pipeline, "missing", lambda *_: 0)
    monkeypatch.setattr(pipeline, "_WORTH_WAITING", 10)
    full = demo.build()
    generations = demo.home / "lineages" / NAME / "gen"
    first, last = (open_generation(demo.home, NAME, path.name).manifest for path in sorted(generations.iterdir()))
    assert (last.id, last.content_hash, last.embedder) == (full.generation, first.content_hash, first.embedder)
    assert (SETTLED in first.files, {SETTLED, REPORT} <= last.files.keys()) == (False, True)
    assert all((generations / first.id / name).samefile(generations / last.id / name) for name in (CATALOG, VECTORS))

    (demo.home / "lineages" / NAME / "CURRENT").write_text(f"{first.id}\n")
    assert demo.service.query("how are the weights initialised?", lineage=NAME).hits
    again = demo.build()
    assert (again.unchanged, again.content_hash) == (False, full.content_hash)
    with open_generation(demo.home, NAME) as generation:
        assert generation.manifest.files.keys() == last.files.keys()
