"""The OpenAI-compatible embedder against a loopback endpoint, well and badly behaved."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx2
import pytest

from indexer.embedders.openai import OpenAIEmbedder, create
from lineage.errors import SettingsError, UpstreamError
from lineage.settings import Settings
from tests.fakes.embeddings_server import EmbeddingsServer


@pytest.fixture
def server() -> Iterator[EmbeddingsServer]:
    with EmbeddingsServer(dim=8) as running:
        yield running


def once(server: EmbeddingsServer) -> OpenAIEmbedder:
    return OpenAIEmbedder(server.url, "m", "secret", retries=0)


def embeddings(*rows: list[float]) -> bytes:
    return json.dumps({"object": "list", "data": [{"index": i, "embedding": row} for i, row in enumerate(rows)], "model": "m"}).encode()


def test_the_id_names_the_model_and_the_endpoint_but_no_password():
    assert OpenAIEmbedder("https://user:pw@lab.example:8443/v1", "bge-m3").id == "openai:bge-m3@lab.example:8443"


def test_texts_go_in_batches_of_64_and_come_back_in_order(server: EmbeddingsServer):
    texts = [f"word{n}" for n in "abcdefgh"] * 17
    vectors = once(server).passages(texts)
    assert [len(body["input"]) for _, _, body in server.requests] == [64, 64, 8]
    assert (vectors == server.embedder.passages(texts)).mean() > 0.99


def test_the_key_and_the_model_are_sent(server: EmbeddingsServer):
    once(server).queries(["x"])
    path, headers, body = server.requests[0]
    assert (path, headers["authorization"], body["model"]) == ("/v1/embeddings", "Bearer secret", "m")


def test_a_long_text_is_cut_and_counted_and_an_empty_one_is_not_sent_empty(server: EmbeddingsServer):
    embedder = once(server)
    embedder.passages(["", "x" * 9000])
    assert [len(text) for text in server.requests[0][2]["input"]] == [1, 8000]
    assert embedder.truncated == 1


def test_a_rate_limit_is_waited_for_as_the_endpoint_asks(server: EmbeddingsServer):
    server.answers = [(429, {"retry-after-ms": "1"}, b"{}")]
    assert OpenAIEmbedder(server.url, "m").passages(["x"]).shape == (1, 8)
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_names_the_setting_and_not_the_key(server: EmbeddingsServer, status: int):
    server.answers = [(status, {}, b'{"error": {"message": "Incorrect API key provided: secret"}}')]
    with pytest.raises(SettingsError, match=f"status {status}") as caught:
        once(server).passages(["x"])
    assert caught.value.hint == "set LINEAGE_OPENAI_API_KEY"
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("status", [400, 404, 413, 429, 500, 503])
def test_a_failing_endpoint_is_an_upstream_error_with_its_status(server: EmbeddingsServer, status: int):
    server.answers = [(status, {}, b'{"error": {"message": "no"}}')]
    with pytest.raises(UpstreamError, match=f"status {status}"):
        once(server).passages(["x"])


@pytest.mark.parametrize(
    "body",
    [
        b"<html>proxy</html>",
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"data": []}',
        b'{"data": null}',
        b'{"data": [{"index": 0, "embedding": "@@@"}]}',
        b'{"data": [{"index": 0, "embedding": null}]}',
        b'{"data": [{"index": "a"}, {"index": 1, "embedding": [1]}]}',
        embeddings([0.0] * 8),
        embeddings([float("nan")] * 8),
        embeddings([1.0] * 8, [1.0] * 8),
        embeddings([]),
    ],
)
def test_an_answer_that_is_no_embedding_is_an_upstream_error(server: EmbeddingsServer, body: bytes):
    server.answers = [(200, {}, body)]
    with pytest.raises(UpstreamError, match="answer"):
        once(server).passages(["x"])


def test_html_with_its_own_content_type_is_an_upstream_error(server: EmbeddingsServer):
    server.answers = [(200, {"Content-Type": "text/html"}, b"<html>login</html>")]
    with pytest.raises(UpstreamError, match="answer"):
        once(server).passages(["x"])


def test_a_dimension_that_changes_in_between_is_an_upstream_error(server: EmbeddingsServer):
    embedder = once(server)
    assert embedder.dim == 8
    server.answers = [(200, {}, embeddings([1.0] * 4))]
    with pytest.raises(UpstreamError, match=r"vectors \(1, 4\)"):
        embedder.passages(["x"])


def test_an_endpoint_that_is_not_there_is_an_upstream_error():
    with pytest.raises(UpstreamError, match="cannot be reached"):
        OpenAIEmbedder("http://127.0.0.1:1/v1", "m", retries=0).passages(["x"])


def test_requests_go_through_the_client_that_is_handed_in(server: EmbeddingsServer):
    def to_mirror(request: httpx2.Request) -> None:
        request.url = httpx2.URL(f"{server.url.removesuffix('/v1')}/{request.url.host}{request.url.path}")

    client = httpx2.Client(event_hooks={"request": [to_mirror]})
    create("m", Settings(mirror="http://127.0.0.1:9000"), client).passages(["x"])
    assert server.requests[0][0] == "/api.openai.com/v1/embeddings"


def test_the_factory_says_what_is_missing():
    with pytest.raises(SettingsError, match="which model"):
        create("", Settings())
    with pytest.raises(SettingsError, match="needs a key"):
        create("m", Settings(openai_api_key=""))
    with pytest.raises(SettingsError, match="LINEAGE_OFFLINE"):
        create("m", Settings(openai_api_key="k", offline=True))


def test_an_endpoint_on_this_machine_needs_neither_key_nor_network():
    settings = Settings(openai_api_key="", openai_base_url="http://127.0.0.1:11434/v1", offline=True)
    assert create("nomic", settings).id == "openai:nomic@127.0.0.1:11434"
