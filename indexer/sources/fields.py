"""Read untrusted JSON: a field of the wrong type counts as missing (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lineage import ids
from lineage.records import WorkId

_ORDER = {"arxiv": 0, "doi": 1, "s2": 2}


def text(value: Any) -> str:
    """A string with its white space made single, numbers as digits, anything else empty."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return " ".join(re.sub(r"[\x00-\x1f\x7f]", " ", str(value)).encode("utf-8", "replace").decode().split())


def number(value: Any) -> int | None:
    """A whole number, also out of digits in a string; None for anything else."""
    if isinstance(value, str) and re.fullmatch(r"\d{1,12}", value.strip()):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**12 else None


def year(value: Any) -> int | None:
    """A year that a paper can have, also out of a date."""
    match = re.match(r"(1[5-9]\d\d|20\d\d)(?!\d)", text(value))
    return int(match[1]) if match else None


def mapping(value: Any) -> Mapping[str, Any]:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> Sequence[Any]:
    """An array, or an empty one."""
    return value if isinstance(value, list) else ()


def names(value: Any) -> tuple[str, ...]:
    """The names in an array of objects or strings."""
    named_texts = (text(mapping(row).get("name")) or text(row) for row in items(value))
    return tuple(name for name in named_texts if name)


def ordered(work_ids: Iterable[WorkId | None]) -> tuple[WorkId, ...]:
    """Identifiers without repetition, arXiv's first, then DOIs, then Semantic Scholar's, then the rest as they came."""
    unique_ids = dict.fromkeys(work for work in work_ids if work)
    return tuple(sorted(unique_ids, key=lambda work: (_ORDER.get(work.partition(":")[0], 3), ":CorpusId:" in work)))


def arxiv(value: Any) -> WorkId | None:
    """`arxiv:<id>` of a bare identifier, or None."""
    id_and_version = ids.arxiv_id(re.sub(r"(?i)^arxiv:", "", text(value)))
    return id_and_version[0] if id_and_version else None


def doi(value: Any) -> WorkId | None:
    """`doi:<doi>` of a DOI or its URL, or None."""
    return ids.doi_id(re.sub(r"(?i)^(?:https?://(?:dx\.)?doi\.org/|doi:)", "", text(value)))
