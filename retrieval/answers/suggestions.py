"""Cited works that are not in a lineage and may hold what a question asks for, by the sentences in which the target cites them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lineage.records import Reference, Work, WorkId
from retrieval.answers.pieces import Words
from retrieval.search.engine import Engine

MOST = 3
_SHARE = 0.4
"""The share of a question's words that the title of a work and a sentence about it must have."""
_LONGEST = 200


def suggestions(engine: Engine, question: str) -> tuple[str, ...]:
    """Commands that would add the cited works that the target speaks of in the question's words, each with the sentence that does; most first."""
    catalog, manifest = engine.generation.catalog, engine.generation.manifest
    here = {document.work for document in catalog.documents()}
    works = {work.id: work for work in catalog.works()}
    words = Words(question, engine.worth(question))
    references = [reference for reference in catalog.references(manifest.target) if reference.cited not in here]
    best = [row for row in (_spoken(reference, works, words) for reference in references) if row and row[0] >= _SHARE]
    told = (f"suggest: lineage add {manifest.lineage} {address} — {said}" for _, address, said in sorted(best, key=lambda row: -row[0]))
    return tuple(dict.fromkeys(told))[:MOST]


def _spoken(reference: Reference, works: Mapping[WorkId, Work], words: Words) -> tuple[float, str, str] | None:
    """How much of a question is spoken of where a work is cited, its address, and its title with the sentence that speaks most of it."""
    work = works.get(reference.cited)
    address = next((name for name in (work.id, *work.aliases) if name.startswith("arxiv:")), "") if work else ""
    if work is None or not address:  # what has no e-print can hardly be fetched
        return None
    share, sentence = max((words.share(f"{work.title} {sentence}"), sentence) for sentence in ("", *_sentences(reference)))
    said = f": “{' '.join(sentence.split())[:_LONGEST]}”" if sentence else ""
    return share, address, f"{work.title}{said}"


def _sentences(reference: Reference) -> Iterator[str]:
    return (mention.sentence for mention in reference.mentions)
