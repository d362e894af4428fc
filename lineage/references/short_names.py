"""The short names by which a paper goes on speaking of the works it cites ("RoBERTa", "DiT"), and the sentences that use them. Pure.

A short name is the name right before a citation that stands alone in its bracket ("DINOv2-L [oquab2023]", "Masked Autoencoders (MAE)
[he2022]"), or the head of the cited title ("SimCSE: ..."). A name that two works share, or that is the target's own, names neither.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from lineage.records import Document, Mention, Reference, Span, Work, WorkId
from lineage.references.citation_cues import TARGET, WITNESS, classes
from lineage.text.sentences import sentences

MAX_NAMES = 300
MAX_SENTENCES = 4_000
MAX_OF_ONE = 60
_SIZE = r"(?:large|base|small|tiny|huge|giant|medium|mini|nano|xx?l|[SBLHgGMT]|[\d.]+[bmkBMK]?)(?:/\d+)?"
_WORD = r"[A-Za-z0-9α-ωΑ-Ω][\w.+–-]{0,40}"
_BEFORE = re.compile(rf"((?:{_WORD}[ ~])?{_WORD}(?:/\d+)?|\(\s*{_WORD}\s*\))['’]?s?\s*\Z")
_SUFFIX = re.compile(rf"[-–]{_SIZE}(?:/\d+)?\Z")
_DISTINCT = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}|[A-Za-z]\d|[A-Z][a-z]+\d")
_COMMON = ("ing", "ion", "ions", "ity", "ness", "ment", "ed", "ly", "al", "ous")
"""Endings of ordinary words that begin a sentence."""
_PROSE = frozenset(("paragraph", "abstract", "caption", "footnote", "list", "table", "algorithm"))


def named_mentions(document: Document, references: Sequence[Reference], works: Mapping[WorkId, Work]) -> dict[WorkId, tuple[Mention, ...]]:
    """The sentences of a paper that speak of a cited work by its short name alone, by work."""
    names = short_names(document.title, references, works)
    if not names:
        return {}
    keys = {r.cited: {m.key for m in r.mentions} | {r.key} for r in references}
    either = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    pattern = re.compile(rf"(?<![\w-])({either})((?:[-–]{_SIZE})?)(?![\w–-])")
    mentions_by_key: dict[WorkId, list[Mention]] = defaultdict(list)
    for span, sentence in _sentences(document):
        for name in dict.fromkeys(match[1] for match in pattern.finditer(sentence)):
            work = names[name]
            if len(mentions_by_key[work]) < MAX_OF_ONE and not any(key and key in sentence for key in keys[work]):
                mentions_by_key[work].append(Mention("", _marked(sentence, name, pattern), span.path, span.start, span.end, said_by=WITNESS))
    return {work: tuple(work_mentions) for work, work_mentions in mentions_by_key.items() if work_mentions}


def _marked(sentence: str, name: str, pattern: re.Pattern[str]) -> str:
    """The sentence with a marker behind every occurrence of one name."""
    return pattern.sub(lambda match: f"{match[0]} {TARGET}" if match[1] == name else match[0], sentence)


def short_names(title: str, references: Sequence[Reference], works: Mapping[WorkId, Work]) -> dict[str, WorkId]:
    """Short name -> the work that it names."""
    votes: dict[str, Counter[WorkId]] = defaultdict(Counter)
    for reference in references:
        for mention in reference.mentions:
            if name := _before(mention):
                votes[name][reference.cited] += 1
        head = works[reference.cited].title.partition(":") if reference.cited in works else ("", "", "")
        if head[1] and len(head[0].split()) == 1 and _is_name(head[0]):
            votes[head[0]][reference.cited] += 1
    own = title.partition(":")[0].strip() if ":" in title else ""
    chosen = ((name, count.most_common(2)) for name, count in votes.items() if name.lower() != own.lower())
    clear = {name: best[0][0] for name, best in chosen if len(best) == 1 or best[0][1] >= 3 * best[1][1]}
    return dict(sorted(clear.items())[:MAX_NAMES])


def _before(mention: Mention) -> str:
    """The name that stands right before a citation that is alone in its bracket, "" for none."""
    at = re.search(rf"[(\[]\s*{re.escape(mention.key)}\s*[)\]]", mention.sentence) if mention.key else None
    words = _BEFORE.search(mention.sentence[max(0, at.start() - 100) : at.start()]) if at else None
    if not words:
        return ""
    name = words[1].strip("() ")
    first, _, last = name.rpartition(" ")
    full = name if first and first[0].isupper() and last[0].isupper() and not _DISTINCT.search(last) else last or name
    name = _SUFFIX.sub("", full)
    return name if _is_name(name) else ""


def _is_name(name: str) -> bool:
    """Whether a word names one thing: marked by its letters, or two capitalized words that prose does not use otherwise."""
    words = name.split()
    if len(words) == 2:
        return all(word[0].isupper() and len(word) > 2 for word in words)
    return len(name) >= 3 and bool(
        _DISTINCT.search(name) or (name[0].isupper() and not classes(name.lower()) and len(name) > 4 and not name.endswith(_COMMON))
    )


def _sentences(document: Document) -> Iterator[tuple[Span, str]]:
    """The sentences of prose, each row of a table for itself."""
    counted = 0
    for span in document.spans:
        if span.role not in _PROSE:
            continue
        text = document.text[span.start : span.end]
        for sentence in text.split("\n") if span.role == "table" else sentences(text):
            counted += 1
            if counted > MAX_SENTENCES:
                return
            yield span, sentence
