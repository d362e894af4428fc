"""Whether a sentence is tied to its evidence (pure): every number and every name in it must stand there too.

Numbers are compared by value (`1e-4`, `0.0001`, `10^{-4}`), names by their letters, identifiers by their parts. What
neither counts nor names is held to a share of its words. The check is one-sided: a sentence that passes may still be
wrong; one that fails says something that its evidence does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lineage.hyperparameters.ontology import Ontology
from lineage.hyperparameters.values import claimed, held
from lineage.records import Hit
from lineage.text.tokens import STOP, fold, parts, stem, tokens

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
