"""Which repositories take the places of a lineage."""

from types import SimpleNamespace

from indexer.code_links import collector
from indexer.code_links.collector import RepositoryCollector, collect_repositories
from indexer.plan import BuildRequest
from indexer.repositories import RepoFingerprint, Repository
from lineage.records import Blob, CodeLink, Tier, Work

TARGET = Work("arxiv:9912.00001", title="The target")
FLAX = Work("ref:flax", title="Flax: A neural network library")


def _collected(monkeypatch, giver):
    """The repositories that take three places where `giver` gives the address of a fourth work's and three others are known."""
    papers = [Work(f"arxiv:9901.0000{n}", title=f"Paper {n}") for n in range(3)]
    links = [CodeLink(paper.id, f"repo:github.com/lab/r{n}", Tier.AUTHOR, ("huggingface",)) for n, paper in enumerate(papers)]
    links.append(CodeLink(TARGET.id, "repo:github.com/lab/own", Tier.OFFICIAL, ("pdf",)))
    given = {giver: frozenset({"repo:github.com/google/flax"})}
    fetched = lambda _, link: Repository(Work(link.repo, "code", meta={"commit": "c"}), Blob(link.repo, "", 0), link)  # noqa: E731
    monkeypatch.setattr(RepositoryCollector, "_fetched", fetched)
    monkeypatch.setattr(collector, "front", lambda _, blob: RepoFingerprint("", frozenset(), given=given.get(blob.sha256, frozenset())))
    works = {work.id: work for work in (TARGET, FLAX, *papers)}
    worths = {TARGET.id: 2.0, "arxiv:9901.00000": 0.9, FLAX.id: 0.8, "arxiv:9901.00001": 0.7, "arxiv:9901.00002": 0.6}
    bench = SimpleNamespace(watch=lambda _: None)
    collected = collect_repositories(bench, BuildRequest(TARGET.id, repos=3), TARGET, works, worths, links, {})
    return [repository.work.id.rpartition("/")[2] for repository in collected.repositories]


def test_a_place_is_left_for_what_the_first_repositories_name(monkeypatch):
    assert _collected(monkeypatch, "repo:github.com/lab/r0") == ["own", "r0", "flax"]


def test_what_only_the_targets_own_code_names_takes_no_place(monkeypatch):
    assert _collected(monkeypatch, "repo:github.com/lab/own") == ["own", "r0", "r1"]
