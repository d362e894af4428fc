"""Files of one's own, built against the loopback upstream: found again by title, their references too."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lineage.records import Status
from tests.demo import DEMO, TARGET, Demo
from tests.upstream import Upstream
from tests.upstream.archives import folder_members, tar_gz
from tests.upstream.faults import Fault, Faults, MutateJson, ReplaceBody
from tests.upstream.faults import Status as Answer

PDF = DEMO / "papers" / "9909.00104.pdf"


@pytest.fixture
def eprint(tmp_path):
    path = tmp_path / "paper.tar.gz"
    path.write_bytes(tar_gz(folder_members(DEMO / "papers" / "9912.00001")))
    return path


def _rows(demo, made):
    return {row.subject: row for row in demo.service.status(made.lineage).losses}


def test_a_pdf_of_ones_own_finds_its_record_and_the_papers_that_it_cites(tmp_path, upstream):
    demo = Demo(tmp_path, upstream.url)
    made = demo.build(str(PDF))
    assert made.target.id.startswith("local:")
    assert "arxiv:9909.00104" in made.target.aliases
    listed = demo.service.references(made.lineage)
    cited = {reference.cited: reference for reference in listed.references}
    assert {"arxiv:9908.00105", "arxiv:9910.00103"} <= set(cited)
    assert cited["arxiv:9908.00105"].merged == ("title match:fenn2022probebench = pdf:fenn2022probebench: same title and first author, 2022",)
    assert made.lineage_papers == 2
    assert made.repositories >= 2


def test_an_eprint_of_ones_own_has_the_references_of_its_record(tmp_path, upstream, eprint):
    demo = Demo(tmp_path / "home", upstream.url)
    made = demo.build(str(eprint))
    assert TARGET in made.target.aliases
    assert made.references["total"] == 8
    assert made.lineage_papers == Demo(tmp_path / "other", upstream.url).build().lineage_papers
    assert "arxiv:9911.00102" in {reference.cited for reference in demo.service.references(made.lineage).references}


@pytest.mark.parametrize("target", ["pdf", "eprint"])
def test_the_second_build_of_a_file_sends_nothing_and_finds_the_same(tmp_path, upstream, eprint, target):
    demo = Demo(tmp_path / "home", upstream.url)
    path = str(PDF if target == "pdf" else eprint)
    first = demo.build(path)
    upstream.forget()
    second = demo.build(path)
    assert upstream.requests == []
    assert second.unchanged
    assert second.content_hash == first.content_hash


def test_a_file_without_network_is_built_from_its_own_bibliography(tmp_path):
    demo = Demo(tmp_path, "http://127.0.0.1:9", offline=True)
    made = demo.build(str(PDF))
    rows = _rows(demo, made)
    assert made.references["total"] == 3
    assert rows["record by semantic_scholar"].status is Status.OFFLINE
    assert rows["references by title"].status is Status.OFFLINE


def test_a_record_of_the_same_title_by_others_is_not_taken(tmp_path, world):
    def strangers(page):
        rows = page["data"]
        return {"data": [{**rows[0], "authors": [{"name": "Ada Byron"}], "abstract": None, "year": 2023}]}

    with Upstream(world, faults=Faults((Fault(r"search/match", MutateJson(strangers)),))) as running:
        demo = Demo(tmp_path, running.url)
        made = demo.build(str(PDF), papers=0, repos=0)
    assert made.target.aliases == ()
    assert _rows(demo, made)["record by semantic_scholar"].detail == "arxiv:9909.00104 is not it: Byron is not among its authors"
    assert not [r for r in demo.service.references(made.lineage).references if "title match" in r.known_by]


def test_titles_that_cannot_be_looked_up_are_one_row_and_the_rest_is_built(tmp_path, world):
    with Upstream(world, faults=Faults((Fault(r"search/match", Answer(500)),))) as troubled:
        demo = Demo(tmp_path, troubled.url)
        made = demo.build(str(PDF))
    assert _rows(demo, made)["references by title"].status is Status.UPSTREAM_5XX
    assert made.references["total"] == 3


# Further witnesses


@pytest.fixture
def published(world):
    """The demonstration's world with a DOI for the target, because Crossref is asked for DOIs of publishers only."""
    target = world.by_arxiv("9912.00001")
    return replace(world, papers={**world.papers, target.key: replace(target, doi="10.5555/tinymask")})


ALONE = {"id": "https://openalex.org/W7", "doi": "https://doi.org/10.5555/only.openalex", "title": "Known to OpenAlex Alone"}
DEPOSITED = {"DOI": "10.5555/tinymask", "reference-count": 1, "reference": [{"DOI": "10.5555/only.crossref", "article-title": "C"}]}
WITNESSES = Faults(
    (
        Fault("api.openalex.org/works/doi", ReplaceBody(json.dumps({"referenced_works": [ALONE["id"]], "referenced_works_count": 1}).encode())),
        Fault("api.openalex.org", ReplaceBody(json.dumps({"results": [ALONE]}).encode())),
        Fault("api.crossref.org", ReplaceBody(json.dumps({"message": DEPOSITED}).encode())),
    )
)


def test_references_known_only_to_openalex_and_crossref_appear_and_say_so(tmp_path, published):
    with Upstream(published, WITNESSES) as server:
        demo = Demo(tmp_path, server.url, sources="openalex,crossref")
        made = demo.build(papers=0, repos=0)
    known = {reference.cited: reference.known_by for reference in demo.service.references(made.lineage).references}
    assert known["doi:10.5555/only.openalex"] == ("openalex",)
    assert known["doi:10.5555/only.crossref"] == ("crossref",)
    assert made.references["total"] == 10


def test_a_further_witness_that_fails_is_a_row(tmp_path, published):
    with Upstream(published, Faults((Fault("api.openalex.org", Answer(403)), Fault("api.crossref.org", Answer(500))))) as server:
        demo = Demo(tmp_path, server.url, sources="openalex,crossref")
        made = demo.build(papers=0, repos=0)
    rows = _rows(demo, made)
    assert rows["references by openalex"].status is Status.FORBIDDEN
    assert rows["references by crossref"].status is Status.UPSTREAM_5XX
    assert made.references["total"] == 8


def test_nobody_asks_a_further_witness_that_is_not_configured(tmp_path, published):
    with Upstream(published, WITNESSES) as server:
        Demo(tmp_path, server.url).build(papers=0, repos=0)
        assert not {"api.openalex.org", "api.crossref.org"} & {request.host for request in server.requests}
