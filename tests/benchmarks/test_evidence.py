"""What the benchmarks over evidence count, and that fitting sees what the engine sees."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from benchmarks import ablation, dump, evidence, fit
from benchmarks.evidence import Corpus, Set
from lineage import registry
from lineage.generation import open_generation
from lineage.records import Chunk, Hit, Work, WorkId
from retrieval.search.priors import FusionWeights
from retrieval.search.query import make_query
from tests.fakes.embedder import HashingEmbedder

FILES = {
    "one/train.py": "import torch\n\n\ndef warmup(step):\n    return min(1.0, step / 100)\n\n\ndef loss(a, b):\n    return (a - b) ** 2\n",
    "one/model.py": "class Net:\n    def init_weights(self):\n        self.head.weight.normal_(std=0.02)\n\n    def forward(self):\n        pass\n",
    "two/train.py": "def warmup(step):\n    return 1.0 if step > 10 else step / 10\n",
}
FILES |= {f"three/{n}.md": f"# Warm-up {n}\n\nThe warm-up takes {n} steps, then the weights decay.\n" for n in range(1, 6)}
QUESTIONS = [
    {"query": "linear warmup over a hundred steps", "gold": {"path": "one/train.py", "start": 4, "end": 5}},
    {"query": "how are the weights initialised?", "gold": {"path": "one/model.py", "start": 2, "end": 3}},
    {"query": "warmup of ten steps", "gold": {"path": "two/train.py", "start": 1, "end": 2}},
]


def _score() -> Any:
    """The rules of what counts, as the data's own score.py has them."""

    class Score(ModuleType):
        @staticmethod
        def shown(hit: dict[str, Any]) -> tuple[str, int, int, dict[str, Any]]:
            source = hit["source"]
            return source["path"], source["start_line"], source["end_line"], hit["focus"] or {}

        @staticmethod
        def finds(path: str, start: int, end: int, question: dict[str, Any]) -> bool:
            gold = question["gold"]
            return bool(path == gold["path"] and min(end, gold["end"]) - max(start, gold["start"]) + 1 >= 0.5 * (gold["end"] - gold["start"] + 1))

        @staticmethod
        def golds(question: dict[str, Any]) -> list[dict[str, Any]]:
            return [question["gold"]]

        @staticmethod
        def same(path: str, gold: dict[str, Any]) -> bool:
            return bool(path == gold["path"])

        @staticmethod
        def overlap(a: int, b: int, start: int, end: int) -> int:
            return min(b, end) - max(a, start) + 1

    return Score("score")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        place = tmp_path / "corpus" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return tmp_path / "corpus"


@pytest.fixture
def corpus(folder: Path, tmp_path: Path) -> Iterator[Corpus]:
    embedder = HashingEmbedder()
    chunks = evidence.code_chunks(folder)
    evidence.build(tmp_path, "tiny", chunks, embedder, tmp_path)
    with open_generation(tmp_path, "tiny") as generation:
        index = registry.load("vectors", "flat")(generation.vectors)
        yield Corpus(Set("tiny", ""), _score(), QUESTIONS, (folder,), chunks, generation, index, embedder)


@pytest.mark.parametrize("weights", [FusionWeights(), FusionWeights(dense=0.2, toplevel=0.0), FusionWeights(dense=1.0), FusionWeights(siblings=0.5)])
def test_ranks_from_lists_are_those_of_the_engine(corpus: Corpus, weights: FusionWeights):
    answers = corpus.engine(weights).ask_many([make_query(one["query"], k=evidence.K) for one in QUESTIONS])
    found = dump.dumped(dump.pool_of(corpus))
    assert [dump.rank(one, weights) for one in found] == evidence.ranks(corpus.score, answers, QUESTIONS)[0]


def test_the_signs_without_an_answer_are_those_of_an_index_without_its_work(corpus: Corpus):
    found = dump.dumped(dump.pool_of(corpus))[1]
    assert found.missing is not None
    assert found.missing.gap < found.held.gap
    assert found.missing.terms == found.held.terms


def test_a_copy_of_the_gold_is_the_gold_wherever_it_lies():
    chunk = Chunk("c_1", WorkId("repo:github.com/a/b"), "lib/x.py", "code", "function", "def f(): pass", "", 0, 13, 8, 8)
    work = Work(WorkId("repo:github.com/a/b"), "code")
    question = QUESTIONS[0]
    assert not evidence.finds(_score(), Hit(1, 0.5, chunk, work), question)
    copied = Chunk(**{**vars(chunk), "copies": ("local:1#one/train.py#L4-L5",)})
    assert evidence.finds(_score(), Hit(1, 0.5, copied, work), question)


def test_repositories_beside_a_set_are_works_of_their_own(folder: Path):
    found = {(chunk.work, chunk.path) for chunk in evidence.repository_chunks(folder.parent) if chunk.kind == "code"}
    one, two = "repo:github.com/corpus/one", "repo:github.com/corpus/two"
    assert found == {(one, "train.py"), (one, "model.py"), (two, "train.py")}


def test_questions_that_abstracts_answer_are_asked_only_where_they_are_named():
    assert evidence.ABSTRACTS not in evidence.chosen("scireplicate,rcb,packages,m3sciqa")
    (one,) = evidence.chosen("abstracts")
    questions = evidence.rows(Path("anywhere") / one.questions)
    assert len({question["id"] for question in questions}) == 240
    assert all(question["gold"] == [question["arxiv"]] and evidence.of_passages(question) for question in questions)


def test_windows_hold_every_line_twenty_apart(tmp_path: Path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "a.py").write_text("".join(f"x{n} = {n}\n" for n in range(1, 71)))
    found = ablation.windows(tmp_path)
    assert [(chunk.start_line, chunk.end_line) for chunk in found] == [(1, 40), (21, 60), (41, 71)]
    assert found[1].text.startswith("x21 = 21\n")


def test_the_regression_tells_apart_what_one_sign_tells_apart():
    x = np.array([[1.0, value] for value in (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)])
    weights = fit.logistic(x, np.array([0.0, 0.0, 1.0, 0.0, 1.0, 1.0]))
    assert weights[1] > 0
    assert fit.auroc(np.array([2.0, 4.0, 5.0]), np.array([0.0, 1.0, 3.0])) == pytest.approx(8 / 9)
