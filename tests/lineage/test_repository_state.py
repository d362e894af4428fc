"""What became of a linked repository, told apart."""

from __future__ import annotations

import pytest

from lineage.code_links.links import RepositoryState, states
from lineage.records import CodeLink, LedgerRow, Status, Tier, Work

PAPER, REPO = "arxiv:2006.10726", "repo:github.com/lab/Tent"
LINK = CodeLink(PAPER, REPO, Tier.OFFICIAL)


def words(meta=None, aliases=(), row=None):
    works = {REPO: Work(REPO, "code", aliases=aliases, meta=meta)} if meta is not None else {}
    return states([LINK], works, [row] if row else [])[REPO].words


def ended(status, detail="", stage="code", subject=REPO):
    return LedgerRow("source", PAPER, subject, stage, status, detail)


@pytest.mark.parametrize(
    ("meta", "aliases", "said"),
    [
        ({}, (), ()),
        ({"empty": True}, (), ()),
        ({"archived": True}, (), ("archived",)),
        ({"fork": True}, (), ("fork",)),
        ({"fork": True, "fork_of": "o/tent"}, (), ("fork of o/tent",)),
        ({"renamed": True}, ("repo:github.com/old/tent", "s2:1"), ("renamed from old/tent",)),
        ({"unasked": "asks for fewer requests"}, (), ("record refused",)),
        ({"archived": True, "fork_of": "o/tent"}, ("repo:github.com/a/b",), ("archived", "fork of o/tent", "renamed from a/b")),
    ],
)
def test_a_repository_that_is_here_is_what_its_forge_says(meta, aliases, said):
    assert words({"commit": "f" * 40} | meta, aliases, ended(Status.OK)) == said


@pytest.mark.parametrize(
    ("status", "detail", "said"),
    [
        (Status.NOT_FOUND, "api.github.com does not know it", "gone"),
        (Status.GONE, "", "gone"),
        (Status.LEGAL_451, "", "blocked for legal reasons"),
        (Status.FORBIDDEN, "", "blocked"),
        (Status.EMPTY, "", "empty"),
        (Status.RATE_LIMITED, "its quota is used up", "not fetched: its quota is used up"),
        (Status.TOO_LARGE, "larger than 9 bytes", "not fetched: larger than 9 bytes"),
        (Status.POLICY_SKIPPED, "only repositories on github.com are fetched", "not fetched: only repositories on github.com are fetched"),
    ],
)
def test_one_that_is_not_here_is_what_its_row_says(status, detail, said):
    assert words(row=ended(status, detail)) == (said,)


def test_one_beyond_the_budget_of_repositories_says_so_however_its_name_is_written():
    row = ended(Status.POLICY_SKIPPED, "12 repositories are fetched (--repos); this one ranked 14", "select", REPO.lower())
    assert words(row=row) == ("not fetched: 12 repositories are fetched (--repos); this one ranked 14",)


def test_rows_of_other_stages_do_not_count_and_without_any_nobody_tried():
    rows = [ended(Status.EMPTY, stage="parse"), LedgerRow("member", REPO, REPO, "code", Status.EMPTY)]
    assert states([LINK], {}, rows)[REPO] == RepositoryState()
    assert RepositoryState().words == ("not fetched",)


def test_which_commit_was_taken_and_why_is_its_detail():
    works = {REPO: Work(REPO, "code", meta={"commit": "f" * 40, "commit_note": "the first commit from 2020-06-18 on"})}
    assert states([LINK], works, [])[REPO] == RepositoryState(Status.OK, "the first commit from 2020-06-18 on")
