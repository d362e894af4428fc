"""Whether the works that a paper takes its parts from stand first: straight from `paper.tex`, no build, seconds for sixteen papers.

    python -m benchmarks.ancestors --gold FILE --papers FOLDER [--show NAME]     recall of true ancestors, each half for itself
    python -m benchmarks.ancestors --gold FILE --papers FOLDER --model           the same as the configured chat model reads it
    python -m benchmarks.ancestors --fit --data DIR                              fit the weights of `data/use.json` and print them

A line of the gold is `{"paper", "half", "ancestors": [{"key", "parts", "same"}]}`: two to four works, written by a reader before any ranking was
looked at; `same` are other keys of the same work. FOLDER holds `NAME/paper.tex`. Where no bibliography comes with it, keys stand in for titles,
so years, titles, authors and code are not known here: what is measured is the text alone.

Printed: the share of true ancestors among the first three references, and of those that can be there (three of four at most); of (ancestor, part)
pairs, those among the first three of that part; of ancestors, those that are first to third for one of their parts; and the first for the number
of mentions, the plain baseline.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GroupKFold

from api.bootstrap import Parts
from benchmarks import role_data
from benchmarks.parts import run_benchmark
from indexer.parsers.latex.parser import parse
from lineage import settings
from lineage.ports import ChatModel
from lineage.records import Document, Mention, Reference, Work, WorkId
from lineage.references import citation_cues, ranking
from lineage.references.ancestors import ancestors, named_mentions
from lineage.references.inheritance import shipped_use_model, takeovers
from lineage.references.roles import classify
from lineage.references.signals import Part
from retrieval.gaps.model_claims import ancestors as read_by_model
from retrieval.gaps.model_reader import Reader

TARGET = WorkId("arxiv:target")
FIRST = 3
OUT = Path(__file__).parent.parent / "lineage/data/use.json"
SEEN, STRENGTH, SMALLEST = 3, 0.3, 0.01
TAKEN = {"base", "method", "setup", "data", "metric"}
"""Labels that say that the citing work builds on the cited one or uses something of it."""


@dataclass(frozen=True)
class Gold:
    """The true ancestors of one paper, by key, with their parts."""

    paper: str
    half: str
    parts: Mapping[str, frozenset[str]]
    same: Mapping[str, str]


@dataclass(frozen=True)
class Ranked:
    """What the program says of one paper: all keys, best first, and the first of each part."""

    keys: tuple[str, ...]
    by_part: Mapping[str, tuple[str, ...]]
    by_count: tuple[str, ...]


def read_gold(path: Path) -> list[Gold]:
    return [_gold(json.loads(line)) for line in path.read_text().splitlines() if line.strip()]


def _gold(row: Mapping[str, Any]) -> Gold:
    parts = {ancestor["key"]: frozenset(ancestor["parts"]) for ancestor in row["ancestors"]}
    same = {other: ancestor["key"] for ancestor in row["ancestors"] for other in ancestor.get("same", ())}
    return Gold(row["paper"], row.get("half", ""), parts, same)


def read_paper(path: Path, same: Mapping[str, str]) -> tuple[Document, list[Reference], dict[WorkId, Work]]:
    """The document with the references that its citing sentences make, in the order of first mention."""
    document = parse({"paper.tex": path.read_bytes()}, TARGET, "")
    titles = {entry.key: entry.title for entry in document.bibliography}
    mentions: dict[str, list[Mention]] = defaultdict(list)
    for mention in document.mentions:
        mentions[same.get(mention.key, mention.key)].append(mention)
    references = [Reference(TARGET, WorkId(f"key:{key}"), key, mentions=tuple(own)) for key, own in mentions.items()]
    works = {r.cited: Work(r.cited, title=titles.get(r.key) or r.key) for r in references}
    return document, references, works


def rank_paper(path: Path, same: Mapping[str, str], chat: ChatModel | None = None) -> Ranked:
    document, references, works = read_paper(path, same)
    target = Work(TARGET, title=document.title, abstract=document.abstract)
    references = [replace(r, roles=classify(r.mentions, title=document.title, cited_title=works[r.cited].title)) for r in references]
    named = named_mentions(document, references, works)
    ranked = ranking.rank(references, works=works, target=target, named=named)
    by_part: dict[str, list[str]] = defaultdict(list)
    read = read_by_model(Reader(chat, None), ranked, works, target) if chat else ()  # type: ignore[arg-type]  # reads no lineage
    for ancestor in read or ancestors(ranked, named, {}, target):
        by_part[ancestor.part.value].append(ancestor.work.removeprefix("key:"))
    counts = Counter({r.key: len(r.mentions) for r in references})
    keys = dict.fromkeys((*(ancestor.work.removeprefix("key:") for ancestor in read), *(r.key for r in ranked)))
    return Ranked(tuple(keys), {p: tuple(keys) for p, keys in by_part.items()}, tuple(key for key, _ in counts.most_common()))


def recalls(gold: Gold, ranked: Ranked) -> tuple[float, ...]:
    """Recall among the first three references, of what can be there, of (ancestor, part) pairs, of ancestors for one of their parts, by mentions."""
    first = {part: set(keys[:FIRST]) for part, keys in ranked.by_part.items()}
    pairs = [key in first.get(part, ()) for key, parts in gold.parts.items() for part in parts if part in {p.value for p in Part}]
    any_part = [any(key in first.get(part, ()) for part in parts) for key, parts in gold.parts.items()]
    overall = [key in ranked.keys[:FIRST] for key in gold.parts]
    counted = [key in ranked.by_count[:FIRST] for key in gold.parts]
    return mean(overall), sum(overall) / min(FIRST, len(overall)), mean(pairs), mean(any_part), mean(counted)


def mean(values: Sequence[bool | float]) -> float:
    return sum(values) / max(1, len(values))


def show(gold: Gold, ranked: Ranked) -> None:
    print(f"\n{gold.paper}: {', '.join(f'{key} ({ranked.keys.index(key) + 1})' for key in gold.parts)}")
    print(f"  first: {', '.join(ranked.keys[:8])}")
    for part, keys in ranked.by_part.items():
        print(f"  {part:11s} {', '.join(keys):70s} true: {', '.join(key for key, parts in gold.parts.items() if part in parts)}")


def measure(options: argparse.Namespace) -> None:
    results: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    chat = Parts(settings.load()).chat_model if options.model else None
    print(f"{'':32s} first three  of possible    by part     any part   by mentions")
    for gold in read_gold(options.gold):
        if options.half not in ("", gold.half):
            continue
        ranked = rank_paper(options.papers / gold.paper / "paper.tex", gold.same, chat)
        results[gold.half].append(recalls(gold, ranked))
        if options.show in (gold.half, gold.paper):
            show(gold, ranked)
        print(f"{gold.half:6s} {gold.paper:24s} " + "  ".join(f"{value:11.2f}" for value in results[gold.half][-1]))
    for half, rows in results.items():
        print(f"{half:6s} {'mean of ' + str(len(rows)):24s} " + "  ".join(f"{mean(column):11.3f}" for column in zip(*rows, strict=True)))


def fit(data: Path) -> dict[str, Any]:
    """The cues of citing sentences against the project's own labels: taken over or not; few cues, by an L1 penalty. MultiCite only tests."""
    rows = role_data.ours(data)
    seen = [citation_cues.cues(citation_cues.mark(row.text)) for row in rows]
    counts = Counter(cue for cue_words in seen for cue in cue_words)
    columns = {cue: n for n, cue in enumerate(sorted(cue for cue, count in counts.items() if count >= SEEN))}
    where = [(n, columns[cue]) for n, cue_words in enumerate(seen) for cue in cue_words if cue in columns]
    i, j = (np.array(side, dtype=np.int32) for side in zip(*where, strict=True))
    x = csr_matrix((np.ones(len(where)), (i, j)), shape=(len(rows), len(columns)))
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
    y = np.array([bool(row.roles & TAKEN) for row in rows])
    out_of_fold = np.zeros(len(rows))
    for train, test in GroupKFold(5).split(x, groups=[row.paper for row in rows]):
        out_of_fold[test] = _sparse(x[train], y[train]).predict_proba(x[test])[:, 1]
    model = _sparse(x, y)
    weights = {cue: round(float(model.coef_[0][n]), 2) for cue, n in columns.items() if abs(model.coef_[0][n]) >= SMALLEST}
    stated = [sum(t.weight for t in takeovers([Mention("", row.text)])) for row in rows]
    print(f"{len(rows)} sentences, {y.mean():.2f} use or extend; {len(weights)} cues; average precision, five folds by paper: ", end="")
    print(f"{average_precision_score(y, out_of_fold):.3f} (with the statements of data/inheritance.json: {average_precision_score(y, stated):.3f})")
    _test(data, weights, float(model.intercept_[0]))
    for cue, weight in sorted(weights.items(), key=lambda pair: -pair[1]):
        print(f"  {weight:+.2f}  {cue}")
    provenance = {
        "command": "python -m benchmarks.ancestors --fit --data DIR",
        "fitted_on": f"{len(rows)} citing sentences labelled for this project (benchmarks/role_labels.jsonl): taken over against the rest",
        "model": f"L1 logistic regression, C={STRENGTH}, cues seen {SEEN} times at least",
    }
    return {"provenance": provenance, "bias": round(float(model.intercept_[0]), 3), "cues": weights}


