"""Answers against gold lines: does an answer state or quote what the question's gold says, and how much else?

    python -m benchmarks.answers --home HOME --lineage NAME [--lineage NAME] [--foreign NAME]
    python -m benchmarks.answers --home HOME --lineage NAME --facts [answers_blind.jsonl]

With `--facts` the questions are those of `benchmarks/answers.jsonl` or of the file that is named, written from the papers' text with the
facts that an answer must state (one of several spellings each; none: nothing here answers it). Those of `answers_blind.jsonl` avoid the
words of the papers. `right` says that what the answer claims states all facts, `wrong` that it claims something else; where it claims
nothing, `quoted` says that its quotations have all facts, `quoted beside` that they do not; the rest is refused.

The questions are those of `benchmarks/questions*.jsonl` about the lineage. A sentence is right if its evidence is of a gold place:
lines of code if the lines that are shown touch gold lines, prose if three fifths of its words stand in gold, or four fifths of the
gold's words in it. Gold lists places that suffice, so a sentence that is true and beside the point counts as wrong. With `--foreign`
the questions about another lineage are put to each as well: what is answered there is a mistake.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.bootstrap import Parts
from api.operations import Service
from benchmarks.evidence import rows
from benchmarks.parts import run_benchmark
from lineage import settings
from lineage.generation import open_generation
from lineage.records import WorkId
from lineage.results import Sentence, WrittenAnswer
from lineage.text.tokens import tokens

HERE = Path(__file__).parent
MOSTLY, NEARLY_ALL = 0.6, 0.8


@dataclass(frozen=True)
class Gold:
    """A place that answers, with what stands there."""

    work: str
    path: str
    start: int
    end: int
    text: str

    def holds(self, said: Sentence) -> bool:
        """Whether a sentence of an answer is of this place."""
        hit = said.evidence[0]
        if hit.chunk.work != self.work:
            return False
        if hit.chunk.kind in {"code", "config"}:
            shown = hit.focus or hit.chunk
            return hit.chunk.path == self.path and shown.start_line <= self.end and shown.end_line >= self.start
        words, gold = {*tokens(said.text)}, {*tokens(self.text)}
        both = len(words & gold)
        return both >= MOSTLY * max(1, len(words)) or both >= NEARLY_ALL * max(1, len(gold))


def questions(name: str) -> list[dict[str, Any]]:
    """The questions about a lineage, of every file."""
    return [row for file in sorted(HERE.glob("questions*.jsonl")) for row in rows(file) if row["lineage"] == name]


def gold_of(home: Path, name: str) -> Iterator[list[Gold]]:
    """The places that answer each question."""
    with open_generation(home, name) as generation:
        for row in questions(name):
            yield [_gold(place, lambda work, path: generation.catalog.document_text(WorkId(work), path)) for place in row["gold"]]


def _gold(place: dict[str, Any], text: Any) -> Gold:
    work = place.get("work") or f"repo:github.com/{place['repo']}"
    if "quote" in place:
        return Gold(work, "", 0, 0, place["quote"])
    lines = (text(work, place["path"]) or "").split("\n")[place["start"] - 1 : place["end"]]
    return Gold(work, place["path"], place["start"], place["end"], "\n".join(lines))


def judged(service: Service, home: Path, name: str) -> list[list[bool]]:
    """Of each question's answer which sentences are right."""
    asked = zip(questions(name), gold_of(home, name), strict=True)
    answers = ((places, service.answer(row["query"], lineage=name)) for row, places in asked)
    return [[any(gold.holds(said) for gold in places) for said in (*one.sentences, *one.quotes)] for places, one in answers]


def told(found: Sequence[Sequence[bool]]) -> str:
    """A line of figures."""
    count, said = len(found), sum(map(len, found))
    parts = {
        "a right sentence": sum(map(any, found)) / count,
        "the first right": sum(bool(one and one[0]) for one in found) / count,
        "of all sentences": sum(map(sum, found)) / max(1, said),
        "answered": sum(map(bool, found)) / count,
    }
    return f"{count:4} questions  " + "  ".join(f"{words} {value:.3f}" for words, value in parts.items()) + f"  sentences {said / count:.2f}"


def stated(text: str, facts: Sequence[Sequence[str]]) -> bool:
    """Whether a text states every fact, in one of its spellings."""
    bare = _bare(text)
    return bool(facts) and all(any(_bare(one).strip() in bare for one in spellings) for spellings in facts)


def _bare(text: str) -> str:
    return re.sub(r"[\s$~{}]+", " ", text.lower())


def verdict(answer: WrittenAnswer, facts: Sequence[Sequence[str]]) -> str:
    """What an answer is worth."""
    claims, quotes = ("\n".join(one.text for one in some) for some in (answer.sentences, answer.quotes))
    if claims:
        return "right" if stated(claims, facts) else "wrong"
    if quotes:
        return "quoted" if stated(quotes, facts) else "quoted beside"
    return "refused"


def facts_told(service: Service, name: str, file: str) -> str:
    """A line of figures over the questions with facts."""
    asked = [row for row in rows(HERE / file) if row["lineage"] == name]
    found = Counter(verdict(service.answer(row["query"], lineage=name), row["facts"]) for row in asked)
    return f"{len(asked):4} questions  " + "  ".join(f"{kind} {count / len(asked):.3f}" for kind, count in sorted(found.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--lineage", action="append", required=True)
    parser.add_argument("--foreign", action="append", default=[])
    parser.add_argument("--facts", nargs="?", const="answers.jsonl", default="")
    args = parser.parse_args()
    service = Service(Parts(settings.load(home=args.home)))
    for name in args.lineage:
        if args.facts:
            print(f"{name:20}", facts_told(service, name, args.facts), flush=True)
            continue
        print(f"{name:20}", told(judged(service, args.home, name)), flush=True)
        for other in args.foreign:
            answers = [service.answer(row["query"], lineage=name) for row in questions(other)]
            said = sum(bool(one.sentences or one.quotes) for one in answers)
            print(f"{'':20} questions about {other}: {said} of {len(answers)} answered", flush=True)


if __name__ == "__main__":
    run_benchmark(main)
