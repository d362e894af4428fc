"""What an HTTP status means for a build, how long to wait after it, and what a run may still send."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.transport.cache import FINAL, refusal
from indexer.transport.politeness import LONGEST_BACKOFF, MEGABYTE, SPENT, Budget, Pace, Standing, backoff, quota_reset, retry_after, window
from lineage.errors import SourceError
from lineage.records import Status
from lineage.settings import Settings

URL = "https://api.github.com/repos/a/b"
NOON = 1_700_000_000.0


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (302, Status.WRONG_TYPE),
        (400, Status.NOT_FOUND),
        (401, Status.FORBIDDEN),
        (403, Status.FORBIDDEN),
        (404, Status.NOT_FOUND),
        (408, Status.TIMEOUT_FETCH),
        (409, Status.EMPTY),
        (410, Status.GONE),
        (413, Status.TOO_LARGE),
        (418, Status.FORBIDDEN),
        (422, Status.NOT_FOUND),
        (425, Status.TIMEOUT_FETCH),
        (429, Status.RATE_LIMITED),
        (451, Status.LEGAL_451),
        (500, Status.UPSTREAM_5XX),
        (503, Status.UPSTREAM_5XX),
    ],
)
def test_every_http_status_is_a_status_of_the_ledger(code: int, status: Status) -> None:
    error = refusal(code, {}, b"", URL)
    assert (error.status, error.code, error.url) == (status, code, URL)
    assert str(error).startswith("api.github.com ")
    assert f"(HTTP {code})" in str(error)
    assert code not in FINAL or not error.status.retryable


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"message": "Not\\n Found"}', "Not Found"),
        (b'{"error": "bad key", "message": "see docs"}', "bad key; see docs"),
        (b'{"message": "Blocked", "block": {"reason": "dmca", "url": "x"}}', "Blocked; dmca"),
        (b'{"message": 5, "block": "x"}', ""),
        (b"plain words\x1b[31m of it", "plain words [31m of it"),
        (b"<html>sorry</html>", ""),
        (b"[1]", "[1]"),
        (b"[" * 100_000, "[" * 200),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"x" * 1000, "x" * 200),
    ],
)
def test_what_the_body_says_is_told_in_one_short_line(body: bytes, said: str) -> None:
    assert str(refusal(404, {}, body, URL)) == f"api.github.com does not know it (HTTP 404{': ' + said if said else ''})"


def test_a_refusal_that_is_a_spent_quota_may_be_waited_for_and_says_how_to_raise_it() -> None:
    for headers in ({"x-ratelimit-remaining": "0"}, {"retry-after": "5"}):
        error = refusal(403, headers, b"", URL)
        assert error.status is Status.RATE_LIMITED
        assert "LINEAGE_GITHUB_TOKEN" in error.hint
    assert refusal(403, {"x-ratelimit-remaining": "1"}, b"", URL).status is Status.FORBIDDEN
    assert refusal(403, {"retry-after": "5"}, b"", "https://export.arxiv.org/x").hint == ""
    assert "LINEAGE_S2_API_KEY" in refusal(429, {}, b"", "https://api.semanticscholar.org/x").hint


def test_an_answer_that_would_be_too_large_is_told_from_a_bad_request() -> None:
    body = json.dumps({"error": "Response would exceed maximum size"}).encode()
    assert refusal(400, {}, body, URL).status is Status.TOO_LARGE


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": " 37 "}, 37.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:14:20 GMT"}, 60.0),
        ({"retry-after": "Tue, 14 Nov 2023 22:14:20"}, 60.0),
        ({"retry-after": "Tue, 14 Nov 2023 20:00:00 GMT"}, 0.0),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "1.5"}, None),
        ({"retry-after": "٣"}, None),
        ({"retry-after": "soon", "ratelimit": '"api";r=0;t=9'}, None),
        ({"ratelimit": '"api";r=0;t=9'}, 9.0),
        ({"ratelimit": '"api"; r=0 ; t=9'}, 9.0),
        ({"ratelimit": '"api";r=1;t=9'}, None),
        ({"ratelimit": '"api";r=0'}, None),
        ({"ratelimit": "r=0;t=-9"}, None),
        ({}, None),
    ],
)
def test_how_long_an_answer_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOON) == seconds


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.sampled_from(["retry-after", "ratelimit", "x-ratelimit-remaining", "x-ratelimit-reset"]), st.text(max_size=40)))
def test_no_header_makes_a_wait_that_is_negative_or_an_error(headers: dict[str, str]) -> None:
    for wait in (retry_after(headers, NOON), window(headers), quota_reset(headers)):
        assert wait is None or wait >= 0


def test_a_spent_quota_opens_when_it_says_or_nobody_knows() -> None:
    assert quota_reset({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1700000000"}) == NOON
    assert quota_reset({"x-ratelimit-remaining": "0"}) == float("inf")
    assert quota_reset({"x-ratelimit-remaining": "3", "x-ratelimit-reset": "1700000000"}) is None


@given(st.integers(1, 10_000), st.floats(0, 30), st.floats(0, 1))
def test_a_wait_before_the_next_attempt_lies_between_half_and_all_of_a_minute_at_most(attempt: int, base: float, dice: float) -> None:
    full = min(LONGEST_BACKOFF, base * 2 ** min(attempt - 1, 10))
    assert full / 2 <= backoff(attempt, base, lambda: dice) <= full
    assert backoff(1, 3.0, lambda: 1.0) == 3.0
    assert backoff(2, 3.0, lambda: 0.0) == 3.0


PACE, OTHER = Pace("a", "A", 1.0), Pace("b", "B", 1.0)


def test_waits_that_overlap_are_counted_once_against_the_patience() -> None:
    now = [0.0]
    standing = Standing(10.0, lambda: now[0])
    assert standing.may_wait(PACE, 6.0)
    assert standing.may_wait(PACE, 6.0)  # the same six seconds
    assert not standing.may_wait(PACE, 11.0)
    assert standing.may_wait(PACE, 10.0)
    assert not standing.may_wait(PACE, 10.5)
    assert standing.may_wait(OTHER, 10.0)
    now[0] = 20.0
    assert not standing.may_wait(PACE, 0.5)


def test_three_losses_in_a_row_shut_a_host_for_a_minute_and_one_answer_starts_anew() -> None:
    now = [0.0]
    standing = Standing(10.0, lambda: now[0])
    error = SourceError(Status.UPSTREAM_5XX, "broken", url=URL)
    for _ in range(2):
        standing.gave_up(PACE, error)
    standing.won(PACE)
    for _ in range(2):
        standing.gave_up(PACE, error)
    standing.check(PACE, URL)
    standing.gave_up(PACE, error)
    with pytest.raises(SourceError, match=r"A gets no more requests: 3 requests in a row failed, the last with: broken"):
        standing.check(PACE, URL)
    standing.check(OTHER, URL)
    now[0] = 60.0
    standing.check(PACE, URL)


def test_a_door_that_is_shut_for_good_stays_shut() -> None:
    standing = Standing(10.0, lambda: 1e12)
    standing.shut(PACE, Status.FORBIDDEN, "it said so")
    with pytest.raises(SourceError) as refused:
        standing.check(PACE, URL)
    assert refused.value.status is Status.FORBIDDEN


def test_a_budget_of_requests_and_bytes_is_spent_to_its_end_and_no_further() -> None:
    budget = Budget(Settings(max_requests=2, max_megabytes=1))
    budget.send(URL)
    budget.receive(MEGABYTE - 1)
    budget.send(URL)
    with pytest.raises(SourceError, match=rf"{SPENT} \(max_requests = 2\)") as spent:
        budget.send(URL)
    assert spent.value.status is Status.POLICY_SKIPPED
    assert "LINEAGE_MAX_REQUESTS" in spent.value.hint
    bytes_ = Budget(Settings(max_megabytes=1))
    bytes_.receive(MEGABYTE)
    with pytest.raises(SourceError, match=r"max_megabytes = 1"):
        bytes_.check(URL)
    assert (bytes_.cap(5 * MEGABYTE), bytes_.cap(5), bytes_.named(MEGABYTE)) == (MEGABYTE, 5, " (max_megabytes = 1)")


def test_without_a_budget_nothing_is_spent() -> None:
    budget = Budget(Settings())
    for _ in range(1000):
        budget.send(URL)
    budget.receive(10**12)
    budget.check(URL)
    assert (budget.cap(5), budget.named(5)) == (5, "")
