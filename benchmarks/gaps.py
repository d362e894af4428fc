"""What papers leave unsaid, measured on PaperBench's rubrics: is a detail listed, is its value among the first five pieces of evidence?

    python -m benchmarks.gaps --data DIR --papers DIR --repos DIR [--embedder none|packaged] [--cache DIR] [--no-own-code]
                              [--only PAPER] [--show]

`--papers` holds one Markdown file a paper, `--repos` bare git copies. For every code-development leaf that names an
initialisation, learning rate, optimiser, schedule, layer count, batch size, loss weight or data step, each (detail, value) that
it states is one case, counted once a paper. Beside the report stand plain retrieval of the leaf's own text, which has the value
in it, and of the detail's question, which has not.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import rubric_papers  # noqa: E402
from benchmarks.evidence import embedded, embedder_of  # noqa: E402
from benchmarks.parts import run_benchmark  # noqa: E402
from benchmarks.rubric_papers import Source  # noqa: E402
from indexer.extraction.extract import extract  # noqa: E402
from indexer.repo_profile import profiles  # noqa: E402
from indexer.store.computed_cache import VectorCache  # noqa: E402
from indexer.store.generations import Store  # noqa: E402
from lineage import registry  # noqa: E402
from lineage.generation import open_generation  # noqa: E402
from lineage.hyperparameters.checklist import ChecklistItem, checklist  # noqa: E402
from lineage.hyperparameters.ontology import ontology  # noqa: E402
from lineage.hyperparameters.values import number  # noqa: E402
from lineage.ports import Embedder  # noqa: E402
from lineage.records import Chunk, CodeLink, Document, Hit, Mention, Query, Reference, Role, RoleVerdict, Setting, Tier, Work, WorkId  # noqa: E402
from lineage.results import Gap, Gaps  # noqa: E402
from lineage.text.phrases import Phrases, words  # noqa: E402
from retrieval.decisions.fact_index import holders  # noqa: E402
from retrieval.gaps.report import ReportInputs, report  # noqa: E402
from retrieval.gaps.stated import named, number_beside  # noqa: E402
from retrieval.search.batch import asked  # noqa: E402
from retrieval.search.engine import Engine  # noqa: E402

FIRST = 5
ASKED = {
    "initialisation": "initialisation",
    "learning_rate": "learning rate",
    "optimiser": "optimiser",
    "schedule": "schedule",
    "warmup": "schedule",
    "layers": "layer count",
    "width": "layer count",
    "batch_size": "batch size",
    "loss_weights": "loss weight",
    "splits": "data step",
    "preprocessing": "data step",
    "augmentation": "data step",
    "input_resolution": "data step",
    "dataset_size": "data step",
}
"""Details of the checklist by what issue and rubrics call them."""
OWN = {
    "adaptive-pruning": "ROIM1998/APT", "all-in-one": "mackelab/simformer", "bam": "modichirag/GSM-VI", "bbox": "haotiansun14/BBox-Adapter",
    "bridging-data-gaps": "ShinyGua/DPMs-ANT", "fre": "kvfrans/fre", "ftrl": "BartekCupial/finetuning-RL-as-CL", "lbcs": "xiaoboxia/LBCS",
    "lca-on-the-line": "ElvishElvis/LCA-on-the-line", "mechanistic-understanding": "ajyl/dpo_toxic", "pinn": "pratikrathore8/opt_for_pinns",
    "robust-clip": "chs20/RobustVLM", "sample-specific-masks": "tmlr-group/SMM", "sapg": "jayeshs999/sapg",
    "self-composing-policies": "mikelma/componet", "sequential-neural-score-estimation": "jacksimons15327/snpse_icml",
    "stochastic-interpolants": "interpolants/couplings", "what-will-my-model-forget": "AuCson/icml-24-wwmf-temp",
}  # fmt: skip
"""The papers' own repositories, as PaperBench's blacklists name them."""


@dataclass(frozen=True)
class Case:
    """One (detail, value) that a leaf of a paper's rubric states; `value` is a number or a choice's words."""

    paper: str
    need: ChecklistItem
    value: float | tuple[str, ...]
    leaf: str


def cases(data: Path, needs: Sequence[ChecklistItem] = ()) -> Iterator[Case]:
    """Every case of the rubrics, once a paper; of the details in `ASKED` unless others are given."""
    needs = needs or [need for need in checklist().needs if need.detail.name in ASKED]
    table = _mentions(needs)
    seen = set()
    for leaf in rubric_papers.leaves(data):
        for need, value in _stated(leaf["requirement"], table):
            key = (leaf["paper"], need.detail.name, value)
            if key not in seen:
                seen.add(key)
                yield Case(leaf["paper"], need, value, leaf["requirement"])


def _mentions(needs: Iterable[ChecklistItem]) -> Phrases[tuple[ChecklistItem, ...]]:
    found: dict[tuple[str, ...], list[ChecklistItem]] = defaultdict(list)
    for need in needs:
        for mention in need.mentions:
            found[mention].append(need)
    return Phrases({mention: tuple(some) for mention, some in found.items()})


def _stated(text: str, table: Phrases[tuple[ChecklistItem, ...]]) -> Iterator[tuple[ChecklistItem, float | tuple[str, ...]]]:
    said = words(text)
    places = named(table, said)
    starts = frozenset(first for first, _, _ in places)
    for first, after, needs in places:
        for need in needs:
            if need.number and (beside := number_beside(said, first, after, text, starts - {first})):
                yield from ((need, value) for at, value in numbers(text) if at == beside.start)
            for choice in dict.fromkeys(Phrases({one: one for one in need.choices}).found(said)):
                yield need, choice


# -- lineages


def _settings(documents: Iterable[Document], chunks: Iterable[Chunk]) -> Iterator[Setting]:
    own = defaultdict(list)
    for chunk in chunks:
        own[chunk.work, chunk.path].append(chunk)
    for document in documents:
        if document.kind != "paper":
            yield from extract(document, own[document.work, document.path], ontology()).settings


def lineage(home: Path, name: str, options: argparse.Namespace, embedder: Embedder | None, named: Sequence[str]) -> None:
    """The generation of one paper, unless it is there."""
    if (home / "lineages" / name / "CURRENT").exists():
        return
    target = WorkId(f"local:{name}")
    paper = options.papers / f"{ALIASES.get(name, name)}.md"
    sources = [rubric_papers.paper(paper, target)] if paper.exists() else []
    for repo in dict.fromkeys([*([OWN[name]] if name in OWN else []), *named]):
        copy = options.repos / repo.replace("/", "+", 1) / "repo"
        if copy.exists():
            sources.append(rubric_papers.repository(copy, WorkId(f"repo:github.com/{repo}")))
            print(f"# {name}: {repo} {len(sources[-1].chunks)} chunks, {len(sources[-1].facts)} facts", file=sys.stderr, flush=True)
    write(home, name, target, sources, named, embedder, options.cache)


ALIASES = {"stochastic-interpolants": "stochastic-interpolant"}


def write(home: Path, name: str, target: WorkId, sources: Sequence[Source], named: Sequence[str], embedder: Embedder | None, cache: Path) -> None:
    """A real generation of these sources."""
    chunks = [chunk for source in sources for chunk in source.chunks]
    with Store(home).writing(name) as writing, writing.draft() as draft:
        with draft.catalog() as catalog:
            papers = {source.work for source in sources if source.work.startswith("local:")}
            title = next((d.title for source in sources if source.work == target for d in source.documents), name)
            works = [Work(target, title=title), *(Work(s.work, "code", s.work.rpartition("/")[2]) for s in sources if s.work not in papers)]
            catalog.add_works(works)
            catalog.add_references(_edge(target, WorkId(f"repo:github.com/{repo}"), sources) for repo in named)
            catalog.add_links(_links(target, name))
            for source in sources:
                for document in source.documents:
                    catalog.add_document(document)
            catalog.add_chunks(chunks)
            catalog.add_facts(fact for source in sources for fact in source.facts)
            documents = [document for source in sources for document in source.documents]
            catalog.add_settings(_settings(documents, chunks))
            catalog.add_files(profiles(documents, works, _links(target, name)))
            catalog.finish()
        if embedder:
            draft.vectors(embedded(embedder, chunks, VectorCache(cache)), embedder.id)
        draft.commit(target=target, fingerprint=name)


def _links(target: WorkId, name: str) -> list[CodeLink]:
    return [CodeLink(target, WorkId(f"repo:github.com/{OWN[name]}"), Tier.OFFICIAL, ("rubric",))] if name in OWN else []


def _edge(target: WorkId, repo: WorkId, sources: Sequence[Source]) -> Reference:
    """A cited repository: which sentence cites it is not known here, its name in the text stands for it."""
    word = repo.rpartition("/")[2].lower()
    text = next((d.text for s in sources if s.work == target for d in s.documents), "")
    sentence = next((line for line in text.split("\n") if word in line.lower()), "")[:400]
    mention = (Mention(word, sentence, said_by="benchmark"),) if sentence else ()
    return Reference(target, repo, word, mentions=mention, roles=(RoleVerdict(Role.METHOD, 0.5, sentence),), score=0.5)


def engine_of(home: Path, name: str, embedder: Embedder | None) -> Engine:
    generation = open_generation(home, name)
    index = registry.load("vectors", "faiss")(generation.vectors) if generation.vectors is not None else None
    return Engine(generation, (lambda: embedder) if embedder and index else None, index)


def material(engine: Engine, no_target_code: bool) -> ReportInputs:
    engine = engine.without_target_code() if no_target_code else engine
    manifest = engine.generation.manifest
    held = holders(engine.generation.catalog, engine.relations, manifest.lineage, manifest.id, WorkId(manifest.target)).held
    return ReportInputs(engine, checklist(), ontology(), held)


# -- whether evidence holds a value


def pieces(gap: Gap) -> list[str]:
    """The first pieces of a gap's evidence as they are shown: a sentence or the lines of a fact, and the values offered."""
    found = [shown(hit) for hit in gap.stated]
    found += [f"{held.fact.value} {held.fact.said} {shown(held.evidence)}" for held in gap.facts]
    for suggestion in gap.suggestions:
        found += [f"{suggestion.value} {shown(hit)}" for hit in suggestion.evidence[:1]]
    return list(dict.fromkeys(found))[:FIRST]


