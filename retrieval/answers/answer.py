"""Answers whose every sentence is tied to evidence: extracted by default, written by a language model if one is given.

Extraction composes what the lineage's facts and passages say in their own words, so that nothing can be made up. What a
model writes is checked sentence by sentence against the evidence that it cites; what cannot be tied is removed and said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from lineage.citation import pinpoint
from lineage.errors import SourceError
from lineage.hyperparameters.ontology import Ontology
from lineage.hyperparameters.values import claimed, held
from lineage.ports import ChatModel
from lineage.records import Answer, Hit, Query, Reference, Work, WorkId
from lineage.results import FactOccurrence, Sentence, WrittenAnswer
from lineage.text.tokens import STOP, fold, parts, stem, tokens
from retrieval.answers.extract import Candidate, candidates, extracted, is_heard_of, is_sure, questions, searches
from retrieval.answers.pieces import Words
from retrieval.context.units import PASSAGE_LETTERS, neutral
from retrieval.decisions.spans import is_verbatim
from retrieval.decisions.subject_matcher import speaking
from retrieval.model_prompt import Claim
from retrieval.model_prompt import ask as ask_model
from retrieval.search.engine import Engine

SHARE = 0.5
"""The share of a sentence's telling words that its evidence must hold."""
_IDENTIFIER = re.compile(r"[A-Za-z_]\w{1,60}")
_MOST_IDENTIFIERS = 600
_LEAST_LETTERS = 2
_WORD = re.compile(r"(?<![\w.])[^\W\d_][\w.+-]{0,80}")
_CODE = re.compile(r"`([^`\n]{1,200})`")
_OPENERS = frozenset(
    ("training", "evaluation", "finally", "first", "second", "also", "however", "thus", "according", "following", "given", "overall", "no", "yes")
)


def missing(sentence: str, evidence: Sequence[Hit], known: Ontology) -> str:
    """Why a sentence is not tied to the evidence, "" if it is; `known` tells which details its identifiers mean."""
    whole = "\n".join(map(text_of, evidence))
    if not whole.strip():
        return "it cites no evidence"
    if lacking := sorted(claimed(sentence) - held(whole)):
        return "the evidence does not hold the number " + ", ".join(lacking[:3])
    said = {*tokens(whole), *_meant(whole, known)}
    if unknown := [name for name in names(sentence) if not _named(name, said)]:
        return "the evidence does not hold the name " + ", ".join(dict.fromkeys(unknown[:3]))
    words = {word for word in tokens(_CODE.sub(" ", sentence)) if word not in STOP and word.isalpha()}
    if words and len(words & said) < SHARE * len(words):
        return "the evidence does not speak of most of it"
    return ""


def _meant(text: str, known: Ontology) -> set[str]:
    """The words of the details that identifiers of a text mean: `lr` speaks of the learning rate."""
    identifiers = dict.fromkeys(_IDENTIFIER.findall(text))
    return {word for name in list(identifiers)[:_MOST_IDENTIFIERS] if (found := known.name_of(name)) for word in tokens(known.title(found))}


def text_of(hit: Hit) -> str:
    """Everything that a hit says: its text, where it stands, and the title of its work."""
    chunk = hit.chunk
    return "\n".join((chunk.text, chunk.header, chunk.path, chunk.symbol, " ".join(chunk.section), hit.work.title))


def names(text: str) -> list[str]:
    """The names in a sentence: code spans, identifiers, and words with a capital that no sentence asks for, or with a digit."""
    spans = [name for span in _CODE.findall(text) for name in _WORD.findall(span)]
    bare = _CODE.sub(" ", text)
    found = list(spans)
    for match in _WORD.finditer(bare):
        word = match[0].rstrip(".-+")
        if _is_name(word, first=_opens(bare, match.start())):
            found.append(word)
    return found


def _opens(text: str, at: int) -> bool:
    before = text[:at].rstrip()
    return not before or before[-1] in ".!?:;\n•-"


