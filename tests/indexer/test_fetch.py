from __future__ import annotations

import gzip
import io
import logging
import os
import socket
import threading
import traceback
from contextlib import contextmanager
from email.utils import format_datetime

import httpx2
import pytest

from indexer.store.blobs import Blobs
from indexer.transport.client import Transport, client_for_packages
from indexer.transport.upstreams import credentials
from lineage.errors import SettingsError, SourceError
from lineage.records import Status
from lineage.settings import Settings
from tests.fakes.http import Clock, Reply, Scripted, reply_json

GITHUB = "https://api.github.com/repos/a/b"
SCHOLAR = "https://api.semanticscholar.org/graph/v1/paper/x"
ARXIV = "https://export.arxiv.org/e-print/2504.17192"
TARBALL = "https://codeload.github.com/a/b/tar.gz/HEAD"
HTML = b"<!DOCTYPE html><html><body>Verify you are human</body></html>"
CANARY = "canary-0123456789"


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def path_of(url):
    return url.removeprefix("https://")


@contextmanager
def asked(tmp_path, script, **flags):
    """A transport whose mirror follows the script; `clock` tells what it slept."""
    clock = Clock()
    with Scripted({path_of(url): replies for url, replies in script.items()}) as server:
        settings = Settings(home=tmp_path, **({"mirror": server.url, "deadline": 20.0} | flags))
        with Transport(settings, Blobs(tmp_path), wall=clock, sleep=clock.sleep) as transport:
            transport.clock, transport.server = clock, server
            yield transport


def ended(transport, url, **how):
    with pytest.raises(SourceError) as error:
        transport.get(url, **how)
    return error.value


def test_a_second_get_sends_nothing(tmp_path):
    with asked(tmp_path, {GITHUB: reply_json({"id": 1})}) as transport:
        first, second = transport.get(GITHUB), transport.get(GITHUB)
        assert (first.json, first.cached, second.json, second.cached) == ({"id": 1}, False, {"id": 1}, True)
        assert transport.requests == {"api.github.com": 1}


def test_parameters_are_part_of_the_request(tmp_path):
    with asked(tmp_path, {GITHUB: reply_json([])}) as transport:
        transport.get(GITHUB + "/commits", params={"until": "2025-01-01", "per_page": 1})
        assert transport.server.targets == ["api.github.com/repos/a/b/commits?until=2025-01-01&per_page=1"]


def test_a_post_is_remembered_by_its_body(tmp_path):
    url = "https://api.semanticscholar.org/graph/v1/paper/batch"
    with asked(tmp_path, {url: [reply_json([1]), reply_json([2])]}) as transport:
        answers = [transport.post(url, json_body={"ids": ids}).json for ids in (["a"], ["b"], ["a"])]
        assert answers == [[1], [2], [1]]
        assert [seen.body for seen in transport.server.seen] == [b'{"ids":["a"]}', b'{"ids":["b"]}']


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (400, Status.NOT_FOUND),
        (404, Status.NOT_FOUND),
        (409, Status.EMPTY),
        (410, Status.GONE),
        (422, Status.NOT_FOUND),
        (451, Status.LEGAL_451),
    ],
)
def test_a_final_refusal_is_kept_like_an_answer(tmp_path, code, status):
    with asked(tmp_path, {GITHUB: reply_json({"message": "no\nsuch thing"}, code)}) as transport:
        assert ended(transport, GITHUB).status is status
        again = ended(transport, GITHUB)
        assert (again.status, transport.requests["api.github.com"]) == (status, 1)
        assert "no such thing" in str(again)


@pytest.mark.parametrize(
    ("code", "status", "sent"), [(401, Status.FORBIDDEN, 1), (403, Status.FORBIDDEN, 1), (500, Status.UPSTREAM_5XX, 5), (503, Status.UPSTREAM_5XX, 5)]
)
def test_what_may_end_better_another_time_is_not_kept(tmp_path, code, status, sent):
    with asked(tmp_path, {GITHUB: reply_json({}, code)}) as transport:
        assert ended(transport, GITHUB).status is status
        assert transport.requests["api.github.com"] == sent
    with asked(tmp_path, {GITHUB: reply_json({"id": 1})}) as transport:
        assert transport.get(GITHUB).json == {"id": 1}


