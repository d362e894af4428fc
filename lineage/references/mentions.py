"""Sentences that several witnesses quote: the same place in the text is one mention, with all that was said of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lineage.ids import normal_title
from lineage.records import Mention

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


def _same_place(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return (len(short) >= SHORTEST and short in long) or (bool(short) and short == long)
