"""What the loopback upstream answers is what the public services answer."""

from __future__ import annotations

import gzip
import http.client
import io
import itertools
import json
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.upstream import Upstream, World
from tests.upstream.arxiv_org import answer as arxiv_answer

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "examples" / "demo"
TARGET = "3daad85e821b6cbc4f7bebd74e98e0dd753cd389"
S2 = "/api.semanticscholar.org/graph/v1/paper"
ATOM = {"a": "http://www.w3.org/2005/Atom", "o": "http://a9.com/-/spec/opensearch/1.1/"}
AWKWARD = {
    "repositories": [
        {"full_name": "o/empty", "number": 1, "sha": "e" * 40, "date": "", "created": "", "state": "empty"},
        {"full_name": "o/blocked", "number": 2, "sha": "b" * 40, "date": "", "created": "", "state": "dmca"},
        {"full_name": "o/busy", "number": 3, "sha": "c" * 40, "date": "", "created": "", "state": "rate_limited"},
    ]
}


@dataclass(frozen=True)
class Got:
    status: int
    body: bytes
    headers: dict[str, str]

    @property
    def json(self):
        return json.loads(self.body)


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


OPEN = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler({}))


def get(upstream, path, body=None, method=None, **headers):
    request = urllib.request.Request(upstream.url + path, data=body, headers=headers, method=method)
    try:
        with OPEN.open(request, timeout=10) as answer:
            return Got(answer.status, answer.read(), {k.lower(): v for k, v in answer.headers.items()})
    except urllib.error.HTTPError as error:
        return Got(error.code, error.read(), {k.lower(): v for k, v in error.headers.items()})


@pytest.fixture(scope="module")
def upstream():
    with Upstream(World.load(DEMO)) as running:
        yield running


@pytest.fixture(scope="module")
def awkward():
    with Upstream(World.of(AWKWARD)) as running:
        yield running


# Semantic Scholar


def test_a_paper_has_the_asked_for_fields_and_its_id(upstream):
    got = get(upstream, f"{S2}/arXiv:9912.00001?fields=title,year,referenceCount,openAccessPdf")
    assert got.json == {
        "openAccessPdf": {"url": "https://arxiv.org/pdf/9912.00001", "status": "GREEN", "license": "CCBY", "disclaimer": ""},
        "paperId": TARGET,
        "referenceCount": 7,
        "title": "TinyMask: Masked Image Modelling for Encoders of Five Million Parameters",
        "year": 2025,
    }


@pytest.mark.parametrize(
    "name",
    [
        *(TARGET, "ARXIV:9912.00001", "arXiv:9912.00001v2", "CorpusId:299900001", "DOI:10.48550/arXiv.9912.00001"),
        *("10.48550/arXiv.9912.00001", "URL:https://arxiv.org/abs/9912.00001", "URL:https%3A%2F%2Farxiv.org%2Fabs%2F9912.00001"),
    ],
)
def test_a_paper_answers_to_every_form_of_its_identifier(upstream, name):
    assert get(upstream, f"{S2}/{name}").json["paperId"] == TARGET


def test_a_doi_is_found_whatever_its_case(upstream):
    assert get(upstream, f"{S2}/DOI:10.5555/TLM.2020.0417").json["title"] == "Adaptive Moments with Decoupled Decay"


def test_an_unknown_paper_is_404(upstream):
    got = get(upstream, f"{S2}/arXiv:9912.09999")
    assert (got.status, got.json) == (404, {"error": "Paper with id arXiv:9912.09999 not found"})


def test_an_unknown_field_is_400(upstream):
    got = get(upstream, f"{S2}/{TARGET}?fields=title,colour")
    assert (got.status, got.json) == (400, {"error": "Unrecognized or unsupported fields: [colour]"})


def test_references_come_in_pages_and_the_last_has_no_next(upstream):
    first = get(upstream, f"{S2}/{TARGET}/references?fields=title&limit=4").json
    last = get(upstream, f"{S2}/{TARGET}/references?fields=title&limit=4&offset=4").json
    assert (first["offset"], first["next"], len(first["data"])) == (0, 4, 4)
    assert (last["offset"], "next" in last, len(last["data"])) == (4, False, 3)


def test_a_reference_carries_contexts_intents_and_influence(upstream):
    fields = "contexts,intents,isInfluential,contextsWithIntent,title,externalIds"
    row = get(upstream, f"{S2}/{TARGET}/references?fields={fields}").json["data"][1]
    assert row["isInfluential"] is True
    assert row["intents"] == ["methodology"]
    assert row["contexts"][0].startswith("The encoder is that of Sato-Reyes and Dahl (2023)")
    assert row["contextsWithIntent"] == [{"context": row["contexts"][0], "intents": ["methodology"]}]
    assert row["citedPaper"]["externalIds"]["ArXiv"] == "9910.00103"