def test_what_a_mirror_does_not_have_is_asked_again_without_it(tmp_path):
    with asked(tmp_path, {}) as transport:
        assert ended(transport, GITHUB).status is Status.NOT_FOUND
    clock = Clock()
    with Transport(Settings(home=tmp_path), Blobs(tmp_path), wall=clock, sleep=clock.sleep, lookup=lambda host, port: []) as transport:
        assert ended(transport, GITHUB).status is Status.UNREACHABLE


def test_offline_sends_nothing_and_uses_what_is_there(tmp_path):
    with asked(tmp_path, {GITHUB: reply_json({"id": 1})}) as transport:
        transport.get(GITHUB)
    with asked(tmp_path, {}, offline=True) as transport:
        assert transport.get(GITHUB).json == {"id": 1}
        assert ended(transport, SCHOLAR).status is Status.OFFLINE
        assert transport.server.seen == []


def test_a_503_is_recovered_from(tmp_path):
    with asked(tmp_path, {SCHOLAR: [reply_json({}, 503), reply_json({}, 503), reply_json({"paperId": "x"})]}) as transport:
        assert transport.get(SCHOLAR).json == {"paperId": "x"}
        assert transport.requests["api.semanticscholar.org"] == 3


@pytest.mark.parametrize(
    ("value", "waits"),
    [("7", [7.0]), ("0", []), (format_datetime(__import__("datetime").datetime.fromtimestamp(1_800_000_030, __import__("datetime").UTC)), [30.0])],
)
def test_retry_after_is_obeyed_in_seconds_and_as_a_date(tmp_path, value, waits):
    with asked(tmp_path, {SCHOLAR: [reply_json({}, 429, Retry_After=value), reply_json({"ok": 1})]}) as transport:
        assert transport.get(SCHOLAR).json == {"ok": 1}
        assert transport.clock.slept == waits


@pytest.mark.parametrize("value", ["-5", "soon", "", "1e3", "Wed, 99 Foo 2025"])
def test_a_retry_after_that_means_nothing_is_replaced_by_a_backoff(tmp_path, value):
    with asked(tmp_path, {SCHOLAR: [reply_json({}, 429, Retry_After=value), reply_json({"ok": 1})]}) as transport:
        transport.get(SCHOLAR)
        assert len(transport.clock.slept) == 1
        assert 0 < transport.clock.slept[0] <= 1


def test_a_retry_after_beyond_all_patience_ends_the_host_at_once(tmp_path):
    with asked(tmp_path, {SCHOLAR: reply_json({}, 429, Retry_After="1000000000")}) as transport:
        assert ended(transport, SCHOLAR).status is Status.RATE_LIMITED
        assert ended(transport, SCHOLAR + "y").status is Status.RATE_LIMITED
        assert (transport.clock.slept, transport.requests["api.semanticscholar.org"]) == ([], 1)


def test_waits_add_up_to_no_more_than_the_patience_of_a_host(tmp_path):
    with asked(tmp_path, {SCHOLAR: reply_json({}, 429, Retry_After="40")}, patience=100) as transport:
        for name in "abc":
            assert ended(transport, SCHOLAR + name).status is Status.RATE_LIMITED
        assert sum(transport.clock.slept) == 80
        assert transport.requests["api.semanticscholar.org"] == 3


def test_a_request_is_not_sent_without_end(tmp_path):
    with asked(tmp_path, {SCHOLAR: reply_json({}, 429, Retry_After="0")}) as transport:
        assert ended(transport, SCHOLAR).status is Status.RATE_LIMITED
        assert transport.requests["api.semanticscholar.org"] == 10


def test_one_poisoned_item_does_not_shut_its_host(tmp_path):
    script = {SCHOLAR: reply_json({}, 500), SCHOLAR + "/good": reply_json({"ok": 1})}
    with asked(tmp_path, script) as transport:
        for turn in range(5):
            ended(transport, SCHOLAR + f"/bad{turn}")
            transport.get(SCHOLAR + f"/good{turn}")


