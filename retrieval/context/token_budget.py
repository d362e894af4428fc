"""Count the tokens of a text, by an estimate or a tokenizer.

A budget is kept on the bytes that are sent, so the count is made on exactly those, by a tokenizer that is named with it.
The packaged one (the embedder's byte-pair encoding, of the family of GPT-2) splits finer than those of today's large
models do (1.2 times o200k's tokens on prose, 1.5 times on Python), so that what fits by it fits theirs; another model's
`tokenizer.json` can be named.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Protocol

from lineage.errors import SettingsError

BYTES_PER_TOKEN = 3.0
_KEPT = 2_048
"""Texts whose count is kept: half of what a pack counts, it has counted before."""
_HINT = "LINEAGE_TOKENIZER names the file of that name beside a model's weights"


class Tokens(Protocol):
    """Counts tokens; `name` says whose they are."""

    @property
    def name(self) -> str:
        """The tokenizer, as a pack names it."""

    def count(self, text: str) -> int:
        """Tokens of a text as it is sent (UTF-8, no special tokens added)."""


class TokenEstimator:
    """One token for every three bytes of UTF-8: above what today's tokenizers need for English and code."""

    name = "estimate, one token for 3 bytes of UTF-8"

    def count(self, text: str) -> int:
        """Bytes through three, rounded up."""
        return math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)


class FileTokens:
    """The count of a tokenizer, which is read when first used."""

    def __init__(self, read: Callable[[], Any], name: str) -> None:
        self.name = name
        self._read = read
        self._kept = lru_cache(_KEPT)(self._counted)

    def count(self, text: str) -> int:
        """Tokens of the text; raises `SettingsError` if the file is not a tokenizer."""
        return self._kept(text)

    def _counted(self, text: str) -> int:
        # Lone surrogates (from damaged files) have no UTF-8 form; they are sent as question marks.
        return len(self._read().encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False).ids)


@cache
def tokenizer_of(path: Path) -> Any:
    """The tokenizer in a `tokenizer.json`; raises `SettingsError`."""
    from tokenizers import Tokenizer

    try:
        text = path.read_text(encoding="utf-8")
        known = json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"the tokenizer {path} cannot be read: {error}") from error
    if not isinstance(known, dict) or not isinstance(known.get("model"), dict):
        raise SettingsError(f"{path} is not a tokenizer.json", hint=_HINT)
    try:
        made: Any = Tokenizer.from_str(text)
    except Exception as error:  # what tokenizers raises for a model that is none has no name of its own
        raise SettingsError(f"{path} is not a tokenizer.json: {error}", hint=_HINT) from error
    made.no_truncation()
    made.no_padding()
    return made
