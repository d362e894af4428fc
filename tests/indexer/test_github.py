from __future__ import annotations

import gzip
import os
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import pytest

from indexer.sources.github import GitHub, parse_commit, parse_repository, pinned
from lineage.errors import SourceError
from lineage.records import Status, Work
from tests.fakes.http import Reply, Scripted, reply_json, transport
from tests.upstream import Fault, Faults, Upstream, World
from tests.upstream.faults import ReplaceBody, Truncate, captcha, rate_limited
from tests.upstream.faults import Status as Says

SHA, OTHER = "0123456789abcdef0123456789abcdef01234567", "f" * 40
REPO = "repo:github.com/lab/tent"


def repository(**more):
    return {
        "full_name": "lab/tent",
        "number": 77,
        "sha": SHA,
        "date": "2024-05-01T10:00:00Z",
        "created": "2020-01-01T00:00:00Z",
        "folder": "tent",
    } | more


@pytest.fixture
def ask(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    (tmp_path / "data/tent").mkdir(parents=True)
    (tmp_path / "data/tent/tent.py").write_text("lr = 1e-3\n")

    with ExitStack() as stack:

        def asked(*faults, **more):
            upstream = stack.enter_context(Upstream(World.of({"repositories": [repository(**more)]}, tmp_path / "data"), Faults(faults)))
            github = GitHub(stack.enter_context(transport(tmp_path, upstream.url)))
            github.upstream = upstream
            return github

        yield asked


def test_a_repository_is_described_pinned_and_fetched_in_three_requests(ask):
    github = ask(licence="MIT", description="Test-time adaptation", stars=5)
    work = github.repository(REPO)
    assert (work.id, work.kind, work.title, work.abstract, work.license, work.year, work.aliases) == (
        *(REPO, "code", "lab/tent", "Test-time adaptation", "MIT", 2020),
        (),
    )
    assert {name: work.meta[name] for name in ("number", "default_branch", "created", "pushed", "stars")} == {
        "number": 77,
        "default_branch": "main",
        "created": "2020-01-01T00:00:00Z",
        "pushed": "2024-05-01T10:00:00Z",
        "stars": 5,
    }
    assert github.commit(work) == (SHA, "2024-05-01T10:00:00Z")
    assert gzip.decompress(github._transport.blobs.get(github.tarball(work, SHA).sha256)).endswith(b"\0" * 1024)
    assert [request.url.removeprefix("https://") for request in github.upstream.requests] == [
        "api.github.com/repos/lab/tent",
        "api.github.com/repos/lab/tent/commits/main",
        f"codeload.github.com/lab/tent/tar.gz/{SHA}",
    ]


def test_a_renamed_repository_is_found_under_its_new_name_with_the_old_one_as_alias(ask):
    work = ask(former=["old/name"]).repository("repo:github.com/old/name")
    assert (work.id, work.aliases, work.meta["renamed"]) == (REPO, ("repo:github.com/old/name",), True)


def test_another_case_is_no_other_name(ask):
    assert ask().repository("repo:github.com/Lab/Tent").aliases == ()


@pytest.mark.parametrize(("state", "status"), [("dmca", Status.LEGAL_451), ("empty", Status.EMPTY)])
def test_a_blocked_or_empty_repository_says_so(ask, state, status):
    github = ask(state=state)
    with pytest.raises(SourceError) as error:
        github.commit(github.repository(REPO))
    assert error.value.status is status


def test_a_repository_that_is_gone_says_so(ask):
    with pytest.raises(SourceError) as error:
        ask().repository("repo:github.com/no/such")
    assert error.value.status is Status.NOT_FOUND


def test_a_repository_of_another_forge_is_not_fetched(ask):
    github = ask()
    with pytest.raises(SourceError) as error:
        github.repository("repo:gitlab.com/a/b")
    assert (error.value.status, github.upstream.requests) == (Status.POLICY_SKIPPED, [])


def test_when_the_quota_is_spent_the_archive_of_the_head_says_which_commit_it_is(ask):
    github = ask(Fault("api.github.com", rate_limited()))
    work = github.repository(REPO)
    assert (work.id, "fewer requests" in work.meta["unasked"]) == (REPO, True)
    assert github.commit(work) == (SHA, "2024-05-01T10:00:00Z")
    assert github.tarball(work, SHA).size > 0
    assert [request.host for request in github.upstream.requests] == ["api.github.com", "codeload.github.com"]
    again = ask(Fault("api.github.com/repos/lab/tent/commits", Says(500)))
    assert again.commit(work) == (SHA, "2024-05-01T10:00:00Z")
    assert again.tarball(work, SHA).size > 0
    assert again.upstream.requests == []


def test_an_archive_of_another_commit_is_refused_and_asked_for_anew(ask):
    github = ask()
    other = repository(sha=OTHER)
    body = World.of({"repositories": [other]}, github.upstream.world.root)
    wrong = body.tarball(body.repository("lab/tent"))
    github.upstream.misbehave(Faults((Fault("codeload", ReplaceBody(wrong), times=1),)))
    with pytest.raises(SourceError) as error:
        github.tarball(Work(REPO, "code"), SHA)
    assert error.value.status is Status.HASH_MISMATCH
    assert github.tarball(Work(REPO, "code"), SHA).size > 0


@pytest.mark.parametrize(
    ("action", "status"),
    [
        (Truncate(), Status.TRUNCATED),
        (captcha(), Status.WRONG_TYPE),
        (ReplaceBody(b"PK\x03\x04"), Status.WRONG_TYPE),
        (Says(503), Status.UPSTREAM_5XX),
    ],
)
def test_a_broken_archive_is_an_error(ask, action, status):
    with pytest.raises(SourceError) as error:
        ask(Fault("codeload", action)).tarball(Work(REPO, "code"), SHA)
    assert error.value.status is status


LIST = "api.github.com/repos/lab/tent/commits"
SINCE = LIST + "?since=2023-06-01T00%3A00%3A00Z&per_page=100"
UNTIL = LIST + "?until=2023-06-01T00%3A00%3A00Z&per_page=1"


def listed(*dates):
    """A page of commits with these dates; the hash of a commit begins with its month, day and hour."""
    return [{"sha": date[5:13].replace("-", "").replace("T", "").ljust(40, "0"), "commit": {"committer": {"date": date}}} for date in dates]


def full(day):
    return reply_json(listed(*[f"{day}T{23 - n // 5:02}:00:00Z" for n in range(100)]))


@contextmanager
def released(tmp_path, script):
    """(what is said of the commit that came out with a paper of June 2023, the addresses asked for that)."""
    with Scripted(script) as server, transport(tmp_path, server.url) as asks:
        yield GitHub(asks).commit_after(Work(REPO, "code"), "2023-06-01"), server.targets
    with transport(tmp_path, "http://127.0.0.1:9") as again:
        assert GitHub(again).commit_after(Work(REPO, "code"), "2023-06-01")[0]


def test_the_commit_nearest_after_a_day_is_the_last_of_those_since(tmp_path):
    page = listed("2024-01-01T00:00:00Z", "2023-06-03T09:00:00Z", "2023-05-31T23:59:59Z")
    with released(tmp_path, {SINCE: reply_json(page)}) as (found, asked):
        assert found == ("0603" + "09" + "0" * 34, "2023-06-03T09:00:00Z", "the first commit from 2023-06-01 on")
        assert asked == [SINCE]


def test_where_nothing_follows_a_day_the_last_commit_before_it_is_taken(tmp_path):
    with released(tmp_path, {SINCE: reply_json([]), UNTIL: reply_json(listed("2023-01-01T00:00:00Z"))}) as (found, asked):
        assert found[1:] == ("2023-01-01T00:00:00Z", "the last commit before 2023-06-01; none follows")
        assert asked == [SINCE, UNTIL]


def test_a_repository_without_any_commit_around_a_day_is_not_found(tmp_path):
    with Scripted({LIST: Reply(200, b"[]")}) as server, transport(tmp_path, server.url) as asks, pytest.raises(SourceError) as error:
        GitHub(asks).commit_after(Work(REPO, "code"), "2023-06-01")
    assert (error.value.status, str(error.value)) == (Status.NOT_FOUND, "repo:github.com/lab/tent has no commit")


def test_the_last_page_is_gone_to_at_once_where_the_header_names_it(tmp_path):
    page = "https://api.github.com/repositories/7/commits?since=x&per_page=100&page="
    first = replace(full("2024-01-01"), headers={"Link": f'<{page}2>; rel="next", <{page}41>; rel="last"'})
    with released(tmp_path, {SINCE: first, SINCE + "&page=41": reply_json(listed("2023-06-02T00:00:00Z"))}) as (found, asked):
        assert found[1:] == ("2023-06-02T00:00:00Z", "the first commit from 2023-06-01 on")
        assert asked == [SINCE, SINCE + "&page=41"]


def test_without_that_header_or_where_it_lies_the_pages_are_read_one_by_one(tmp_path):
    first = replace(full("2024-01-01"), headers={"Link": '<https://api.github.com/x?page=9>; rel="last"'})
    script = {SINCE: first, SINCE + "&page=9": reply_json([]), SINCE + "&page=2": reply_json(listed("2023-06-02T00:00:00Z"))}
    with released(tmp_path, script) as (found, asked):
        assert found[1:] == ("2023-06-02T00:00:00Z", "the first commit from 2023-06-01 on")
        assert asked == [SINCE, SINCE + "&page=9", SINCE + "&page=2"]


def test_a_list_that_does_not_end_is_left_after_ten_pages_and_that_is_said(tmp_path):
    with released(tmp_path, {SINCE: full("2024-01-01"), SINCE + "&page=10": full("2023-07-01")}) as (found, asked):
        assert found[1:] == ("2023-07-01T04:00:00Z", "the first commit from 2023-06-01 on among the newest 1,000; the list goes on")
        assert len(asked) == 10


@pytest.mark.parametrize("raw", [None, [], "x", {}, {"full_name": None}, {"full_name": "a"}, {"full_name": "../../x"}, {"full_name": ["a", "b"]}])
def test_a_record_that_names_no_repository_is_an_error(raw):
    with pytest.raises(SourceError) as error:
        parse_repository(raw, REPO)
    assert error.value.status is Status.WRONG_TYPE


def test_fields_of_other_types_are_missing_fields():
    raw = {"full_name": "lab/tent", "license": "MIT", "id": "x", "owner": None, "created_at": 7, "size": "0", "stargazers_count": None, "archived": 1}
    assert parse_repository(raw, REPO) == Work(REPO, "code", "lab/tent", said_by=("github",), meta={"created": "7"})


def test_a_licence_that_github_does_not_recognise_is_no_licence_but_noted():
    raw = {"full_name": "lab/tent", "license": {"spdx_id": "NOASSERTION", "name": "Other"}}
    work = parse_repository(raw, REPO)
    assert (work.license, work.meta["licence_note"]) == (None, "Other")


@pytest.mark.parametrize("raw", [None, [], {}, {"sha": "main"}, {"sha": SHA[:-1]}, {"sha": 7}])
def test_what_is_no_commit_is_none(raw):
    assert parse_commit(raw) is None


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"\x1f\x8b",
        gzip.compress(b"", mtime=0),
        gzip.compress(b"x" * 2000, mtime=0),
        gzip.compress(b"\0" * 2000, mtime=0),
        b"PK\x03\x04",
        gzip.compress(b"\xff" * 512, mtime=0),
    ],
)
def test_an_archive_that_names_no_commit_has_no_pin(start):
    assert pinned(start) == ("", "")