def test_a_host_that_loses_three_requests_in_a_row_is_left_alone_for_a_minute(tmp_path):
    with asked(tmp_path, {SCHOLAR: reply_json({}, 500), GITHUB: reply_json({"id": 1})}) as transport:
        for turn in range(5):
            assert ended(transport, SCHOLAR + str(turn)).status is Status.UPSTREAM_5XX
        assert transport.requests["api.semanticscholar.org"] == 15
        assert transport.get(GITHUB).json == {"id": 1}
        transport.clock.now += 61
        ended(transport, SCHOLAR)
        assert transport.requests["api.semanticscholar.org"] == 20


def test_after_a_403_arxiv_is_not_asked_again_in_this_run(tmp_path):
    with asked(tmp_path, {ARXIV: Reply(403, b"denied"), GITHUB: reply_json({"id": 1})}) as transport:
        for url in (ARXIV, ARXIV + "v2", "https://arxiv.org/pdf/2504.17192"):
            assert ended(transport, url, accept="file").status is Status.FORBIDDEN
        assert transport.requests == {"export.arxiv.org": 1}
        assert transport.get(GITHUB).status == 200


def test_a_spent_github_quota_fails_fast_and_leaves_codeload_alone(tmp_path):
    spent = reply_json({"message": "API rate limit exceeded for 1.2.3.4"}, 403, X_RateLimit_Remaining="0", X_RateLimit_Reset="1800000100")
    with asked(tmp_path, {GITHUB: [spent, reply_json({"id": 1})], TARBALL: Reply(200, gzip.compress(b"x"))}) as transport:
        assert ended(transport, GITHUB).status is Status.RATE_LIMITED
        assert ended(transport, GITHUB + "/commits/main").status is Status.RATE_LIMITED
        assert (transport.requests["api.github.com"], transport.clock.slept) == (1, [])
        assert transport.get(TARBALL, accept="file").status == 200
        transport.clock.now += 101
        assert transport.get(GITHUB).json == {"id": 1}


def test_the_last_answer_of_a_quota_is_used_and_nothing_is_sent_after_it(tmp_path):
    last = reply_json({"id": 1}, X_RateLimit_Remaining="0", X_RateLimit_Reset="1800000100")
    with asked(tmp_path, {GITHUB: last}) as transport:
        assert transport.get(GITHUB).json == {"id": 1}
        assert ended(transport, GITHUB + "/commits/main").status is Status.RATE_LIMITED


def test_a_spent_window_of_hugging_face_is_waited_for(tmp_path):
    url = "https://huggingface.co/api/papers/2504.1719"
    with asked(tmp_path, {url: reply_json({"id": 1}, RateLimit='"api";r=0;t=37')}) as transport:
        transport.get(url + "2")
        transport.get(url + "3")
        assert transport.clock.slept == [37.0]


