"""Answers in the words of the evidence: sentences of the target that state the value which is asked for, else quotations that come near.

A sentence is claimed only where the target's text states a detail that the question asks for in one way, of what the question names. Everything
else is quoted, and whether it answers is the reader's to say: no score told right quotations from wrong ones on papers that were not open when
it was fitted (docs/benchmarks.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lineage.hyperparameters.ontology import Ontology
from lineage.records import Query, Reference, Work, WorkId
from lineage.results import FactOccurrence, Sentence, WrittenAnswer
from retrieval.answers.quotes import Words, quoted
from retrieval.decisions.fact_index import FactIndex
from retrieval.decisions.provenance import measured, sentence_of
from retrieval.search.engine import Engine
from retrieval.search.question_subject import Name, asked_details, names_of, share_spoken

_HITS, _OWN = 12, 40
"""Hits whose pieces are looked at, and those of the target's own text."""
_NEAREST = 3
_SUGGESTED = 3
_SHARE = 0.4
"""The share of a question's words that the title of a work and a sentence about it must have."""
_LONGEST = 200


def answered(engine: Engine, query: Query, index: FactIndex) -> WrittenAnswer:
    """What the target states, else quotations; where nothing supports an answer, the nearest misses and what could be added."""
    target = WorkId(engine.generation.manifest.target)
    own = replace(query, k=max(query.k, _OWN), kinds=frozenset({"paper"}), work=target)
    found = engine.ask_many([replace(query, k=max(query.k, _HITS)), own])
    answer = WrittenAnswer(query.text, found[0].lineage, found[0].generation, (), notes=found[0].notes)
    if claims := tuple(stated(query.text, index, engine.ontology)):
        return replace(answer, sentences=claims)
    quotes = quoted(engine, query.text, found) if found[0].supported else ()
    if quotes:
        return replace(answer, quotes=quotes)
    return replace(answer, nearest=found[0].hits[:_NEAREST], notes=(*answer.notes, *suggestions(engine, query.text)))


def stated(question: str, index: FactIndex, known: Ontology) -> Iterator[Sentence]:
    """For each detail whose value is asked for the sentence of the target that states it; none where it states several values."""
    about = names_of(question, known)
    for name in asked_details(question, known):
        own = [one for one in index.held.get(name, ()) if one.fact.work == index.target.id and one.fact.literal and not measured(one)]
        sentences = {sentence_of(one): one for one in own if _speaks(about, one, sentence_of(one))}
        sentences = sentences or {sentence_of(one): one for one in own if _speaks(about, one, one.evidence.chunk.text)}
        if len(sentences) == 1 or len({one.fact.value for one in sentences.values()}) == 1:
            text, occurrence = next(iter(sentences.items()))
            yield Sentence(text, (occurrence.evidence,))


def _speaks(about: Sequence[Name], occurrence: FactOccurrence, text: str) -> bool:
    """Whether a text, with the titles and the scope that it stands under, speaks of everything that a question names."""
    return not about or share_spoken(about, " ".join((text, occurrence.fact.scope, *occurrence.evidence.chunk.section))) == 1


# -- what could be added


def suggestions(engine: Engine, question: str) -> tuple[str, ...]:
    """Commands that would add the cited works that the target speaks of in the question's words, each with the sentence that does; most first."""
    catalog, manifest = engine.generation.catalog, engine.generation.manifest
    here = {document.work for document in catalog.documents()}
    works = {work.id: work for work in catalog.works()}
    words = Words(question, engine.worth(question))
    references = [reference for reference in catalog.references(manifest.target) if reference.cited not in here]
    best = [row for row in (_spoken(reference, works, words) for reference in references) if row and row[0] >= _SHARE]
    told = (f"suggest: lineage add {manifest.lineage} {address} — {said}" for _, address, said in sorted(best, key=lambda row: -row[0]))
    return tuple(dict.fromkeys(told))[:_SUGGESTED]


def _spoken(reference: Reference, works: Mapping[WorkId, Work], words: Words) -> tuple[float, str, str] | None:
    """How much of a question is spoken of where a work is cited, its address, and its title with the sentence that speaks most of it."""
    work = works.get(reference.cited)
    address = next((name for name in (work.id, *work.aliases) if name.startswith("arxiv:")), "") if work else ""
    if work is None or not address:  # what has no e-print can hardly be fetched
        return None
    sentences = ("", *(mention.sentence for mention in reference.mentions))
    share, sentence = max((words.share(f"{work.title} {sentence}"), sentence) for sentence in sentences)
    said = f": “{' '.join(sentence.split())[:_LONGEST]}”" if sentence else ""
    return share, address, f"{work.title}{said}"
