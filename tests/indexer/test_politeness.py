from __future__ import annotations

import itertools
import json
import threading
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

import pytest

from benchmarks.torture import turns
from indexer.transport.politeness import Limiter, Pace, Standing, backoff, quota_reset, retry_after, window
from lineage.errors import SettingsError, SourceError
from lineage.records import Status
from tests.fakes.http import Clock

NOW = 1_800_000_000.0
ARXIV = Pace("arxiv", "export.arxiv.org", 3.0, alone=True)
SCHOLAR = Pace("semantic-scholar", "api.semanticscholar.org", 1.0)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("120", 120.0),
        (" 7 ", 7.0),
        ("1000000000", 1e9),
        ("9" * 400, 999_999_999_999.0),
        (format_datetime(datetime.fromtimestamp(NOW + 90, UTC), usegmt=True), 90.0),
        (format_datetime(datetime.fromtimestamp(NOW - 90, UTC), usegmt=True), 0.0),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 0.0),
        ("-1", None),
        ("1.5", None),
        ("²", None),
        ("soon", None),
        ("Wed, 99 Foo 9999 99:99:99 GMT", None),
        ("", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_a_date_and_nonsense_is_not(value, seconds):
    assert retry_after({"retry-after": value}, NOW) == seconds


def test_the_ratelimit_header_says_when_a_spent_window_opens_again():
    assert window({"ratelimit": '"api";r=0;t=37'}) == 37.0
    assert retry_after({"ratelimit": '"api";r=0;t=37'}, NOW) == 37.0
    assert [window({"ratelimit": value}) for value in ('"api";r=489;t=37', '"api";r=0;t=x', "r", "")] == [None] * 4


def test_githubs_headers_say_until_when_the_quota_is_spent():
    assert quota_reset({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1800000100"}) == 1_800_000_100.0
    assert quota_reset({"x-ratelimit-remaining": "0"}) == float("inf")
    assert quota_reset({"x-ratelimit-remaining": "57", "x-ratelimit-reset": "1800000100"}) is None
    assert quota_reset({}) is None


def test_backoff_doubles_up_to_a_minute_with_jitter_of_half():
    assert [backoff(n, 1.0, lambda: 1.0) for n in (1, 2, 3, 4, 99)] == [1.0, 2.0, 4.0, 8.0, 60.0]
    assert [backoff(n, 1.0, lambda: 0.0) for n in (1, 2, 99)] == [0.5, 1.0, 30.0]


def limiter(tmp_path, clock, patience=900.0, watch=lambda text: None):
    return Limiter(tmp_path / "politeness", patience, wall=clock, sleep=clock.sleep, watch=watch)


def test_turns_come_an_interval_apart(tmp_path):
    clock, times = Clock(NOW), []
    turns = limiter(tmp_path, clock)
    for _ in range(4):
        with turns.turn(ARXIV, 60):
            times.append(clock.now - NOW)
    assert times == [0.0, 3.0, 6.0, 9.0]


def test_buckets_do_not_wait_for_each_other(tmp_path):
    clock = Clock(NOW)
    turns = limiter(tmp_path, clock)
    with turns.turn(ARXIV, 60), turns.turn(SCHOLAR, 60):
        assert clock.slept == []


def test_another_run_goes_on_where_the_last_one_stopped(tmp_path):
    clock = Clock(NOW)
    with limiter(tmp_path, clock).turn(ARXIV, 60):
        pass
    with limiter(tmp_path, clock).turn(ARXIV, 60):
        assert clock.slept == [3.0]


def test_a_cooled_bucket_is_left_alone_by_every_run_and_that_is_said(tmp_path):
    clock, said = Clock(NOW), []
    limiter(tmp_path, clock).cool(SCHOLAR, 12)
    with limiter(tmp_path, clock, watch=said.append).turn(SCHOLAR, 60):
        assert clock.slept == [12.0]
    assert said == ["waiting 12 s for api.semanticscholar.org"]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"last": "x"}', b'{"last": null}', b"\xff", b'{"last": 1e400}', b'{"not_before": 4e9, "last": 4e9}']
)
def test_a_damaged_file_or_a_clock_that_was_set_back_delays_by_no_more_than_the_patience(tmp_path, content):
    clock = Clock(NOW)
    (tmp_path / "politeness").mkdir()
    (tmp_path / "politeness/arxiv.json").write_bytes(content)
    for _ in range(2):
        with limiter(tmp_path, clock, patience=10).turn(ARXIV, 60):
            pass
        (tmp_path / "politeness/arxiv.json").write_text(json.dumps({"last": clock.now}))
    assert sum(clock.slept) <= 23


def test_a_bucket_that_is_alone_serves_one_at_a_time(tmp_path):
    clock = Clock(NOW)
    turns, inside, most = limiter(tmp_path, clock), [], []

    def ask():
        with turns.turn(ARXIV, 60):
            inside.append(1)
            most.append(len(inside))
            inside.pop()

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 8


def test_the_lock_is_not_waited_for_without_end(tmp_path):
    clock = Clock(NOW)
    with limiter(tmp_path, clock).turn(ARXIV, 60), pytest.raises(SourceError) as error, limiter(tmp_path, clock, patience=0.05).turn(ARXIV, 0.05):
        pass
    assert error.value.status is Status.TIMEOUT_FETCH


def test_the_lock_is_given_back_when_a_request_fails(tmp_path):
    clock = Clock(NOW)
    turns = limiter(tmp_path, clock, patience=1)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), turns.turn(ARXIV, 1):
            raise ZeroDivisionError
    assert clock.slept == [3.0, 3.0]


