"""Whether a piece of text states a value, or holds a quote word for word (pure): what claims of people and models are held to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lineage.hyperparameters.ontology import Ontology
from lineage.hyperparameters.values import stated_numbers
from lineage.records import Chunk
from lineage.text.phrases import sentences
from lineage.text.tokens import STOP, parts, stem

SHORTEST = 12
"""Characters besides white space that a quote must have to say something."""
_WHOLE_ROLES = frozenset({"table", "algorithm", "caption"})
"""Where a value and its name stand in different rows or cells."""
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.]{0,60}")
_PAIR = re.compile(r"([A-Za-z_][\w.-]{0,60})[\"']?(?:\s?[=:]\s?|\s(?=-?\d))([\[(][^\])]{0,200}[\])]|[^\s,()\[\]{}]{1,200})")
"""A name that is set to a value: `lr=1e-4`, `"betas": [0.9, 0.95]`, `--cfg 3.2`."""
_NEAR = 1
_SHARE = 0.5


def is_verbatim(quote: str, text: str) -> bool:
    """Whether a quote stands in a text but for white space, and is long enough to say something."""
    wanted = "".join(quote.split())
    return len(wanted) >= SHORTEST and wanted in "".join(text.split())


def holds_value(text: str, value: str, name: str, known: Ontology) -> bool:
    """Whether a text holds every number and every word of a value; of a choice, one of its spellings."""
    term = known.terms.get(name)
    normalized = known.normalise(name, value)
    spellings = (value, normalized.value, *term.values.get(normalized.value, ())) if term and normalized else (value,)
    words, numbers = {stem(word) for word in parts(text)}, stated_numbers(text)
    return any(_holds(spelling, text, words, numbers) for spelling in spellings)


def _holds(value: str, text: str, words: set[str], numbers: set[str]) -> bool:
    claimed = stated_numbers(value)
    rest = [stem(word) for word in parts(value) if not any(c.isdigit() for c in word) and word not in {"e", "x"}]
    if not claimed and not rest:
        return bool(value.strip()) and "".join(value.split()) in "".join(text.split())
    if claimed:
        return claimed <= numbers and all(word in words for word in rest if len(word) > 1)
    return all(word in words for word in rest) or "".join(rest) in words


def names_detail(text: str, name: str, known: Ontology) -> bool:
    """Whether a text has an identifier or phrase that means a detail; of one that no list knows, half of its words."""
    if any(known.name_of(word) == name for word in dict.fromkeys(_IDENTIFIER.findall(text))):
        return True
    words = [stem(word) for word in parts(text)]
    run = f" {' '.join(words)} "
    term = known.terms.get(name)
    if term:
        phrases = (parts(phrase) for phrase in (term.title, *term.prose, name))
        return any(f" {' '.join(map(stem, phrase))} " in run for phrase in phrases if phrase)
    telling = {stem(word) for word in parts(name) if word not in STOP}
    return len(telling & set(words)) >= max(1, _SHARE * len(telling))


def states(piece: str, name: str, value: str, known: Ontology, around: str = "") -> bool:
    """Whether a piece of a text names a detail and holds its value; where it sets names to values, whether it sets the detail to it."""
    own = [text for word, text in _PAIR.findall(piece) if known.name_of(word.replace("-", "_")) == name]
    if own:
        return any(holds_value(text, value, name, known) for text in own)
    return holds_value(piece, value, name, known) and names_detail(f"{piece}\n{around}", name, known)


def statements(chunk: Chunk) -> Iterator[str]:
    """The pieces of a chunk in which a value and its name must stand together: two sentences, three lines, a whole table."""
    if chunk.role in _WHOLE_ROLES:
        yield f"{chunk.header}\n{chunk.text}"
        return
    pieces = sentences(chunk.text) if chunk.kind == "paper" else chunk.text.split("\n")
    reach = 0 if chunk.kind == "paper" else _NEAR
    for at in range(len(pieces)):
        yield "\n".join(pieces[max(0, at - reach) : at + _NEAR + 1])