def shown(hit: Hit) -> str:
    """The lines of the focus, two more around them for code."""
    lines = hit.chunk.text.split("\n")
    if not hit.focus:
        return "\n".join(lines[:8])
    around = 0 if hit.chunk.kind == "paper" else 2
    first = max(0, hit.focus.start_line - hit.chunk.start_line - around)
    return "\n".join(lines[first : hit.focus.end_line - hit.chunk.start_line + 1 + around])


def holds(text: str, value: float | tuple[str, ...]) -> bool:
    """Whether a text has the number, in any form, or the choice's words."""
    said = words(text)
    if isinstance(value, tuple):
        return any(True for _ in Phrases({value: value}).found(said)) or "".join(value) in {word.text for word in said}
    return any(abs(one - value) <= 1e-9 * max(abs(one), abs(value)) for _, one in numbers(text))


_POWER = re.compile(r"(?<!\d)10\s*\^\s*\{?\s*([-−]?\d{1,2})")
_PLAIN = re.compile(
    r"(?<![\w.])[+-]?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?(?:\s*(?:\\times|\\cdot|×|·|\*|x)\s*10\s*\^?\s*\{?\s*[-−]?\d+\}?)?(?:[kKMB]\b|%)?"
)


def numbers(text: str) -> Iterator[tuple[int, float]]:
    """All numbers of a text with their offsets, powers of ten among them."""
    for found in _PLAIN.finditer(text):
        value = number(found[0].rstrip(",").replace("\\cdot", "x").replace("·", "x"))
        if value is not None:
            yield found.start(), float(value)
    for found in _POWER.finditer(text):
        yield found.start(), 10.0 ** int(found[1].replace("−", "-"))