TRUNCATED = Reply(raw=b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"a": 1')
BROKEN = [
    pytest.param(TRUNCATED, "json", Status.TRUNCATED, id="less than was declared"),
    pytest.param(Reply(200, b'{"a": 1'), "json", Status.TRUNCATED, id="cut within"),
    pytest.param(Reply(200, b""), "json", Status.TRUNCATED, id="nothing"),
    pytest.param(Reply(200, b"[" * 200_000 + b"]" * 200_000), "json", Status.WRONG_TYPE, id="nested without end"),
    pytest.param(Reply(200, HTML), "json", Status.WRONG_TYPE, id="captcha for JSON"),
    pytest.param(Reply(200, HTML), "file", Status.WRONG_TYPE, id="captcha for a file"),
    pytest.param(Reply(200, b"\n\n  " + HTML), "file", Status.WRONG_TYPE, id="captcha after blanks"),
    pytest.param(Reply(200, b"<feed><entry>"), "atom", Status.TRUNCATED, id="half a feed"),
    pytest.param(Reply(200, b"<rss></rss>"), "atom", Status.WRONG_TYPE, id="another feed"),
    pytest.param(Reply(200, gzip.compress(b"x" * 50_000)[:-30]), "file", Status.TRUNCATED, id="half an archive"),
    pytest.param(Reply(200, gzip.compress(b"abc" * 5000)[:-8] + b"\0" * 8), "file", Status.HASH_MISMATCH, id="a wrong checksum"),
    pytest.param(Reply(200, b'{"a": 1}', {"Content-Encoding": "gzip"}), "json", Status.TRUNCATED, id="not gzip at all"),
    pytest.param(Reply(200, gzip.compress(gzip.compress(b'{"a": 1}')), {"Content-Encoding": "gzip"}), "json", Status.WRONG_TYPE, id="gzip twice"),
    pytest.param(Reply(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), "json", Status.TRUNCATED, id="broken chunks"),
    pytest.param(Reply(raw=b"nonsense\r\n\r\n"), "json", Status.TRUNCATED, id="no HTTP"),
    pytest.param(Reply(raw=b""), "json", Status.TRUNCATED, id="closed at once"),
    pytest.param(Reply(206, b'{"a": 1}'), "json", Status.WRONG_TYPE, id="a part that was not asked for"),
    pytest.param(Reply(304, b""), "json", Status.WRONG_TYPE, id="not modified"),
]


@pytest.mark.parametrize(("broken", "accept", "status"), BROKEN)
def test_a_broken_answer_is_asked_for_again_and_never_kept(tmp_path, broken, accept, status):
    good = {"json": b'{"a": 1}', "atom": b"<feed></feed>", "file": gzip.compress(b"x")}[accept]
    with asked(tmp_path / "once", {ARXIV: [broken, Reply(200, good)]}) as transport:
        assert transport.get(ARXIV, accept=accept).body == good
    with asked(tmp_path / "always", {ARXIV: broken}) as transport:
        assert ended(transport, ARXIV, accept=accept).status is status
        assert list((tmp_path / "always/requests").rglob("*.json")) == []
        assert [path for path in (tmp_path / "always/blobs").rglob("*") if path.is_file()] == []


def test_json_may_come_compressed(tmp_path):
    with asked(tmp_path, {GITHUB: Reply(200, gzip.compress(b'{"a": 1}'), {"Content-Encoding": "gzip"})}) as transport:
        assert transport.get(GITHUB).json == {"a": 1}
        assert transport.server.seen[0].headers["accept-encoding"] == "gzip"


def test_a_file_is_kept_as_it_came_whatever_the_headers_say(tmp_path):
    packed = gzip.compress(b"\\documentclass{article}")
    with asked(tmp_path, {ARXIV: Reply(200, packed, {"Content-Encoding": "x-gzip"})}) as transport:
        assert transport.get(ARXIV, accept="file").body == packed
        assert transport.server.seen[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply(200, b'{"a": "' + b"x" * 5000 + b'"}'), id="declared"),
        pytest.param(Reply(raw=b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{" + b" " * 5000), id="undeclared"),
        pytest.param(Reply(200, gzip.compress(b" " * 50_000_000), {"Content-Encoding": "gzip"}), id="a bomb"),
    ],
)
def test_a_body_over_the_limit_is_refused_and_asked_again_only_under_a_larger_one(tmp_path, reply):
    with asked(tmp_path, {GITHUB: [reply, reply_json({"id": 1})]}) as transport:
        assert ended(transport, GITHUB, max_bytes=1000).status is Status.TOO_LARGE
        assert ended(transport, GITHUB, max_bytes=1000).status is Status.TOO_LARGE
        assert transport.requests["api.github.com"] == 1
        assert transport.get(GITHUB, max_bytes=2000).json == {"id": 1}


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply(200, b'{"a": 1}' + b" " * 1000, piece=1, pause_s=0.05), id="body"),
        pytest.param(Reply(raw=b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 1000, piece=1, pause_s=0.05), id="headers"),
        pytest.param(Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n ", piece=1, pause_s=3.0), id="silence"),
    ],
)
def test_a_slow_drip_ends_at_the_deadline(tmp_path, reply):
    with asked(tmp_path, {GITHUB: reply}, deadline=0.25) as transport:
        assert ended(transport, GITHUB).status is Status.TIMEOUT_FETCH
        assert transport.requests["api.github.com"] == 3


def test_a_renamed_repository_is_followed_and_remembered_under_the_name_asked(tmp_path):
    moved = Reply(301, b"{}", {"Location": "https://api.github.com/repositories/7"})
    with asked(tmp_path, {GITHUB: moved, "https://api.github.com/repositories/7": reply_json({"id": 7})}) as transport:
        answer = transport.get(GITHUB)
        assert (answer.json, answer.url) == ({"id": 7}, "https://api.github.com/repositories/7")
        assert transport.get(GITHUB).cached
        assert transport.requests["api.github.com"] == 2


