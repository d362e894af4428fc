"""The words for the reasons of a hit: the only place where they are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from lineage.records import Hit, Reason, ReasonKind

_ROLES = {"module": "statements outside of every function", "abstract": "an abstract", "front": "authors and affiliations"}
_LEAST = 0.005
UNSUPPORTED = "nothing in this lineage supports an answer well"
"""What begins the note of an answer that is not supported."""
"""The smallest change of a place's score that is worth a word."""


def words(hit: Hit) -> tuple[str, ...]:
    """The reasons of a hit in words: its rank in each retriever, and what moved it; scores mean nothing outside of their retriever."""
    signals = (f"{signal.retriever} rank {signal.rank}" for signal in hit.signals)
    return (*signals, *_told(hit.why))


def _told(reasons: tuple[Reason, ...]) -> Iterator[str]:
    for reason in reasons:
        if reason.kind in _WORDS and not (reason.kind is ReasonKind.SIBLINGS and abs(reason.value) < _LEAST):
            yield ("counts against it: " if reason.value < 0 else "") + _WORDS[reason.kind](reason)


def _lineage(reason: Reason) -> str:
    role, citing, _ = reason.of
    return f"{role} of {citing or 'the target'}"


_WORDS: Mapping[ReasonKind, Callable[[Reason], str]] = {
    ReasonKind.VERBATIM: lambda _: "has the words of the question in their order",
    ReasonKind.CODE: lambda _: "code does what a question asks about",
    ReasonKind.STAGE: lambda reason: f"a file for {', '.join(reason.of)}",
    ReasonKind.ROLE: lambda reason: _ROLES[reason.of[0]],
    ReasonKind.STATED: lambda reason: "states " + ", ".join(reason.of),
    ReasonKind.DECIDES: lambda reason: f"decides {reason.of[0]}" if reason.of else "how much its code decides",
    ReasonKind.TARGET: lambda _: "the target's own",
    ReasonKind.LINEAGE: _lineage,
    ReasonKind.SIBLINGS: lambda _: "the best other passage of its paper",
    ReasonKind.RERANKED: lambda reason: f"{reason.of[0]} put it here",
    ReasonKind.NAMED_WORK: lambda _: "of a work that the question names",
    ReasonKind.ASPECT: lambda reason: f"{reason.of[0]}: {', '.join(reason.of[1:])}",
    ReasonKind.SAYS: lambda reason: f"says: {reason.of[0]}",
    ReasonKind.STATES: lambda reason: f"states {reason.of[0]}",
    ReasonKind.DEFERS: lambda reason: f"defers: {reason.of[0]}",
}
"""What is said of each kind; the ranks of retrievers are said with their signals."""


def first(hit: Hit, kind: ReasonKind) -> str:
    """The first name or sentence that the reason of a kind is about, empty if the hit has none."""
    return next((reason.of[0] for reason in hit.why if reason.kind is kind), "")
