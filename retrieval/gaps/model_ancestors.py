"""From which works the target takes each of its parts, as a chat model reads it in the sentences that cite them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lineage.records import Mention, Reference, Work, WorkId
from lineage.references.inheritance import section_weight, use_probability
from lineage.references.signals import Ancestor, Part
from lineage.text.hidden_text import inline
from retrieval.gaps.model_reader import Claim, Reader

_WORKS, _SHOWN, _LONGEST = 80, 24_000, 400
"""Works, and characters of sentences, that are shown, and characters of a sentence."""
_SCORES = (0.95, 0.8, 0.65)
"""How surely a part is taken from the first works that are named for it."""
_TASK = """Works that a machine-learning paper cites follow, then the sentences that cite them. From which works did the paper's authors take over
each part of what they built themselves: model (architecture, method), checkpoint, training (recipe, code base), loss, data, evaluation, sampling?
Name what one would start from to reproduce the paper, the work that gives most first: no baseline that is only compared with, no data set or library
that everybody uses unless it shapes the work. For each part at most three works, each with the number of the sentence that says so best."""


class Taken(Claim):
    """A part, the work that it is taken from, and a sentence that cites this work."""

    part: Part
    work: int
    sentence: int


class Inheritance(Claim):
    """What is taken from which works, what gives most first."""

    taken: tuple[Taken, ...]


def ancestors(reader: Reader, references: Sequence[Reference], works: Mapping[WorkId, Work], target: Work) -> tuple[Ancestor, ...]:
    """What the model reads, the work that gives most first; each claim with a sentence that cites its work."""
    cited = [reference.cited for reference in references if reference.mentions and reference.cited in works][:_WORKS]
    sentences = _sentences([reference for reference in references if reference.cited in cited])
    listed = "\n".join(f"Work {n}: {works[name].title}" for n, name in enumerate(cited, 1))
    told = "\n".join(
        f"Sentence {n} ({inline(' > '.join(said.section))}; cites {', '.join(f'work {cited.index(name) + 1}' for name in citing)}): {_text(said)}"
        for n, (said, citing) in enumerate(sentences, 1)
    )
    answer = reader.ask(_TASK, f"The paper: {target.title}. {target.abstract}\n\n{listed}\n\n{told}", Inheritance) if sentences else None
    return tuple(_kept(reader, answer.taken if answer else (), cited, sentences))


def _text(said: Mention) -> str:
    return inline(" ".join(said.sentence.split()))[:_LONGEST]


def _sentences(references: Sequence[Reference]) -> list[tuple[Mention, list[WorkId]]]:
    """The sentences that most likely say that something is taken over, in the order of the text, each with the works that it cites."""
    citing: dict[str, tuple[Mention, list[WorkId]]] = {}
    sure: dict[str, float] = {}
    for reference in references:
        for mention in reference.mentions:
            if text := _text(mention):
                names = citing.setdefault(text, (mention, []))[1]
                names += [reference.cited] if reference.cited not in names else []
                sure[text] = max(sure.get(text, 0.0), use_probability(mention) * section_weight(mention.section) / len(names) ** 0.5)
    chosen, size = list[str](), 0
    for text in sorted(sure, key=lambda text: -sure[text]):
        if size + len(text) <= _SHOWN:
            chosen.append(text)
            size += len(text)
    return sorted((citing[text] for text in chosen), key=lambda row: row[0].start)


def _kept(
    reader: Reader, taken: Sequence[Taken], cited: Sequence[WorkId], sentences: Sequence[tuple[Mention, Sequence[WorkId]]]
) -> Iterator[Ancestor]:
    """The claims whose sentence cites their work."""
    places = dict.fromkeys(Part, 0)
    seen: set[tuple[Part, WorkId]] = set()
    for claim in taken:
        work = cited[claim.work - 1] if 1 <= claim.work <= len(cited) else None
        said, citing = sentences[claim.sentence - 1] if 1 <= claim.sentence <= len(sentences) else (None, ())
        if reader.is_kept(work in citing) and work and said and (claim.part, work) not in seen and places[claim.part] < len(_SCORES):
            seen.add((claim.part, work))
            yield Ancestor(claim.part, work, _SCORES[places[claim.part]], _text(said))
            places[claim.part] += 1
