"""The sentence-transformers embedder: folders, names, and what it says when there is no hub."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

import pytest

from indexer.embedders.sentence_transformers import NEEDED, SentenceTransformerEmbedder, create
from lineage.errors import SettingsError, UpstreamError
from lineage.settings import Settings
from tests.fakes.tiny_model import tiny_model

needs_hub = pytest.mark.skipif(not all(map(find_spec, NEEDED)), reason="a light installation: pip install 'paper-lineage[hub]'")
pytestmark = needs_hub


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list[str]]]:
    """A mirror that knows nothing: its address and the paths that were asked for."""
    asked: list[str] = []

    class Nothing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(404)
            self.send_header("X-Error-Code", "RepoNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Nothing)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def test_a_folder_is_named_by_its_content(folder: Path):
    first = SentenceTransformerEmbedder(str(folder)).id
    assert first.startswith("sentence-transformers:model@")
    assert first == SentenceTransformerEmbedder(str(folder)).id
    card = folder / "extra.json"
    card.write_text("{}")
    assert SentenceTransformerEmbedder(str(folder)).id != first
    card.unlink()


def test_a_folder_without_a_model_is_refused(tmp_path: Path):
    with pytest.raises(SettingsError, match="cannot be loaded as a sentence-transformers model"):
        SentenceTransformerEmbedder(str(tmp_path)).passages(["x"])


def test_pickled_weights_are_refused(folder: Path, tmp_path: Path):
    import shutil

    import torch

    pickled = Path(shutil.copytree(folder, tmp_path / "pickled"))
    torch.save({}, pickled / "pytorch_model.bin")
    (pickled / "model.safetensors").unlink()
    with pytest.raises(SettingsError, match="cannot be loaded"):
        SentenceTransformerEmbedder(str(pickled)).passages(["x"])


def test_offline_an_absent_hub_model_names_the_setting():
    with pytest.raises(SettingsError, match="LINEAGE_OFFLINE") as caught:
        create("nobody/no-such-model", Settings(offline=True)).passages(["x"])
    assert "LINEAGE_EMBEDDER=packaged" in caught.value.hint


def test_a_name_that_is_none_is_refused():
    with pytest.raises(SettingsError, match="neither a folder nor a hub name"):
        create("../no/such/folder", Settings(offline=True)).passages(["x"])
    with pytest.raises(SettingsError, match="which model"):
        create("", Settings())


def test_the_hub_is_asked_through_the_mirror(hub: tuple[str, list[str]]):
    address, asked = hub
    with pytest.raises(SettingsError, match="no open model"):
        create("nobody/no-such-model", Settings(mirror=address)).passages(["x"])
    assert all(path.startswith("/huggingface.co/") for path in asked)
    assert asked


def test_a_hub_that_cannot_be_reached_is_an_upstream_error(hub: tuple[str, list[str]]):
    with pytest.raises(UpstreamError, match="cannot be fetched") as caught:
        create("nobody/no-such-model", Settings(mirror="http://127.0.0.1:1")).passages(["x"])
    assert "packaged" in caught.value.hint
