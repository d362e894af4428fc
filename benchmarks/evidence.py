"""The right lines, first: retrieval over other people's gold, beside BM25 over line windows in the same run.

    python -m benchmarks.evidence --data DIR [--corpora DIR] [--with DIR] [--embedder packaged|static|none|fake]
                                  [--sets scireplicate,rcb] [--reranker NAME[:MODEL]] [--out DIR] [--cache DIR]

DIR holds `code/`, `questions/`, `passages/` and `score.py`. `--corpora` holds the files the gold points into, one folder a
set: `scireplicate` (unpacked here if absent), `rcb` (`prepare_rcb.py`), `packages` (the wheels of questions/versions.json,
unzipped). A set without its corpus is skipped and named. `--sets abstracts` asks 240 questions of our own that abstracts among
M3SciQA's passages answer, which tells how far those may stand back. Every top folder of a corpus becomes one work; files go through the
product's parsers, chunker, store and engine, and hits are written to `--out` as `lineage query --batch` prints them, so that
`score.py hits` gives the same figures.

`--with` makes it harder: the repositories checked out as OWNER/NAME under that folder lie in the same index as each set of
code, as further works, and in the BM25 windows as well. A hit whose text is a copy of the gold finds it, whichever of the
copies comes first. What each part brings: `benchmarks/ablation.py`; what it weighs: `benchmarks/fit.py`.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import importlib.util
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from api.wire.encode import dumps, to_json  # noqa: E402
from api.wire.hits import hit_view  # noqa: E402
from benchmarks.parts import part, run_benchmark  # noqa: E402
from indexer.chunking.chunker import chunks as chunks_of  # noqa: E402
from indexer.parsers.select import select  # noqa: E402
from indexer.store.computed_cache import VectorCache  # noqa: E402
from indexer.store.generations import Store  # noqa: E402
from lineage import registry, settings  # noqa: E402
from lineage.errors import ParseError  # noqa: E402
from lineage.generation import Generation, open_generation  # noqa: E402
from lineage.ports import Embedder, Reranker, VectorIndex, Vectors  # noqa: E402
from lineage.records import Answer, Chunk, Hit, Work, WorkId  # noqa: E402
from retrieval.evaluation import first_rank, scores  # noqa: E402
from retrieval.search.engine import Engine  # noqa: E402
from retrieval.search.priors import FusionWeights  # noqa: E402
from retrieval.search.query import (  # noqa: E402
    MAX_BYTES,
    Vocabulary,
    make_query,
)

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
ABSTRACTS = Set("abstracts", str(Path(__file__).with_name("abstracts.jsonl")), passages=SETS[-1].passages)
"""Questions of our own that an abstract answers, asked where nothing but M3SciQA's passages is: only where they are named."""


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


@cache
def code_chunks(folder: Path) -> list[Chunk]:
    """Every chunk of the files under a folder, through the product's own parsers; each top folder is a work."""
    return [chunk for path in files(folder) for chunk in _file_chunks(path.relative_to(folder).as_posix(), path.read_bytes())]


@cache
def repository_chunks(folder: Path) -> list[Chunk]:
    """Every chunk of the repositories that lie as OWNER/NAME under a folder."""
    found: list[Chunk] = []
    for place in sorted(place for place in folder.glob("*/*") if place.is_dir()):
        work = WorkId(f"repo:github.com/{place.parent.name}/{place.name}")
        found += (chunk for path in files(place) for chunk in _file_chunks(path.relative_to(place).as_posix(), path.read_bytes(), work))
    return found


def files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and ".git" not in path.parts and not path.name.startswith("paper."))


def _file_chunks(path: str, data: bytes, work: WorkId | None = None) -> list[Chunk]:
    choice = select(path, data)
    if not choice.parser:
        return []
    try:
        parse = registry.load("parsers", choice.parser)
        return chunks_of(parse(path, data, work or work_of(path), hashlib.sha256(data).hexdigest()))
    except ParseError as error:
        print(f"# {path}: {error}", file=sys.stderr)
        return []


def passage_chunks(path: Path) -> list[Chunk]:
    """Passages of papers as they are, one chunk each; the passage's identifier is its path. Abstracts stand as the product has them."""
    return [_passage(row) for row in rows(path)]


