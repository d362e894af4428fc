"""What a citing sentence shows: the cues around one citation marker, each with the words it was read from.

A cue is a small, nameable observation ("we use … [it]", "same … as [it]", "[it] alone in its bracket"), so that a
verdict can always be traced to words of the sentence. Words are grouped into classes by the lexicon in
`data/lexicon.json`; the sequence of classes around the marker carries the meaning, topics do not enter.
Cost: one pass over the tokens, linear in the length of the text, which is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from lineage.tables import packaged
from lineage.text.phrases import sentences

TARGET = "⟦T⟧"
OTHER = "⟦o⟧"
WITNESS = "name"
"""`Mention.said_by` of a sentence that names a work and does not cite it."""
NAME = "\x00"
MAX_TEXT = 4000
MAX_FOCUS = 4
NEAR, MIDDLE = 3, 8
REACH = 4
LONGEST = 3

_CITE_TAG = re.compile(r"<cite>([^<]{0,300})</cite>")
_TOKEN = re.compile(r"⟦T⟧|⟦o⟧|[A-Za-z]+(?:[-'’][A-Za-z]+)*|\d+(?:\.\d+)?%?|[^\sA-Za-z\d]")
_NUMERIC = re.compile(r"\[\s*\d{1,3}[a-z]?(?:\s*[,;–-]\s*\d{1,3}[a-z]?)*\s*\]")
_NAME = r"[A-Z][\w'’-]{1,30}(?:\s+(?:et\s+al\.?|(?:and|&)\s+[A-Z][\w'’-]{1,30}))?"
YEAR = r"(?:19|20)\d\d[a-z]?"
_AUTHOR_YEAR = re.compile(rf"{_NAME},?\s*(?:\(\s*(?:19|20)\d\d[a-z]?\s*\)|(?:19|20)\d\d[a-z]?\b)")
_MARKED = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}|[A-Za-z]\d")
_GROUP = re.compile(r"[(\[]\s*(?:(?:see|e\.g\.|cf\.|i\.e\.),?\s*)?((?:⟦[To]⟧[\s,;]*(?:and\s+)?){1,60})[)\]]")


@dataclass(frozen=True)
class Marked:
    """A text whose citation of interest is `TARGET` and whose other citations are `OTHER`.

    `focus` are the sentences that hold the target, `near` the text beside the first; `bunch` how many are
    cited in the same bracket, the target included; `textual` says that the marker is part of the sentence.
    """

    focus: tuple[str, ...]
    near: str
    bunch: int
    textual: bool


def mark(text: str, key: str = "", together: Sequence[str] = ()) -> Marked:
    """Find the citation of `key` in a sentence written by any of our witnesses.

    Known forms: `<cite>…</cite>`, `⟦T⟧`, a bracket that holds the key (`[bert; elmo]`), a bracket of numbers that
    holds the number, a `key` of authors and year as it is printed, and, if nothing else is there, any citation at all.
    """
    text = text[:MAX_TEXT]
    text = _targets(text, key)
    text = _AUTHOR_YEAR.sub(OTHER, _NUMERIC.sub(OTHER, text))
    if TARGET not in text:
        text = text.replace(OTHER, TARGET, 1)
    bunch, textual = max(1, len(together)), True
    pieces: list[str] = []
    last = 0
    for group in _GROUP.finditer(text):
        bracketed = group[1]
        if TARGET in bracketed:
            bunch, textual = max(bunch, bracketed.count(TARGET) + bracketed.count(OTHER)), False
        pieces += [text[last : group.start()], TARGET if TARGET in bracketed else OTHER]
        last = group.end()
    return _split("".join(pieces) + text[last:], bunch, textual)


def _targets(text: str, key: str) -> str:
    if "<cite>" in text:
        return _CITE_TAG.sub(
            lambda m: ("(" if m[1].count("(") > m[1].count(")") else "") + f" {TARGET} " + (")" if m[1].count(")") > m[1].count("(") else ""), text
        )
    if " " in key and key in text:  # as an author-year style prints it; a link may end before the year
        rest = r"\)?" if key.count("(") > key.count(")") else rf"(?:,?\s*(?:\({YEAR}\)|{YEAR}))?"
        return re.sub(rf"{re.escape(key)}{rest}", TARGET, text)
    if key and TARGET not in text:
        bare = key.removeprefix("ref-")
        bracket = re.compile(r"[(\[]([^()\[\]]{0,300})[)\]]")
        pattern = re.compile(rf"(?<![\w:-]){re.escape(bare)}(?![\w:-])")

        def swap(match: re.Match[str]) -> str:
            keys = [k.strip() for k in re.split(r"[;,]", match[1])]
            return " ".join(["(", *(TARGET if k == bare else OTHER for k in keys), ")"]) if pattern.search(match[1]) and bare in keys else match[0]

        return bracket.sub(swap, text)
    return text


def _split(text: str, bunch: int, textual: bool) -> Marked:
    parts = sentences(text)
    focus_parts = [i for i, part in enumerate(parts) if TARGET in part][:MAX_FOCUS] or list(range(min(1, len(parts))))
    beside = sorted({j for i in focus_parts for j in (i - 1, i + 1) if 0 <= j < len(parts)} - set(focus_parts))
    return Marked(tuple(parts[i] for i in focus_parts), " ".join(parts[j] for j in beside[:MAX_FOCUS]), bunch, textual)


@cache
def _lexicon() -> Mapping[str, tuple[str, ...]]:
    """Word or beginning of a word (`utiliz*`) or two words -> classes."""
    raw = packaged("lexicon")
    names_by_word: dict[str, list[str]] = {}
    for name, words in raw["classes"].items():
        for word in words.split():
            names_by_word.setdefault(word.replace("_", " "), []).append(name)
    return {word: tuple(names) for word, names in names_by_word.items()}


@lru_cache(maxsize=1 << 16)
def classes(word: str) -> tuple[str, ...]:
    """The classes of one lower-case word or pair of words; the longest beginning that is listed counts."""
    lexicon = _lexicon()
    if word in lexicon:
        return lexicon[word]
    return next((lexicon[word[:n] + "*"] for n in range(len(word), 2, -1) if word[:n] + "*" in lexicon), ())


def _tokens(text: str) -> list[str]:
    """Words in lower case, the markers as they are, and names that no class knows behind `NAME`."""
    raw = _TOKEN.findall(text)
    return [token if token in (TARGET, OTHER) else _word(token, raw[i - 1] if i else ".") for i, token in enumerate(raw)]


def _word(token: str, before: str) -> str:
    low = token.lower()
    named = _MARKED.search(token) or (token[:1].isupper() and before not in ".:")
    return NAME + low if named and not classes(low) else low


def _labels(tokens: Sequence[str]) -> list[tuple[int, str]]:
    """(position, class) of everything that has a class; pairs of words first; the markers are classes too."""
    placed_labels: list[tuple[int, str]] = []
    skip = -1
    for i, token in enumerate(tokens):
        if token in (TARGET, OTHER):
            placed_labels.append((i, "IT" if token == TARGET else "OTHERS"))
        elif token.startswith(NAME):
            placed_labels.append((i, "NAME"))
        elif i > skip:
            pair = _lexicon().get(f"{token} {tokens[i + 1]}") if i + 1 < len(tokens) else None
            skip = i + 1 if pair else skip
            placed_labels += [(i, name) for name in (pair or classes(token))]
    return placed_labels


@lru_cache(maxsize=1 << 13)
def sentence_cues(sentence: str, key: str, together: tuple[str, ...]) -> Mapping[str, str]:
    """The cues of one citing sentence, read once for its roles, its rank and what it takes over."""
    return cues(mark(sentence, key, together))


def cues(marked: Marked) -> dict[str, str]:
    """Cue -> the words it was read from."""
    own = any(name == "WE" for sentence in marked.focus for _, name in _labels(_tokens(sentence)))
    cue_words: dict[str, str] = {}
    for sentence in marked.focus:
        tokens = _tokens(sentence)
        labels = _labels(tokens)
        at = tokens.index(TARGET) if TARGET in tokens else len(tokens)
        all_cues = (*_placed(tokens, labels, at), *_told_by(tokens, labels, own), *_sequences(tokens, labels), *_said(tokens), *_phrases(tokens, at))
        for name, words in (*all_cues, *_shape(marked, tokens, at)):
            cue_words.setdefault(name, words)
    beside = _tokens(marked.near)
    for i, name in _labels(beside):
        cue_words.setdefault(f"beside:{name}", _shown(beside[i]))
    for name, words in (*_sequences(beside, _labels(beside), longest=2), *_said(beside)):
        cue_words.setdefault(f"beside:{name}", words)
    return cue_words


def _told_by(tokens: Sequence[str], labels: Sequence[tuple[int, str]], own: bool) -> Iterator[tuple[str, str]]:
    """Classes with who speaks: "we extend" inherits, "they extend" does not."""
    for i, name in labels:
        if name not in {"WE", "IT", "OTHERS"}:
            yield f"{name} {'of ours' if own else 'of others'}", _shown(tokens[i])
    if not own:
        yield "does not speak of the work itself", ""


def _placed(tokens: Sequence[str], labels: Sequence[tuple[int, str]], at: int) -> Iterator[tuple[str, str]]:
    """Classes with their side of the marker and distance in words."""
    for i, name in labels:
        if name == "IT":
            continue
        side, far = ("before", at - i) if i < at else ("after", i - at)
        where = "next" if far == 1 else "near" if far <= NEAR else "middle" if far <= MIDDLE else "far"
        word = _shown(tokens[i])
        yield from ((f"{name} {side}", word), (f"{name} {where} {side}", word), (name, word))


def _sequences(tokens: Sequence[str], labels: Sequence[tuple[int, str]], longest: int = LONGEST) -> Iterator[tuple[str, str]]:
    """Runs of two and three classes, whatever words stand between; repeated classes count once."""
    line = [pair for n, pair in enumerate(labels) if n == 0 or pair[1] != labels[n - 1][1]]
    for size in range(2, longest + 1):
        for start in range(len(line) - size + 1):
            run = line[start : start + size]
            yield " > ".join(name for _, name in run), " … ".join(_shown(tokens[i]) for i, _ in run)


def _said(tokens: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Words and pairs of words anywhere in the sentence; names are left out."""
    plain = [token if token.isalpha() else "" for token in tokens]
    yield from ((f"says {word}", word) for word in plain if word)
    yield from ((f"says {first_word} {other}", f"{first_word} {other}") for first_word, other in pairwise(plain) if first_word and other)