def _is_name(word: str, *, first: bool) -> bool:
    if sum(c.isalpha() for c in word) < _LEAST_LETTERS:
        return False
    if any(c.isupper() or c.isdigit() or c == "_" for c in word[1:]):
        return True
    return word[:1].isupper() and len(word) > 1 and not (first and word.lower() in _OPENERS) and word.lower() not in STOP


def _named(name: str, said: set[str]) -> bool:
    """A name is held if each of its parts is a word of the evidence, or it is one there as a whole."""
    pieces = parts(fold(name))
    return "".join(pieces) in said or all(stem(piece) in said for piece in pieces)


EVIDENCE = 8
MOST_ANSWER = 8_000
_SENTENCES = 12
_TASK = """You answer a question about how a machine-learning paper and the works that it builds on do something, for one who writes the code.
Use only the numbered evidence below. Each sentence states one thing, lists the numbers of the evidence that holds its numbers and names, and
quotes the words of it that prove them. If the evidence does not answer, give no sentences."""
_MOST_SUGGESTED = 3
_SHARE = 0.4
"""The share of a question's words that the title of a work and a sentence about it must have."""
_LONGEST = 200


class _Said(Claim):
    text: str
    evidence: tuple[int, ...]
    quotes: tuple[str, ...]


class _Answered(Claim):
    sentences: tuple[_Said, ...]


@dataclass(frozen=True)
class Asked:
    """A question with what was found for it and for each of its parts: hits, and the pieces of evidence that may answer; the facts of the
    details that it names; the details that are `known`; and, where the search found no support, what is `suggested` instead."""

    answers: tuple[Answer, ...]
    known: Ontology
    held: tuple[FactOccurrence, ...] = ()
    ranked: tuple[tuple[Candidate, ...], ...] = ()
    suggested: tuple[str, ...] = ()

    @property
    def answer(self) -> Answer:
        """What was found for the question as a whole."""
        return self.answers[0]


def ask(engine: Engine, query: Query, occurrences: Sequence[FactOccurrence] = ()) -> Asked:
    """The question and its parts, asked of one generation."""
    parts = [searches(replace(query, text=text), WorkId(engine.generation.manifest.target)) for text in questions(query.text)]
    answers = iter(engine.ask_many([one for some in parts for one in some]))
    groups = [[next(answers) for _ in some] for some in parts]
    ranked = tuple(tuple(candidates(engine, group, occurrences if group is groups[0] else ())) for group in groups)
    suggested = () if any(is_sure(one) for one in ranked) else suggestions(engine, query.text)
    return Asked(tuple(group[0] for group in groups), engine.ontology, tuple(occurrences), ranked, suggested)


def _refused(answer: WrittenAnswer, asked: Asked) -> WrittenAnswer:
    """An answer without sentences: the nearest misses, and what could be added."""
    return replace(answer, nearest=asked.answer.hits[:3], notes=(*answer.notes, *asked.suggested))


def answered(asked: Asked, writer: ChatModel | None = None) -> WrittenAnswer:
    """The answer; without sentences, and with the nearest misses, where nothing supports one."""
    found = _blank(asked)
    if not any(is_heard_of(answer, asked.known) for answer in asked.answers):
        spoken = speaking(asked.answer.query.text, asked.held, asked.known)
        asked = replace(asked, held=tuple(spoken), ranked=tuple(_facts_alone(one, spoken) for one in asked.ranked))
        if not asked.held:
            return _refused(found, asked)
    if writer is None:
        return _extracted(found, asked)
    try:
        return _written(found, asked, writer)
    except SourceError as error:
        note = f"{writer.model} wrote nothing ({error}); this is extracted"
        return _extracted(replace(found, notes=(*found.notes, note)), asked)


def _facts_alone(ranked: Sequence[Candidate], occurrences: Sequence[FactOccurrence]) -> tuple[Candidate, ...]:
    kept = {occurrence.evidence.chunk.id for occurrence in occurrences}
    return tuple(candidate for candidate in ranked if candidate.piece.shape == "fact" and candidate.piece.hit.chunk.id in kept)


def _blank(asked: Asked) -> WrittenAnswer:
    answer = asked.answer
    return WrittenAnswer(answer.query.text, answer.lineage, answer.generation, (), notes=answer.notes)