def _passage(row: Mapping[str, Any]) -> Chunk:
    name, text, abstract = row["id"], row["text"], row["kind"] == "abstract"
    header = f"{row['title']} > Abstract" if abstract and row.get("title") else ""
    work = WorkId(f"arxiv:{row.get('arxiv') or name}")
    return Chunk(name, work, name, "paper", "abstract" if abstract else "paragraph", text, header, 0, len(text), 1, 1)


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
    plugin, _, model = name.partition(":")
    made: Embedder = registry.load("embedders", plugin)(model, settings.load())
    return made


def reranker_of(name: str) -> Reranker | None:
    plugin, _, model = name.partition(":")
    made: Reranker | None = registry.load("rerankers", plugin)(model, settings.load()) if name else None
    return made


def asked(question: Question, field: str) -> str:
    """The question as it can be asked: cut where the product would refuse it."""
    return str(question.get(field) or question["query"]).encode()[:MAX_BYTES].decode("utf-8", "ignore")


def ranks(score: ModuleType, answers: Sequence[Answer], questions: Sequence[Question]) -> tuple[list[int | None], list[float]]:
    """Rank of the first hit that finds the gold, and the share of gold in the focus of those found in the first five."""
    places, precise = [], []
    for question, answer in zip(questions, answers, strict=True):
        place = first_rank([finds(score, hit, question) for hit in answer.hits])
        shown = score.shown(to_json(hit_view(answer.hits[place - 1]))) if place and place <= 5 else None
        if shown and shown[3] and not of_passages(question) and score.finds(*shown[:3], question):
            precise.append(_gold_share(score, shown, question))
        places.append(place)
    return places, precise


def of_passages(question: Question) -> bool:
    """Whether its gold is passages by name rather than lines."""
    return isinstance(question["gold"], list) and isinstance(question["gold"][0], str)


def finds(score: ModuleType, hit: Hit, question: Question) -> bool:
    """Whether a hit shows the gold: its own lines, or those of a copy of its text."""
    if of_passages(question):
        return hit.chunk.path in question["gold"]
    return any(score.finds(*place, question) for place in (score.shown(to_json(hit_view(hit)))[:3], *map(_home, hit.chunk.copies)))


def _home(copy: str) -> tuple[str, int, int]:
    """Path and lines of a copy, written `work#path#Lstart-Lend`, as score.py names them."""
    work, _, rest = copy.partition("#")
    path, _, lines = rest.rpartition("#")
    start, end = (int(line.removeprefix("L")) for line in lines.split("-"))
    return (work.removeprefix("repo:github.com/").lower() + "/" + path if work.startswith("repo:") else path), start, end


def _gold_share(score: ModuleType, one: tuple[Any, ...], question: Question) -> float:
    start, end = one[3]["start_line"], one[3]["end_line"]
    best = max((score.overlap(start, end, g["start"], g["end"]) for g in score.golds(question) if score.same(one[0], g)), default=0)
    return float(max(0, best) / (end - start + 1))


def baseline(corpus: Corpus, field: str) -> list[int | None]:
    """score.py's BM25: over 40-line windows of code, or over the passages as they are."""
    score, questions = corpus.score, corpus.questions
    if not corpus.folders:
        index = score.BM25([chunk.text for chunk in corpus.chunks])
        return [first_rank([corpus.chunks[i].path in q["gold"] for i in index.top(asked(q, field), K)]) for q in questions]
    pool = [window for folder in corpus.folders for window in score.windows(str(folder))]
    index = score.BM25([window[3] for window in pool])
    return [first_rank([score.finds(*pool[i][:3], q) for i in index.top(asked(q, field), K)]) for q in questions]


def groups(questions: Sequence[Question]) -> Iterator[tuple[str, list[int]]]:
    kinds = dict.fromkeys(q.get("kind", "all") for q in questions)
    for kind in kinds:
        yield kind, [n for n, q in enumerate(questions) if q.get("kind", "all") == kind]


def line(name: str, places: Sequence[int | None], extra: str = "") -> None:
    print(f"{name:44s} n={len(places):4d}  {scores(places)}{extra}", flush=True)