def _phrases(tokens: Sequence[str], at: int) -> Iterator[tuple[str, str]]:
    """Word runs of up to three that touch the marker or lie within `REACH` words of it."""
    if at >= len(tokens):
        return
    low, high = max(0, at - REACH), min(len(tokens), at + REACH + 1)
    for size in (1, 2, 3):
        for i in range(low, high - size + 1):
            run = [_shown(t) for t in tokens[i : i + size]]
            if run != ["[it]"]:
                side = "" if "[it]" in run else "before " if i < at else "after "
                yield f"“{side}{' '.join(run)}”", " ".join(run)


def _shown(token: str) -> str:
    return {TARGET: "[it]", OTHER: "[others]"}.get(token, token.removeprefix(NAME))


def _shape(marked: Marked, tokens: Sequence[str], at: int) -> Iterator[tuple[str, str]]:
    """How the citation stands in the sentence."""
    bunch = "alone" if marked.bunch == 1 else "with one or two others" if marked.bunch <= 3 else "in a bunch"
    yield f"cited {bunch}", f"{marked.bunch} cited together"
    yield ("named in the sentence" if marked.textual else "in brackets"), ""
    elsewhere = tokens.count(OTHER)
    if elsewhere:
        yield f"{'many' if elsewhere > 3 else 'few'} other citations in the sentence", str(elsewhere)
    if at < len(tokens):
        place = "first" if at < 3 else "last" if at >= len(tokens) - 3 else "inside"
        yield f"stands {place} in the sentence", ""
    if tokens.count("&") > 2:
        yield "row of a table", ""
    if sum(token[0].isdigit() for token in tokens) > 3:
        yield "many numbers", ""
