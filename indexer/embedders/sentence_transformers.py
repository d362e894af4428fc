"""Any sentence-transformers model, from a folder or, where there is a network, from the Hugging Face hub.

Why: with a hub, stronger models than the packaged one are a setting away. The library imports in seconds
(torch), so it is imported when the first vector is asked for. Weights are read from safetensors only and no
code of a model runs. A hub model is taken from the local cache when it is there, else fetched once.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from lineage.errors import SettingsError, UpstreamError
from lineage.ports import Vectors
from lineage.settings import Settings

BATCH = 16
MAX_TOKENS = 512
CHARACTERS_PER_TOKEN = 32
WANTED = ("*.json", "*.txt", "*.model", "*.safetensors")
NEEDED = ("sentence_transformers", "torch")
INSTALL = "pip install 'paper-lineage[hub]', or use the packaged model: LINEAGE_EMBEDDER=packaged"
UNWANTED = ("onnx/*", "openvino/*", "*/onnx/*")


def create(model: str, settings: Settings, client: object = None) -> SentenceTransformerEmbedder:
    """The registry's factory; `model` is a folder or a hub name such as `owner/name`."""
    if not model:
        raise SettingsError("which model?", hint="set LINEAGE_EMBEDDER=sentence-transformers:<hub name or folder>")
    if not all(map(find_spec, NEEDED)):
        raise SettingsError("models of the hub need sentence-transformers and torch, which are not installed", hint=INSTALL)
    endpoint = f"{settings.mirror}/huggingface.co" if settings.mirror else None
    return SentenceTransformerEmbedder(model, offline=settings.offline, endpoint=endpoint, threads=settings.threads)


class SentenceTransformerEmbedder:
    """Unit vectors of a sentence-transformers model, with its own prompts for questions and texts.

    `id` holds the hub revision or, for a folder, a hash of its weights. Raises `SettingsError` for a folder
    or name that is no usable model and `UpstreamError` when the hub cannot be reached.
    """

    def __init__(self, model: str, *, offline: bool = False, endpoint: str | None = None, threads: int = 0) -> None:
        self._name = model
        self._offline = offline
        self._endpoint = endpoint
        self._threads = threads
        self._lock = threading.Lock()
        self._loaded: Any = None

    @cached_property
    def id(self) -> str:
        """Name and revision; finds the model's files, which may fetch them."""
        folder = self._folder
        revision = folder.name[:12] if folder.parent.name == "snapshots" else _weights_hash(folder)
        return f"sentence-transformers:{Path(self._name).name if Path(self._name).is_dir() else self._name}@{revision}"

    @property
    def dim(self) -> int:
        """Length of a vector; loads the model."""
        return int(self._model().get_embedding_dimension())

    def passages(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) float32 unit vectors of texts to be found."""
        return self._encode(texts, "encode_document")

    def queries(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) float32 unit vectors of questions."""
        return self._encode(texts, "encode_query")

    def _encode(self, texts: Sequence[str], method: str) -> Vectors:
        model = self._model()
        most = MAX_TOKENS * CHARACTERS_PER_TOKEN
        clean = [text[:most].encode("utf-8", "replace").decode("utf-8") for text in texts]
        if not clean:
            return np.empty((0, self.dim), np.float32)
        encode = getattr(model, method)
        return np.asarray(encode(clean, batch_size=BATCH, show_progress_bar=False, normalize_embeddings=True), np.float32)

    @cached_property
    def _folder(self) -> Path:
        given = Path(self._name).expanduser()
        if given.is_dir():
            return given
        return _cached(self._name) or self._fetched()

    def _fetched(self) -> Path:
        if self._offline:
            raise SettingsError(
                f"the model {self._name} is not on this machine, and LINEAGE_OFFLINE is set", hint="set LINEAGE_EMBEDDER=packaged, or a folder"
            )
        return _download(self._name, self._endpoint)

    def _model(self) -> Any:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._folder, self._name, self._threads)
            return self._loaded


def _cached(name: str) -> Path | None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except LocalEntryNotFoundError:
        return None
    except HFValidationError as error:
        raise SettingsError(f"{name} is neither a folder nor a hub name", hint="hub names look like owner/name") from error


def _download(name: str, endpoint: str | None) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    try:
        folder = snapshot_download(name, endpoint=endpoint, allow_patterns=list(WANTED), ignore_patterns=list(UNWANTED), token=False)
    except (RepositoryNotFoundError, GatedRepoError) as error:
        raise SettingsError(f"the hub has no open model {name}", hint="check LINEAGE_EMBEDDER") from error
    except OSError as error:
        raise UpstreamError(
            f"the model {name} cannot be fetched from the hub", hint="set LINEAGE_EMBEDDER=packaged, or a folder that holds the model"
        ) from error
    return Path(folder)


def _load(folder: Path, name: str, threads: int) -> Any:
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # the library is not typed; progress is the doors' business
    if threads:
        torch.set_num_threads(threads)
    try:
        model = SentenceTransformer(str(folder), local_files_only=True, model_kwargs={"use_safetensors": True})
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise SettingsError(f"{name} cannot be loaded as a sentence-transformers model: {str(error)[:200]}") from error
    model.max_seq_length = min(model.max_seq_length or MAX_TOKENS, MAX_TOKENS)
    return model


def _weights_hash(folder: Path) -> str:
    """First 12 hex digits over every weight and settings file below `folder`, by name and content."""
    total = hashlib.sha256()
    for path in sorted(path for pattern in WANTED for path in folder.rglob(pattern)):
        with path.open("rb") as file:
            total.update(path.relative_to(folder).as_posix().encode() + hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()[:12]