def measure(corpus: Corpus, engine: Engine, out: Path | None) -> None:
    """Prints recall and MRR by kind, of BM25 and of the product; keeps the hits."""
    one, score, questions = corpus.one, corpus.score, corpus.questions
    for field in one.fields:
        started = time.perf_counter()
        answers = engine.ask_many([make_query(asked(q, field), k=K) for q in questions])
        each = (time.perf_counter() - started) / max(1, len(questions))
        places, _ = ranks(score, answers, questions)
        plain = baseline(corpus, field)
        for kind, members in groups(questions):
            name = called(one, kind, field)
            _, precise = ranks(score, [answers[n] for n in members], [questions[n] for n in members])
            line(f"bm25     {name}", [plain[n] for n in members])
            line(f"lineage  {name}", [places[n] for n in members], f"  focus {np.mean(precise):.2f}" if precise else "")
        print(f"# {one.name} {field}: {len(corpus.chunks)} chunks, {1000 * each:.1f} ms a question", flush=True)
        if out:
            out.mkdir(parents=True, exist_ok=True)
            written = ({"id": q["id"], "hits": [to_json(hit_view(hit)) for hit in a.hits]} for q, a in zip(questions, answers, strict=True))
            (out / f"{one.name}.{field}.jsonl").write_text("".join(dumps(row) + "\n" for row in written), encoding="utf-8")


def called(one: Set, kind: str, field: str) -> str:
    return f"{one.name} {kind}" + (" (no identifiers)" if field == "query_noid" else "")


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


@dataclass(frozen=True)
class Corpus:
    """A set ready to be asked; `folders` hold its files, none where it is passages."""

    one: Set
    score: ModuleType
    questions: list[Question]
    folders: tuple[Path, ...]
    chunks: Sequence[Chunk]
    generation: Generation
    index: VectorIndex | None
    embedder: Embedder | None

    def engine(
        self, weights: FusionWeights | None = None, words: Vocabulary | None = None, vectors: bool = True, reranker: Reranker | None = None
    ) -> Engine:
        """The product's engine over it."""
        embedder = self.embedder
        vectors_of = (lambda: embedder) if embedder and vectors else None
        return Engine(self.generation, vectors_of, self.index, weights, words, reranker, cache(registry.load("embedders", "static")))


def opened(
    one: Set, args: argparse.Namespace, embedder: Embedder | None, scratch: Path, stack: ExitStack, cut: Callable[[Path], list[Chunk]] = code_chunks
) -> Corpus | None:
    """A set as a generation, its code in the pieces that `cut` makes; None, and a line that says so, where its corpus is missing."""
    score = scorer(args.data)
    folder = None if one.passages else corpus_of(one, args.data, args.corpora, score, scratch)
    if folder is None and not one.passages:
        print(f"# {one.name} is skipped: no folder {args.corpora / one.name}", flush=True)
        return None
    folders = tuple(place for place in (folder, args.further) if place) if folder else ()
    chunks = passage_chunks(args.data / one.passages) if folder is None else cut(folder)
    if folder and args.further:
        chunks = [*chunks, *repository_chunks(args.further)]
    name = f"{one.name}-{cut.__name__.replace('_', '-')}-{embedder.id.partition('@')[0] if embedder else 'none'}"
    build(scratch, name, chunks, embedder, args.cache or scratch)
    generation = stack.enter_context(open_generation(scratch, name))
    index = registry.load("vectors", "faiss")(generation.vectors) if generation.vectors is not None else None
    return Corpus(one, score, rows(args.data / one.questions), folders, chunks, generation, index, embedder)


def chosen(names: str) -> list[Set]:
    return [one for one in (*SETS, ABSTRACTS) if one.name in names.split(",")]


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


def arguments(doc: str | None) -> argparse.ArgumentParser:
    """What every benchmark over the sets is told."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--corpora", type=Path, default=Path("corpora"))
    parser.add_argument("--with", type=Path, dest="further", metavar="DIR", help="repositories as OWNER/NAME that lie in the same index")
    parser.add_argument("--embedder", default="packaged")
    parser.add_argument("--sets", default=",".join(one.name for one in SETS))
    parser.add_argument("--cache", type=Path, help="keeps vectors between runs")
    return parser


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--reranker", default="")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    embedder = embedder_of(args.embedder)
    reranker = reranker_of(args.reranker)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for one in chosen(args.sets):
            corpus = part(one.name, opened, one, args, Remembering(embedder) if embedder else None, scratch, stack)
            if corpus:
                measure(corpus, corpus.engine(reranker=reranker), args.out)


if __name__ == "__main__":
    run_benchmark(main)
