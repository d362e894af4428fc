"""Questions that a language model wrote about passages it had read, as pairs to tune on.

    python -m benchmarks.models.asked --wheels DIR --cache DIR --out FILE.jsonl [--apart DIR ...]             the first round
    python -m benchmarks.models.asked --wheels DIR --round 2 --out FILE.jsonl [--apart DIR ...]               the second

Why: templates turn an author's words about code into questions, and a model tuned on those stops gaining. `asked.jsonl` holds what
a reader would ask who does not know the code, of passages out of the same packages, with the lines that answer; `ASKING.md` is
what the writers were told. Beside each question stand passages that look like an answer and are none: what the packaged model
(in the second round, whose questions are asked of a model that has learned from the first, BM25) finds for it behind the first
few, out of the same packages. Texts that share six lines with a file under `--apart` (evaluation
data) are neither. A function of the wheels, the questions and the packaged model.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

import numpy as np
from scipy.sparse import csc_array

from benchmarks.evidence import embedded
from benchmarks.models.corpus import Package, packages, read
from benchmarks.models.pairs import evaluated, shingles
from indexer.chunking.chunker import chunks
from indexer.embedders import packaged
from indexer.parsers import plain
from indexer.parsers.code import parser as code
from indexer.store.computed_cache import VectorCache
from lineage.errors import ParseError
from lineage.ports import Vectors
from lineage.records import Chunk, WorkId
from lineage.text.tokens import tokens
from retrieval.search.focus import described

QUESTIONS = Path(__file__).resolve().parent / "asked.jsonl"
PROSE = frozenset("PQR")
WHOLE = frozenset("D")
"""Paragraphs of a paper that the passage as a whole implements: no lines of it answer more than others."""
NEAR, FAR, FILE, FILES = 80, 25, 25, 8
"""Passages that a package gives to the pool: of the files that are asked about, of others; of one file; of how many others."""
FIRST, LAST, KEPT = 4, 60, 8
"""The ranks that negatives are drawn from (what stands before may well answer too), and how many are kept."""
ALIKE = 0.88
"""The similarity to the right passage from which another one may answer too."""
_QUOTES = ('r"""', '"""', "r'''", "'''")


def kept_out(package: str) -> bool:
    """Whether a package's questions are not trained on: a tenth of the packages, to measure and to choose on."""
    return int(hashlib.md5(package.encode(), usedforsecurity=False).hexdigest(), 16) % 10 == 0


@dataclass(frozen=True)
class Row:
    """A passage of a wheel, by the spans of lines that it is made of, with its questions (style, first and last line, text) and their round."""

    package: str
    path: str
    header: str
    lines: tuple[tuple[int, int], ...]
    asked: tuple[tuple[str, int, int, str], ...]
    round: int = 1

    def text(self, source: str) -> str:
        """Its lines out of the file; those of a docstring without the quotes."""
        numbered = source.split("\n")
        taken = "\n\n".join("\n".join(numbered[first - 1 : last]) for first, last in self.lines)
        return _unquoted(taken) if self.asked[0][0] in PROSE else taken

    def has(self, chunk: Chunk) -> bool:
        """Whether a chunk of the same package shares lines with it."""
        return chunk.path == self.path and any(first <= chunk.end_line and chunk.start_line <= last for first, last in self.lines)


@dataclass(frozen=True)
class Pair:
    """A question with forms of the passage that answers it (as it is, without its docstrings) and passages that do not."""

    kind: str
    package: str
    query: str
    passages: tuple[str, ...]
    negatives: tuple[str, ...]


def rows(path: Path = QUESTIONS) -> list[Row]:
    """The questions, passage by passage."""
    found = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    return [
        Row(row["package"], row["path"], row["header"], tuple(map(tuple, row["lines"])), tuple(map(tuple, row["asked"])), row.get("round", 1))  # type: ignore[arg-type]
        for row in found
    ]