def test_an_unresolved_reference_has_no_paper_id(upstream):
    row = get(upstream, f"{S2}/{TARGET}/references?fields=title,year,externalIds").json["data"][-1]
    title = "SmallScenes-200: two hundred kinds of places"
    assert row == {"citedPaper": {"paperId": None, "title": title, "year": None, "externalIds": None}}


def test_an_elided_list_is_null_with_a_notice(upstream):
    got = get(upstream, f"{S2}/arXiv:9909.00104/references?fields=title").json
    assert got["data"] is None
    assert "elided by the publisher: {'references'}" in got["citingPaperInfo"]["openAccessPdf"]["disclaimer"]


@pytest.mark.parametrize("page", ["limit=1001", "limit=0", "offset=-1", "limit=x", "offset=9999&limit=100"])
def test_a_page_out_of_bounds_is_400(upstream, page):
    assert get(upstream, f"{S2}/{TARGET}/references?{page}").status == 400


def test_a_batch_has_null_for_what_is_unknown_in_the_order_asked(upstream):
    body = json.dumps({"ids": ["arXiv:9911.00102", "arXiv:9912.09999", f"{TARGET}"]}).encode()
    rows = get(upstream, f"{S2}/batch?fields=year", body).json
    assert [row and row["year"] for row in rows] == [2024, None, 2025]


@pytest.mark.parametrize("body", [b"{}", b"[]", b"no json", json.dumps({"ids": ["a"] * 501}).encode()])
def test_a_batch_of_nothing_or_of_too_much_is_400(upstream, body):
    assert get(upstream, f"{S2}/batch?fields=title", body).status == 400


def test_a_title_is_matched_by_its_words(upstream):
    got = get(upstream, f"{S2}/search/match?query=plain+SMALL+vision+transformers&fields=externalIds").json
    assert got["data"][0]["externalIds"]["ArXiv"] == "9910.00103"
    assert got["data"][0]["matchScore"] > 0


def test_a_title_nobody_has_is_404(upstream):
    assert get(upstream, f"{S2}/search/match?query=nothing").json == {"error": "Title match not found"}


# arXiv


def feed(got):
    return ElementTree.fromstring(got.body)


def test_an_id_list_gives_an_entry_for_each_known_id(upstream):
    tree = feed(get(upstream, "/export.arxiv.org/api/query?id_list=9912.00001,9911.00102v1,9912.09999&max_results=100"))
    assert [e.text for e in tree.findall("a:entry/a:id", ATOM)] == ["http://arxiv.org/abs/9912.00001v2", "http://arxiv.org/abs/9911.00102v1"]
    assert tree.findtext("o:totalResults", namespaces=ATOM) == "2"
    assert [e.text for e in tree.findall("a:entry[1]/a:author/a:name", ATOM)] == ["Ilse Varga", "Tomas Okonjo", "Mei Brandt"]


def test_results_are_paged(upstream):
    tree = feed(get(upstream, "/export.arxiv.org/api/query?id_list=9912.00001,9911.00102,9910.00103&start=1&max_results=1"))
    assert [e.text for e in tree.findall("a:entry/a:id", ATOM)] == ["http://arxiv.org/abs/9911.00102v1"]
    assert [tree.findtext(f"o:{n}", namespaces=ATOM) for n in ("totalResults", "startIndex", "itemsPerPage")] == ["3", "1", "1"]


def test_a_search_by_title_finds_the_paper(upstream):
    tree = feed(get(upstream, "/export.arxiv.org/api/query?search_query=ti:%22Plain+Small+Vision+Transformers%22"))
    assert [e.text for e in tree.findall("a:entry/a:title", ATOM)] == ["Plain Small Vision Transformers"]


def test_a_bad_id_is_an_error_entry_with_status_200(upstream):
    got = get(upstream, "/export.arxiv.org/api/query?id_list=abc")
    assert got.status == 200
    assert feed(got).findtext("a:entry/a:summary", namespaces=ATOM) == "incorrect id format for abc"
    assert feed(got).findtext("a:entry/a:title", namespaces=ATOM) == "Error"


def test_an_eprint_with_several_files_is_a_tar_gz(upstream):
    got = get(upstream, "/export.arxiv.org/e-print/9912.00001")
    assert got.headers["content-disposition"] == 'attachment; filename="arXiv-9912.00001v2.tar.gz"'
    with tarfile.open(fileobj=io.BytesIO(got.body)) as tar:
        assert tar.getnames()[:3] == ["main.bbl", "main.tex", "references.bib"]
        assert {member.mtime for member in tar} == {1_700_000_000}


