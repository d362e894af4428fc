"""Join records of one work into one, whatever the order they come in, and what several witnesses quote of one place.

Each field is chosen by a total order on its values alone ("the more specific wins"), so joining is
commutative, associative and idempotent, and nothing depends on which service answered first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce

from lineage.ids import normal_title
from lineage.records import Mention, Scalar, Work, WorkId, WorkKind
from lineage.text.titles import marked, title_key

_SCHEMES = ("arxiv", "doi", "acl", "s2", "repo", "url", "local", "ref")
_NUMBER = re.compile(r"arxiv:(\d\d)(\d\d)\.\d")
_PREPRINT = ("arxiv", "corr", "preprint", "biorxiv", "medrxiv", "openreview")


def merge_works(work: Work, other: Work) -> Work:
    """One record out of two of the same work; `merge_works(a, b) == merge_works(b, a)`."""
    ids = sorted({work.id, other.id, *work.aliases, *other.aliases}, key=_id_rank)
    return Work(
        id=ids[0],
        kind=_kind(work.kind, other.kind),
        title=max(work.title, other.title, key=_title_rank),
        authors=max(work.authors, other.authors, key=_authors_rank),
        year=_year(true_year(work.year, ids), true_year(other.year, ids)),
        venue=max(work.venue, other.venue, key=_venue_rank),
        abstract=max(work.abstract, other.abstract, key=lambda a: (len(a), a)),
        aliases=tuple(i for i in ids[1:] if not i.startswith("ref:")),
        license=max((x for x in (work.license, other.license) if x), key=lambda x: (len(x), x), default=None),
        said_by=tuple(sorted({*work.said_by, *other.said_by})),
        meta=_meta(work, other),
    )


def merge_all(works: Iterable[Work]) -> Work:
    """`merge_works` over one or more records."""
    return reduce(merge_works, works)


def _id_rank(work: WorkId) -> tuple[int, str]:
    scheme = work.partition(":")[0]
    return (_SCHEMES.index(scheme) if scheme in _SCHEMES else len(_SCHEMES), work)


def _kind(kind: WorkKind, other: WorkKind) -> WorkKind:
    return kind if kind == other else "paper"


def _title_rank(title: str) -> tuple[bool, bool, int, int, bool, str]:
    """Whole before cut, longer before shorter, then the spelling that keeps names as written (SciBERT, not Scibert)."""
    key = title_key(title)
    names = 0 if title.isupper() else sum(map(marked, title.split()))
    return (not key.cut, "\\" not in title, len(key.compact), names, not (title.isupper() or title.islower()), title)


def _authors_rank(authors: tuple[str, ...]) -> tuple[int, int, tuple[str, ...]]:
    named = [a for a in authors if a.lower().strip(" .") not in {"others", "et al"}]
    return (len(named), sum(map(len, named)), authors)


def true_year(year: int | None, ids: Iterable[WorkId]) -> int | None:
    """The year, unless it is the beginning of an arXiv number taken for one: 1911.02782 is of November 2019, not of 1911."""
    for name in ids:
        match = _NUMBER.match(name)
        if match and year == int(match[1] + match[2]):
            return 2000 + int(match[1])
    return year


def _year(year: int | None, other: int | None) -> int | None:
    """The earlier: when the work appeared, not when it was printed."""
    return min((y for y in (year, other) if y is not None), default=None)


def _venue_rank(venue: str) -> tuple[bool, int, str]:
    return (bool(venue) and not any(word in venue.lower() for word in _PREPRINT), len(venue), venue)


def _meta(work: Work, other: Work) -> dict[str, Scalar]:
    keys = sorted({*work.meta, *other.meta})
    return {key: max(work.meta.get(key), other.meta.get(key), key=_scalar_rank) for key in keys}


def _scalar_rank(value: Scalar) -> tuple[int, float, str]:
    """None below text below numbers; larger numbers and longer texts win."""
    if value is None:
        return (0, 0.0, "")
    if isinstance(value, str):
        return (1, float(len(value)), value)
    return (2, float(value), type(value).__name__)


SHORTEST = 24
MOST = 500
"""Mentions of one work that are taken from a witness; each is held against all of those before."""


def join_mentions(by_witness: Iterable[Sequence[Mention]]) -> tuple[Mention, ...]:
    """All mentions in order, the first witness's first; a later quotation of one only adds its intents.

    Services cut sentences at both ends and print markers their own way: quotations are compared by the
    letters and digits outside brackets, one being part of the other.
    """
    joined_mentions: list[Mention] = []
    cores: list[str] = []
    for mentions in by_witness:
        before = len(joined_mentions)
        for mention in mentions[:MOST]:
            core = _core(mention.sentence)
            at = next((i for i in range(before) if _same_place(cores[i], core)), None)
            if at is None:
                joined_mentions.append(mention)
                cores.append(core)
            else:
                joined_mentions[at] = replace(joined_mentions[at], intents=tuple(dict.fromkeys((*joined_mentions[at].intents, *mention.intents))))
    return tuple(joined_mentions)


def _core(sentence: str) -> str:
    """Letters and digits outside brackets, at most 400: where markers are, witnesses differ."""
    depth, out = 0, []
    for char in sentence[:2000]:
        depth += (char in "([{") - (char in ")]}" and depth > 0)
        out.append(" " if depth or char in ")]}" else char)
    return normal_title("".join(out)).replace(" ", "")[:400]


def _same_place(sentence: str, other: str) -> bool:
    short, long = sorted((sentence, other), key=len)
    return (len(short) >= SHORTEST and short in long) or (bool(short) and short == long)
