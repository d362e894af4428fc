"""Pairs of a question and the passage that answers it, out of the packages' own words about their code.

    python -m benchmarks.models.pairs --wheels DIR --out FILE.jsonl [--apart DIR ...] [--processes 2]

Passages are what the product embeds: its own parsers, chunks and headers, less the words that became the question. Kinds:
`doc` docstring -> body, `ask` the same asked as a question or as a gap, without its identifiers, `comment` -> the statements
under it, `help` of an option -> its definition, `name` of a function or variable in words -> its lines, `aspect` a question
by what a name is for -> body, `prose` a sentence of documentation -> the rest of its section, `readme` a paragraph that names
a function -> that function. Passages that share six consecutive lines with a file under `--apart` (evaluation data) are left
out. A function of the wheels and the seed.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from benchmarks.models import phrasing
from benchmarks.models.corpus import Package, packages, read
from indexer.chunking.chunker import chunks
from indexer.parsers import plain
from indexer.parsers.code import parser as code
from lineage.errors import ParseError
from lineage.records import Chunk, WorkId

WORK = WorkId("local:0000000000000000")
CAPS = {"doc": 220, "ask": 280, "comment": 220, "help": 60, "name": 60, "aspect": 60, "prose": 150, "readme": 40}
"""The most pairs of a kind that one package gives."""
FILES = 110
SHINGLE = 6
ROOM = 14
"""Lines of a chunk above what is asked for that a passage keeps: the model reads the first 200 tokens or so."""

_FIRST = re.compile(
    r"\n\s*\n|\n\s*(?:Args|Arguments|Parameters|Params|Returns?|Raises|Examples?|Notes?|Inputs?|Outputs?|Yields|Usage|References?|Shape)\s*:|\n\s*:param|\n\s*[-=]{3,}|@param|:param|>>>"
)
_MARKUP = re.compile(r"https?://\S+|<[^<>]{1,200}>|``?|\[`[~!]?|`\]|:[a-z]+:(?=`)|\*\*")
_NOT_PROSE = re.compile(
    r"[=({\[]|:$|noqa|type:|pylint|pragma|todo|fixme|xxx|copyright|licen[cs]e|https?://|\bimport\b|^[-=#*\s]+$|coding", re.IGNORECASE
)


@dataclass(frozen=True)
class Pair:
    kind: str
    package: str
    path: str
    query: str
    passage: str


@dataclass(frozen=True)
class Piece:
    """A chunk of a file, with what the whole file knows."""

    chunk: Chunk
    lines: Sequence[str]
    rng: Random

    def passage(self, without: range, at: int) -> str:
        """The chunk as the product embeds it, less the lines `without`, from at most ROOM lines above line `at`."""
        first, last = self.chunk.start_line, self.chunk.end_line
        first = max(first, at - self.rng.randint(ROOM // 3, ROOM)) if at - first > ROOM else first
        kept = [self.lines[number - 1] for number in range(first, last + 1) if number not in without]
        return f"{self.chunk.header}\n" + "\n".join(kept)

    def holds(self, line: int) -> bool:
        return self.chunk.start_line <= line <= self.chunk.end_line


def file_pairs(path: str, text: str, package: str, rng: Random) -> Iterator[Pair]:
    """Every pair of one file."""
    if path.endswith(".md"):
        yield from _prose(path, text, package, rng)
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        found = chunks(code.parse(path, text.encode("utf-8", "replace"), WORK, "0"))
    except (SyntaxError, ValueError, RecursionError, ParseError):
        return
    lines = text.split("\n")
    pieces = [Piece(chunk, lines, rng) for chunk in found]
    for kind, query, at, without in _asked(tree, lines, rng):
        piece = next((piece for piece in pieces if piece.holds(at)), None)
        if piece:
            yield Pair(kind, package, path, query, piece.passage(without, at))
    yield from _long_docstrings(tree, path, package, rng)


Asked = tuple[str, str, int, range]
"""Kind, question, the line it is about, the lines that gave it away."""


def _asked(tree: ast.Module, lines: Sequence[str], rng: Random) -> Iterator[Asked]:
    for node, owner in _scopes(tree, ""):
        yield from _described(node, owner, rng)
    yield from _comments(lines)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _help(node, lines)
        elif isinstance(node, ast.Assign) and rng.random() < 0.15:
            yield from _named(node)


_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _scopes(node: ast.AST, owner: str) -> Iterator[tuple[_Scope, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Scope):
            yield child, owner
            yield from _scopes(child, child.name if isinstance(child, ast.ClassDef) else owner)
        elif isinstance(child, ast.If | ast.Try | ast.With):
            yield from _scopes(child, owner)


def _described(node: _Scope, owner: str, rng: Random) -> Iterator[Asked]:
    """Pairs of a function or class: its docstring as it is, asked, and what its name says."""
    words, without, body = first_paragraph(ast.get_docstring(node) or ""), range(0), node.body
    if ast.get_docstring(node) is not None:
        without, body = range(body[0].lineno, (body[0].end_lineno or body[0].lineno) + 1), body[1:]
    if not body or (node.end_lineno or 0) - node.lineno - len(without) < 2:
        return
    at = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    if 3 <= len(words.split()) <= 70 and words.isascii():
        yield "doc", words, at, without if rng.random() < 0.8 else range(0)
        said = phrasing.plain(words, rng)
        if len(said.split()) >= 3:
            yield "ask", phrasing.question(said, owner, rng) if rng.random() < 0.6 else rng.choice((phrasing.gap(said, rng), said)), at, without
    asked = phrasing.aspect(node.name, owner, rng)
    if asked and rng.random() < 0.3:
        yield "aspect", asked, at, without
    elif rng.random() < 0.1 and len(phrasing.words(node.name).split()) >= 2:
        yield "name", phrasing.words(node.name), at, without


def first_paragraph(docstring: str) -> str:
    """The first paragraph of a docstring, its markup taken off."""
    return " ".join(_MARKUP.sub("", _FIRST.split(docstring.strip())[0]).split())


def _comments(lines: Sequence[str]) -> Iterator[Asked]:
    at = 0
    while at < len(lines):
        first = at
        while at < len(lines) and lines[at].lstrip().startswith("#"):
            at += 1
        said = " ".join(line.strip().lstrip("#").strip() for line in lines[first:at])
        below = lines[at].strip() if at < len(lines) else ""
        if at > first and first > 3 and below and 2 <= len(said.split()) <= 60 and said.isascii() and not _NOT_PROSE.search(said):
            yield "comment", said, at + 1, range(first + 1, at + 1)
        at = max(at, first + 1)


def _help(node: ast.Call, lines: Sequence[str]) -> Iterator[Asked]:
    """The help text of an option, a field or a flag; the lines that hold the text only are taken out."""
    for keyword in node.keywords:
        value = keyword.value
        if keyword.arg in {"help", "description"} and isinstance(value, ast.Constant) and isinstance(value.value, str):
            said = " ".join(value.value.split())
            place = range(value.lineno, (value.end_lineno or value.lineno) + 1)
            own = [line for line in place if lines[line - 1].strip().startswith(("help", "description", '"', "'"))]
            if 2 <= len(said.split()) <= 50 and said.isascii():
                yield "help", said, node.lineno, range(own[0], own[-1] + 1) if own else range(0)


def _named(node: ast.Assign) -> Iterator[Asked]:
    target = node.targets[0]
    if isinstance(target, ast.Name) and isinstance(node.value, ast.Call | ast.BinOp) and 2 <= len(phrasing.words(target.id).split()) <= 5:
        yield "name", phrasing.words(target.id), node.lineno, range(0)


def _long_docstrings(tree: ast.Module, path: str, package: str, rng: Random) -> Iterator[Pair]:
    """A sentence of a long description and the rest of it, as a paper's passage and a question about it."""
    for node in [tree, *(scope for scope, _ in _scopes(tree, ""))]:
        words = _MARKUP.sub("", re.split(r"\n\s*(?:Args|Arguments|Parameters|Examples?|Attributes)\s*:?\s*\n", ast.get_docstring(node) or "")[0])
        yield from _cloze(words, f"{package} > {getattr(node, 'name', path)}", path, package, rng)