def test_an_eprint_of_one_file_is_a_gz(upstream):
    got = get(upstream, "/export.arxiv.org/e-print/9908.00105v1")
    assert gzip.decompress(got.body).startswith(b"\\documentclass")
    assert got.headers["content-disposition"] == 'attachment; filename="arXiv-9908.00105v1.gz"'


def test_the_eprint_of_a_pdf_only_paper_is_its_pdf(upstream):
    got = get(upstream, "/export.arxiv.org/e-print/9909.00104")
    assert got.headers["content-type"] == "application/pdf"
    assert got.body == get(upstream, "/arxiv.org/pdf/9909.00104v1").body
    assert got.body.startswith(b"%PDF-")


@pytest.mark.parametrize(
    "path", ["e-print/9907.00106", "pdf/9907.00106", "e-print/9912.00001v3", "pdf/9912.00001", "e-print/9912.09999", "abs/9912.00001"]
)
def test_what_arxiv_does_not_have_is_404_in_html(upstream, path):
    got = get(upstream, f"/export.arxiv.org/{path}")
    assert (got.status, got.headers["content-type"]) == (404, "text/html; charset=utf-8")


def test_archives_are_the_same_bytes_each_time():
    from tests.upstream.answer import Ask

    one, other = (arxiv_answer(World.load(DEMO), Ask("GET", "export.arxiv.org", "/e-print/9911.00102")).body for _ in range(2))
    assert one == other


# GitHub


def test_a_repository_has_its_name_id_branch_and_licence(upstream):
    got = get(upstream, "/api.github.com/repos/Slateworks/PlainViT").json
    wanted = ("full_name", "id", "default_branch", "created_at", "pushed_at", "fork")
    assert [got[name] for name in wanted] == ["slateworks/plainvit", 990000103, "master", "2023-05-20T10:00:00Z", "2024-05-02T07:45:31Z", False]
    assert got["license"]["spdx_id"] == "MIT"


def test_a_repository_without_licence_says_null(upstream):
    assert get(upstream, "/api.github.com/repos/fennlab/probe-bench").json["license"] is None


def test_a_former_name_redirects_to_the_number_of_the_repository(upstream):
    got = get(upstream, "/api.github.com/repos/aoki-lab/plain-vit-small")
    assert (got.status, got.headers["location"]) == (301, "https://api.github.com/repositories/990000103")
    assert get(upstream, "/api.github.com/repositories/990000103").json["full_name"] == "slateworks/plainvit"


def test_a_former_name_redirects_below_the_repository_too(upstream):
    got = get(upstream, "/api.github.com/repos/aoki-lab/plain-vit-small/commits/HEAD")
    assert got.headers["location"] == "https://api.github.com/repositories/990000103/commits/HEAD"
    assert get(upstream, "/api.github.com/repositories/990000103/commits/HEAD").json["sha"] == World.load(DEMO).numbered(990000103).sha


@pytest.mark.parametrize("ref", ["HEAD", "main", "4216aef", "4216aef2dea103277ea443c8e3affa8cd62e49fd"])
def test_a_ref_resolves_to_the_commit(upstream, ref):
    got = get(upstream, f"/api.github.com/repos/northlake-vision/patchmask/commits/{ref}").json
    assert got["sha"] == "4216aef2dea103277ea443c8e3affa8cd62e49fd"
    assert got["commit"]["committer"]["date"] == "2024-09-14T11:20:05Z"


def test_a_commit_nobody_made_is_422(upstream):
    assert get(upstream, "/api.github.com/repos/northlake-vision/patchmask/commits/0123456789").status == 422


def test_an_unknown_repository_is_404(upstream):
    got = get(upstream, "/api.github.com/repos/nobody/nothing")
    assert (got.status, got.json["message"]) == (404, "Not Found")


def test_an_empty_repository_is_409_at_its_commits(awkward):
    assert get(awkward, "/api.github.com/repos/o/empty").json["size"] == 0
    got = get(awkward, "/api.github.com/repos/o/empty/commits/HEAD")
    assert (got.status, got.json["message"]) == (409, "Git Repository is empty.")
    assert get(awkward, "/codeload.github.com/o/empty/tar.gz/HEAD").status == 404


def test_a_blocked_repository_is_451_with_its_reason(awkward):
    got = get(awkward, "/api.github.com/repos/o/blocked")
    assert (got.status, got.json["block"]["reason"]) == (451, "dmca")
    assert get(awkward, "/codeload.github.com/o/blocked/tar.gz/HEAD").status == 451


def test_a_spent_rate_limit_is_403_with_its_headers(awkward):
    got = get(awkward, "/api.github.com/repos/o/busy")
    assert (got.status, got.headers["x-ratelimit-remaining"], got.headers["x-ratelimit-reset"]) == (403, "0", "4102444800")


