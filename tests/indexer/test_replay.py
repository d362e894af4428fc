"""Every recorded answer of the public services, sent over a socket through the transport and read by its source.

Nothing may crash and nothing may vanish: each answer is records, a typed error or a counted absence.
"""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from urllib.parse import urlsplit

from indexer.sources import crossref, github, openalex
from indexer.sources.arxiv import Arxiv
from indexer.sources.fields import items, mapping
from indexer.sources.semantic_scholar import parse_paper, parse_reference, parse_references, read_pages
from indexer.transport.cache import Request
from lineage import ids
from lineage.errors import SourceError
from tests.data import EVAL, needs_eval
from tests.fakes.http import Clock, Reply, Scripted, transport

RECORDINGS = EVAL / "api" / "recordings.jsonl.gz"
PASSED_ON = {"content-type", "retry-after", "location", "etag", "x-ratelimit-remaining", "x-ratelimit-reset", "content-disposition"}
pytestmark = needs_eval


def recordings():
    with gzip.open(RECORDINGS, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def reply(row):
    body = (row["body"] or "").encode()
    if row["headers"].get("content-type") == "application/x-gzip":
        body = bytes.fromhex(row["body"])
    return Reply(row["status"], body, {name: value for name, value in row["headers"].items() if name.lower() in PASSED_ON})


def read_scholar(path, value):
    """(records, absences) of an answer of Semantic Scholar."""
    if path.endswith("/references"):
        listing = read_pages(lambda offset, limit: {**mapping(value), "next": None})
        listed = parse_references(listing.rows, None, listing.status, listing.detail)
        twice = len(listing.rows) - len(listed.entries)
        return sum(bool(entry.work) for entry in listed.entries), sum(not entry.work for entry in listed.entries) + twice + (not listing.rows)
    if path.endswith("/citations"):
        rows = [parse_reference({**row, "citedPaper": row["citingPaper"]}, "s2-1").work for row in items(value.get("data"))]
    elif path.endswith("/batch"):
        rows = [parse_paper(row) for row in value]
    elif "data" in value:
        rows = [parse_paper(row) for row in items(value["data"])]
    else:
        rows = [parse_paper(value)]
    return sum(bool(row) for row in rows), sum(not row for row in rows) + (not rows)


def read_github(path, value):
    if path.count("/") == 3 or path.startswith("/repositories/"):
        return int(bool(github.parse_repository(value, "repo:github.com/octokit/x"))), 0
    return 0, 1


def read_openalex(path, value):
    rows = items(value.get("results")) if "results" in value else [value]
    found = [openalex.parse_work(row) for row in rows]
    cited = sum(len(openalex.cited_ids(row)) for row in rows)
    return sum(bool(one) for one in found) + cited, sum(not one for one in found) + (not found)


def read_crossref(path, value):
    rows = items(mapping(value.get("message")).get("items"))
    if not rows:
        listed = crossref.parse_references(value)
        return len(listed.entries), int(not listed.entries)
    return len(rows), 0


READERS = {
    "api.semanticscholar.org": read_scholar,
    "api.github.com": read_github,
    "api.openalex.org": read_openalex,
    "api.crossref.org": read_crossref,
}


def ask(transport, row, url):
    if row["method"] == "POST":
        return transport.post(url, json_body=json.loads(row.get("request_body") or "{}"))
    if row["method"] != "GET":
        raise SourceError("policy_skipped", "only GET and POST are sent")
    return transport.get(url, accept="file" if "codeload" in url else "json")


def read(transport, row, url):
    """(kind of outcome, records, absences) of one recording."""
    host, path = urlsplit(url).netloc, urlsplit(url).path
    try:
        if host == "export.arxiv.org" and row["status"] == 200:
            arxiv = Arxiv(transport)
            package, client = arxiv._package()
            client.query_url_format = url.partition("?")[0] + "?{}"
            client._format_url = lambda *_: url
            found = [entry for entry, _ in zip(client.results(package.Search()), range(100), strict=False)]
            return "read", sum(bool(ids.arxiv_id(entry.get_short_id())) for entry in found), int(not found)
        answer = ask(transport, row, url)
        if host == "codeload.github.com":
            start = answer.body[:65536]
            return "read", int(bool(github.pinned(start)[0])), 0
        return "read", *READERS[host](path, answer.json)
    except SourceError as error:
        return f"error {getattr(error.status, 'value', error.status)}", 0, 0


def tally(tmp_path):
    """Outcome counts by host, and (records, absences) by host, over all recordings."""
    outcomes: Counter[tuple[str, str]] = Counter()
    contents: Counter[tuple[str, str]] = Counter()
    with Scripted({}) as server, transport(tmp_path, server.url) as asks:
        clock = asks._wall
        assert isinstance(clock, Clock)
        for row in recordings():
            url = row["url"].replace(":443/", "/").replace("&quot;", "%22").replace(" ", "%20")
            host = urlsplit(url).netloc
            server.script = {url.removeprefix("https://"): [reply(row)]}
            outcome, records, absences = read(asks, row, url)
            outcomes[host, outcome] += 1
            contents[host, "records"] += records
            contents[host, "absences"] += absences
            if outcome == "read":
                assert records + absences > 0, f"an answer of {url} vanished"
            for method in ("GET", "POST"):
                asks.answers.forget(Request(method, url, (row.get("request_body") or "").encode() if method == "POST" else b""))
            clock.now += 86_400
    return outcomes, contents


def test_every_recorded_answer_is_records_a_typed_error_or_a_counted_absence(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    outcomes, contents = tally(tmp_path)
    for (host, outcome), count in sorted(outcomes.items()):
        print(f"{host:28} {outcome:24} {count}")
    for (host, what), count in sorted(contents.items()):
        print(f"{host:28} {what:24} {count}")
    assert sum(outcomes.values()) == len(recordings()) == 461


def test_references_without_an_identifier_are_kept():
    pages = [row for row in recordings() if row["url"].endswith(("offset=0&limit=50", "offset=50&limit=50")) and "/references" in row["url"]]
    listed = [parse_references(json.loads(row["body"])["data"], None) for row in pages]
    assert [(len(one.entries), sum(not entry.work for entry in one.entries)) for one in listed] == [(50, 10), (17, 13)]
    assert all(entry.entry.title for one in listed for entry in one.entries)


def test_a_list_that_was_held_back_is_elided():
    row = next(row for row in recordings() if "actamat.2020.07.060/references" in row["url"])
    listing = read_pages(lambda offset, limit: json.loads(row["body"]))
    assert (listing.status.value, listing.rows, "elided by the publisher" in listing.detail) == ("elided", [], True)
