"""The whole way through: a target in, a ledger that adds up and answered questions out, over real HTTP."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

from api.cli.build import fail_if_incomplete
from lineage.citation import citation
from lineage.errors import AmbiguousTarget, BadIdentifier, Losses, NotFound, StoreBusy, UpstreamError, UsageError
from lineage.generation import open_generation
from lineage.records import Reference, Role, RoleVerdict, Status, Tier
from tests.demo import DEMO, NAME, TARGET, Demo
from tests.upstream import Upstream
from tests.upstream.faults import Drop, Fault, Faults, MutateJson, captcha, rate_limited, too_many
from tests.upstream.faults import Status as Answer
from tests.upstream.world import repacked


def _ledger(demo, made):
    with open_generation(demo.home, made.lineage) as generation:
        return generation.catalog.ledger()


def _equation(ledger):
    return ledger["in"] == ledger["ok"] + ledger["degraded"] + ledger["failed"] + ledger["excluded"]


def test_every_reference_of_both_witnesses_has_one_row(built):
    assert built.report.references["total"] == 8
    assert built.report.references["by_status"] == {"abstract_only": 1, "metadata_only": 1, "ok": 3, "pdf_only": 1, "unresolved": 2}
    assert _equation(built.report.ledger)


def test_all_four_repositories_are_found_however_they_are_linked(built):
    shown = built.service.show()
    fetched = {link.repo: link.tier.value for link in shown.links if link.repository and link.repository.meta.get("commit")}
    assert set(fetched) == {
        "repo:github.com/fennlab/probe-bench",
        "repo:github.com/northlake-vision/patchmask",
        "repo:github.com/qmori/softcrop",
        "repo:github.com/slateworks/plainvit",
    }


@pytest.mark.parametrize("row", [json.loads(line) for line in (DEMO / "questions.jsonl").read_text().splitlines()], ids=lambda row: row["id"])
def test_each_question_of_the_demonstration_finds_its_lines_of_code_or_configuration_within_five(built, row):
    hits = [hit for kind in ("code", "config") for hit in built.service.query(row["query"], k=5, kind=kind).hits]
    shown = {
        (hit.chunk.work.removeprefix("repo:github.com/"), hit.chunk.path, n)
        for hit in hits
        for n in range(hit.chunk.start_line, hit.chunk.end_line + 1)
    }
    assert any((one["repo"], one["path"], n) in shown for one in row["gold"] for n in range(one["start"], one["end"] + 1))


def test_the_encoders_initialisation_is_answered_by_the_cited_papers_code_and_text(built):
    hits = built.service.query("how is the encoder initialized?", k=10).hits
    assert {hit.work.id for hit in hits} >= {"repo:github.com/slateworks/plainvit", "arxiv:9910.00103"}


def test_the_second_build_sends_nothing_and_finds_the_same_generation(tmp_path, upstream):
    demo = Demo(tmp_path, upstream.url)
    first = demo.build()
    upstream.forget()
    second = demo.build()
    assert upstream.requests == []
    assert second.unchanged
    assert (second.generation, second.content_hash) == (first.generation, first.content_hash)


def test_two_homes_build_the_same_content(tmp_path, upstream):
    one, other = Demo(tmp_path / "a", upstream.url).build(), Demo(tmp_path / "b", upstream.url).build()
    assert one.content_hash == other.content_hash


def test_the_content_is_the_same_whatever_bytes_a_commit_is_packed_into(tmp_path, world, built):
    with Upstream(repacked(world)) as running:
        assert Demo(tmp_path, running.url).build().content_hash == built.report.content_hash


def test_nothing_is_asked_of_a_host_that_the_contract_does_not_name(tmp_path, upstream):
    Demo(tmp_path, upstream.url).build()
    hosts = {request.host for request in upstream.requests}
    assert hosts <= {"api.semanticscholar.org", "export.arxiv.org", "arxiv.org", "api.github.com", "codeload.github.com", "huggingface.co"}


def test_a_key_is_never_sent_to_a_mirror(tmp_path, upstream):
    Demo(tmp_path, upstream.url, s2_api_key="canary-key", github_token="canary-token").build(papers=1, repos=1)
    assert not [request for request in upstream.requests if "canary" in repr(request)]


def test_a_build_offline_after_one_online_gives_the_same_generation(tmp_path, upstream):
    first = Demo(tmp_path, upstream.url).build()
    second = Demo(tmp_path, upstream.url, offline=True).build()
    assert second.content_hash == first.content_hash


def test_offline_with_an_empty_store_says_what_was_tried(tmp_path):
    with pytest.raises(UpstreamError) as raised:
        Demo(tmp_path, "http://127.0.0.1:9", offline=True).build()
    assert "9912.00001" in str(raised.value)
    assert "without --offline" in raised.value.hint


def test_an_upstream_that_is_not_there_is_unreachable_and_the_same_command_resumes(tmp_path):
    with pytest.raises(UpstreamError) as raised:
        Demo(tmp_path, "http://127.0.0.1:9").build()
    assert raised.value.exit_code == 4


def test_an_unknown_target_is_not_found(tmp_path, upstream):
    with pytest.raises(NotFound, match="2101.99999"):
        Demo(tmp_path, upstream.url).build("arxiv:2101.99999")


def test_a_title_finds_its_paper(tmp_path, upstream):
    made = Demo(tmp_path, upstream.url).build('"TinyMask: Masked Image Modelling for Encoders of Five Million Parameters"', papers=0, repos=0)
    assert made.target.id == TARGET


def test_a_word_that_is_no_target_is_wrong_usage(tmp_path, upstream):
    with pytest.raises(BadIdentifier):
        Demo(tmp_path, upstream.url).build("adam")


def test_an_ambiguous_title_lists_its_candidates(tmp_path, world):
    def twins(page):
        return {"data": [page["data"][0], {**page["data"][0], "paperId": "f" * 40, "externalIds": {"DOI": "10.1/twin"}}]}

    with Upstream(world, faults=Faults((Fault(r"search/match", MutateJson(twins)),))) as running, pytest.raises(AmbiguousTarget) as raised:
        Demo(tmp_path, running.url).build('"ProbeBench: Linear Probes Done with Care"')
    assert len(raised.value.candidates) == 2


@pytest.mark.parametrize("papers", [0, 2])
def test_what_is_beyond_the_budget_is_excluded_with_its_rank_and_nothing_is_lost(tmp_path, upstream, papers):
    made = Demo(tmp_path, upstream.url).build(papers=papers, repos=0)
    assert made.references["total"] == 8
    assert made.references["by_status"].get("policy_skipped", 0) == 5 - papers
    assert made.repositories == 0


def test_strict_ends_with_losses(built):
    with pytest.raises(Losses):
        fail_if_incomplete(built.report, True)
    fail_if_incomplete(built.report, False)
    whole = replace(built.report, ledger={"in": 1, "ok": 1, "degraded": 0, "failed": 0, "excluded": 0})
    fail_if_incomplete(whole, True)


FAULTS = {
    "a 429 storm that passes": Fault(r".", too_many("0"), chance=0.3),
    "every 503 once": Fault(r".", Answer(503), chance=0.2),
    "broken connections": Fault(r"codeload|e-print", Drop(), times=2),
    "captchas": Fault(r"huggingface", captcha(), times=1),
}


@pytest.mark.parametrize("name", FAULTS)
def test_passing_troubles_leave_no_trace_in_what_is_built(tmp_path, world, name):
    with Upstream(world) as calm:
        wanted = Demo(tmp_path / "calm", calm.url).build()
    with Upstream(world, faults=Faults((FAULTS[name],), seed=3)) as troubled:
        made = Demo(tmp_path / "troubled", troubled.url).build()
    assert made.content_hash == wanted.content_hash


def test_a_service_that_stays_down_is_a_row_and_the_rest_is_built(tmp_path, world):
    with Upstream(world, faults=Faults((Fault(r"huggingface", Answer(500)),))) as troubled:
        made = Demo(tmp_path, troubled.url).build()
    assert made.repositories == 3
    assert any(row.status is Status.UPSTREAM_5XX for row in made.losses)
    assert _equation(made.ledger)


def test_the_next_repository_comes_in_for_one_that_is_gone(tmp_path, world):
    with Upstream(world, faults=Faults((Fault(r"repos/qmori/softcrop", Answer(404)),))) as troubled:
        made = Demo(tmp_path, troubled.url).build(repos=2)
    ledger = {row.subject: row for row in _ledger(Demo(tmp_path, ""), made) if row.stage in {"code", "select"}}
    assert made.repositories == 2
    assert ledger["repo:github.com/qmori/softcrop"].status is Status.NOT_FOUND
    assert [row.detail for row in ledger.values() if row.stage == "select"] == ["ranked 3; only the 2 best-ranked repositories are fetched (--repos)"]


def test_a_repository_comes_in_however_many_before_it_are_gone(tmp_path, world):
    with Upstream(world, faults=Faults((Fault(r"repos/(northlake-vision|qmori)/", Answer(404)),))) as troubled:
        made = Demo(tmp_path, troubled.url).build(repos=1)
    assert made.repositories == 1


def test_github_refusing_in_mid_run_loses_only_what_it_refused(tmp_path, world):
    with Upstream(world, faults=Faults((Fault(r"api\.github\.com", rate_limited(4102444800), skip=2),))) as troubled:
        made = Demo(tmp_path, troubled.url).build()
    assert made.references["total"] == 8
    assert _equation(made.ledger)


def test_semantic_scholar_gone_leaves_the_papers_own_bibliography(tmp_path, world):
    with Upstream(world, faults=Faults((Fault(r"semanticscholar", Answer(403)),))) as troubled:
        made = Demo(tmp_path, troubled.url).build()
    assert made.references["total"] == 8
    assert any("semantic" in row.subject for row in made.losses)


def test_an_interrupted_build_resumes_without_asking_twice(tmp_path, world, monkeypatch):
    with Upstream(world) as running:
        demo = Demo(tmp_path, running.url)
        monkeypatch.setattr("indexer.pipeline.read", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            demo.build()
        monkeypatch.undo()
        assert demo.service.lineages() == ()
        running.forget()
        made = Demo(tmp_path, running.url).build()
        assert running.requests == []
    assert made.chunks > 50


def _interrupt(*_):
    raise KeyboardInterrupt


def test_two_builds_of_one_target_do_not_write_at_once(tmp_path, upstream):
    from indexer.store.generations import Store

    with Store(tmp_path).writing(NAME), pytest.raises(StoreBusy, match="process"):
        Demo(tmp_path, upstream.url).build()


def test_a_folder_and_a_repository_added_by_hand_answer_too(tmp_path, upstream):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "quokka.py").write_text("def quokka_schedule(step):\n    '''The quokka schedule.'''\n    return 0.125 * step\n")
    (folder / "LICENSE.md").write_text("# Licence\n\nAttribution-NonCommercial 4.0 International\n")
    demo = Demo(tmp_path / "home", upstream.url)
    demo.build(papers=0, repos=0)
    made = demo.service.add(NAME, [str(folder), "https://github.com/qmori/softcrop"])
    assert made.repositories == 2
    assert made.references["total"] == 10
    best = demo.service.query("what is the quokka schedule?", k=1).hits[0]
    assert best.chunk.path == "quokka.py"
    assert (best.work.license, best.work.meta["licence_file"]) == ("CC-BY-NC-4.0", "LICENSE.md")
    assert citation(best).startswith("mine/quokka.py#L1")


def test_a_folder_belongs_to_the_reference_that_its_readme_names(tmp_path, upstream):
    demo = Demo(tmp_path / "home", upstream.url)
    demo.build(papers=0, repos=0)
    with open_generation(demo.home, NAME) as generation:
        cited = next(work for work in generation.catalog.works() if work.kind == "paper" and work.id.startswith("arxiv:") and work.id != TARGET)
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "quokka.py").write_text("def quokka_schedule(step):\n    return 0.125 * step\n")
    (folder / "README.md").write_text(f"# mine\nOfficial code of the paper https://arxiv.org/abs/{cited.id.partition(':')[2]}.\n")
    (folder / "LICENSE").write_text("Ask the quokka first.\n")
    demo.service.add(NAME, [str(folder)])
    with open_generation(demo.home, NAME) as generation:
        (link,) = (link for link in generation.catalog.links() if link.repo.startswith("local:"))
    assert (link.paper, link.tier) == (cited.id, Tier.OFFICIAL)
    best = demo.service.query("what is the quokka schedule?", k=1).hits[0]
    assert (best.paper.id, best.work.license, best.work.meta["licence_note"]) == (cited.id, "custom", "Ask the quokka first.")


def test_a_local_paper_is_built_without_asking_for_its_record(tmp_path, upstream):
    demo = Demo(tmp_path, upstream.url)
    made = demo.build(str(DEMO / "papers" / "9909.00104.pdf"), papers=0, repos=0)
    assert made.target.id.startswith("local:")
    assert made.references["total"] > 0
    assert not [request for request in upstream.requests if "semanticscholar" in request.host and "local" in request.path]


def test_the_name_of_a_lineage_is_not_given_to_another_target(tmp_path, upstream):
    paper = tmp_path / "own.tex"
    paper.write_text(r"\documentclass{article}\begin{document}\title{Mine}\section{One}Words.\end{document}")
    demo = Demo(tmp_path / "home", upstream.url)
    first = demo.build(papers=0, repos=0)
    upstream.forget()
    with pytest.raises(UsageError, match="another lineage called"):
        demo.build(str(paper), name=NAME)
    assert not [request for request in upstream.requests if "codeload" in request.host]
    with open_generation(demo.home, NAME) as generation:
        assert generation.manifest.id == first.generation
    assert demo.build(first.target.title, name=NAME, papers=0, repos=0).target.id == TARGET


def test_a_file_of_ones_own_may_be_edited_and_built_again_under_its_name(tmp_path, upstream):
    paper = tmp_path / "own.tex"
    demo = Demo(tmp_path / "home", upstream.url)
    targets = set()
    for words in ("Words.", "Other words."):
        paper.write_text(rf"\documentclass{{article}}\begin{{document}}\title{{Mine}}\section{{One}}{words}\end{{document}}")
        targets.add(demo.build(str(paper), name="mine").target.id)
    assert len(targets) == 2
    paper.write_text(paper.read_text().replace("Other", "Further"))
    assert demo.service.add("mine", ["https://github.com/qmori/softcrop"]).repositories == 1
    with pytest.raises(UsageError, match="another lineage called"):
        demo.build(TARGET, name="mine")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.pdf", b"", "empty"),
        ("broken.pdf", b"%PDF-1.4\nnothing", "."),
        ("page.pdf", b"<html><body>hello</body></html>", "."),
    ],
)
def test_a_file_that_is_no_paper_is_refused_in_words(tmp_path, upstream, name, content, said):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises((NotFound, BadIdentifier, Exception), match=said) as raised:
        Demo(tmp_path / "home", upstream.url).build(str(path))
    assert getattr(raised.value, "exit_code", 1) in {2, 3}


def test_the_targets_code_is_kept_out_by_name_and_by_content(tmp_path, world):
    with Upstream(world) as running:
        demo = Demo(tmp_path, running.url)
        made = demo.build("arxiv:9911.00102", no_target_code=True)
        assert "repo:github.com/northlake-vision/patchmask" not in {hit.work.id for hit in demo.service.query("decoder reset parameters", k=50).hits}
        assert demo.service.check() == ()
    assert made.lineage == "arxiv-9911.00102"


def test_what_is_kept_out_of_one_lineage_stays_in_the_store_for_another(tmp_path, upstream):
    demo = Demo(tmp_path, upstream.url)
    first = demo.build("arxiv:9911.00102", name="all")
    blobs = sorted(path.name for path in (tmp_path / "blobs").glob("??/*"))
    assert demo.build("arxiv:9911.00102", name="alone", no_target_code=True).repositories == first.repositories - 1
    assert set(blobs) <= {path.name for path in (tmp_path / "blobs").glob("??/*")}
    assert demo.service.check(read_data=True) == ()
    again = Demo(tmp_path, upstream.url, offline=True).build("arxiv:9911.00102", name="all")
    assert (again.unchanged, again.generation) == (True, first.generation)


def test_what_is_kept_out_is_never_in_the_store_and_is_not_asked_for_twice(tmp_path, upstream):
    demo = Demo(tmp_path, upstream.url)
    made = demo.build("arxiv:9911.00102", no_target_code=True)
    assert demo.service.check(read_data=True) == ()
    assert [path.name for path in (tmp_path / "blobs").iterdir() if path.name.startswith(".")] == []
    upstream.forget()
    assert demo.build("arxiv:9911.00102", no_target_code=True).generation == made.generation
    assert upstream.requests == []


def test_what_is_to_be_kept_out_stays_out_when_it_is_added_by_hand(tmp_path, upstream):
    copy = tmp_path / "innocent"
    shutil.copytree(DEMO / "repos" / "northlake-vision" / "patchmask", copy)
    other = tmp_path / "other"
    other.mkdir()
    (other / "quokka.py").write_text("def quokka_schedule(step):\n    return 0.125 * step\n")
    demo = Demo(tmp_path / "home", upstream.url)
    added = (str(copy), "https://github.com/northlake-vision/patchmask", str(other))
    made = demo.build("arxiv:9911.00102", no_target_code=True, add=added)
    rows = [row.detail for row in _ledger(demo, made) if row.detail.startswith("added by hand")]
    assert len(rows) == 2
    assert all("target's own code" in row for row in rows)
    assert demo.service.check(read_data=True) == ()
    assert demo.service.query("quokka schedule", k=1).hits[0].chunk.path == "quokka.py"
    assert _equation(made.ledger)


def test_a_blacklisted_repository_is_neither_fetched_nor_returned(tmp_path, world):
    with Upstream(world) as running:
        demo = Demo(tmp_path, running.url)
        demo.build(blacklist=("https://github.com/slateworks/plainvit",))
        assert not [r for r in running.requests if r.host == "codeload.github.com" and "plain" in r.path]
        hits = demo.service.query("truncated normal init weights", k=50).hits
    assert "repo:github.com/slateworks/plainvit" not in {hit.work.id for hit in hits}


def test_code_as_of_the_paper_is_the_first_commit_after_it_and_is_not_asked_for_twice(tmp_path, upstream):
    demo = Demo(tmp_path, upstream.url)
    first = demo.build(code_as_of="paper")
    rows = {row.subject: row.detail for row in _ledger(demo, first) if row.stage == "code"}
    assert rows["repo:github.com/qmori/softcrop"] == "commit e59c63fba1f4: the first commit from 2023-10-02 on"
    assert rows["repo:github.com/northlake-vision/patchmask"] == "commit 4216aef2dea1: the first commit from 2024-02-05 on"
    upstream.forget()
    assert demo.build(code_as_of="paper").unchanged
    assert upstream.requests == []


def test_the_head_is_taken_and_said_to_be_where_nobody_lists_commits(tmp_path, world):
    with Upstream(world, faults=Faults((Fault(r"softcrop/commits\?since", Answer(404)),))) as troubled:
        demo = Demo(tmp_path, troubled.url)
        made = demo.build(code_as_of="paper")
    rows = {row.subject: row.detail for row in _ledger(demo, made) if row.stage == "code"}
    assert rows["repo:github.com/qmori/softcrop"].startswith("commit e59c63fba1f4: the head, because api.github.com does not know it")
    assert made.repositories == 4


def test_builds_under_a_budget_lose_nothing_and_arrive_where_one_without_arrives(tmp_path, upstream):
    whole = Demo(tmp_path / "whole", upstream.url).build()
    demo = Demo(tmp_path / "budget", upstream.url, max_requests=9)
    first = demo.build()
    assert sum(first.requests.values()) == 9
    assert _equation(first.ledger)
    rows = [row for row in _ledger(demo, first) if "max_requests = 9" in row.detail]
    assert {row.status.outcome for row in rows} <= {"excluded", "degraded"}
    assert [note for note in first.notes if f"{len(rows)} items were not fetched" in note]
    for _ in range(6):
        last = demo.build()
    assert (last.content_hash, last.unchanged, last.requests) == (whole.content_hash, True, {})


def test_a_dry_run_fetches_no_code_and_writes_no_lineage(tmp_path, upstream):
    from indexer.plan import BuildRequest

    demo = Demo(tmp_path, upstream.url)
    plan = demo.service.plan(BuildRequest(TARGET))
    assert plan.papers[0].id == "arxiv:9911.00102"
    assert plan.minutes > 0
    assert not [request for request in upstream.requests if request.host == "codeload.github.com"]
    assert demo.service.lineages() == ()


def test_depth_two_follows_the_ancestors(tmp_path, upstream):
    shallow = Demo(tmp_path / "1", upstream.url).build()
    deep = Demo(tmp_path / "2", upstream.url).build(depth=2)
    assert deep.references["total"] > shallow.references["total"]
    assert _equation(deep.ledger)


def test_what_is_added_by_hand_and_linked_as_well_is_there_once(tmp_path, upstream):
    softcrop = "https://github.com/qmori/softcrop"
    made = Demo(tmp_path, upstream.url).build(add=(softcrop, softcrop, "arxiv:9911.00102"))
    assert made.repositories == 4
    assert made.lineage_papers == 4
    assert _equation(made.ledger)


def test_only_ancestors_that_are_used_are_followed_best_first():
    from indexer.collect import _carriers

    used = RoleVerdict(Role.SETUP, 0.9)
    mentioned = RoleVerdict(Role.BACKGROUND, 0.9)
    found = [Reference("t", f"arxiv:{n}", roles=(used,), score=n / 10) for n in range(1, 5)]
    found += [Reference("t", "arxiv:survey", roles=(mentioned,), score=0.4), Reference("t", "arxiv:strong", score=0.9)]
    found += [Reference("t", "arxiv:weak", roles=(used,), score=0.01)]
    assert _carriers(found) == ["arxiv:strong", "arxiv:4", "arxiv:3", "arxiv:2", "arxiv:1"]