def test_a_folder_that_cannot_be_written_is_a_setting_to_change(tmp_path):
    (tmp_path / "home").write_text("")
    with pytest.raises(SettingsError), Limiter(tmp_path / "home/politeness", 1).turn(ARXIV, 1):
        pass


def test_two_processes_share_the_turns(tmp_path):
    held = turns(tmp_path, 0.05, 8)
    assert len(held) == 16
    assert all(later[0] >= earlier[1] for earlier, later in itertools.pairwise(held))
    assert min(later[0] - earlier[0] for earlier, later in itertools.pairwise(held)) >= 0.049


def test_waits_at_the_same_time_count_once(tmp_path):
    clock = Clock(NOW)
    standing = Standing(100, clock)
    assert [standing.may_wait(SCHOLAR, 60) for _ in range(4)] == [True] * 4
    clock.now += 60
    assert not standing.may_wait(SCHOLAR, 60)
    assert standing.may_wait(SCHOLAR, 40)
    assert standing.may_wait(ARXIV, 100)


def test_a_shut_door_opens_when_its_time_has_come():
    clock = Clock(NOW)
    standing = Standing(100, clock)
    standing.shut(ARXIV, Status.FORBIDDEN, "it said no", NOW + 5)
    with pytest.raises(SourceError, match=r"export\.arxiv\.org gets no more requests: it said no") as error:
        standing.check(ARXIV, "https://export.arxiv.org/x")
    assert (error.value.status, error.value.url) == (Status.FORBIDDEN, "https://export.arxiv.org/x")
    standing.check(SCHOLAR, "")
    clock.now += 5
    standing.check(ARXIV, "")


def test_a_run_does_not_wait_for_another_ones_longer_patience(tmp_path):
    clock = Clock(NOW)
    limiter(tmp_path, clock, patience=900).cool(SCHOLAR, 600)
    with pytest.raises(SourceError) as error, limiter(tmp_path, clock, patience=10).turn(SCHOLAR, 60):
        pass
    assert (error.value.status, clock.slept) == (Status.RATE_LIMITED, [])


def test_a_pace_that_is_not_written_whole_stays_as_it_was(tmp_path, monkeypatch):
    limiter = Limiter(tmp_path, 60)
    with limiter.turn(ARXIV, 1):
        pass
    before = (tmp_path / "arxiv.json").read_bytes()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt), limiter.turn(Pace("arxiv", "export.arxiv.org", 0.0), 1):
        pass
    assert (tmp_path / "arxiv.json").read_bytes() == before
