"""The right lines, first: retrieval over other people's gold, beside BM25 over line windows in the same run.

    python benchmarks/evidence.py --data DIR [--corpora DIR] [--embedder packaged|none|fake] [--sets scireplicate,rcb]
                                  [--out DIR] [--cache DIR] [--sweep | --ablate]

DIR holds `code/`, `questions/`, `passages/` and `score.py`. `--corpora` holds the files the gold points into, one folder a
set: `scireplicate` (unpacked here if absent), `rcb` (`prepare_rcb.py`), `packages` (the wheels of questions/versions.json,
unzipped). A set without its corpus is skipped and named. Every top folder of a corpus becomes one work; files go through the
product's parsers, chunker, store and engine, and hits are written to `--out` as `lineage query --batch` prints them, so that
`score.py hits` gives the same figures. `--sweep` prints the means for a grid of fusion weights instead: the command by which
`retrieval.fuse.Weights` was chosen. `--ablate` prints R@5 and MRR of every kind with one part taken away at a time.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import importlib.util
import itertools
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from api import wire  # noqa: E402
from indexer.cache import VectorCache  # noqa: E402
from indexer.chunk import chunks as chunks_of  # noqa: E402
from indexer.parsers.select import select  # noqa: E402
from indexer.store import Store  # noqa: E402
from lineage import registry  # noqa: E402
from lineage.errors import ParseError  # noqa: E402
from lineage.generation import Generation, open_generation  # noqa: E402
from lineage.model import Answer, Chunk, Work, WorkId  # noqa: E402
from lineage.ports import Embedder, VectorIndex, Vectors  # noqa: E402
from retrieval.engine import Engine  # noqa: E402
from retrieval.evaluate import first_rank, scores  # noqa: E402
from retrieval.fuse import Weights  # noqa: E402
from retrieval.query import MAX_BYTES, make_query  # noqa: E402
from retrieval.vocabulary import Vocabulary  # noqa: E402

K = 20
Question = dict[str, Any]


@dataclass(frozen=True)
class Set:
    """Questions of one file, the folder their gold points into, and the fields that are asked."""

    name: str
    questions: str
    fields: tuple[str, ...] = ("query",)
    passages: str = ""


SETS = (
    Set("scireplicate", "code/scireplicate.jsonl", ("query", "query_noid")),
    Set("rcb", "code/rcb.jsonl"),
    Set("packages", "questions/packages.jsonl"),
    Set("m3sciqa", "passages/m3sciqa.jsonl", passages="passages/passages.jsonl.gz"),
)


def rows(path: Path) -> list[Question]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def scorer(data: Path) -> ModuleType:
    """The evaluation data's own score.py."""
    found = importlib.util.spec_from_file_location("score", data / "score.py")
    if found is None or found.loader is None:
        raise SystemExit(f"{data / 'score.py'} is missing")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def work_of(path: str) -> WorkId:
    return WorkId("local:" + hashlib.sha256(path.split("/")[0].encode()).hexdigest()[:16])


def code_chunks(folder: Path) -> list[Chunk]:
    """Every chunk of the files under a folder, through the product's own parsers."""
    found: list[Chunk] = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.startswith("paper."):
            found += _file_chunks(str(path.relative_to(folder)), path.read_bytes())
    return found


def _file_chunks(path: str, data: bytes) -> list[Chunk]:
    choice = select(path, data)
    if not choice.parser:
        return []
    try:
        document = import_module(f"indexer.parsers.{choice.parser}").parse(path, data, work_of(path), hashlib.sha256(data).hexdigest())
    except ParseError as error:
        print(f"# {path}: {error}", file=sys.stderr)
        return []
    return chunks_of(document)


def passage_chunks(path: Path) -> list[Chunk]:
    """Passages of papers as they are, one chunk each; the passage's identifier is its path."""
    return [
        Chunk(
            row["id"], WorkId(f"arxiv:{row.get('arxiv') or row['id']}"), row["id"], "paper", "paragraph", row["text"], "", 0, len(row["text"]), 1, 1
        )
        for row in rows(path)
    ]


def embedded(embedder: Embedder, chunks: Sequence[Chunk], cache: VectorCache) -> Vectors:
    texts = {hashlib.sha256(text.encode()).hexdigest(): text for text in (f"{c.header}\n{c.text}" if c.header else c.text for c in chunks)}
    found = cache.get(embedder.id, texts)
    todo = [key for key in texts if key not in found]
    for start in range(0, len(todo), 512):
        some = todo[start : start + 512]
        made = dict(zip(some, embedder.passages([texts[key] for key in some]), strict=True))
        cache.put(embedder.id, made)
        found |= made
    order = [hashlib.sha256((f"{c.header}\n{c.text}" if c.header else c.text).encode()).hexdigest() for c in chunks]
    return np.stack([found[key] for key in order])


