"""Packs and answers for people: a pack is its own text; an answer its sentences with numbered evidence below."""

from __future__ import annotations

from api.cli.display import licence, plain, shorten
from api.cli.terminal import dim
from lineage.citation import pinpoint
from lineage.records import Hit
from lineage.results import Pack, WrittenAnswer
from lineage.text.hidden_text import visible


def pack(made: Pack) -> str:
    """Exactly what is sent; what is said of it goes to stderr by the command."""
    return made.text


def about(made: Pack) -> str:
    """One line on a pack: tokens used and allowed, items, what did not fit."""
    left = f"; did not fit: {'; '.join(plain(title) for title in made.left_out)}" if made.left_out else ""
    notes = "".join(f"\nnote: {plain(note)}" for note in made.notes)
    return f"{made.used} of {made.allowed} tokens ({plain(made.tokenizer)}), {len(made.items)} items{left}{notes}"


def written(answer: WrittenAnswer) -> str:
    """The sentences with the numbers of their evidence, the evidence, then what was removed or came near."""
    hits = list({hit.chunk.id: hit for statement in answer.sentences for hit in statement.evidence}.values())
    numbers = {hit.chunk.id: number for number, hit in enumerate(hits, 1)}
    lines = [dim(f"{answer.lineage} · generation {answer.generation} · by {plain(answer.by)}")]
    lines += [f"note: {plain(note)}" for note in answer.notes]
    for sentence in answer.sentences:
        cited = ", ".join(str(number) for number in sorted({numbers[hit.chunk.id] for hit in sentence.evidence}))
        lines += ["", f"{_shown(sentence.text)} {dim(f'[{cited}]')}"]
    if not answer.sentences:
        lines += ["", "nothing in this lineage supports an answer"]
    lines += ["", *(f"[{number}] {_source(hit)}" for number, hit in enumerate(hits, 1))] if hits else []
    lines += [line for text, why in answer.removed for line in ("", f"removed: {shorten(text, 300)}", f"  because {plain(why)}")]
    lines += ["", "nearest evidence:", *(f"  {_source(hit)}" for hit in answer.nearest)] if answer.nearest else []
    return "\n".join(lines)


def _shown(text: str) -> str:
    """Lines as they are, without what cannot be shown."""
    return "\n".join("".join(c if c.isprintable() or c == "\t" else " " for c in line) for line in visible(text)[0].split("\n"))


def _source(hit: Hit) -> str:
    return " · ".join(filter(None, (plain(pinpoint(hit)), licence(hit), "target's own" if hit.from_target else "", plain(hit.chunk.id))))
