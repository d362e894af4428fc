"""Scope by file: which file of the target's code a value of the paper is about, by the words in which the file names differ. Pure.

`rationale_selection/transformer_fever.py` and its neighbors define the same options, each for a run of its own. A value of the
paper belongs to the file whose distinguishing words all stand in its column head, clause, sentence or section title, nearest
first; it is then compared with that file alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from lineage.results import FactOccurrence
from lineage.text.sentences import sentences
from retrieval.decisions.experiments import settings_of, telling

LEAST = 2
"""Files with one option, from which on their names tell runs apart."""
_CLAUSE = re.compile(r"[,;:]\s+|\s+(?:and|while|whereas|but)\s+(?=\d)")


def pairs(paper: Sequence[FactOccurrence], code: Sequence[FactOccurrence]) -> Iterator[tuple[list[FactOccurrence], list[FactOccurrence]]]:
    """What the paper says of one file of many, and what that file has, by file and scope."""
    for option in _options(settings_of(code)).values():
        words = _telling_apart(sorted({occurrence.evidence.chunk.path for occurrence in option}))
        for path, own in words.items():
            about = [occurrence for occurrence in paper if _scoped(occurrence, option, own) and own == _meant(occurrence, words.values())]
            if own and about:
                yield about, [occurrence for occurrence in option if occurrence.evidence.chunk.path == path]


def _options(code: Iterable[FactOccurrence]) -> Mapping[tuple[str, str, str], list[FactOccurrence]]:
    """Options that several files have, by work, written name and scope."""
    occurrences_by_key: dict[tuple[str, str, str], list[FactOccurrence]] = defaultdict(list)
    for occurrence in code:
        occurrences_by_key[occurrence.fact.work, occurrence.fact.written, occurrence.fact.scope].append(occurrence)
    return {key: some for key, some in occurrences_by_key.items() if len({one.evidence.chunk.path for one in some}) >= LEAST}


def _telling_apart(paths: Sequence[str]) -> dict[str, frozenset[str]]:
    """The words of each path that not all of them have."""
    words = {path: telling(path) for path in paths}
    common = frozenset.intersection(*words.values())
    return {path: some - common for path, some in words.items()}


def _scoped(paper: FactOccurrence, option: Sequence[FactOccurrence], file: frozenset[str]) -> bool:
    """Whether a value is said of the same part as an option: both of a part that they name alike, or of none; a column may name the file."""
    one, other = telling(paper.fact.scope), telling(option[0].fact.scope)
    one = frozenset[str]() if paper.fact.kind == "table" and one & file else one
    return bool(one & other) if one or other else True


def _meant(paper: FactOccurrence, files: Iterable[frozenset[str]]) -> frozenset[str]:
    """The telling words of the one file that a value is about; none if it names no file, or more than one."""
    meant, said = set(files), frozenset[str]()
    for place in _around(paper):
        # what stands further away adds to the nearer words and does not contradict them
        said |= telling(place) & frozenset[str]().union(*meant)
        meant = {words for words in meant if said <= words}
        if len(meant) == 1 and said in meant:
            return said
    return frozenset()


def _around(paper: FactOccurrence) -> Iterator[str]:
    """The column, the clause, the sentence and the title of a value."""
    yield paper.fact.scope if paper.fact.kind == "table" else ""
    lines = paper.evidence.chunk.text.split("\n")
    at = paper.fact.line - paper.evidence.chunk.start_line
    line, said = lines[at] if 0 <= at < len(lines) else "", paper.fact.said
    sentence = next((one for one in sentences(line) if said and said.rstrip(".,; ") in one), "")
    yield next((part for part in _CLAUSE.split(sentence) if said[:12] in part), "")
    yield sentence
    yield (paper.evidence.chunk.section or ("",))[-1]
