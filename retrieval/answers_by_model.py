"""Answers that a chat model writes: each sentence comes with a quote of a passage that it was shown, which holds every number of the sentence.

What a quote does not prove is dropped; where nothing is left, nothing is claimed, and the nearest passages are listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from lineage.hyperparameters.values import claimed, held
from lineage.records import Answer, Chunk, Hit, Query, WorkId
from lineage.results import Sentence, WrittenAnswer
from lineage.text.hidden_text import inline, own_words, visible
from retrieval.gaps.model_reader import Claim, Reader, fitting, is_verbatim, lines_of

_FOUND, _OWN = 16, 12
"""Hits of a search that are looked at, and those of the target's own text."""
_PHRASES, _WORKS, _OF_EACH = 4, 3, 4
"""Phrases that are searched for beside the question, works that are searched for themselves, and hits of each such search."""
_LISTED = 80
_SHOWN, _NEAREST = 20_000, 3
"""Characters of passages in a call, and hits that are listed where nothing is claimed."""
_LONGEST = 600
_CODE = frozenset(("code", "config"))
_SEARCH = """A question on a machine-learning paper, or on code of the works that it builds on, is to be answered by search. Give two to five short
phrases as the passage that answers it may have them: the terms of the trade, names, units and identifiers that a paper or code would use. Give also
the numbers of the works that the question is about, by their names, authors or what they do; none if it may be any."""
_TASK = """You answer a question on a machine-learning paper and the code of works that it builds on, from the numbered passages alone. Write one
to four short sentences that together answer all that is asked. For each give the number of its passage and the quote that proves it: whole sentences
or whole lines of that passage, with every number of your sentence. Answer of the very work, model, data set and stage that is asked for. If no
passage answers it, give an empty list, even where something near is found."""


class SearchCall(Claim):
    """What to search for beside the question, and in which works."""

    phrases: tuple[str, ...]
    works: tuple[int, ...]


class SaidSentence(Claim):
    """A sentence of the answer, and the words of a passage that prove it."""

    sentence: str
    passage: int
    quote: str


class Reply(Claim):
    """An answer, sentence by sentence; empty where the passages do not answer."""

    sentences: tuple[SaidSentence, ...]


def answered(reader: Reader, query: Query) -> WrittenAnswer:
    """What the model answers and quotes prove; where that is nothing, the nearest misses."""
    queries = list(_queries(reader, query))
    reader.finish()
    answers = reader.engine.ask_many(queries)
    hits = _shown(answers)
    shown = (f"Passage {n}: {_place(hit)}\n{_text(hit.chunk)}" for n, hit in enumerate(hits, 1))
    reply = reader.ask(_TASK, "\n\n".join((f"Question: {inline(query.text)}", *shown)), Reply)
    reader.finish()
    sentences = tuple(made for written in (reply.sentences if reply else ()) if (made := _sentence(reader, query, written, hits)))
    nearest, notes = () if sentences else answers[0].hits[:_NEAREST], (*answers[0].notes, reader.note)
    return WrittenAnswer(query.text, answers[0].lineage, answers[0].generation, sentences, nearest=nearest, notes=notes)


def _queries(reader: Reader, query: Query) -> Iterator[Query]:
    """The question, of all works and of the target's text; then it and what the model would search for, in the works that it means."""
    generation, relations = reader.engine.generation, reader.engine.relations
    target = WorkId(generation.manifest.target)
    own = replace(query, kinds=frozenset({"paper"}), work=target)
    here = [relations.of(work) for work in dict.fromkeys(document.work for document in generation.catalog.documents())][:_LISTED]
    listed = "\n".join(
        f"Work {n}: {relation.work.title}{f', code of: {relation.paper.title}' if relation.paper else ''}" for n, relation in enumerate(here, 1)
    )
    told = reader.ask(_SEARCH, f"The paper: {reader.context.target.title}\n\n{listed}\n\nQuestion: {inline(query.text)}", SearchCall)
    phrases = [inline(phrase)[:_LONGEST] for phrase in (told.phrases if told else ()) if phrase.strip()][:_PHRASES]
    meant = [here[number - 1].work.id for number in (told.works if told else ()) if 1 <= number <= len(here)][:_WORKS]
    yield from (replace(query, k=max(query.k, _FOUND)), replace(own, k=_OWN))
    for text in (query.text, *phrases):
        for further in (*(replace(query, work=work) for work in meant), *(() if text == query.text else (query, own))):
            yield replace(further, text=text, k=_OF_EACH)


def _shown(answers: Sequence[Answer]) -> list[Hit]:
    """Each passage once, as many as a call holds: what settles the question, then the best of every search, then the next best."""
    settled = (*answers[0].statements, *(side.hit for settled in answers[0].settled for side in settled.sides))
    hits: dict[str, Hit] = {}
    for hit in filter(None, chain(settled, *zip_longest(*(answer.hits for answer in answers)))):
        hits.setdefault(hit.chunk.id, hit)
    return fitting(hits.values(), _SHOWN, lambda hit: hit.chunk.text)


def _place(hit: Hit) -> str:
    return f"{hit.work.title} {hit.chunk.path} {hit.chunk.symbol or ' > '.join(hit.chunk.section)}"


def _text(chunk: Chunk) -> str:
    return visible(chunk.text)[0]


def _sentence(reader: Reader, query: Query, written: SaidSentence, hits: Sequence[Hit]) -> Sentence | None:
    """The sentence with its quote, None for one that the quote does not prove."""
    hit = hits[written.passage - 1] if 1 <= written.passage <= len(hits) else None
    quote, text = written.quote.strip("\n"), own_words(written.sentence)[:_LONGEST]
    verbatim = bool(hit and text and is_verbatim(quote, _text(hit.chunk)))
    if not reader.is_kept(verbatim and claimed(text) <= held(f"{quote} {query.text}")) or not hit:
        return None
    shown = f"\n```\n{quote.replace('```', chr(39) * 3)}\n```" if hit.chunk.kind in _CODE else f" (“{inline(quote)}”)"
    return Sentence(text + shown, (replace(hit, focus=lines_of(quote, hit.chunk)),))