def passages(wheels: Path) -> Iterator[tuple[Row, str]]:
    """Every passage that is asked about, with its text, of the packages whose wheels are there."""
    by: dict[str, list[Row]] = defaultdict(list)
    for row in rows():
        by[row.package].append(row)
    for found in packages(wheels):
        texts = dict(read(found)) if found.name in by else {}
        yield from ((row, row.text(texts[row.path])) for row in by[found.name])


def forms(row: Row, text: str) -> list[str]:
    """A passage under its header, and the same without its docstrings where enough is left."""
    bare = "\n".join(line for line, told in zip(text.split("\n"), described(text.split("\n")), strict=True) if not told)
    shorter = row.asked[0][0] not in PROSE and len(text) > len(bare) > 80
    return [f"{row.header}\n{one}" for one in (text, *([bare] if shorter else ()))]


def pool(found: Package, about: Sequence[Row]) -> list[Chunk]:
    """Passages of a package that a question could be mistaken for: of the asked files, and some of others."""
    rng = Random(f"pool:{found.name}")
    files = list(read(found))
    rng.shuffle(files)
    paths = {row.path for row in about}
    others = [(path, text) for path, text in files if path not in paths][:FILES]
    near = [chunk for path, text in files if path in paths for chunk in _some(_chunks(found, path, text), FILE, rng)]
    far = [chunk for path, text in others for chunk in _chunks(found, path, text)]
    return _some(near, NEAR, rng) + _some(far, FAR, rng)


def _chunks(found: Package, path: str, text: str) -> list[Chunk]:
    parse, data = (plain if path.endswith(".md") else code).parse, text.encode("utf-8", "replace")
    try:
        made = chunks(parse(path, data, WorkId(f"repo:github.com/pkg/{found.name}"), hashlib.sha256(data).hexdigest()))
    except ParseError:
        return []
    return [chunk for chunk in made if len(chunk.text) > 120]


def _some(made: list[Chunk], most: int, rng: Random) -> list[Chunk]:
    return made if len(made) <= most else rng.sample(made, most)


def pairs(row: Row, text: str, others: Sequence[Chunk], places: Sequence[Sequence[int]], rng: Random) -> Iterator[Pair]:
    """The pairs of one passage; `places` are the pool's passages that may be negatives, for each question."""
    for (style, _, _, question), found in zip(row.asked, places, strict=True):
        free = [at for at in found if not (others[at].work.endswith(f"/{row.package}") and row.has(others[at]))]
        kept = rng.sample(free, min(KEPT, len(free)))
        yield Pair(f"asked {style}", row.package, question, tuple(forms(row, text)), tuple(_text(others[at])[:2600] for at in kept))


def negatives(questions: Vectors, right: Vectors, others: Vectors) -> Iterator[list[int]]:
    """For each question (n, d) and its passage (n, d) the places among others (m, d) that are near it, but not the nearest nor the same."""
    for query, passage in zip(questions, right, strict=True):
        near = others @ query
        ranked = np.argpartition(-near, LAST)[:LAST]
        ranked = ranked[np.argsort(-near[ranked])][FIRST:]
        yield [int(at) for at in ranked if others[at] @ passage < ALIKE]


def worded(questions: Iterable[str], texts: Sequence[str]) -> Iterator[list[int]]:
    """For each question the places among the texts that BM25 finds for it, but not the first."""
    often = [Counter(tokens(text)) for text in texts]
    places = {token: at for at, token in enumerate(dict.fromkeys(token for counts in often for token in counts))}
    lengths = np.array([sum(counts.values()) for counts in often], np.float32)
    rows = np.repeat(np.arange(len(texts)), list(map(len, often)))
    columns = [places[token] for counts in often for token in counts]
    counted = np.array([count for counts in often for count in counts.values()], np.float32)
    held = np.bincount(columns, minlength=len(places))
    rare = np.log1p((len(texts) - held + 0.5) / (held + 0.5)).astype(np.float32)
    worth = counted * 2.2 / (counted + 0.3 + 0.9 * (lengths / lengths.mean())[rows]) * rare[columns]
    table = csc_array((worth, (rows, columns)), shape=(len(texts), len(places)))
    for question in questions:
        found = np.asarray(table[:, [places[token] for token in sorted(set(tokens(question)) & places.keys())]].sum(axis=1)).ravel()
        ranked = np.argsort(-found, kind="stable")[FIRST:LAST]
        yield [int(at) for at in ranked if found[at] > 0]