def _cloze(words: str, header: str, path: str, package: str, rng: Random) -> Iterator[Pair]:
    sentences = [part for part in re.split(r"(?<=[a-z)])[.!?]\s+", " ".join(words.split())) if part]
    fit = [n for n, part in enumerate(sentences) if 7 <= len(part.split()) <= 50 and part.isascii()]
    if len(sentences) >= 4 and fit and len(words) > 300:
        asked = rng.choice(fit)
        low = max(0, asked - rng.randint(1, 4))
        rest = sentences[low:asked] + sentences[asked + 1 : asked + 8]
        yield Pair("prose", package, path, phrasing.plain(sentences[asked], rng), f"{header}\n" + ". ".join(rest))


def _prose(path: str, text: str, package: str, rng: Random) -> Iterator[Pair]:
    try:
        found = chunks(plain.parse(path, text.encode("utf-8", "replace"), WORK, "0"))
    except ParseError:
        return
    for chunk in found:
        yield from _cloze(_MARKUP.sub("", chunk.text), " > ".join((package, *chunk.section)), path, package, rng)
        if chunk.section and len(chunk.text.split()) > 25 and len(chunk.section[-1].split()) > 1:
            body = chunk.text.partition("\n")[2] if chunk.text.lstrip("# ").startswith(chunk.section[-1][:20]) else chunk.text
            yield Pair("prose", package, path, chunk.section[-1], f"{package} · {path}\n{body}")
        if "```" in chunk.text and (said := _before_fence(chunk.text)):
            yield Pair("readme", package, path, phrasing.plain(said, rng), f"{chunk.header}\n" + chunk.text[chunk.text.index("```") :])


