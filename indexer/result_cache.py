"""What a parser made of some bytes, kept under their hash, so that nothing is parsed twice.

One function for every kind of result: the record is checked by its type when it comes back, and a kept
result that no longer fits its type counts as absent.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from indexer.store.computed_cache import DerivedCache

T = TypeVar("T")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def remembered(
    cache_: DerivedCache, kind: type[T], key: str, version: str, make: Callable[[], T], keep: Callable[[T], bool] = lambda computed: True
) -> T:
    """The `kind` kept under (key, version), or what `make` gives, then kept if `keep` says so."""
    stage, adapter = kind.__name__, _adapter(kind)  # type: ignore[arg-type]  # a type is hashable
    cached_bytes = cache_.get(key, stage, version)
    if cached_bytes is not None:
        try:
            cached_value: T = adapter.validate_json(cached_bytes)
        except ValidationError:
            pass
        else:
            return cached_value
    computed = make()
    if keep(computed):
        cache_.put(key, stage, version, adapter.dump_json(computed))
    return computed