@pytest.mark.parametrize(
    "location",
    [
        "file:///etc/passwd",
        "gopher://api.github.com/",
        "http://127.0.0.1:1/x",
        "http://169.254.169.254/latest/meta-data/",
        "https://evil.org/repos/a/b",
        "//evil.org/x",
        "https://user@api.github.com/repos/a/b",
        "http://api.github.com/repos/a/b",
        "https://api.github.com/user",
    ],
)
def test_a_redirect_to_anywhere_else_is_a_failure_of_what_was_asked_for(tmp_path, location):
    with asked(tmp_path, {GITHUB: Reply(302, b"", {"Location": location})}) as transport:
        assert ended(transport, GITHUB).status is Status.WRONG_TYPE
        assert len(transport.server.seen) == 1


def test_redirects_in_a_circle_end(tmp_path):
    with asked(tmp_path, {GITHUB: Reply(302, b"", {"Location": GITHUB})}) as transport:
        assert ended(transport, GITHUB).status is Status.WRONG_TYPE
        assert len(transport.server.seen) == 18


def test_a_post_is_not_turned_into_a_get_by_a_redirect(tmp_path):
    url = "https://api.semanticscholar.org/graph/v1/paper/batch"
    with asked(tmp_path, {url: Reply(302, b"", {"Location": url})}) as transport, pytest.raises(SourceError) as error:
        transport.post(url, json_body={"ids": []})
    assert error.value.status is Status.WRONG_TYPE


def test_no_cookie_is_taken_from_one_host_to_another(tmp_path):
    script = {GITHUB: reply_json({}, Set_Cookie="a=b; Path=/"), SCHOLAR: reply_json({})}
    with asked(tmp_path, script) as transport:
        transport.get(GITHUB)
        transport.get(SCHOLAR)
        assert all("cookie" not in seen.headers for seen in transport.server.seen)


def test_keys_are_shown_to_their_own_hosts_only_and_never_to_a_mirror(tmp_path):
    keys = {"s2_api_key": CANARY + "s2", "github_token": CANARY + "gh"}
    assert credentials(Settings(home=tmp_path, **keys)) == {
        "api.semanticscholar.org": {"x-api-key": CANARY + "s2"},
        "api.github.com": {"Authorization": f"Bearer {CANARY}gh"},
    }
    script = {GITHUB: Reply(302, b"", {"Location": "https://codeload.github.com/a/b/tar.gz/HEAD"}), TARBALL: reply_json({}), SCHOLAR: reply_json({})}
    with asked(tmp_path, script, **keys) as transport:
        transport.get(GITHUB)
        transport.get(SCHOLAR)
        assert len(transport.server.seen) == 3
        assert all(CANARY not in str(seen) for seen in transport.server.seen)


def test_a_key_with_a_line_break_is_refused_without_being_shown(tmp_path):
    with pytest.raises(SettingsError) as error:
        Transport(Settings(home=tmp_path, s2_api_key=CANARY + "\r\nX-Evil: 1"), Blobs(tmp_path))
    assert CANARY not in str(error.value)