def _before_fence(text: str) -> str:
    said = " ".join(_MARKUP.sub("", text[: text.index("```")].rstrip().rpartition("\n\n")[2]).lstrip("# ").split())
    return said if 3 <= len(said.split()) <= 60 and not _NOT_PROSE.search(said.rstrip(":")) else ""


def package_pairs(found: Package, apart: frozenset[bytes], seed: int = 0) -> list[Pair]:
    """The pairs of one package, each kind at most as CAPS says, drawn evenly from at most FILES files."""
    rng = Random(f"{seed}:{found.name}")
    files = list(read(found))
    chosen = files if len(files) <= FILES else [*rng.sample(files[:-1], FILES), files[-1]]
    made = [pair for path, text in chosen for pair in file_pairs(path, text, found.name, rng)]
    rng.shuffle(made)
    count: Counter[str] = Counter()
    kept = []
    for pair in made:
        if count[pair.kind] < CAPS[pair.kind] and len(pair.passage) > 120 and not apart.intersection(shingles(pair.passage)):
            count[pair.kind] += 1
            kept.append(Pair(pair.kind, pair.package, pair.path, pair.query[:600], pair.passage[:2600]))
    return kept


def shingles(text: str) -> Iterator[bytes]:
    """Hashes of every six consecutive lines that say something."""
    lines = [line for line in (re.sub(r"\W+", "", line).lower() for line in text.split("\n")) if len(line) > 3]
    for at in range(len(lines) - SHINGLE + 1):
        yield hashlib.blake2b("\n".join(lines[at : at + SHINGLE]).encode("utf-8", "replace"), digest_size=8).digest()


def evaluated(folders: Iterable[Path]) -> frozenset[bytes]:
    """The shingles of all files under the folders of evaluation data."""
    files = (path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix in {".py", ".md", ".txt", ".yaml"})
    return frozenset(one for path in files for one in shingles(path.read_text("utf-8", "replace")))


def _unique(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Each question once and each passage at most three times: vendored copies are many."""
    asked: set[str] = set()
    seen: Counter[str] = Counter()
    for pair in pairs:
        question = f"{pair.kind} {pair.query.lower()}" if pair.kind == "aspect" else pair.query.lower()
        passage = re.sub(r"\W+", "", pair.passage.partition("\n")[2])[:400]
        if (question not in asked or pair.kind == "aspect") and seen[passage] < 3:
            asked.add(question)
            seen[passage] += 1
            yield pair


_APART: list[frozenset[bytes]] = []


def _start(folders: list[Path]) -> None:
    _APART.append(evaluated(folders))


def _task(found: Package) -> list[Pair]:
    return package_pairs(found, _APART[0])


def main() -> None:
    """Write the pairs, one JSON object a line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--apart", type=Path, nargs="*", default=[])
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    chosen = [each for each in packages(arguments.wheels) if each.licence]
    workers = ProcessPoolExecutor(arguments.processes, initializer=_start, initargs=(arguments.apart,))
    with workers as pool, arguments.out.open("w", encoding="utf-8") as out:
        made = (pair for some in pool.map(_task, chosen, chunksize=2) for pair in some)
        count: Counter[str] = Counter()
        for pair in _unique(made):
            out.write(json.dumps(asdict(pair)) + "\n")
            count[pair.kind] += 1
    print(len(chosen), "packages", sum(count.values()), "pairs", dict(count))


if __name__ == "__main__":
    main()
