"""A cross-encoder of sentence-transformers, from a folder or the hub: question and text are read together.

Why: it is the strongest common reranker, and with a hub one is a setting away. No package carries weights of one that
improves this ranking, so it is off by default and unmeasured here. The library imports in seconds (torch), so it is
imported when the first scores are asked for; no code of a model is run, and weights are read from safetensors only.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lineage.errors import SettingsError
from lineage.settings import Settings

BATCH, MAX_TOKENS = 16, 512
NEEDED = ("sentence_transformers", "torch")


def create(model: str, settings: Settings) -> CrossEncoderReranker:
    """The registry's factory; `model` is a folder or a hub name such as `owner/name`."""
    if not model:
        raise SettingsError("which model?", hint="set LINEAGE_RERANKER=cross-encoder:<hub name or folder>")
    if not all(map(find_spec, NEEDED)):
        raise SettingsError("a cross-encoder needs sentence-transformers and torch", hint="pip install 'paper-lineage[hub]'")
    return CrossEncoderReranker(model, offline=settings.offline or bool(settings.mirror))


class CrossEncoderReranker:
    """Scores of a cross-encoder, loaded at first use, thread-safe; raises `SettingsError` for an invalid model."""

    def __init__(self, model: str, *, offline: bool = False) -> None:
        self.id = f"cross-encoder:{Path(model).name}"
        self._name = model
        self._offline = offline
        self._lock = threading.Lock()
        self._loaded: Any = None

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One score a text."""
        if not texts:
            return []
        pairs = [(question, text) for text in texts]
        return [float(score) for score in self._model().predict(pairs, batch_size=BATCH, show_progress_bar=False)]

    def _model(self) -> Any:
        with self._lock:
            if self._loaded is None:
                from sentence_transformers import CrossEncoder

                try:
                    self._loaded = CrossEncoder(
                        self._name,
                        num_labels=1,
                        max_length=MAX_TOKENS,
                        device="cpu",
                        local_files_only=self._offline,
                        model_kwargs={"use_safetensors": True},
                    )
                except (OSError, ValueError) as error:
                    raise SettingsError(f"{self._name} cannot be loaded as a cross-encoder: {str(error)[:200]}") from error
            return self._loaded
