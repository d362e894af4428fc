"""The default embedder: granite-embedding-30m-english, tuned for questions about code, in integers, shipped in the wheel.

Why: a build must work with no model hub and no key, and a query must not wait for torch (onnxruntime and
tokenizers import in 0.2 s, sentence-transformers in 3 s). How the file was made and how far it is from
the original: `granite30m/CARD.md`.

A text's vector does not depend on its batch, so the store may keep vectors by text. Runs of blanks are
collapsed before tokenising: code's indentation costs a third of the tokens and carries little meaning.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from lineage.errors import SettingsError
from lineage.ports import Vectors
from lineage.sealed import is_known, remember
from lineage.settings import Settings

FOLDER = Path(__file__).resolve().parent / "granite30m"
MODEL_SHA256 = "9ae80248e7b9cbb0b498b13ed8d229e2f5110b036ebf9014d559cd90b0137c49"
TOKENIZER_SHA256 = "33465117406b9007673e8ba283f7f1383d9b5094df947481af60eec94ed7d7bd"
DIM = 384
PASSAGE_TOKENS = 256
QUERY_TOKENS = 512
BATCH = 2
"""Texts computed at once: what a layer of two makes stays in a core's cache."""
WINDOW = 512
WORDS = 2_048
"""Words whose tokens the tokenizer keeps, the first that come: of its own accord 10,000, most of them numbers of questions, in 3 MB."""
PAD = 1
# Text beyond this many characters per token allowed is cut before tokenising, so that a huge text costs no more than a long one.
CHARACTERS_PER_TOKEN = 32
SELF_TEST_COSINE = 0.97

_BLANKS = re.compile(r"[ \t]{2,}")


def create(model: str = "", settings: Settings | None = None, client: object = None) -> Packaged:
    """The registry's factory; there is one packaged model, so `model` must be empty."""
    if model:
        raise SettingsError(f"the packaged embedder has no model {model!r}", hint="set LINEAGE_EMBEDDER=packaged")
    return Packaged(threads=settings.threads, store=settings.home) if settings else Packaged()


class Packaged:
    """Unit vectors of 384 dimensions from the packaged model; loaded when first used, safe across threads.

    `threads` 0 leaves the number to onnxruntime (one per core). `truncated` counts texts cut at 256 tokens (questions: 512).
    With a `store` the model's file is hashed once and then known there. Raises `SettingsError` when the files are damaged
    or this processor computes them wrongly.
    """

    id = f"granite-30m-lineage-int8@{MODEL_SHA256[:12]}"
    dim = DIM

    def __init__(self, folder: Path = FOLDER, *, threads: int = 0, store: Path | None = None) -> None:
        self.truncated = 0
        self._folder = folder
        self._threads = threads
        self._store = store
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    def passages(self, texts: Sequence[str]) -> Vectors:
        """(n, 384) float32 unit vectors of texts to be found."""
        return self._embed(texts, PASSAGE_TOKENS)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """(n, 384) float32 unit vectors of questions."""
        return self._embed(texts, QUERY_TOKENS)

    def _embed(self, texts: Sequence[str], limit: int) -> Vectors:
        tokens, session = self._models()
        vectors = np.empty((len(texts), DIM), np.float32)
        for start in range(0, len(texts), WINDOW):
            rows = prepared(tokens, texts[start : start + WINDOW], limit)
            self.truncated += sum(cut for _, cut in rows)
            vectors[start : start + WINDOW] = embed(session, [ids for ids, _ in rows])
        return vectors

    def _models(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._folder, self._threads, self._store)
            return self._loaded


class _InTurns:
    """A session that computes one batch at a time, with all its threads: onnxruntime keeps for good the most memory that its runs took together."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._turn = threading.Lock()

    def run(self, outputs: Sequence[str], inputs: Mapping[str, Any]) -> Any:
        """As the session's."""
        with self._turn:
            return self._session.run(outputs, inputs)


