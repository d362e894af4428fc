"""Cache of computed results: vectors by (embedder, hash of the text), parser output by (input, stage, version).

Keyed by content and by who computed it, never by where it stood: the same function vendored into six
repositories is embedded once, and a new stage version computes anew without touching the old entry.
Nothing in a cache is the only copy: a value that fails its digest counts as absent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from pydantic import ValidationError

from lineage.catalog.keyed import Keyed, peeked
from lineage.errors import ParseError
from lineage.ports import Vectors
from lineage.sealed import adapter

if TYPE_CHECKING:
    from indexer.read_document import ReadDocument

_DERIVED = Path("cache", "derived.db")


class VectorCache:
    """Vectors (dim,) float32 by the hash of their text, apart for each embedder."""

    def __init__(self, home: Path) -> None:
        self._kept = Keyed(home / "cache" / "vectors.db")

    def get(self, embedder: str, keys: Iterable[str]) -> dict[str, Vectors]:
        """The vectors that are there, by key."""
        names = {_name(embedder, key): key for key in keys}
        cached_rows = self._kept.get(list(names))
        return {names[name]: np.frombuffer(value, np.float32) for name, value in cached_rows.items()}

    def put(self, embedder: str, vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors, all of them or (on `DiskFull`) none."""
        self._kept.put((_name(embedder, key), np.ascontiguousarray(vector, np.float32).tobytes()) for key, vector in vectors.items())

    def close(self) -> None:
        """Close the file; it opens again when used."""
        self._kept.close()


def looked_up(home: Path, input_hash: str, stage: str, version: str) -> bytes | None:
    """What the derived cache of a store keeps, None for none or where it cannot be read now. Changes nothing."""
    return peeked(home / _DERIVED, _name(input_hash, stage, version))


class DerivedCache:
    """What a stage made of an input, by (hash of the input, stage, version of the stage)."""

    def __init__(self, home: Path) -> None:
        self._kept = Keyed(home / _DERIVED)
        self.passing: dict[tuple[str, str, str], object] = {}
        """What may come out otherwise another time, by the same key, while this cache is open."""

    def get(self, input_hash: str, stage: str, version: str) -> bytes | None:
        """What was kept, None if nothing was."""
        name = _name(input_hash, stage, version)
        return self._kept.get([name]).get(name)

    def put(self, input_hash: str, stage: str, version: str, value: bytes) -> None:
        """Keep what the stage made; raises `DiskFull`."""
        self._kept.put([(_name(input_hash, stage, version), value)])

    def documents(self, keys: Sequence[str], version: str) -> dict[str, ReadDocument]:
        """What was read of the files of those keys."""
        names = {_name(key, "file", version): key for key in keys}
        from indexer.parsers.stored import document_from_json  # what reads documents loads much, and only builds need it

        found: dict[str, ReadDocument] = {}
        for name, value in self._kept.get(list(names)).items():
            with suppress(ParseError):
                found[names[name]] = document_from_json(value)
        return found

    def keep(self, documents: Mapping[str, ReadDocument], version: str) -> None:
        """Keep what was read of files; raises `DiskFull`."""
        from indexer.parsers.stored import document_to_json

        if documents:
            self._kept.put([(_name(key, "file", version), document_to_json(document)) for key, document in documents.items()])

    def close(self) -> None:
        """Close the file; it opens again when used."""
        self._kept.close()


def _name(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


T = TypeVar("T")


def remembered(
    cache_: DerivedCache, kind: type[T], key: str, version: str, make: Callable[[], T], keep: Callable[[T], bool] = lambda computed: True
) -> T:
    """The `kind` kept under (key, version), or what `make` gives, then kept if `keep` says so, else for as long as the cache is open."""
    stage, form = kind.__name__, adapter(kind)
    passing = cache_.passing.get((key, stage, version))
    if isinstance(passing, kind):
        return passing
    cached_bytes = cache_.get(key, stage, version)
    if cached_bytes is not None:
        try:
            cached_value = form.validate_json(cached_bytes)
        except ValidationError:
            pass
        else:
            return cached_value
    computed = make()
    if keep(computed):
        cache_.put(key, stage, version, form.dump_json(computed))
    else:
        cache_.passing[key, stage, version] = computed
    return computed
