"""What a program gets over REST: typed answers, and a problem document for everything else."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from urllib.parse import quote

import pytest
from pydantic import TypeAdapter
from starlette.testclient import TestClient

from api.rest.app import HealthReport, application, document
from api.server.security import policy_of
from api.table import BY_NAME, OPERATIONS, Route
from api.wire.encode import to_json
from lineage import settings
from tests.demo import NAME

QUESTION = {"text": "how is the encoder initialized?", "k": 5}
PROBLEM = "application/problem+json"


def app_over(home, **flags):
    chosen = settings.load(home=home, **flags)
    return application(chosen, replace(policy_of(chosen, "127.0.0.1"), rate=1e6, burst=10**6))


@pytest.fixture(scope="module")
def client(built):
    with TestClient(app_over(built.home), base_url="http://127.0.0.1:8765", raise_server_exceptions=False) as made:
        yield made


def told(operation, value):
    """The value, which is exactly what its type holds."""
    kind, wrap = (BY_NAME[operation].result, BY_NAME[operation].rest.wrap) if isinstance(operation, str) else (operation, "")
    assert to_json(TypeAdapter(kind).validate_python(value[wrap] if wrap else value)) == (value[wrap] if wrap else value)
    return value


def problem(answer, status, kind):
    assert (answer.status_code, answer.headers["content-type"]) == (status, PROBLEM), answer.text
    value = answer.json()
    assert value["type"] == f"urn:lineage:problem:{kind}"
    assert value["status"] == status
    assert "Traceback" not in answer.text
    return value


# -- answers


def test_a_search_gives_the_hits_that_the_command_line_gives(client, built):
    answer = client.post("/api/v1/search", json=QUESTION)
    assert answer.status_code == 200
    value = told("query", answer.json())
    assert value["lineage"] == NAME
    assert [hit["chunk"] for hit in value["hits"]] == [hit.chunk.id for hit in built.service.query(QUESTION["text"], k=5).hits]
    kinds = {hit["kind"] for hit in client.post("/api/v1/search", json={**QUESTION, "kind": "paper", "lineage": NAME}).json()["hits"]}
    assert kinds == {"paper"}


def test_a_hit_is_widened_by_its_chunk(client):
    hit = client.post("/api/v1/search", json={**QUESTION, "kind": "code"}).json()["hits"][0]
    assert hit["text"] in client.get(f"/api/v1/evidence/{hit['chunk']}").json()["hit"]["text"]
    chunk = client.get(f"/api/v1/evidence/{hit['chunk']}", params={"before": 0, "after": 0}).json()
    value = told("evidence", client.get(f"/api/v1/evidence/{hit['chunk']}", params={"before": 2, "after": 3}).json())
    assert chunk["hit"]["text"] in value["hit"]["text"]
    assert (value["start_line"], value["end_line"]) == (chunk["start_line"] - 2, chunk["end_line"] + 3)
    assert value["before"] == value["start_line"] - 1
    assert value["hit"]["focus"] == {"start_line": chunk["start_line"], "end_line": chunk["end_line"]}
    whole = client.get(f"/api/v1/evidence/{hit['chunk']}", params={"before": 400, "after": 400}).json()
    assert (whole["before"], whole["after"]) == (0, 0)
    following = client.get(f"/api/v1/evidence/{value['next']}").json()
    assert following["previous"] == hit["chunk"]


def test_the_page_of_a_passage_is_given_as_a_picture_and_404_where_it_has_none(client):
    hits = client.post("/api/v1/search", json={"text": "gentle crop augmentation", "kind": "paper", "k": 20}).json()["hits"]
    on_page = next(hit for hit in hits if hit["source"].get("box"))
    told("crop", client.get(f"/api/v1/crops/{on_page['chunk']}").json())
    other = next(hit for hit in hits if not hit["source"].get("box"))
    problem(client.get(f"/api/v1/crops/{other['chunk']}", params={"lineage": NAME}), 404, "not-found")
    problem(client.get("/api/v1/crops/c_00000000"), 404, "not-found")


def test_the_references_to_one_work_are_asked_for_alone(client):
    of_one = client.get(f"/api/v1/lineages/{NAME}/references", params={"work": "arxiv:9911.00102"}).json()
    assert {row["cited"] for row in of_one["references"]} == {"arxiv:9911.00102"}
    text = client.get(f"/api/v1/lineages/{NAME}/references", params={"work": "arxiv:9911.00102", "form": "bibtex"}).text
    assert text.count("\n@") == 0
    assert "PatchMask" in text


def test_a_lineage_is_told_at_a_glance_with_its_ledger_and_graph(client):
    listed = told("lineages", client.get("/api/v1/lineages").json())["lineages"]
    assert [one["lineage"] for one in listed] == [NAME]
    shown = told("show", client.get(f"/api/v1/lineages/{NAME}").json())
    assert shown["report"]["generation"] == listed[0]["id"]
    ledger = told("status", client.get(f"/api/v1/lineages/{NAME}/status").json())
    assert set(ledger["sums"]) == {"reference", "member", "page", "source"}
    graph = told("graph", client.get(f"/api/v1/lineages/{NAME}/graph").json())
    assert graph["target"] == "arxiv:9912.00001"


@pytest.mark.parametrize(
    ("form", "kind", "begins"),
    [
        ("json", "application/json", "{"),
        ("svg", "image/svg+xml", "<svg"),
        ("dot", "text/vnd.graphviz; charset=utf-8", "digraph"),
        ("graphml", "application/xml", "<"),
        ("html", "text/html; charset=utf-8", "<!doctype html>"),
    ],
)
def test_a_graph_comes_in_the_form_that_is_asked_for_and_can_run_nothing_of_a_stranger(client, form, kind, begins):
    answer = client.get(f"/api/v1/lineages/{NAME}/graph", params={"form": form})
    assert answer.headers["content-type"] == kind
    assert answer.text.startswith(begins)
    assert ("sandbox" if form != "json" else "default-src 'none'") in answer.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("method", "path", "body", "operation"),
    [
        ("GET", "/gaps?state=unspecified", None, "gaps"),
        ("GET", "/facts?name=learning+rate", None, "facts"),
        ("GET", "/details", None, "facts_table"),
        ("POST", "/context", {"task": "write the training loop", "tokens": 2000, "stage": "coding"}, "context"),
        ("POST", "/answer", {"text": "which learning rate is used?"}, "answer"),
    ],
)
def test_what_is_concluded_fits_its_model(client, method, path, body, operation):
    answer = client.request(method, "/api/v1" + path, json=body)
    assert answer.status_code == 200, answer.text
    value = told(operation, answer.json())
    assert value["lineage"] == NAME


def test_a_pack_keeps_to_its_budget_and_says_the_least_that_it_needs(client):
    task = {"task": "write the training loop", "tokens": 2000}
    assert client.post("/api/v1/context", json=task).json()["used"] <= 2000
    value = problem(client.post("/api/v1/context", json={**task, "tokens": 1}), 422, "usage-error")
    assert "at least" in value["hint"]


def test_a_detail_or_topic_that_nobody_knows_is_refused(client):
    problem(client.get("/api/v1/facts?name=zzz"), 404, "not-found")
    assert problem(client.get("/api/v1/gaps?topic=zzz"), 422, "usage-error")["hint"].startswith("topics: ")
    assert problem(client.get("/api/v1/gaps?no_target_code=1"), 422, "invalid")["errors"][0]["pointer"] == "/no_target_code"


def test_health_means_that_store_lineage_and_queue_work(client):
    value = told(HealthReport, client.get("/healthz").json())
    assert value["status"] == "ok"
    assert value["checks"]["lineages"]["detail"] == "1 of 1 can be opened"
    assert value["checks"]["queue"]["detail"].startswith("worked at by ")


def test_health_fails_when_no_lineage_opens(tmp_path):
    (tmp_path / "lineages" / "broken").mkdir(parents=True)
    (tmp_path / "lineages" / "broken" / "CURRENT").write_text("000001-00000000")
    with TestClient(app_over(tmp_path), base_url="http://127.0.0.1") as client:
        answer = client.get("/healthz")
        assert answer.status_code == 503
        assert answer.json()["checks"]["lineages"] == {"ok": False, "detail": "0 of 1 can be opened; damaged: broken"}
        assert [row["lineage"] for row in client.get("/api/v1/lineages").json()["lineages"]] == ["broken"]
        damaged = problem(client.get("/api/v1/lineages/broken"), 500, "store-damaged")
        assert str(tmp_path) not in json.dumps(damaged)


def test_metrics_count_by_route_and_not_by_what_a_client_makes_up(client):
    for path in ("/nowhere/1", "/nowhere/2", "/healthz"):
        client.get(path)
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert re.search(r'^lineage_http_requests_total\{method="GET",route="/healthz",status="200"\} \d', answer.text, re.MULTILINE)
    assert re.search(r'^lineage_http_requests_total\{method="GET",route="other",status="404"\} \d', answer.text, re.MULTILINE)
    assert 'lineage_jobs{state="queued"} 0.0' in answer.text
    assert "nowhere" not in answer.text


# -- what is said of the endpoints


def test_every_operation_of_the_table_is_a_method_of_the_service_with_documentation(client):
    made = document(client.app)
    paths = {(method.upper(), path) for path, methods in made["paths"].items() for method in methods}
    assert {(one.rest.method, "/api/v1" + one.rest.path) for one in OPERATIONS if isinstance(one.rest, Route)} <= paths
    assert all(one["description"] for methods in made["paths"].values() for one in methods.values())


def test_the_openapi_document_shows_examples_and_only_our_form_of_errors(client):
    made = client.get("/openapi.json").json()
    assert made["components"]["schemas"]["Search"]["examples"]
    assert made["components"]["schemas"]["Search"]["additionalProperties"] is False
    assert "HTTPValidationError" not in json.dumps(made)
    forms = made["paths"]["/api/v1/lineages/{lineage}/references"]["get"]["responses"]["200"]["content"]
    assert (forms["application/x-bibtex"]["schema"], forms["application/vnd.citationstyles.csl+json"]["schema"]) == ({"type": "string"}, {})
    errors = [said_ for path in made["paths"].values() for one in path.values() for code, said_ in one["responses"].items() if code.startswith("4")]
    assert errors
    assert all(list(one["content"]) == [PROBLEM] for one in errors)


@pytest.mark.parametrize("path", ["/docs", "/", "/llms.txt"])
def test_pages_name_no_other_host(client, path):
    answer = client.get(path)
    assert answer.status_code == 200
    assert re.findall(r'(?:src|href)="(?:https?:)?//', answer.text) == []
    assert "script-src" not in answer.headers["content-security-policy"] or "script-src 'self'" in answer.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


def test_the_reference_and_the_text_for_models_name_every_endpoint(client):
    made = client.get("/openapi.json").json()
    for path in ("/docs", "/llms.txt"):
        page = client.get(path).text
        assert [name for name in made["paths"] if name not in page] == []


# -- what is refused, and how


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/text"),
        ({"text": ""}, "/text"),
        ({"text": "x" * 4097}, "/text"),
        ({"text": 7}, "/text"),
        ({"text": "x", "k": 0}, "/k"),
        ({"text": "x", "k": 101}, "/k"),
        ({"text": "x", "k": "many"}, "/k"),
        ({"text": "x", "kind": "poem"}, "/kind"),
        ({"text": "x", "lineage": "a\x00b"}, "/lineage"),
        ({"text": "x", "lineage": "x" * 2049}, "/lineage"),
        ({"text": "x", "limit": 3}, "/limit"),
        ([], "/"),
    ],
)
def test_a_body_that_does_not_fit_is_refused_at_the_place_that_is_wrong(client, body, pointer):
    value = problem(client.post("/api/v1/search", json=body), 422, "invalid")
    assert [one["pointer"] for one in value["errors"]] == [pointer]


def test_what_the_service_refuses_keeps_its_hint(client):
    value = problem(client.post("/api/v1/search", json={"text": "a\ue000b"}), 422, "usage-error")
    assert value["detail"] == "the question holds the control character U+E000"
    value = problem(client.post("/api/v1/search", json={"text": "x", "lineage": "nope"}), 404, "not-found")
    assert value["hint"] == f"known: {NAME}"
    assert value["instance"] == "/api/v1/search"


@pytest.mark.parametrize("body", [b"{", b'{"text": }', b"\xff\xfe", b"[" * 100_000, b"nul"])
def test_what_is_no_json_is_refused_as_such(client, body):
    problem(client.post("/api/v1/search", content=body, headers={"content-type": "application/json"}), 400, "malformed")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""])
def test_what_a_foreign_page_could_post_is_refused(client, kind):
    problem(client.post("/api/v1/search", content=json.dumps(QUESTION), headers={"content-type": kind}), 415, "unsupported-media-type")


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/lineages/..%2f..%2fetc",
        "/api/v1/lineages/..",
        "/api/v1/lineages/%00",
        "/api/v1/lineages/a%5c..%5cb",
        "/api/v1/lineages/%ef%bc%8e%ef%bc%8e",
        "/api/v1/lineages/" + "a" * 5000,
        "/api/v1/lineages/nope/graph",
        "/api/v1/evidence/..%2fx",
        "/api/v1/evidence/c_%27%20OR%201=1",
        "/api/v1/evidence/c_00000000000000000000",
        "/api/v1/jobs/j_..",
        "/api/v1/jobs/%2e%2e%2fworker.json",
        "/web/../cli.py",
        "/web/%2e%2e/cli.py",
        "/web/..%2fcli.py",
        "/web//etc/passwd",
        "/web/__init__.py",
        "/web/.hidden",
        "/nowhere",
    ],
)
def test_a_path_that_names_nothing_is_not_found_whatever_it_tries(client, path):
    problem(client.get(path), 404, "not-found")


TARGETS = ("arxiv:9912.00001", "9912.00001v1", "https://arxiv.org/abs/9912.00001", "10.48550/arXiv.9912.00001")


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_is_a_name_in_the_path_in_parameters_and_in_bodies(client, target):
    quoted = quote(target, safe="")
    for path in ("", "/status", "/graph"):
        assert client.get(f"/api/v1/lineages/{quoted}{path}").status_code == 200, path
    assert client.get("/api/v1/gaps", params={"lineage": target, "topic": "optimizer"}).json()["lineage"] == NAME
    assert client.post("/api/v1/search", json={**QUESTION, "lineage": target}).json()["lineage"] == NAME
    problem(client.get("/api/v1/lineages/arxiv%3A9912.99999"), 404, "not-found")


def test_parameters_that_nobody_knows_are_refused(client):
    assert problem(client.get("/api/v1/lineages?all=1"), 422, "invalid")["errors"][0]["pointer"] == "/all"
    assert problem(client.get(f"/api/v1/lineages/{NAME}/graph?form=png"), 422, "invalid")["errors"][0]["pointer"] == "/form"


def test_a_method_that_is_not_offered_is_refused_with_those_that_are(client):
    answer = client.put("/api/v1/search", json=QUESTION)
    problem(answer, 405, "method-not-allowed")
    assert answer.headers["allow"] == "POST"


def test_several_lineages_are_told_apart(client, built, tmp_path):
    for name in ("one", "two"):
        (tmp_path / "lineages" / name).mkdir(parents=True)
        (tmp_path / "lineages" / name / "CURRENT").write_text("000001-00000000")
    with TestClient(app_over(tmp_path), base_url="http://127.0.0.1") as other:
        assert problem(other.post("/api/v1/search", json=QUESTION), 422, "usage-error")["hint"] == "name one of: one, two"


def test_a_bug_is_told_without_its_trace(client, monkeypatch):
    monkeypatch.setattr("api.rest.operations.encode.dumps", lambda value: 1 / 0)
    answer = client.get("/api/v1/lineages")
    problem(answer, 500, "bug")
    assert "division" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_title_full_of_markup_is_data_in_json_and_text_on_pages(client):
    value = problem(client.post("/api/v1/search", json={"text": "x", "lineage": "a", "<script>alert(1)</script>": 1}), 422, "invalid")
    assert value["errors"][0]["pointer"] == "/<script>alert(1)</script>"
    assert "<script>" not in client.get("/docs").text
