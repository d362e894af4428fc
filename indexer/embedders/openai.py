"""Embeddings from any OpenAI-compatible `/embeddings` endpoint: the public one, a lab's, or one on this machine.

Why: who has a better model behind an endpoint should be one setting away from it. Retries and Retry-After
are the openai client's own; the composition root hands in the HTTP client that applies the mirror rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from indexer.chat import LOOPBACK, PUBLIC
from indexer.transport.client import client_for_packages
from lineage.errors import SettingsError, UpstreamError
from lineage.ports import Vectors
from lineage.settings import Settings

BATCH = 64
# Models of this family take 8,192 tokens a text and 300,000 a request; a token is seldom less than a character.
CHARACTERS = 8000


def create(model: str, settings: Settings, client: Any = None) -> OpenAIEmbedder:
    """The registry's factory. `client` is an `httpx2.Client` or None; raises `SettingsError` for what is missing."""
    if not model:
        raise SettingsError("which model of the endpoint?", hint="set LINEAGE_EMBEDDER=openai:<model>")
    base_url = settings.openai_base_url or PUBLIC
    host = urlsplit(base_url).hostname
    if settings.offline and host not in LOOPBACK:
        raise SettingsError(f"the embedder openai:{model} asks {host}, and LINEAGE_OFFLINE is set", hint="set LINEAGE_EMBEDDER=packaged")
    key = settings.openai_api_key.get_secret_value()
    if base_url == PUBLIC and not key and not settings.mirror:
        raise SettingsError(f"{host} needs a key", hint="set LINEAGE_OPENAI_API_KEY, or LINEAGE_OPENAI_BASE_URL for another endpoint")
    return OpenAIEmbedder(base_url, model, key, client=client or client_for_packages(settings), timeout=settings.deadline)


class OpenAIEmbedder:
    """Unit vectors of `model` at `base_url`. The dimension is asked for once, with the first request.

    `timeout` is in seconds for one attempt, of which there are up to four; `truncated` counts texts cut at
    8,000 characters. Raises `UpstreamError` when the endpoint fails or answers nonsense, `SettingsError`
    when it refuses the key.
    """

    def __init__(self, base_url: str, model: str, key: str = "", *, client: Any = None, timeout: float = 60.0, retries: int = 3) -> None:
        from openai import OpenAI

        self.id = f"openai:{model}@{urlsplit(base_url).netloc.rpartition('@')[2]}"
        self.truncated = 0
        self._model = model
        self._dim = 0
        self._client = OpenAI(base_url=base_url, api_key=key or "none", http_client=client, timeout=timeout, max_retries=retries)

    @property
    def dim(self) -> int:
        """Length of a vector; sends one request when nothing was embedded yet."""
        if not self._dim:
            self._ask(["dimension"])
        return self._dim

    def passages(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) float32 unit vectors of texts to be found."""
        if not texts:
            return np.empty((0, self.dim), np.float32)
        return np.concatenate([self._ask(batch) for batch in self._batches(texts)])

    def queries(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) float32 unit vectors of questions; endpoints of this kind make no difference."""
        return self.passages(texts)

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        self.truncated += sum(len(text) > CHARACTERS for text in texts)
        for start in range(0, len(texts), BATCH):
            cut = (text[:CHARACTERS].encode("utf-8", "replace").decode("utf-8") for text in texts[start : start + BATCH])
            yield [text or " " for text in cut]  # an empty input is refused by the public endpoint

    def _ask(self, texts: list[str]) -> Vectors:
        import openai

        try:
            answer = self._client.embeddings.create(model=self._model, input=texts)
            rows = [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]
            vectors = np.array(rows, np.float32)
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            raise SettingsError(f"{self.id} refused the key: status {error.status_code}", hint="set LINEAGE_OPENAI_API_KEY") from error
        except openai.APIStatusError as error:
            raise UpstreamError(f"{self.id} answered with status {error.status_code}", hint=error.message[:200]) from error
        except openai.OpenAIError as error:
            raise UpstreamError(f"{self.id} cannot be reached: {error}", hint="the same command resumes") from error
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise UpstreamError(f"{self.id} did not answer with embeddings") from error
        return self._checked(vectors, len(texts))

    def _checked(self, vectors: Vectors, count: int) -> Vectors:
        shape = (count, self._dim or (vectors.shape[1] if vectors.ndim == 2 else 0))
        norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
        if vectors.shape != shape or not (np.isfinite(norms) & (norms > 0)).all():
            raise UpstreamError(f"{self.id} answered vectors {vectors.shape} where {shape} finite ones were expected")
        self._dim = shape[1]
        unit: Vectors = (vectors / norms).astype(np.float32)
        return unit