def test_a_tarball_has_everything_under_name_and_sha_with_the_link(upstream):
    sha = "4216aef2dea103277ea443c8e3affa8cd62e49fd"
    got = get(upstream, f"/codeload.github.com/northlake-vision/patchmask/tar.gz/{sha}")
    with tarfile.open(fileobj=io.BytesIO(got.body)) as tar:
        members = {member.name: member for member in tar}
        assert tar.pax_headers["comment"] == sha
    assert {name.split("/")[0] for name in members} == {f"patchmask-{sha}"}
    link = members[f"patchmask-{sha}/configs/latest.yaml"]
    assert (link.issym(), link.linkname) == (True, "pretrain_small.yaml")
    assert members[f"patchmask-{sha}/scripts/pretrain.sh"].mode == 0o755


def test_codeload_redirects_a_former_name(upstream):
    got = get(upstream, "/codeload.github.com/aoki-lab/plain-vit-small/tar.gz/HEAD")
    assert (got.status, got.headers["location"]) == (301, "https://codeload.github.com/slateworks/plainvit/tar.gz/HEAD")


@pytest.mark.parametrize("path", ["nobody/nothing/tar.gz/HEAD", "qmori/softcrop/tar.gz/nosuchref", "qmori/softcrop/zip/HEAD"])
def test_a_tarball_of_nothing_is_404(upstream, path):
    assert get(upstream, f"/codeload.github.com/{path}").status == 404


# Hugging Face and the server itself


def test_the_hub_knows_a_code_link(upstream):
    got = get(upstream, "/huggingface.co/api/papers/9909.00104").json
    assert (got["id"], got["githubRepo"]) == ("9909.00104", "https://github.com/qmori/softcrop")


def test_the_hub_may_know_a_paper_without_code_or_not_at_all(upstream):
    assert get(upstream, "/huggingface.co/api/papers/9912.00001").json["githubRepo"] is None
    assert get(upstream, "/huggingface.co/api/papers/9911.00102").json == {"error": "Paper not found"}


def test_an_unknown_host_is_404(upstream):
    assert get(upstream, "/evil.example/x").status == 404
    assert get(upstream, "/").status == 404


def test_head_has_the_length_and_no_body(upstream):
    got = get(upstream, "/export.arxiv.org/e-print/9912.00001", method="HEAD")
    whole = get(upstream, "/export.arxiv.org/e-print/9912.00001")
    assert got.body == b""
    assert int(got.headers["content-length"]) == len(whole.body)


def test_what_the_client_has_is_304(upstream):
    tag = get(upstream, "/export.arxiv.org/e-print/9912.00001").headers["etag"]
    got = get(upstream, "/export.arxiv.org/e-print/9912.00001", **{"If-None-Match": tag})
    assert (got.status, got.body) == (304, b"")


def test_requests_are_recorded_with_their_connection_and_keep_alive_holds():
    with Upstream(World.load(DEMO)) as upstream:
        connection = http.client.HTTPConnection(upstream.url.removeprefix("http://"), timeout=10)
        for method, path, body in [
            ("GET", f"{S2}/{TARGET}?fields=year", None),
            ("HEAD", f"{S2}/x", None),
            ("POST", f"{S2}/batch", b'{"ids": ["x"]}'),
        ]:
            connection.request(method, path, body, {"x-api-key": "k", "User-Agent": "test"})
            connection.getresponse().read()
        connection.close()
        get(upstream, "/huggingface.co/api/papers/9911.00102")
        seen = upstream.requests
    assert [(r.method, r.host, r.status, r.connection) for r in seen] == [
        ("GET", "api.semanticscholar.org", 200, 1),
        ("HEAD", "api.semanticscholar.org", 404, 1),
        ("POST", "api.semanticscholar.org", 200, 1),
        ("GET", "huggingface.co", 404, 2),
    ]
    assert seen[0].url == f"https://api.semanticscholar.org/graph/v1/paper/{TARGET}?fields=year"
    assert dict(seen[0].headers)["x-api-key"] == "k"
    assert [a.time <= b.time for a, b in itertools.pairwise(seen)] == [True, True, True]


def test_the_record_can_begin_anew(upstream):
    get(upstream, "/")
    upstream.forget()
    assert upstream.requests == []


def test_it_runs_as_a_program_and_prints_its_url():
    command = [sys.executable, "-S", "-m", "tests.upstream", "--data", "examples/demo", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        url = process.stdout.readline().strip()
        try:
            with OPEN.open(f"{url}{S2}/{TARGET}?fields=year", timeout=10) as answer:
                assert json.load(answer)["year"] == 2025
        finally:
            process.terminate()
