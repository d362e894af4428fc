"""British and American spelling of the words that topics and details are named with (pure): both are read, the American one is shown."""

from __future__ import annotations

import re

_STEMS = "final|general|initial|local|normal|penal|real|regular|vector|factor|categor|memor|author|optim|minim|maxim|random|token"
_STEMS += "|quant|discret|stabil|util|binar|summar|character|parametr|standard|visual|synchron|organ|orthogonal|equal"
_ISE = re.compile(rf"\b((?:re|de|un|pre)?-?(?:{_STEMS}))is(ations?|ers?|ed|es?|ing)\b", re.IGNORECASE)
_OTHERS = {"colour": "color", "behaviour": "behavior", "licence": "license", "centre": "center", "neighbour": "neighbor"}
_OTHER = re.compile(rf"\b({'|'.join(_OTHERS)})(?=s?\b)", re.IGNORECASE)


def american(text: str) -> str:
    """The text with `-ize`, `-ization`, `-izer` and `color` for their British forms; everything else as it is."""
    text = _ISE.sub(r"\1iz\2", text.replace("_", " \0"))
    return _OTHER.sub(lambda m: _cased(m[1]), text).replace(" \0", "_")


def _cased(word: str) -> str:
    other = _OTHERS[word.lower()]
    return other.capitalize() if word[0].isupper() else other
