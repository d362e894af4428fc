"""Is what stands in a lineage word for word found first? Sentences of its papers and settings of its code, drawn at random and asked for.

    python -m benchmarks.verbatim --home HOME [--sentences 200] [--settings 60] [--seed 1] LINEAGE [...]

Prints, by kind, how often the first hit holds it (R@1), one of the first five does (R@5), and how many are not among the first ten: sentences
whole, as a run of a third of their words, and with a third of their words dropped at random; settings as `name = value`, and numbers of prose
in their own words.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from api.bootstrap import Parts
from benchmarks.parts import run_benchmark
from lineage import settings
from lineage.catalog.reader import Catalog
from lineage.records import Hit
from lineage.text.phrases import sentences
from retrieval.evaluation import first_rank
from retrieval.search.query import beginning, make_query

SHORTEST, LONGEST = 10, 45
_TELLING = re.compile(r"\d\.?\d|[3-9]")
Holds = Callable[[str], bool]


@dataclass(frozen=True)
class Asked:
    """A question of a kind, and whether a text holds what is asked for."""

    kind: str
    text: str
    holds: Holds


def plain(text: str) -> str:
    """The words of a text in lower case, one space between two."""
    return " ".join(re.findall(r"\w+", text.lower()))


def sentences_of(catalog: Catalog) -> list[str]:
    """The distinct sentences of the papers, of ten to 45 words."""
    chunks = catalog.chunks([int(row) for row in catalog.rows(("paper",))])
    said = (" ".join(part.split()) for chunk in chunks if chunk.role not in {"table", "equation", "front"} for part in sentences(chunk.text))
    return sorted({part for part in said if SHORTEST <= len(re.findall(r"[a-zA-Z]{2,}", part)) <= LONGEST and part.endswith(".")})


def asked_for_sentence(sentence: str, chance: random.Random) -> Iterator[Asked]:
    """The questions for a sentence: all of it, a run of it, and without a third of its words."""
    words, whole = sentence.split(), plain(sentence)
    run = max(5, len(words) // 3)
    start = chance.randrange(max(1, len(words) - run))
    kept = sorted(chance.sample(range(len(words)), len(words) - len(words) // 3))
    yield Asked("sentence", sentence, lambda text: whole in plain(text))
    yield Asked("run of words", " ".join(words[start : start + run]), lambda text: plain(" ".join(words[start : start + run])) in plain(text))
    yield Asked("third dropped", " ".join(words[at] for at in kept), lambda text: whole in plain(text))


def settings_of(catalog: Catalog) -> Iterator[Asked]:
    """Each setting of code with a number that tells, once, and each number of prose in its own words."""
    for fact in sorted({(fact.kind == "prose", fact.written, fact.said) for fact in catalog.facts() if fact.literal and fact.kind != "table"}):
        prose, name, value = fact
        if prose and _TELLING.search(value) and len(value.split()) > 2:
            yield Asked("number in prose", value, partial(_has, plain(value)))
        elif not prose and name and re.fullmatch(r"[\d.e-]+", value) and _TELLING.search(value):
            yield Asked("setting", f"{name} = {value}", _states(name, value))


def _has(said: str, text: str) -> bool:
    return said in plain(text)


def _states(name: str, value: str) -> Holds:
    written = re.compile(rf"(?<![\w.]){re.escape(name.rpartition('.')[2])}\b[^\n]*(?:\n[^\n]*)?(?<![\w.]){re.escape(value)}(?![\w.]\w)")
    return lambda text: written.search(text) is not None


def drawn(catalog: Catalog, most: tuple[int, int], chance: random.Random) -> list[Asked]:
    """The questions for a lineage."""
    said, stated = sentences_of(catalog), list(settings_of(catalog))
    questions = [asked for sentence in chance.sample(said, min(most[0], len(said))) for asked in asked_for_sentence(sentence, chance)]
    return questions + [asked for kind in ("setting", "number in prose") for asked in _some(stated, kind, most[1], chance)]


def _some(stated: Sequence[Asked], kind: str, most: int, chance: random.Random) -> list[Asked]:
    of_kind = [asked for asked in stated if asked.kind == kind]
    return chance.sample(of_kind, min(most, len(of_kind)))


def ranked(asked: Asked, hits: Sequence[Hit]) -> int | None:
    """The rank of the first hit that holds it."""
    return first_rank([asked.holds(hit.chunk.text) for hit in hits])


def shown(ranks: Mapping[str, Sequence[int | None]]) -> str:
    """One line a kind."""
    lines = []
    for kind, some in ranks.items():
        first, five = (sum(rank is not None and rank <= cut for rank in some) / len(some) for cut in (1, 5))
        lines.append(f"  {kind:16} {len(some):4}  R@1 {first:.3f}  R@5 {five:.3f}  missed {sum(rank is None for rank in some)}")
    return "\n".join(lines)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lineages", nargs="+")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--settings", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="what is not first")
    given = parser.parse_args()
    parts, share, every = Parts(settings.load(home=given.home)), len(given.lineages), defaultdict[str, list[int | None]](list)
    for lineage in given.lineages:
        ranks: dict[str, list[int | None]] = defaultdict(list)
        with parts.opened(lineage) as engine:
            for asked in drawn(engine.generation.catalog, (given.sentences // share, given.settings // share), random.Random(given.seed)):
                rank = ranked(asked, engine.ask(make_query(beginning(asked.text)[0], k=10)).hits)
                ranks[asked.kind].append(rank)
                every[asked.kind].append(rank)
                if given.show and rank != 1:
                    print(f"    {rank or '-'} {asked.kind}: {asked.text[:150]}")
        print(f"{lineage}\n{shown(ranks)}", flush=True)
    print(f"all\n{shown(every)}")


if __name__ == "__main__":
    run_benchmark(main)
