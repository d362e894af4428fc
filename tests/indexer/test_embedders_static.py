"""The first tier's embedder: what it promises beyond the contract every embedder keeps."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from indexer.embedders import static
from indexer.embedders.static import FOLDER, Static, bag, create
from lineage.errors import SettingsError
from lineage.settings import Settings
from tests.data import ROOT


@pytest.fixture(scope="module")
def embedder() -> Static:
    return Static()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "model"))


def test_the_pinned_hash_is_that_of_the_file_that_ships():
    assert hashlib.sha256((FOLDER / "table.npz").read_bytes()).hexdigest() == static.TABLE_SHA256
    assert static.TABLE_SHA256 in (FOLDER / "CARD.md").read_text()
    assert Static.id == f"static-256@{static.TABLE_SHA256[:12]}"


def test_words_count_once_with_the_logarithm_of_their_number():
    numbers, counts = bag("loss loss weight unknown", {"loss": 4, "weight": 7})
    assert numbers.tolist() == [4, 7]
    assert counts.tolist() == pytest.approx([1.6931472, 1.0])


def test_code_that_does_what_is_asked_lies_nearer_than_code_that_does_not(embedder: Static):
    wanted, other = embedder.passages(["nn.init.xavier_uniform_(layer.weight)", "json.dump(record, file)"])
    question = embedder.queries(["how are the weights initialised?"])[0]
    assert question @ wanted > question @ other + 0.1


def test_a_text_without_a_known_word_gets_a_vector_too(embedder: Static):
    assert embedder.passages(["", "学習率"])[:, 0].tolist() == [1.0, 1.0]


def test_text_beyond_the_limit_is_not_read(embedder: Static):
    text = "learning rate " * 1000
    assert (embedder.passages([text, text + "banana " * 50]) @ embedder.passages([text])[0]).tolist() == pytest.approx([1, 1])


def test_a_damaged_table_is_refused_with_what_to_do(copy: Path):
    data = bytearray((copy / "table.npz").read_bytes())
    data[len(data) // 2] ^= 1
    (copy / "table.npz").write_bytes(data)
    with pytest.raises(SettingsError, match="not the file this version was made with") as caught:
        Static(copy).passages(["x"])
    assert caught.value.hint == "reinstall the package"


@pytest.mark.parametrize("name", ["table.npz", "selftest.json"])
def test_a_missing_file_is_refused(copy: Path, name: str):
    (copy / name).unlink()
    with pytest.raises(SettingsError, match=f"lacks {name}"):
        Static(copy).passages(["x"])


def test_words_cut_otherwise_than_in_training_are_refused(copy: Path):
    stored = json.loads((copy / "selftest.json").read_text())
    stored["vectors"] = stored["vectors"][1:] + stored["vectors"][:1]
    (copy / "selftest.json").write_text(json.dumps(stored))
    with pytest.raises(SettingsError, match="other vectors than it was made with"):
        Static(copy).passages(["x"])


def test_the_factory_takes_no_model_name():
    assert create("", Settings()).dim == 256
    with pytest.raises(SettingsError, match="no model 'large'"):
        create("large", Settings())


def test_using_it_imports_neither_torch_nor_onnxruntime():
    code = (
        "import sys; from indexer.embedders import static; static.Static().queries(['x']);"
        "print({'torch', 'onnxruntime', 'tokenizers', 'transformers'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
