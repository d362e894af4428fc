"""The borders behind which two real implementations exist, or a network. Nothing else is a port."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lineage.records import ReferenceList, Work

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Texts to unit vectors. `id` names the weights exactly: vectors of different ids are never mixed."""

    @property
    def id(self) -> str:
        """Name and revision (or hash) of the model, e.g. `granite-30m-lineage-int8@1f3a…`."""

    @property
    def dim(self) -> int:
        """Length of a vector."""

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors (n, dim), float32, of texts to be found."""

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors (n, dim), float32, of questions."""


class WordEmbedder(Embedder, Protocol):
    """An embedder that adds up vectors of words, and so has those of all lines of a text at little cost."""

    def windows(self, lines: Sequence[Sequence[str]], reaches: Sequence[int]) -> Vectors:
        """Unit vectors (reaches, lines, dim), float32, of each line, given by its words, with so many lines before and behind."""


class RowsOfVectors(Protocol):
    """The vectors of a generation (n, dim), float32: an array in memory, or rows of a database."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(n, dim)."""

    def __getitem__(self, rows: NDArray[np.int64], /) -> Vectors:
        """The vectors of some rows, in that order."""


class VectorIndex(Protocol):
    """Nearest neighbours by inner product over rows that stay in their order."""

    def search(self, queries: Vectors, k: int, allowed: NDArray[np.int64] | None = None) -> tuple[NDArray[np.int64], Vectors]:
        """Row numbers (q, k) and scores (q, k), best first; -1 and -inf where fewer than k exist.

        `allowed` restricts the search to those rows. Raises `EmbedderMismatch` for a wrong dimension and
        `ValueError` for vectors that are not finite.
        """


class ReferenceSource(Protocol):
    """A service that lists what a paper cites."""

    name: str

    def references(self, work: Work) -> ReferenceList:
        """Everything the service lists for `work`; raises `SourceError`."""


class Reranker(Protocol):
    """A second, slower look at the first hits. `id` names it in the signals of a hit."""

    @property
    def id(self) -> str:
        """Name and revision (or hash) of the model."""

    def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each text answers, higher is better, one finite number a text; raises `SourceError` or `SettingsError`."""


class ChatModel(Protocol):
    """The part of a chat endpoint that is needed (`indexer.chat`)."""

    @property
    def model(self) -> str:
        """Its name."""

    @property
    def sends(self) -> bool:
        """Whether anything is sent, not only counted."""

    def complete(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], most: int) -> str:
        """The answer's text; raises `SourceError`."""