def test_no_secret_is_in_any_error_log_or_file(tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    clock, shown = Clock(), ""
    settings = Settings(home=tmp_path, s2_api_key=CANARY, github_token=CANARY, openai_api_key=CANARY)
    with Transport(settings, Blobs(tmp_path), wall=clock, sleep=clock.sleep, lookup=lambda host, port: ["127.0.0.1"]) as transport:
        for url in (GITHUB, SCHOLAR, "https://evil.org/", ARXIV):
            try:
                transport.get(url)
            except SourceError as error:
                shown += repr(error) + str(vars(error)) + "".join(traceback.format_exception(error))
        shown += repr(transport) + repr(vars(transport)["settings"])
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert CANARY not in shown + caplog.text
    assert not any(CANARY.encode() in content for content in files)


@contextmanager
def trap():
    """A listener on every local address; `hits` are connections to it."""
    hits = []
    server = socket.create_server(("", 0))
    server.settimeout(0.02)
    over = threading.Event()

    def listen():
        while not over.is_set():
            try:
                hits.append(server.accept()[1])
            except TimeoutError:
                continue

    thread = threading.Thread(target=listen)
    thread.start()
    try:
        yield server.getsockname()[1], hits
    finally:
        over.set()
        thread.join()
        server.close()


SPELLINGS = [
    *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0x7f.1", "localhost", "localhost.", "[::1]", "[::ffff:127.0.0.1]", "0"),
    *("[::127.0.0.1]", "[::]", "０.0.0.0", "①②⑦.0.0.1", "user@127.0.0.1", "api.github.com@127.0.0.1", "127.0.0.1\\@api.github.com"),
    *("127.0.0.1#@api.github.com", "127.0.0.1%00.api.github.com", "127.0.0.1\r\n", "api.github.com:80@127.0.0.1"),
]


def test_no_spelling_of_a_private_host_is_ever_connected_to(tmp_path):
    clock = Clock()
    with trap() as (port, hits), Transport(Settings(home=tmp_path), Blobs(tmp_path), wall=clock, sleep=clock.sleep) as transport:
        for scheme in ("http", "https"):
            for host in SPELLINGS:
                assert ended(transport, f"{scheme}://{host}:{port}/repos/a/b").status is Status.POLICY_SKIPPED
                assert ended(transport, f"{scheme}://{host}/repos/a/b").status is Status.POLICY_SKIPPED
    assert hits == []


def test_a_public_name_that_resolves_to_a_private_address_is_not_connected_to(tmp_path):
    clock = Clock()
    for addresses in (["127.0.0.1"], ["::1"], ["10.0.0.1", "169.254.169.254"], ["::ffff:127.0.0.1"], []):
        with Transport(
            Settings(home=tmp_path), Blobs(tmp_path), wall=clock, sleep=clock.sleep, lookup=lambda host, port, a=addresses: a
        ) as transport:
            error = ended(transport, GITHUB)
            assert (error.status, "no public address" in str(error)) == (Status.UNREACHABLE, True)


def test_without_a_network_it_says_what_cannot_be_reached(tmp_path):
    def lookup(host, port):
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    clock = Clock()
    with Transport(Settings(home=tmp_path), Blobs(tmp_path), wall=clock, sleep=clock.sleep, lookup=lookup) as transport:
        error = ended(transport, GITHUB)
    assert error.status is Status.UNREACHABLE
    assert "api.github.com cannot be reached: the name api.github.com does not resolve" in str(error)


def test_what_is_waited_for_is_said_in_words(tmp_path):
    said, clock = [], Clock()
    with Scripted({path_of(SCHOLAR): [reply_json({}, 429, Retry_After="12"), reply_json({})]}) as server:
        settings = Settings(home=tmp_path, mirror=server.url)
        with Transport(settings, Blobs(tmp_path), wall=clock, sleep=clock.sleep, watch=said.append) as transport:
            transport.get(SCHOLAR)
    assert said == ["waiting 12 s for api.semanticscholar.org"]


def test_threads_may_share_a_transport(tmp_path):
    with asked(tmp_path, {GITHUB[:-1]: reply_json({"id": 1})}) as transport:
        threads = [threading.Thread(target=transport.get, args=(GITHUB + str(n % 6),)) for n in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert 6 <= transport.requests["api.github.com"] <= 24
        assert all(transport.get(GITHUB + str(n)).cached for n in range(6))


def test_a_budget_of_requests_is_not_overdrawn_and_the_next_run_goes_on(tmp_path):
    script = {GITHUB: reply_json({"id": 1}), GITHUB + "/commits/a": reply_json({}, 503), GITHUB + "/commits/b": reply_json({"id": 2})}
    with asked(tmp_path, script, max_requests=3) as transport:
        assert transport.get(GITHUB).json == {"id": 1}
        error = ended(transport, GITHUB + "/commits/a")
        assert (error.status, str(error)) == (Status.POLICY_SKIPPED, "the budget of this run is spent (max_requests = 3)")
        assert "LINEAGE_MAX_REQUESTS" in error.hint
        assert ended(transport, GITHUB + "/commits/b").status is Status.POLICY_SKIPPED
        assert transport.get(GITHUB).cached
        assert transport.requests.total() == len(transport.server.seen) == 3
    with asked(tmp_path, script, max_requests=1) as transport:
        assert transport.get(GITHUB).cached
        assert transport.get(GITHUB + "/commits/b").json == {"id": 2}


def test_a_redirect_is_paid_for_too(tmp_path):
    moved = Reply(301, b"{}", {"Location": "https://api.github.com/repositories/7"})
    script = {GITHUB: moved, "https://api.github.com/repositories/7": reply_json({"id": 7})}
    with asked(tmp_path, script, max_requests=1) as transport:
        assert ended(transport, GITHUB).status is Status.POLICY_SKIPPED
        assert transport.requests.total() == 1
    with asked(tmp_path, script, max_requests=2) as transport:
        assert transport.get(GITHUB).json == {"id": 7}


def test_many_threads_do_not_overdraw_a_budget(tmp_path):
    statuses = []

    def ask(transport, n):
        try:
            statuses.append(transport.get(f"{GITHUB}{n}").status)
        except SourceError as error:
            statuses.append(error.status)

    with asked(tmp_path, {GITHUB[:-1]: reply_json({"id": 1})}, max_requests=5) as transport:
        threads = [threading.Thread(target=ask, args=(transport, n)) for n in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (statuses.count(200), statuses.count(Status.POLICY_SKIPPED), len(transport.server.seen)) == (5, 15, 5)


def test_after_so_many_megabytes_nothing_more_is_asked_for_but_what_is_here_is_used(tmp_path):
    big = reply_json({"x": "y" * 600_000})
    script = {GITHUB + "/commits/a": big, GITHUB + "/commits/b": big, GITHUB + "/commits/c": big}
    with asked(tmp_path, script, max_megabytes=1) as transport:
        assert [transport.get(GITHUB + "/commits/" + name).status for name in "ab"] == [200, 200]
        error = ended(transport, GITHUB + "/commits/c")
        assert (error.status, str(error)) == (Status.POLICY_SKIPPED, "the budget of this run is spent (max_megabytes = 1)")
        assert transport.get(GITHUB + "/commits/a").cached
    with asked(tmp_path, script, max_megabytes=1) as transport:
        assert transport.get(GITHUB + "/commits/c").status == 200


def test_a_body_larger_than_a_whole_budget_is_refused_once_and_fetched_under_a_larger_one(tmp_path):
    script = {GITHUB: reply_json({"x": "y" * 1_500_000})}
    with asked(tmp_path, script, max_megabytes=1) as transport:
        assert [str(ended(transport, GITHUB)) for _ in range(2)] == ["larger than 1,000,000 bytes (max_megabytes = 1)"] * 2
        assert transport.requests.total() == 1
    with asked(tmp_path, script) as transport:
        assert transport.get(GITHUB).status == 200


def test_a_packages_own_client_goes_to_the_mirror_without_its_key(tmp_path):
    with Scripted({"api.openai.com/v1/embeddings": reply_json({"data": []})}) as server:
        client = client_for_packages(Settings(home=tmp_path, mirror=server.url))
        answer = client.post("https://api.openai.com/v1/embeddings?x=1", json={"a": 1}, headers={"Authorization": f"Bearer {CANARY}"})
        assert answer.json() == {"data": []}
        assert [(seen.method, seen.target, seen.body) for seen in server.seen] == [("POST", "api.openai.com/v1/embeddings?x=1", b'{"a":1}')]
        assert CANARY not in str(server.seen)


def test_a_packages_own_client_leaves_an_endpoint_on_the_own_network_alone(tmp_path):
    with Scripted({"v1/models": reply_json({"data": []})}) as server:
        client = client_for_packages(Settings(home=tmp_path, mirror="http://127.0.0.1:1", offline=True))
        client.get(server.url + "/v1/models", headers={"Authorization": "Bearer x"})
        assert server.seen[0].headers["authorization"] == "Bearer x"


def test_a_packages_own_client_sends_nothing_offline(tmp_path):
    client = client_for_packages(Settings(home=tmp_path, offline=True))
    with pytest.raises(httpx2.ConnectError):
        client.get("https://api.openai.com/v1/models")


def test_a_large_file_is_streamed_to_the_store(tmp_path):
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=0) as file:
        file.write(bytes(range(256)) * 20_000)
    with asked(tmp_path, {TARBALL: Reply(200, packed.getvalue())}) as transport:
        answer = transport.get(TARBALL, accept="file", max_bytes=10_000_000)
        assert (answer.blob.size, answer.body) == (len(packed.getvalue()), packed.getvalue())