def _extracted(answer: WrittenAnswer, asked: Asked) -> WrittenAnswer:
    made = _checked(answer, extracted(asked.ranked), asked.known)
    return made if made.sentences else _refused(made, asked)


def _checked(
    answer: WrittenAnswer, sentences: Sequence[Sentence], known: Ontology, unproved: Callable[[Sentence], str] = lambda sentence: ""
) -> WrittenAnswer:
    """The sentences that are tied to their evidence and not `unproved`; the others are removed, with why."""
    why = [(sentence, missing(sentence.text, sentence.evidence, known) or unproved(sentence)) for sentence in sentences]
    kept = tuple(sentence for sentence, reason in why if not reason)
    removed = tuple((sentence.text, reason) for sentence, reason in why if reason)
    return replace(answer, sentences=kept, removed=(*answer.removed, *removed))


def _written(answer: WrittenAnswer, asked: Asked, writer: ChatModel) -> WrittenAnswer:
    hits, made = _evidence(asked), replace(answer, by=writer.model)
    said = ask_model(writer, _TASK, evidence_text(asked.answer.query.text, hits), _Answered, MOST_ANSWER)
    sentences, quotes = list[Sentence](), dict[str, Sequence[str]]()
    for claim in said.sentences[:_SENTENCES]:
        if claim.text.strip():
            numbers = (n for n in dict.fromkeys(claim.evidence) if 1 <= n <= len(hits))
            sentences.append(Sentence(claim.text.strip(), tuple(hits[n - 1] for n in numbers)))
            quotes[claim.text.strip()] = claim.quotes
    made = _checked(made, sentences, asked.known, lambda sentence: _unproved(sentence, quotes[sentence.text]))
    return made if made.sentences else _refused(made, asked)


def _unproved(sentence: Sentence, quotes: Sequence[str]) -> str:
    """Why the quotes of a sentence do not prove it, "" if its evidence holds them and they hold its numbers."""
    if not quotes or not all(any(is_verbatim(quote, hit.chunk.text) for hit in sentence.evidence) for quote in quotes):
        return "it quotes what its evidence does not hold"
    lacking = sorted(claimed(sentence.text) - held("\n".join(quotes)))
    return f"its quotes do not hold the number {', '.join(lacking[:3])}" if lacking else ""


def _evidence(asked: Asked) -> list[Hit]:
    """What the model sees: the evidence of the facts first, then the hits, each chunk once."""
    found = (hit for row in zip_longest(*(answer.hits for answer in asked.answers)) for hit in row if hit)
    hits = {hit.chunk.id: hit for hit in (*(occurrence.evidence for occurrence in asked.held), *found)}
    return list(hits.values())[:EVIDENCE]


def evidence_text(question: str, hits: Sequence[Hit]) -> str:
    """What the model is given: the question, and the evidence by number."""
    return f"Question: {neutral(question)}\n\n" + "\n\n".join(f"[{n}] {_evidence_of(hit)}" for n, hit in enumerate(hits, 1))


def _evidence_of(hit: Hit) -> str:
    return f"{neutral(pinpoint(hit))} ({neutral(hit.work.title)[:120]})\n{neutral(hit.chunk.text)[:PASSAGE_LETTERS]}"


def suggestions(engine: Engine, question: str) -> tuple[str, ...]:
    """Commands that would add the cited works that the target speaks of in the question's words, each with the sentence that does; most first."""
    catalog, manifest = engine.generation.catalog, engine.generation.manifest
    here = {document.work for document in catalog.documents()}
    works = {work.id: work for work in catalog.works()}
    words = Words(question, engine.worth(question))
    references = [reference for reference in catalog.references(manifest.target) if reference.cited not in here]
    best = [row for row in (_spoken(reference, works, words) for reference in references) if row and row[0] >= _SHARE]
    told = (f"suggest: lineage add {manifest.lineage} {address} — {said}" for _, address, said in sorted(best, key=lambda row: -row[0]))
    return tuple(dict.fromkeys(told))[:_MOST_SUGGESTED]


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