def measure(options: argparse.Namespace, home: Path, embedder: Embedder | None) -> None:
    named = rubric_papers.named_repositories(options.data)
    by_paper: dict[str, list[Case]] = defaultdict(list)
    for case in cases(options.data):
        by_paper[case.paper].append(case)
    rows: dict[str, list[Row]] = {}
    for name, some in sorted(by_paper.items()):
        if options.only and name != options.only:
            continue
        lineage(home, name, options, embedder, named.get(name, ()))
        with engine_of(home, name, embedder) as engine:
            found = report(material(engine, options.no_own_code))
            rows[name] = list(_judged(found, engine, some, options))
        print(_row(name, rows[name]), flush=True)
    total = [row for some in rows.values() for row in some]
    print(_row("all cases", total))
    means = [[sum(row[n] for row in some) / len(some) for some in rows.values() if some] for n in (1, 2, 3, 4)]
    print("mean of papers  " + "  ".join(f"{sum(column) / len(column):.3f}" for column in means))
    for kind in dict.fromkeys(ASKED.values()):
        print(_row("  " + kind, [row for row in total if row[0] == kind]))


Row = tuple[str, bool, bool, bool, bool]
"""Kind of detail; whether it is listed, whether the value is in the report, in plain retrieval of the leaf, of the detail's question."""


