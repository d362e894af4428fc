"""Values that a paper gives one size of a model, against what its own code has for that size. Pure.

A table has a row for each of "LLaMA 34B" and "ViT-B"; a factory has a branch or a function for each, `llama2_34b` and
`vit_base`, or a configuration file has the size in its name. Other sizes hold other values, so that no value of the code as
a whole tells whether a row is right: only a row and the code of its own size are compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from lineage.insight import Held

_WORDS = {"ti": "tiny", "s": "small", "b": "base", "l": "large", "h": "huge", "g": "giant", "gigantic": "giant", "xlarge": "xl"}
_SIZE = r"\d{1,4}(?:\.\d{1,2})?[bm]|tiny|ti|small|base|large|xlarge|huge|gigantic|giant|xxl|xl|[sblhg]"
_SIZED = re.compile(rf"(?<![a-z\d])(?:(?P<family>[a-z][a-z\d]{{1,19}})[-_ ])?(?P<size>{_SIZE})(?![a-z\d])", re.IGNORECASE)
_LONGEST = 200
Size = tuple[str, str]
"""A family of models without its version ("" for none that is named), and a size of it in one form."""


def sizes(text: str) -> frozenset[Size]:
    """The sizes that a scope or the name of a file speaks of: words and letters only behind the name of a family, for `base_lr` has none."""
    found = ((one["family"] or "", one["size"].lower()) for one in _SIZED.finditer(text[:_LONGEST]))
    kept = ((family.lower().rstrip("0123456789"), _WORDS.get(size, size)) for family, size in found if family or size[0].isdigit())
    return frozenset(("" if family in {"and", "or", "for", "the"} else family, size) for family, size in kept)


def pairs(paper: Sequence[Held], code: Sequence[Held]) -> Iterator[tuple[list[Held], list[Held]]]:
    """(what the paper says of a size, what the own code has for it) for each size that both speak of."""
    said = sorted(frozenset[Size]().union(*(sizes(one.fact.scope) for one in paper)))
    placed = [(one, _of_code(one)) for one in code] if said else []
    for size in said:
        if alike := [one for one, others in placed if any(_agree(size, other) for other in others)]:
            yield [one for one in paper if size in sizes(one.fact.scope)], alike


def _of_code(one: Held) -> frozenset[Size]:
    return sizes(one.fact.scope) | sizes(PurePosixPath(one.evidence.chunk.path).stem)


def _agree(one: Size, other: Size) -> bool:
    """Whether two sizes are one: of one family, or the paper or the code names none."""
    return one[1] == other[1] and (one[0] == other[0] or "" in (one[0], other[0]))