def _test(data: Path, weights: Mapping[str, float], bias: float) -> None:
    """Average precision on MultiCite, which nothing here was fitted on: uses or extends against the rest."""
    rows = role_data.multicite(data)
    scores = [bias + sum(weights.get(cue, 0.0) for cue in citation_cues.cues(citation_cues.mark(row.text))) for row in rows]
    wanted = [bool(row.roles & {"base", "uses"}) for row in rows]
    stated = [sum(t.weight for t in takeovers([Mention("", row.text)])) for row in rows]
    ours, statements = average_precision_score(wanted, scores), average_precision_score(wanted, stated)
    print(f"average precision on {len(rows)} sentences of MultiCite: {ours:.3f} (with the statements: {statements:.3f})")


def _sparse(x: csr_matrix, y: np.ndarray) -> LogisticRegression:
    return LogisticRegression(C=STRENGTH, l1_ratio=1.0, solver="liblinear", random_state=0).fit(x, y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gold", type=Path)
    parser.add_argument("--papers", type=Path)
    parser.add_argument("--show", default="-", help="a half or a paper whose order is printed")
    parser.add_argument("--half", default="", help="only this half")
    parser.add_argument("--model", action="store_true", help="as the configured chat model reads it")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    if options.fit:
        OUT.write_text(json.dumps(fit(options.data), indent=1, ensure_ascii=False) + "\n")
        shipped_use_model.cache_clear()
    if options.gold:
        measure(options)


if __name__ == "__main__":
    run_benchmark(main)