def _judged(found: Gaps, engine: Engine, some: Sequence[Case], options: argparse.Namespace) -> Iterator[Row]:
    by_name: Mapping[str, Gap] = {gap.detail.name: gap for gap in found.gaps}
    leaves = _hits(engine, [case.leaf[:3000] for case in some], options)
    asked_for = list(dict.fromkeys(case.need.detail.question for case in some))
    questions = dict(zip(asked_for, _hits(engine, asked_for, options), strict=True))
    for case, hits in zip(some, leaves, strict=True):
        gap = by_name.get(case.need.detail.name)
        held = gap is not None and any(holds(piece, case.value) for piece in pieces(gap))
        plain, question = (any(holds(shown(hit), case.value) for hit in one) for one in (hits, questions[case.need.detail.question]))
        if options.show:
            state = gap.state.value if gap else "not listed"
            print(f"    {'+' if held else '-'}{'+' if plain else '-'} {case.need.detail.name} = {case.value} [{state}] {case.leaf[:150]!r}")
        yield ASKED[case.need.detail.name], gap is not None, held, plain, question


def _hits(engine: Engine, texts: Sequence[str], options: argparse.Namespace) -> list[tuple[Hit, ...]]:
    hits, late = asked(engine, [Query(text, FIRST, no_target_code=options.no_own_code) for text in texts])
    if late:
        print(f"# {late} questions could not be looked up in time", file=sys.stderr)
    return hits


def _row(name: str, rows: Sequence[Row]) -> str:
    count = max(1, len(rows))
    shares = "  ".join(f"{sum(row[n] for row in rows) / count:.3f}" for n in (1, 2, 3, 4))
    return f"{name:46s} n={len(rows):4d}  listed, value in first {FIRST}, plain retrieval of leaf, of question: {shares}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--papers", type=Path, required=True)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--embedder", default="none")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--no-own-code", action="store_true")
    options = parser.parse_args()
    embedder = embedder_of(options.embedder)
    with tempfile.TemporaryDirectory() as folder:
        options.cache = options.cache or Path(folder)
        measure(options, options.cache, embedder)


if __name__ == "__main__":
    run_benchmark(main)