def build(home: Path, name: str, chunks: Sequence[Chunk], embedder: Embedder | None, cache: Path) -> None:
    """A real generation of these chunks."""
    with Store(home).writing(name) as writing, writing.draft() as draft:
        with draft.catalog() as catalog:
            catalog.add_works(Work(WorkId(work), "paper" if work.startswith("arxiv:") else "code") for work in sorted({c.work for c in chunks}))
            catalog.add_chunks(chunks)
            catalog.finish()
        if embedder:
            draft.vectors(embedded(embedder, chunks, VectorCache(cache)), embedder.id)
        draft.commit(target="local:benchmark", fingerprint=name)


def embedder_of(name: str) -> Embedder | None:
    if name == "none":
        return None
    if name == "fake":
        from tests.fakes.embedder import HashingEmbedder

        return HashingEmbedder()
    made: Embedder = registry.load("embedders", name)()
    return made


def asked(question: Question, field: str) -> str:
    """The question as it can be asked: cut where the product would refuse it."""
    return str(question.get(field) or question["query"]).encode()[:MAX_BYTES].decode("utf-8", "ignore")


def ranks(score: ModuleType, answers: Sequence[Answer], questions: Sequence[Question]) -> tuple[list[int | None], list[float]]:
    """Rank of the first hit that finds the gold, and the share of gold in the focus of those found in the first five."""
    places, precise = [], []
    for question, answer in zip(questions, answers, strict=True):
        shown = [score.shown(wire.hit_to_json(hit)) for hit in answer.hits]
        if isinstance(question["gold"], list) and isinstance(question["gold"][0], str):
            place = first_rank([hit.chunk.path in question["gold"] for hit in answer.hits])
        else:
            place = first_rank([score.finds(*one[:3], question) for one in shown])
            if place and place <= 5 and shown[place - 1][3]:
                precise.append(_gold_share(score, shown[place - 1], question))
        places.append(place)
    return places, precise


def _gold_share(score: ModuleType, one: tuple[Any, ...], question: Question) -> float:
    start, end = one[3]["start_line"], one[3]["end_line"]
    best = max((score.overlap(start, end, g["start"], g["end"]) for g in score.golds(question) if score.same(one[0], g)), default=0)
    return max(0, best) / (end - start + 1)


def baseline(score: ModuleType, folder: Path | None, chunks: Sequence[Chunk], questions: Sequence[Question], field: str) -> list[int | None]:
    """score.py's BM25: over 40-line windows of code, or over the passages as they are."""
    if folder is None:
        index = score.BM25([chunk.text for chunk in chunks])
        return [first_rank([chunks[i].path in q["gold"] for i in index.top(asked(q, field), K)]) for q in questions]
    pool = list(score.windows(str(folder)))
    index = score.BM25([window[3] for window in pool])
    return [first_rank([score.finds(*pool[i][:3], q) for i in index.top(asked(q, field), K)]) for q in questions]


def groups(questions: Sequence[Question]) -> Iterator[tuple[str, list[int]]]:
    kinds = dict.fromkeys(q.get("kind", "all") for q in questions)
    for kind in kinds:
        yield kind, [n for n, q in enumerate(questions) if q.get("kind", "all") == kind]


def line(name: str, places: Sequence[int | None], extra: str = "") -> None:
    print(f"{name:44s} n={len(places):4d}  {scores(places)}{extra}", flush=True)


def measure(
    score: ModuleType, one: Set, engine: Engine, folder: Path | None, chunks: Sequence[Chunk], questions: list[Question], out: Path | None
) -> None:
    for field in one.fields:
        started = time.perf_counter()
        answers = engine.ask_many([make_query(asked(q, field), k=K) for q in questions])
        each = (time.perf_counter() - started) / max(1, len(questions))
        places, _ = ranks(score, answers, questions)
        plain = baseline(score, folder, chunks, questions, field)
        for kind, members in groups(questions):
            name = f"{one.name} {kind}" + (" (no identifiers)" if field == "query_noid" else "")
            _, precise = ranks(score, [answers[n] for n in members], [questions[n] for n in members])
            line(f"bm25     {name}", [plain[n] for n in members])
            line(f"lineage  {name}", [places[n] for n in members], f"  focus {np.mean(precise):.2f}" if precise else "")
        print(f"# {one.name} {field}: {len(chunks)} chunks, {1000 * each:.1f} ms a question", flush=True)
        if out:
            out.mkdir(parents=True, exist_ok=True)
            written = ({"id": q["id"], "hits": [wire.hit_to_json(hit) for hit in a.hits]} for q, a in zip(questions, answers, strict=True))
            (out / f"{one.name}.{field}.jsonl").write_text("".join(wire.dumps(row) + "\n" for row in written), encoding="utf-8")


GRID = {
    "dense": (0.4, 0.45, 0.5, 0.55, 0.6),
    "toplevel": (0.0, -0.3, -0.5),
}


