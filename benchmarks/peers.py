"""Two peers on the same questions with the same local model: txtai's hybrid index, LlamaIndex's code splitter with BM25 + vectors.

    python -m venv peers && peers/bin/pip install txtai llama-index-core llama-index-retrievers-bm25 tree-sitter-python
    (and this project in the same environment)
    python -m benchmarks.peers --data DIR [--corpora DIR] [--sets scireplicate,rcb,packages,m3sciqa] [--every N] [--cache DIR]

Each is set up as its documentation shows: txtai `Embeddings(hybrid=True)` over sections of text (40-line windows, for it
has no splitter for code); LlamaIndex `CodeSplitter` (its defaults: 40 lines, 15 of overlap, 1,500 characters; prose by
`SentenceSplitter`), `QueryFusionRetriever` over `BM25Retriever` and a `VectorStoreIndex`, fused by reciprocal rank. Both
embed with the packaged model. Hits are judged by score.py, as everywhere.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import evidence
from benchmarks.parts import run_benchmark
from indexer.parsers.select import select
from indexer.store.computed_cache import VectorCache
from lineage.ports import Embedder

WINDOW, STEP = 40, 20
K = evidence.K


@dataclass(frozen=True)
class Piece:
    """What a peer indexes: lines of a file, or a passage."""

    path: str
    start: int
    end: int
    text: str


Search = Callable[[Sequence[str]], list[list[Piece]]]


class Remembered:
    """The packaged model behind a cache, so that every peer and every run embeds a text once."""

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        self._embedder, self._cache = embedder, cache

    def vectors(self, texts: Sequence[str]) -> Any:
        keys = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        found = self._cache.get(self._embedder.id, keys)
        todo = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if todo:
            made = dict(zip(todo, self._embedder.passages(list(todo.values())), strict=True))
            self._cache.put(self._embedder.id, made)
            found |= made
        return evidence.np.stack([found[key] for key in keys])


def files(folder: Path) -> Iterator[tuple[str, str]]:
    """The texts of a corpus that the product would read as well."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.startswith("paper."):
            name, data = str(path.relative_to(folder)), path.read_bytes()
            if select(name, data).parser:
                yield name, data.decode("utf-8", "replace")


def windows(name: str, text: str) -> Iterator[Piece]:
    lines = text.split("\n")
    for start in range(0, max(1, len(lines) - STEP), STEP):
        part = lines[start : start + WINDOW]
        if any(line.strip() for line in part):
            yield Piece(name, start + 1, start + len(part), "\n".join(part))


def txtai(pieces: Sequence[Piece], model: Remembered) -> Search:
    from txtai import Embeddings

    index = Embeddings(hybrid=True, content=False, method="external", transform=lambda texts: model.vectors(texts))
    index.index((n, f"{piece.path}\n{piece.text}", None) for n, piece in enumerate(pieces))

    def search(questions: Sequence[str]) -> list[list[Piece]]:
        return [[pieces[n] for n, _ in found] for found in index.batchsearch(list(questions), K)]

    return search


def split(name: str, text: str) -> Iterator[Piece]:
    """LlamaIndex's own splitters, with the lines that each part stands on."""
    from llama_index.core import Document
    from llama_index.core.node_parser import CodeSplitter, SentenceSplitter
    from tree_sitter import Language, Parser
    from tree_sitter_python import language

    python = Parser(Language(language()))
    parser: Any = CodeSplitter(language="python", parser=python) if name.endswith(".py") else SentenceSplitter()
    try:
        nodes = parser.get_nodes_from_documents([Document(text=text)])
    except ValueError:
        nodes = SentenceSplitter().get_nodes_from_documents([Document(text=text)])
    at = 0
    for node in nodes:
        found = text.find(node.text, max(0, at - len(node.text)))
        at = found if found >= 0 else at
        first = text.count("\n", 0, at) + 1
        yield Piece(name, first, first + node.text.count("\n"), node.text)


