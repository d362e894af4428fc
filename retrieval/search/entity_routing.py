"""Works that a question names: "what does G-Eval sample?" is put to G-Eval first, then to all works (pure).

Code seldom says the name of what it belongs to, so that a name in a question finds whatever else looks like it (`eval.py`).
What the name says is where to look, and says nothing more once that is done: the named works are asked what is left of the
question. It may also name a work only to compare with it; others therefore get a share of the list.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from lineage.records import Reason, ReasonKind, Tier, WorkId
from retrieval.search.fusion import Scored, covers, moved
from retrieval.search.question_subject import coined
from retrieval.search.work_relations import WorkRelation

SHARE = 0.75
"""Of each beginning of a list, rounded up: the fourth and the eighth are of other works."""
_SHORTEST, _WORDS = 3, 3
_LETTERS = 4
"""Of a name that one capital is enough to tell: "DiT" and "MAE" are names, "Bam" need not be one."""
_WORD = re.compile(r"\w{1,64}")
_ENDING = re.compile(
    r"(?:(?<=\w{5})[-_ ]|(?<=\w{4}[^\W\d]))(?:benchmark|bench|official|pytorch|torch|tensorflow|tf|jax|code|release)\Z",
    re.IGNORECASE,
)
"""What a repository's name adds to that of the work; after a digit ("Paper2Code") it is part of it."""
_MARK = re.compile(r"[A-Z\d]")
_LONGEST = 120
Names = Mapping[str, frozenset[WorkId]]


def names_of(relations: Mapping[WorkId, WorkRelation]) -> Names:
    """Works by what they are called: a repository's name, what stands before the colon of a paper's title, what its abstract introduces."""
    called: dict[str, set[WorkId]] = {}
    for id_, relation in relations.items():
        for name in _called(id_, relation):
            if len(key := _key(name)) >= _SHORTEST:
                called.setdefault(key, set()).add(id_)
    return {name: frozenset(works) for name, works in called.items()}


def _called(id_: WorkId, relation: WorkRelation) -> Iterator[str]:
    for paper in (relation.work, None if relation.tier is Tier.MENTIONED else relation.paper):
        if paper and paper.kind == "paper":
            name, colon, rest = paper.title.partition(":")
            if colon and not rest.startswith("//"):
                yield name[:_LONGEST]
            yield from coined(paper.abstract)
    if relation.work.kind == "code":
        name = id_.rpartition("/")[2][:_LONGEST]
        yield from {name, _ENDING.sub("", name)}


def _key(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())


def asked_of(question: str, names: Names) -> tuple[frozenset[WorkId], str]:
    """The works that a question names, and the question without their names; a name is written as one, with capitals or digits."""
    words = list(_WORD.finditer(question))
    marked = [_MARK.search(word[0]) is not None for word in words]
    works: set[WorkId] = set()
    rest, kept, at = "", 0, 0
    while at < len(words):
        length = next((n for n in range(min(_WORDS, len(words) - at) if marked[at] else 0, 0, -1) if _is_name(words[at : at + n], at == 0, names)), 0)
        if length and not _is_part(words, at, length):
            works |= names[_key("".join(word[0] for word in words[at : at + length]))]
            rest, kept = f"{rest}{question[kept : words[at].start()]} ", words[at + length - 1].end()
        at += length or 1
    rest += question[kept:]
    return (frozenset(works), rest) if works and _WORD.search(rest) else (frozenset(), question)


def _is_name(words: Sequence[re.Match[str]], first: bool, names: Names) -> bool:
    """Whether words are a known name; the capital that begins a question alone makes none."""
    text = [word[0] for word in words]
    whole = "".join(text)
    marks = 1 if len(_key(whole)) >= _LETTERS else 2
    marked = all(_MARK.search(word) for word in text) and _MARK.search(whole[first:]) is not None
    return marked and len(_MARK.findall(whole)) >= marks and _key(whole) in names


def _is_part(words: Sequence[re.Match[str]], at: int, length: int) -> bool:
    """Whether a word that one capital makes a name is part of a longer one: "Diffusion" of "Stable Diffusion"."""
    if length > 1 or len(_MARK.findall(words[at][0])) > 1:
        return False
    beside = [(words[n], n) for n in (at - 1, at + 1) if 0 <= n < len(words)]
    return any(n and word[0][0].isupper() and abs(word.start() - words[at].start()) == len(words[min(at, n)][0]) + 1 for word, n in beside)


def led(shown: Sequence[Scored], inside: Sequence[Scored], works: AbstractSet[WorkId], k: int) -> list[Scored]:
    """The first `k` of two lists: `SHARE` of each beginning from what was found `inside` the works, the rest from other works."""
    out: list[Scored] = []
    there, elsewhere = deque(inside), deque(candidate for candidate in shown if candidate.chunk.work not in works)
    while len(out) < k and (elsewhere or there):
        wanted = math.ceil(SHARE * (len(out) + 1)) > sum(candidate.chunk.work in works for candidate in out)
        scored = (there if there and (wanted or not elsewhere) else elsewhere).popleft()
        if not _shown(scored, out):
            out.append(_after(scored, out, works))
    return out


def _shown(scored: Scored, out: Collection[Scored]) -> bool:
    place = (scored.chunk.work, scored.chunk.path)
    return any((other.chunk.work, other.chunk.path) == place and covers(other.chunk, scored.chunk) for other in out)


def _after(scored: Scored, out: Sequence[Scored], works: AbstractSet[WorkId]) -> Scored:
    """With its reason, and a score no better than that of the one before: the two lists have scales of their own."""
    fall = min(scored.score, out[-1].score) - scored.score if out else 0.0
    named = scored.chunk.work in works
    return moved(scored, Reason(ReasonKind.NAMED_WORK if named else ReasonKind.ORDER, fall)) if named or fall else scored