def prepared(tokenizer: Any, texts: Sequence[str], limit: int) -> list[tuple[list[int], bool]]:
    """Token ids of each text, at most `limit` with the end mark kept, and whether something was cut off."""
    cleaned = [_clean(text, limit * CHARACTERS_PER_TOKEN) for text in texts]
    encoded = (encoding.ids for encoding in tokenizer.encode_batch_fast([text for text, _ in cleaned]))
    return [
        (ids if len(ids) <= limit else ids[: limit - 1] + ids[-1:], cut or len(ids) > limit) for ids, (_, cut) in zip(encoded, cleaned, strict=True)
    ]


def _clean(text: str, most: int) -> tuple[str, bool]:
    """At most `most` characters with runs of blanks collapsed, and whether there were more."""
    dense = _BLANKS.sub(" ", text[: 2 * most])
    # Lone surrogates (from damaged files) have no UTF-8 form; they become question marks.
    return dense[:most].encode("utf-8", "replace").decode("utf-8"), len(dense) > most or len(text) > 2 * most


def embed(session: Any, rows: Sequence[Sequence[int]], *, batch: int = BATCH) -> Vectors:
    """(n, 384) unit vectors of token id rows; longest first, so that a batch holds little padding."""
    vectors = np.empty((len(rows), DIM), np.float32)
    order = sorted(range(len(rows)), key=lambda i: -len(rows[i]))
    for members in (order[i : i + batch] for i in range(0, len(order), batch)):
        ids, mask = _padded([rows[i] for i in members])
        vectors[members] = session.run(["embedding"], {"input_ids": ids, "attention_mask": mask})[0]
    return vectors


def _padded(rows: Sequence[Sequence[int]]) -> tuple[np.ndarray[Any, np.dtype[np.int64]], np.ndarray[Any, np.dtype[np.int64]]]:
    ids = np.full((len(rows), max(map(len, rows))), PAD, np.int64)
    mask = np.zeros_like(ids)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = row
        mask[place, : len(row)] = 1
    return ids, mask


def _load(folder: Path, threads: int, store: Path | None) -> tuple[Any, Any]:
    import onnxruntime

    model, tokens = _checked(folder / "model.onnx", MODEL_SHA256, store), tokenizer(folder)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # threads that wait awake cost more than they win
    session = _InTurns(onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]))
    _self_test(folder / "selftest.json", tokens, session)
    return tokens, session


@cache
def tokenizer(folder: Path = FOLDER) -> Any:
    """The model's tokenizer, which counts the tokens of packs too; raises `SettingsError` when the file is damaged."""
    from tokenizers import Tokenizer

    made = Tokenizer.from_file(str(_checked(folder / "tokenizer.json", TOKENIZER_SHA256)))
    made.model._resize_cache(WORDS)  # noqa: SLF001 - what a tokenizer keeps cannot be bounded otherwise
    return made


def _checked(path: Path, sha256: str, store: Path | None = None) -> Path:
    """A packaged file, which is there and has its hash."""
    memory = store / "cache" / f"packaged-{path.name}.json" if store else None
    try:
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            if is_known(memory, path, about):
                return path
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SettingsError(f"the packaged embedder lacks {path.name}: {error.strerror}", hint="reinstall the package") from error
    if digest != sha256:
        raise SettingsError(f"the packaged embedder's {path.name} is not the file this version was made with", hint="reinstall the package")
    remember(memory, path, about)
    return path


def _self_test(path: Path, tokenizer: Any, session: Any) -> None:
    """Compare with the float32 model's vectors: integer kernels differ by processor, and a wrong one must not pass unseen."""
    try:
        stored = json.loads(path.read_bytes())
    except OSError as error:
        raise SettingsError(f"the packaged embedder lacks {path.name}: {error.strerror}", hint="reinstall the package") from error
    test_vectors = embed(session, [ids for ids, _ in prepared(tokenizer, stored["texts"], PASSAGE_TOKENS)])
    cosine = float((test_vectors * np.array(stored["vectors"], np.float32)).sum(axis=1).min())
    if not cosine >= SELF_TEST_COSINE:
        raise SettingsError(
            f"the packaged embedder computes wrong vectors on this processor (cosine {cosine:.2f} to the stored ones)",
            hint="set LINEAGE_EMBEDDER=sentence-transformers:<model> or openai:<model>",
        )