def llama_index(pieces: Sequence[Piece], model: Remembered) -> Search:
    from llama_index.core import VectorStoreIndex
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import QueryFusionRetriever
    from llama_index.core.schema import TextNode
    from llama_index.retrievers.bm25 import BM25Retriever

    class Packaged(BaseEmbedding):  # type: ignore[misc]
        """The packaged model as LlamaIndex wants one."""

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return [list(map(float, row)) for row in model.vectors(texts)]

        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_text_embeddings([text])[0]

        _get_query_embedding = _get_text_embedding

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

    nodes = [TextNode(text=f"{piece.path}\n{piece.text}", metadata={"n": n}, excluded_embed_metadata_keys=["n"]) for n, piece in enumerate(pieces)]
    vectors = VectorStoreIndex(nodes, embed_model=Packaged(embed_batch_size=256)).as_retriever(similarity_top_k=K)
    lexical = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=K)
    fused = QueryFusionRetriever([vectors, lexical], similarity_top_k=K, num_queries=1, mode="reciprocal_rerank", use_async=False, llm=MockLLM())
    return lambda questions: [[pieces[hit.node.metadata["n"]] for hit in fused.retrieve(question)] for question in questions]


PEERS: dict[str, tuple[Callable[[str, str], Iterator[Piece]], Callable[[Sequence[Piece], Remembered], Search]]] = {
    "txtai hybrid": (windows, txtai),
    "llama-index fusion": (split, llama_index),
}


def places(score: Any, found: Sequence[Piece], question: dict[str, Any]) -> int | None:
    if isinstance(question["gold"], list) and isinstance(question["gold"][0], str):
        return evidence.first_rank([piece.path in question["gold"] for piece in found])
    return evidence.first_rank([score.finds(piece.path, piece.start, min(piece.end, piece.start + score.SHOWN - 1), question) for piece in found])


def measure(one: evidence.Set, score: Any, data: Path, folder: Path | None, model: Remembered, every: int = 1) -> dict[str, Any]:
    questions = evidence.rows(data / one.questions)[::every]
    said: dict[str, Any] = {}
    for name, (cut, make) in PEERS.items():
        if one.passages:
            pieces = [Piece(chunk.path, 1, 1, f"{chunk.header}\n{chunk.text}".strip()) for chunk in evidence.passage_chunks(data / one.passages)]
        else:
            pieces = [piece for file in files(folder or data) for piece in cut(*file)]
        search = make(pieces, model)
        for field in one.fields:
            answers = search([evidence.asked(question, field) for question in questions])
            ranks = [places(score, found, question) for found, question in zip(answers, questions, strict=True)]
            for kind, members in evidence.groups(questions):
                label = f"{one.name} {kind}" + (" (no identifiers)" if field == "query_noid" else "")
                evidence.line(f"{name:18s} {label}", [ranks[n] for n in members])
                said[f"{name} {label}"] = str(evidence.scores([ranks[n] for n in members]))
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--corpora", type=Path)
    parser.add_argument("--sets", default="scireplicate,rcb,m3sciqa")
    parser.add_argument("--embedder", default="packaged")
    parser.add_argument("--every", type=int, default=1, help="only every Nth question: a quick look")
    parser.add_argument("--cache", type=Path, help="keeps vectors between runs")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    score = evidence.scorer(options.data)
    embedder = evidence.embedder_of(options.embedder)
    if embedder is None:
        raise SystemExit("the peers need a model: --embedder packaged")
    said: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        model = Remembered(embedder, VectorCache(options.cache or Path(scratch)))
        for one in evidence.SETS:
            if one.name in options.sets.split(","):
                folder = None if one.passages else evidence.corpus_of(one, options.data, options.corpora or Path(scratch), score, Path(scratch))
                if folder is None and not one.passages:
                    print(f"# {one.name}: its corpus is not there", file=sys.stderr)
                    continue
                said |= measure(one, score, options.data, folder, model, options.every)
    if options.json:
        print(json.dumps(said))


if __name__ == "__main__":
    run_benchmark(main)
