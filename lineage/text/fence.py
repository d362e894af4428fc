"""Strangers' text in a prompt: put between two lines that it cannot hold, and what a model answers, read back. Pure."""

from __future__ import annotations

import hashlib
import re

_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


def fence_of(text: str) -> str:
    """A line that stands nowhere in the text: no text holds a hash of itself."""
    return "-----" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]


def object_in(answer: str) -> str:
    """The JSON object of an answer that may have words around it; the answer as it is, if there is none."""
    block = _OBJECT.search(answer)
    return block[0] if block else answer
