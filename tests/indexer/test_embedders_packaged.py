"""The packaged embedder: what it promises beyond the contract every embedder keeps."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from indexer.embedders import packaged
from indexer.embedders.packaged import FOLDER, Packaged, create
from lineage.errors import SettingsError
from lineage.settings import Settings
from tests.data import ROOT


@pytest.fixture(scope="module")
def embedder() -> Packaged:
    return Packaged(threads=1)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "model"))


def test_the_pinned_hashes_are_those_of_the_files_that_ship():
    assert hashlib.sha256((FOLDER / "model.onnx").read_bytes()).hexdigest() == packaged.MODEL_SHA256
    assert hashlib.sha256((FOLDER / "tokenizer.json").read_bytes()).hexdigest() == packaged.TOKENIZER_SHA256
    assert packaged.MODEL_SHA256 in (FOLDER / "CARD.md").read_text()
    assert "Apache License" in (FOLDER / "LICENSE").read_text()


def test_the_id_names_the_weights_by_their_hash():
    assert Packaged.id == "granite-30m-lineage-int8@9ae80248e7b9"


def test_vectors_are_those_of_the_float32_model_within_one_percent(embedder: Packaged):
    stored = json.loads((FOLDER / "selftest.json").read_text())
    cosine = (embedder.passages(stored["texts"]) * np.array(stored["vectors"])).sum(axis=1)
    assert cosine.min() >= 0.99


def test_code_that_does_what_is_asked_lies_nearer_than_code_that_does_not(embedder: Packaged):
    wanted, other = embedder.passages(["nn.init.xavier_uniform_(layer.weight)", "json.dump(record, file)"])
    question = embedder.queries(["how are the weights initialised?"])[0]
    assert question @ wanted > question @ other + 0.05


def test_a_vector_does_not_depend_on_its_batch(embedder: Packaged):
    text = "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)"
    alone = embedder.passages([text])[0]
    crowd = embedder.passages([text, *("loss outlier !!! " * n for n in range(1, 60))])[0]
    assert alone @ crowd > 0.9999


def test_indentation_does_not_change_the_vector(embedder: Packaged):
    two, eight = embedder.passages(["def f():\n  return 1", "def f():\n        return 1"])
    np.testing.assert_allclose(two, eight, atol=1e-6)


def test_texts_that_are_cut_are_counted():
    embedder = Packaged(threads=1)
    embedder.passages(["short", "word " * 255, "a b c " * 100, " " * 200_000])
    assert embedder.truncated == 3
    embedder.queries(["a b c " * 100])
    assert embedder.truncated == 3


def test_questions_asked_at_once_take_the_memory_of_one(monkeypatch: pytest.MonkeyPatch):
    at_work: list[int] = []
    most = 0

    class Counted(onnxruntime.InferenceSession):
        def run(self, *inputs: Any) -> Any:
            nonlocal most
            at_work.append(1)
            most = max(most, len(at_work))
            time.sleep(0.01)
            try:
                return super().run(*inputs)
            finally:
                at_work.pop()

    monkeypatch.setattr(onnxruntime, "InferenceSession", Counted)
    embedder = Packaged(threads=1)
    texts = [f"where is layer {n} defined?" for n in range(8)]
    with ThreadPoolExecutor(4) as pool:
        vectors = np.concatenate(list(pool.map(lambda text: embedder.queries([text]), texts)))
    np.testing.assert_allclose(vectors, embedder.queries(texts), atol=1e-5)
    assert most == 1


class _Heap(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


@pytest.mark.skipif(sys.platform != "linux", reason="asks glibc what is in use")
def test_words_that_never_come_again_do_not_fill_the_tokenizer():
    heap = ctypes.CDLL(None).mallinfo2
    heap.restype = _Heap
    tokenizer = packaged.tokenizer.__wrapped__(FOLDER)

    def taken_by(numbers: range) -> int:
        before = heap().uordblks
        for number in numbers:
            tokenizer.encode(f"run {number}")
        return heap().uordblks - before

    assert taken_by(range(packaged.WORDS)) > 100_000  # what is kept is seen here
    assert taken_by(range(packaged.WORDS, 4 * packaged.WORDS)) < 100_000


def test_more_texts_than_one_window_keep_their_order(embedder: Packaged, monkeypatch: pytest.MonkeyPatch):
    texts = ["a", "beta gamma", "delta epsilon zeta", "eta", "theta"]
    whole = embedder.passages(texts)
    monkeypatch.setattr(packaged, "WINDOW", 2)
    np.testing.assert_allclose(embedder.passages(texts), whole, atol=1e-5)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_refused_with_what_to_do(copy: Path, name: str):
    data = bytearray((copy / name).read_bytes())
    data[len(data) // 2] ^= 1
    (copy / name).write_bytes(data)
    with pytest.raises(SettingsError, match=name) as caught:
        Packaged(copy).passages(["x"])
    assert caught.value.hint == "reinstall the package"


def test_a_store_knows_a_file_that_had_its_hash_until_the_file_changes(copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    hashed = list[str]()
    monkeypatch.setattr(packaged.hashlib, "file_digest", lambda file, kind: hashed.append(file.name) or hashlib.sha256(file.read()))
    for _ in range(2):
        Packaged(copy, threads=1, store=tmp_path).queries(["x"])
    assert hashed.count(str(copy / "model.onnx")) == 1
    (copy / "model.onnx").write_bytes((copy / "model.onnx").read_bytes() + b"x")
    with pytest.raises(SettingsError, match=r"model\.onnx"):
        Packaged(copy, threads=1, store=tmp_path).queries(["x"])


@pytest.mark.parametrize("name", ["model.onnx", "selftest.json"])
def test_a_missing_file_is_refused_with_what_to_do(copy: Path, name: str):
    (copy / name).unlink()
    with pytest.raises(SettingsError, match=f"lacks {name}"):
        Packaged(copy).passages(["x"])


def test_a_processor_that_computes_other_vectors_is_refused_naming_the_setting(copy: Path):
    stored = json.loads((copy / "selftest.json").read_text())
    stored["vectors"] = stored["vectors"][1:] + stored["vectors"][:1]
    (copy / "selftest.json").write_text(json.dumps(stored))
    with pytest.raises(SettingsError, match="wrong vectors") as caught:
        Packaged(copy).passages(["x"])
    assert "LINEAGE_EMBEDDER" in caught.value.hint


def test_the_factory_takes_the_threads_and_no_model_name():
    assert create("", Settings(threads=3))._threads == 3
    with pytest.raises(SettingsError, match="no model 'large'"):
        create("large", Settings())


def test_neither_importing_nor_using_it_imports_torch():
    code = (
        "import sys; from indexer.embedders import packaged; assert 'onnxruntime' not in sys.modules;"
        "packaged.Packaged(threads=1).queries(['x']); print({'torch', 'transformers', 'sentence_transformers'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_runtime_tells_its_maker_nothing(tmp_path):
    """What it would send it first writes below the user's cache."""
    program = "import pymupdf\nfrom indexer.embedders.packaged import Packaged\nPackaged(threads=1).queries(['a'])"
    subprocess.run(
        [sys.executable, "-c", f"import lineage\n{program}"],
        cwd=ROOT,
        env={"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": os.environ["PATH"]},
        check=True,
        timeout=120,
    )
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