def distinct(texts: Iterable[str], apart: frozenset[bytes]) -> bool:
    """Whether none of the texts shares six lines with evaluation data."""
    return not any(apart.intersection(shingles(text)) for text in texts)


def _text(chunk: Chunk) -> str:
    return f"{chunk.header}\n{chunk.text}" if chunk.header else chunk.text


def _unquoted(text: str) -> str:
    text = text.strip()
    for mark in _QUOTES:
        text = text.removeprefix(mark).removesuffix(mark)
    head, _, rest = text.partition("\n")
    return f"{head.strip()}\n{textwrap.dedent(rest)}".strip()


def _read(found: Package, about: Sequence[Row]) -> tuple[list[str], list[Chunk]]:
    texts = dict(read(found))
    return [row.text(texts[row.path]) for row in about], pool(found, about)


def _of(wheels: Iterable[Package], number: int) -> Iterator[tuple[list[Row], list[str], list[Chunk]]]:
    by: dict[str, list[Row]] = defaultdict(list)
    for row in rows():
        if row.round == number:
            by[row.package].append(row)
    used = [each for each in wheels if each.licence and each.name in by]
    with ProcessPoolExecutor(2) as workers:
        read_ = workers.map(_read, used, [by[each.name] for each in used], chunksize=4)
        for each, (texts, others) in zip(used, read_, strict=True):
            yield by[each.name], texts, others


def _by_model(about: Sequence[tuple[Row, str]], candidates: Sequence[Chunk], cache: Path) -> Iterator[list[list[int]]]:
    model = packaged.create()
    vectors = embedded(model, candidates, VectorCache(cache))
    right = model.passages([f"{row.header}\n{text}" for row, text in about])
    for (row, _), passage in zip(about, right, strict=True):
        questions = model.queries([question for _, _, _, question in row.asked])
        yield list(negatives(questions, np.repeat(passage[None], len(questions), axis=0), vectors))


def _by_words(about: Sequence[tuple[Row, str]], candidates: Sequence[Chunk]) -> Iterator[list[list[int]]]:
    found = worded((question for row, _ in about for _, _, _, question in row.asked), [_text(chunk) for chunk in candidates])
    for row, _ in about:
        yield [next(found) for _ in row.asked]


def main() -> None:
    """Write the pairs, one JSON object a line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=Path, required=True)
    parser.add_argument("--cache", type=Path, help="vectors of the pool are kept there (first round)")
    parser.add_argument("--round", type=int, default=1, choices=(1, 2))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--apart", type=Path, nargs="*", default=[])
    arguments = parser.parse_args()
    if arguments.round == 1 and not arguments.cache:
        parser.error("the first round needs --cache")
    about: list[tuple[Row, str]] = []
    others: dict[str, Chunk] = {}
    apart = evaluated(arguments.apart)
    for some, texts, near in _of(packages(arguments.wheels), arguments.round):
        about += zip(some, texts, strict=True)
        others |= {_text(chunk): chunk for chunk in near if distinct([chunk.text], apart)}
    candidates, rng = list(others.values()), Random(0)
    found = _by_model(about, candidates, arguments.cache) if arguments.round == 1 else _by_words(about, candidates)
    with arguments.out.open("w", encoding="utf-8") as out:
        for (row, text), places in zip(about, found, strict=True):
            made = pairs(row, text, candidates, places, rng)
            out.writelines(json.dumps(asdict(pair)) + "\n" for pair in made if distinct(pair.passages, apart))
    print(len(about), "passages", len(candidates), "others")


if __name__ == "__main__":
    main()
