"""Scripted misbehaviour does what its name says, as often as it says."""

from __future__ import annotations

import gzip
import http.client
import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.upstream import Answer, Ask, Fault, Faults, Upstream, World
from tests.upstream import faults as f

DEMO = Path(__file__).resolve().parents[2] / "examples" / "demo"
PAPER = "/api.semanticscholar.org/graph/v1/paper/arXiv:9912.00001?fields=year"
EPRINT = "/export.arxiv.org/e-print/9912.00001"
OPEN = urllib.request.build_opener(urllib.request.ProxyHandler({}))
WORLD = World.load(DEMO)


def serve(*faults, seed=0):
    return Upstream(WORLD, Faults(faults, seed))


def get(upstream, path, timeout=10.0):
    try:
        with OPEN.open(upstream.url + path, timeout=timeout) as answer:
            return answer.status, answer.read(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read(), error.headers


def statuses(upstream, path, count):
    return [get(upstream, path)[0] for _ in range(count)]


def test_a_fault_acts_as_often_as_it_says_and_no_more():
    with serve(Fault(r"semanticscholar", f.Status(503), times=2)) as upstream:
        assert statuses(upstream, PAPER, 4) == [503, 503, 200, 200]
        assert [r.status for r in upstream.requests] == [503, 503, 200, 200]


def test_a_fault_may_leave_the_first_requests_alone():
    with serve(Fault(r"semanticscholar", f.Status(403), skip=1, times=1)) as upstream:
        assert statuses(upstream, PAPER, 3) == [200, 403, 200]


def test_a_fault_leaves_other_requests_alone():
    with serve(Fault(r"^GET export\.arxiv\.org/e-print/", f.Status(503))) as upstream:
        assert (get(upstream, PAPER)[0], get(upstream, EPRINT)[0]) == (200, 503)


def test_the_first_fault_with_turns_left_acts():
    with serve(Fault(r".", f.Status(500), times=1), Fault(r".", f.Status(502))) as upstream:
        assert statuses(upstream, PAPER, 3) == [500, 502, 502]


def test_chance_depends_on_seed_request_and_turn_alone():
    def run(seed):
        with serve(Fault(r".", f.Status(429), chance=0.5), seed=seed) as upstream:
            return statuses(upstream, PAPER, 12)

    assert run(3) == run(3)
    assert run(3) != run(4)
    assert set(run(3)) == {200, 429}


@pytest.mark.parametrize("value", [None, "3", "Fri, 20 Nov 2026 08:00:00 GMT", "-1", "1000000000", "soon"])
def test_too_many_requests_with_any_retry_after(value):
    with serve(Fault(r".", f.too_many(value))) as upstream:
        status, body, headers = get(upstream, PAPER)
    assert (status, headers["Retry-After"]) == (429, value)
    assert json.loads(body)["code"] == "429"


def test_a_captcha_comes_with_200():
    with serve(Fault(r".", f.captcha())) as upstream:
        status, body, headers = get(upstream, PAPER)
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert b"Verify you are human" in body


def test_a_github_rate_limit_names_its_reset():
    with serve(Fault(r"api\.github", f.rate_limited("1900000000"))) as upstream:
        status, _, headers = get(upstream, "/api.github.com/repos/qmori/softcrop")
    assert (status, headers["X-RateLimit-Remaining"], headers["X-RateLimit-Reset"]) == (403, "0", "1900000000")


def test_a_truncated_body_is_shorter_than_declared():
    with serve(Fault(r".", f.Truncate(0.25))) as upstream:
        with pytest.raises(http.client.IncompleteRead) as caught:
            get(upstream, EPRINT)
        whole = WORLD.eprint(WORLD.by_arxiv("9912.00001"))[0]
        assert caught.value.partial == whole[: len(whole) // 4]


def test_a_shortened_body_is_whole_by_http():
    with serve(Fault(r".", f.Shorten(0.5))) as upstream:
        _, body, headers = get(upstream, EPRINT)
    assert len(body) == int(headers["Content-Length"]) < len(WORLD.eprint(WORLD.by_arxiv("9912.00001"))[0])


def test_a_stalled_body_stops_and_ends_when_the_server_closes():
    with serve(Fault(r".", f.Stall(after=5, seconds=60))) as upstream, pytest.raises(TimeoutError):
        get(upstream, PAPER, timeout=0.2)


@pytest.mark.parametrize(
    ("lie", "declared"), [(f.LieAboutLength(by=10), 79), (f.LieAboutLength(by=-10), 59), (f.LieAboutLength(exactly=10**10), 10**10)]
)
def test_a_length_may_be_a_lie(lie, declared):
    with serve(Fault(r".", lie)) as upstream:
        connection = http.client.HTTPConnection(upstream.url.removeprefix("http://"), timeout=10)
        connection.request("GET", PAPER)
        assert connection.getresponse().getheader("Content-Length") == str(declared)
        connection.close()


def test_requests_under_way_at_once_are_counted_by_host():
    with serve(Fault(r"e-print", f.Stall(seconds=60), times=1)) as upstream:
        stalled = http.client.HTTPConnection(upstream.url.removeprefix("http://"), timeout=10)
        stalled.request("GET", EPRINT)
        stalled.getresponse()
        get(upstream, PAPER)
        get(upstream, EPRINT)
        assert [(r.host, r.concurrent) for r in upstream.requests] == [
            ("export.arxiv.org", 1),
            ("api.semanticscholar.org", 1),
            ("export.arxiv.org", 2),
        ]
        stalled.close()


def test_a_trickle_arrives_whole():
    with serve(Fault(r".", f.Both((f.Trickle(piece=16, pause_s=0.001), f.Delay(0.001))))) as upstream:
        assert json.loads(get(upstream, PAPER)[1])["year"] == 2025


def test_a_dropped_connection_is_an_error_and_the_next_request_is_served():
    with serve(Fault(r".", f.Drop(), times=1)) as upstream:
        with pytest.raises((ConnectionError, urllib.error.URLError)):
            get(upstream, PAPER)
        assert get(upstream, PAPER)[0] == 200


def test_a_redirect_names_any_place():
    with serve(Fault(r".", f.Redirect("file:///etc/passwd", 307))) as upstream:
        connection = http.client.HTTPConnection(upstream.url.removeprefix("http://"), timeout=10)
        connection.request("GET", PAPER)
        answer = connection.getresponse()
        assert (answer.status, answer.getheader("Location")) == (307, "file:///etc/passwd")
        connection.close()


def test_json_is_changed_and_other_bodies_are_not():
    with serve(Fault(r".", f.MutateJson(lambda value: value | {"year": "2025"}))) as upstream:
        assert json.loads(get(upstream, PAPER)[1])["year"] == "2025"
        assert get(upstream, EPRINT)[1][:2] == b"\x1f\x8b"


def test_a_header_may_be_wrong():
    with serve(Fault(r".", f.SetHeader("Content-Type", "text/plain"))) as upstream:
        assert get(upstream, PAPER)[2].get_all("Content-Type") == ["text/plain"]


def test_a_body_is_compressed_more_often_than_declared():
    with serve(Fault(r".", f.Gzip(times=2, declared=1))) as upstream:
        _, body, headers = get(upstream, PAPER)
    assert headers["Content-Encoding"] == "gzip"
    assert json.loads(gzip.decompress(gzip.decompress(body)))["year"] == 2025


def test_actions_compose_without_a_server():
    answer = f.Both((f.ReplaceBody(b"abcdef"), f.Shorten(0.5), f.Truncate(0.5)))(Answer(200, b"x"))
    assert (answer.body, answer.wire.cut_at) == (b"abc", 1)


def test_scripts_add_up_and_turns_are_counted_by_run():
    faults = Faults((Fault("a", f.Status(500), times=1),), seed=5) + Faults((Fault("b", f.Status(501)),))
    first, second = f.Turns(faults), f.Turns(faults)
    ask = Ask("GET", "a", "/", target="/")
    assert [first.act(ask, Answer(200)).status for _ in range(2)] == [500, 200]
    assert second.act(ask, Answer(200)).status == 500
    assert faults.seed == 5


def test_a_server_can_change_its_script():
    with serve() as upstream:
        upstream.misbehave(Faults((Fault(r".", f.Status(503), times=1),)))
        assert statuses(upstream, PAPER, 2) == [503, 200]