def sweep(score: ModuleType, engines: Sequence[tuple[Set, Any, list[Question]]]) -> None:
    """Mean over kinds of R@5 and MRR for every combination of weights."""
    for values in itertools.product(*GRID.values()):
        chosen = dict(zip(GRID, values, strict=True))
        found = []
        for one, make, questions in engines:
            engine = make(replace(Weights(), **chosen))
            for field in one.fields:
                places, _ = ranks(score, engine.ask_many([make_query(asked(q, field), k=K) for q in questions]), questions)
                found += [scores([places[n] for n in members]) for _, members in groups(questions)]
        print(f"{chosen}  R@5 {np.mean([s.recall[5] for s in found]):.3f}  MRR {np.mean([s.mrr for s in found]):.3f}", flush=True)


WITHOUT: dict[str, dict[str, Any]] = {
    "everything": {},
    "no vocabulary": {"words": Vocabulary((), {})},
    "no disfavour of repositories' prose": {"weights": Weights(docs=0.0)},
    "no disfavour of top-level statements": {"weights": Weights(toplevel=0.0)},
    "no vectors": {"vectors": False},
    "chunks alone, nothing around them": {"around": False},
}


def ablate(score: ModuleType, engines: Sequence[tuple[Set, Any, list[Question]]]) -> None:
    """R@5 and MRR of every kind of question, and their means, without one part at a time."""
    for part, options in WITHOUT.items():
        found: dict[str, Any] = {}
        for one, make, questions in engines:
            shown = {"around": options.get("around", True)}
            engine = make(**{name: value for name, value in options.items() if name != "around"})
            for field in one.fields:
                places, _ = ranks(score, engine.ask_many([replace(make_query(asked(q, field), k=K), **shown) for q in questions]), questions)
                end = " (no identifiers)" if field == "query_noid" else ""
                found |= {f"{one.name} {kind}{end}": scores([places[n] for n in members]) for kind, members in groups(questions)}
        print(f"{part}: R@5 {np.mean([s.recall[5] for s in found.values()]):.3f}  MRR {np.mean([s.mrr for s in found.values()]):.3f}")
        print("".join(f"    {name:44s} R@5 {s.recall[5]:.3f}  MRR {s.mrr:.3f}\n" for name, s in found.items()), end="", flush=True)


class Remembering:
    """An embedder that computes each question once, for sweeps."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self._known = embedder, dict[str, Vectors]()
        self.id, self.dim = embedder.id, embedder.dim

    def passages(self, texts: Sequence[str]) -> Vectors:
        return self._embedder.passages(texts)

    def queries(self, texts: Sequence[str]) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known |= dict(zip(new, self._embedder.queries(new), strict=True)) if new else {}
        return np.stack([self._known[text] for text in texts])


def engine_of(
    generation: Generation,
    embedder: Embedder | None,
    index: VectorIndex | None,
    weights: Weights | None = None,
    words: Vocabulary | None = None,
    vectors: bool = True,
) -> Engine:
    return Engine(generation, (lambda: embedder) if embedder and vectors else None, index, weights, words)


def corpus_of(one: Set, data: Path, corpora: Path, score: ModuleType, scratch: Path) -> Path | None:
    folder = corpora / one.name
    if not folder.is_dir() and one.name == "scireplicate":
        folder = scratch / one.name
        for row in rows(data / "code/scireplicate.files.jsonl.gz"):
            path = (folder / row["path"]).resolve()
            if not path.is_relative_to(folder.resolve()):
                raise SystemExit(f"path leaves the folder: {row['path']}")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(row["text"], encoding="utf-8")
    return folder if folder.is_dir() else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--corpora", type=Path, default=Path("corpora"))
    parser.add_argument("--embedder", default="packaged")
    parser.add_argument("--sets", default=",".join(one.name for one in SETS))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--ablate", action="store_true")
    args = parser.parse_args()
    score = scorer(args.data)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        embedder = embedder_of(args.embedder)
        shared = Remembering(embedder) if embedder else None
        engines = []
        for one in (one for one in SETS if one.name in args.sets.split(",")):
            folder = None if one.passages else corpus_of(one, args.data, args.corpora, score, scratch)
            if folder is None and not one.passages:
                print(f"# {one.name} is skipped: no folder {args.corpora / one.name}", flush=True)
                continue
            chunks = passage_chunks(args.data / one.passages) if folder is None else code_chunks(folder)
            build(scratch, one.name, chunks, shared, args.cache or scratch)
            generation = stack.enter_context(open_generation(scratch, one.name))
            index = registry.load("vectors", "faiss")(generation.vectors) if generation.vectors is not None else None

            make = partial(engine_of, generation, shared, index)

            questions = rows(args.data / one.questions)
            if args.sweep or args.ablate:
                engines.append((one, make, questions))
            else:
                measure(score, one, make(), folder, chunks, questions, args.out)
        if args.sweep:
            sweep(score, engines)
        elif args.ablate:
            ablate(score, engines)


if __name__ == "__main__":
    main()
