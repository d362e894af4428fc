"""Every operation of the product, once: typed, documented, and derived from by every door.

An operation opens what it needs and closes it; nothing is shared between two calls but the embedder. Errors are
those of `lineage.errors`; results are frozen records, which `api.wire.hits` turns into JSON and `api.cli.display` into text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from api.bootstrap import Parts
from api.cli.files import absolute, questions, writable
from lineage import generation as layout
from lineage import lineage_names
from lineage.code_links.repository_state import RepositoryState, states
from lineage.code_reuse.derivation import Derivation
from lineage.code_reuse.reuse import Shared
from lineage.errors import Losses, NotFound, StoreDamaged, StoreError, UsageError
from lineage.generation import Damaged, Generation, Manifest, open_generation
from lineage.hyperparameters.ontology import ontology
from lineage.progress import Stage, Watch, unwatched
from lineage.records import Answer, CodeLink, LedgerRow, Reference, Work, WorkId
from lineage.references.ancestors import Ancestor
from lineage.results import Audit, Consensus, Gaps, Pack, WrittenAnswer
from lineage.text.hidden_text import inline

if TYPE_CHECKING:
    from indexer.bundle.bring import Imported
    from indexer.bundle.write import Exported
    from indexer.estimate import Estimate
    from indexer.lock.form import Pinned
    from indexer.plan import BuildReport, BuildRequest
    from indexer.store.verify import Finding
    from retrieval.decisions.consensus import Tallies
    from retrieval.decisions.fact_index import FactIndex
    from retrieval.evaluation.measures import CheckedEvaluation
    from retrieval.search.engine import Engine
    from retrieval.search.evidence import EvidenceWindow

_NO_CHUNK = "chunks are named by the hits of a search; a new generation may have cut anew"
_READING = Stage("gaps", note="comparing the paper with its lineage")


@dataclass(frozen=True)
class ReferenceList:
    """The references of one work, best first, with the works they name and who knew how many."""

    target: Work
    references: tuple[Reference, ...]
    works: Mapping[WorkId, Work]
    coverage: Mapping[str, Any]


@dataclass(frozen=True)
class Overview:
    """A lineage at a glance; `states` says of every repository that a link names what became of it, `texts` whose text is held;
    `questions` are some to begin with, which it supports."""

    report: BuildReport
    references: tuple[Reference, ...]
    works: Mapping[WorkId, Work]
    links: tuple[CodeLink, ...]
    shared: tuple[Shared, ...] = ()
    states: Mapping[WorkId, RepositoryState] = field(default_factory=dict)
    derivations: tuple[Derivation, ...] = ()
    texts: tuple[Work, ...] = ()
    questions: tuple[str, ...] = ()
    ancestors: tuple[Ancestor, ...] = ()


@dataclass(frozen=True)
class StoredLineage(Manifest):
    """A lineage of the store: its manifest with the title of its target."""

    title: str = ""


@dataclass(frozen=True)
class Completeness:
    """The ledger of a generation: sums by kind of subject, and every item that failed or is incomplete."""

    lineage: str
    generation: str
    sums: Mapping[str, Mapping[str, int]]
    losses: tuple[LedgerRow, ...]
    title: str = ""


@dataclass(frozen=True)
class Locked:
    """A lock file that was written: its size in bytes, what it pins, and what had no answer when the lineage was built."""

    path: str
    size: int
    lineage: str
    content_hash: str
    papers: tuple[Pinned, ...]
    repositories: tuple[Pinned, ...]
    answers: int
    open: tuple[str, ...] = ()


class Service:
    """The operations over one store."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._home = parts.settings.home

    # -- building

    def build(self, request: BuildRequest, *, tier: Literal["first", "full"] = "full", watch: Watch = unwatched) -> BuildReport:
        """Build the lineage that `request` asks for, or find it built already; what failed is in the report's ledger.

        With the tier `first` it ends as soon as questions are answered at all, before the transformer's vectors are made.
        """
        from indexer.pipeline import build

        with self._parts.workbench(watch) as bench:
            return build(bench, request, tier)

    def plan(self, request: BuildRequest, *, watch: Watch = unwatched) -> Estimate:
        """What `build` would fetch, from where, and what it would cost; fetches metadata only, and writes no lineage."""
        from indexer.estimate import estimate

        with self._parts.workbench(watch) as bench:
            return estimate(bench, request)

    def add(self, lineage: str, sources: Sequence[str], *, watch: Watch = unwatched) -> BuildReport:
        """Build a lineage anew with further papers or repositories (paths, identifiers or URLs)."""
        from indexer.plan import BuildRequest

        with open_generation(self._home, self._name(lineage)) as generation:
            request = BuildRequest.from_meta(generation.catalog.meta()["request"])
        if not request.target:
            words = f"{generation.manifest.lineage} was imported, and is of files that only its maker has"
            raise UsageError(words, hint="build it from the file: lineage build FILE --add PATH|URL")
        added = tuple(dict.fromkeys((*request.add, *map(absolute, sources))))
        return self.build(replace(request, name=generation.manifest.lineage, add=added), watch=watch)

    # -- passing on

    def export(self, lineage: str = "", out: Path | None = None, *, all_texts: bool = False) -> Exported:
        """Write a lineage as one file, by default `NAME.lineage`; texts whose licence does not allow it stay out unless `all_texts`."""
        from indexer.bundle.write import export

        with open_generation(self._home, self._name(lineage)) as generation:
            path = writable(out or Path(f"{generation.manifest.lineage}.lineage"))
            return export(generation, path, "all" if all_texts else "licensed")

    def lock(self, lineage: str = "", out: Path | None = None) -> Locked:
        """Write the lock file of a lineage, by default `lineage.lock`: what its build was told, and which files it read. Sends nothing."""
        from indexer.lock.record import Tape, lock_of

        tape, path = Tape(), writable(out or Path("lineage.lock"))
        with open_generation(self._home, self._name(lineage)) as generation, self._parts.changed(offline=True).workbench(kit=tape) as bench:
            made = lock_of(bench, tape, generation)
            return Locked(str(path), made.write(path), made.lineage, made.content_hash, made.papers, made.repositories, len(made.answers), made.open)

    def build_locked(self, path: Path, *, name: str = "", watch: Watch = unwatched) -> BuildReport:
        """Build what a lock file pins, asking for nothing but its files; a note says whether the content is the one it promises."""
        from indexer.lock.form import read
        from indexer.lock.replay import LockReplay, verify_content_hash
        from indexer.pipeline import build

        lock = read(path)
        with self._parts.changed(**asdict(lock.settings), llm_model="", links_archive=None).workbench(watch, LockReplay(lock)) as bench:
            return verify_content_hash(bench, lock, build(bench, replace(lock.request, name=name or lock.request.name)))

    def import_(self, path: Path, *, name: str = "", watch: Watch = unwatched) -> Imported:
        """Bring a bundle into the store; checked whole first, and what its licences kept out is fetched again unless offline."""
        from api.cli.files import check_archive
        from indexer.bundle.bring import bring

        check_archive(path)
        with self._parts.workbench(watch) as bench:
            return bring(bench, path, name)

    def insist(self, report: BuildReport, strict: bool) -> None:
        """Raise `Losses` if `strict` and anything was lost."""
        lost = report.ledger["failed"] + report.ledger["degraded"]
        if strict and lost:
            raise Losses(f"{lost} of {report.ledger['in']} items failed or are incomplete", hint=f"lineage status {report.lineage} lists them")

    # -- asking

    def query(self, text: str, *, lineage: str = "", k: int = 10, kind: str = "", no_target_code: bool = False, work: str = "") -> Answer:
        """The `k` best hits for a question, of one `work` if it is named; raises `UsageError` and `NotFound`."""
        from retrieval.search.query import make_query

        query = make_query(text, k=k, kinds=(kind,) if kind else (), no_target_code=no_target_code, work=work)
        with self._parts.engine(self._name(lineage)) as engine:
            return engine.ask(query)

    def query_batch(
        self, path: Path, *, lineage: str = "", k: int = 20, kind: str = "", no_target_code: bool = False, work: str = ""
    ) -> Iterator[tuple[str, Answer]]:
        """The answers to the questions of a JSON-lines file of {"id", "text"}, in order, over one generation, of one `work` if it is named.

        A question that is too long is answered by its beginning, and its answer says so.
        """
        from retrieval.search.query import beginning, make_query

        asked = [(name, *beginning(text)) for name, text in questions(path)]
        kinds = (kind,) if kind else ()
        queries = [make_query(text, k=k, kinds=kinds, no_target_code=no_target_code, work=work) for _, text, _ in asked]
        with self._parts.engine(self._name(lineage)) as engine:
            answers = engine.ask_many(queries)
        for (name, _, notes), answer in zip(asked, answers, strict=True):
            yield name, replace(answer, notes=(*answer.notes, *notes))

    def evaluate(self, path: Path, *, lineage: str = "", k: int = 20) -> CheckedEvaluation:
        """What a lineage scores on a gold file: recall, MRR, nDCG, focus, latency; raises `UsageError` that names the line.

        The form of a line is that of `lineage eval`; lines that name another lineage are passed over. Without a name it
        is the lineage that all lines name.
        """
        from api.cli.files import lineage_of
        from api.evaluation import measured

        return measured(self._parts, path, self._name(lineage or lineage_of(path)), k)

    def evidence(self, chunk: str, *, lineage: str = "", before: int = 60, after: int = 60) -> EvidenceWindow:
        """A chunk with up to `before` and `after` lines of its document around it, and its neighbours.

        By default at least what a hit shows of it. Looks through every lineage if none is named; raises `NotFound`.
        """
        name, unread = (self._name(lineage), ()) if lineage else self._holding(chunk)
        if name:
            with self._parts.engine(name) as engine:
                if evidence_window := engine.evidence(chunk, before, after):
                    return evidence_window
        missed = f"; not looked into, because it cannot be read: {', '.join(unread)}" if unread else ""
        raise NotFound(f"there is no chunk {chunk[:80]!r}", hint=_NO_CHUNK + missed)

    def _holding(self, chunk: str) -> tuple[str, tuple[str, ...]]:
        """The first lineage that has a chunk, by its catalogue alone (empty: none has), and those that cannot be read."""
        unread = []
        for name in layout.names(self._home):
            try:
                with open_generation(self._home, name) as generation:
                    if generation.catalog.chunk(chunk):
                        return name, ()
            except (StoreError, NotFound):
                unread.append(name)
        return "", tuple(unread)

    def gaps(self, *, lineage: str = "", state: str = "", topic: str = "", no_target_code: bool = False, watch: Watch = unwatched) -> Gaps:
        """What the target leaves unsaid, what its lineage says instead, and where its sources disagree.

        `state` (specified, partially_specified, unspecified) and `topic` choose rows; raises `UsageError` and `NotFound`.
        """
        from api.validation import check_rows
        from retrieval.gaps.report import chosen

        check_rows(state, topic, self._parts.settings)
        with self._parts.asked(self._name(lineage), no_target_code) as engine:
            watch(_READING)
            return chosen(self._parts.gaps(engine), state, topic)

    def context(
        self, task: str, *, lineage: str = "", tokens: int = 6000, stage: str = "", no_target_code: bool = False, watch: Watch = unwatched
    ) -> Pack:
        """What `task` needs to be written, in at most `tokens` tokens: the target's words, its lineage's, conflicts, what nobody states.

        Raises `UsageError` for a budget that holds no whole piece of evidence (it names the least) and `NotFound`.
        """
        from api.validation import stage_of_task
        from retrieval.context.pack import pack

        chosen = stage_of_task(task, tokens, stage)
        with self._parts.asked(self._name(lineage), no_target_code) as engine:
            watch(_READING)
            gaps = self._parts.gaps(engine)
            watch(Stage("pack", note="gathering evidence for the task"))
            return pack(engine, task, chosen, tokens, self._parts.tokens, gaps=gaps)

    def answer(self, text: str, *, lineage: str = "", no_target_code: bool = False) -> WrittenAnswer:
        """An answer in sentences that are each tied to evidence: extracted, or written by the configured model and checked."""
        from retrieval.answers.answer import answered, ask
        from retrieval.decisions.named_settings import held_for
        from retrieval.search.query import make_query

        query = make_query(text)
        with self._parts.asked(self._name(lineage), no_target_code) as engine:
            occurrences = held_for(text, holders_of(engine), ontology(self._parts.settings.ontology))
            return answered(ask(engine, query, occurrences), self._parts.writer)

    def insist_supported(self, answer: WrittenAnswer) -> None:
        """Raise `NotFound` if an answer has no sentence."""
        if not answer.sentences:
            raise NotFound("nothing in this lineage supports an answer", hint="the nearest evidence is listed; see also: lineage gaps")

    def facts(self, name: str, *, lineage: str = "", no_target_code: bool = False) -> Consensus:
        """Every value of a detail (any of its names) in a lineage, who holds it, and which one the target inherits; raises `NotFound`."""
        from retrieval.decisions.consensus import consensus

        terms = ontology(self._parts.settings.ontology)
        with self._parts.asked(self._name(lineage), no_target_code) as engine:
            return consensus(holders_of(engine), name, terms)

    def facts_table(self, lineage: str = "", *, no_target_code: bool = False) -> Tallies:
        """The details that a lineage has facts on, with how many facts, values and works each has."""
        from retrieval.decisions.consensus import tallies

        with self._parts.asked(self._name(lineage), no_target_code) as engine:
            return tallies(holders_of(engine), ontology(self._parts.settings.ontology))

    def audit(self, path: Path, *, lineage: str = "", no_target_code: bool = False) -> Audit:
        """A generated repository (a folder) against the target of a lineage and what it inherits; no code is run.

        Only what the target states can be contradicted; what its own code has (left out with `no_target_code`) may agree.
        The folder is read as a build reads one, in the sandbox, into a store that lives as long as the audit.
        Raises `UsageError` and `NotFound`.
        """
        from api.audit_folder import audit

        return audit(self._parts, path, self._name(lineage), no_target_code)

    def references(self, target: str, *, watch: Watch = unwatched) -> ReferenceList:
        """What a lineage's target, any target, or a local paper cites: contexts, roles, rank and why."""
        from indexer.references.trace import trace
        from indexer.target import is_path, resolve

        if target in layout.names(self._home) or not is_path(target):
            with suppress(NotFound), open_generation(self._home, self._name(target)) as generation:
                return _listed(generation)
        with self._parts.workbench(watch) as bench:
            resolved_target = resolve(bench, target)
            traced = trace(bench, resolved_target.work, resolved_target.text.document)
        return ReferenceList(resolved_target.work, traced.references, traced.works, traced.coverage)

    # -- looking

    def show(self, lineage: str = "") -> Overview:
        """A lineage at a glance: counts, references by rank, code links, what repositories share."""
        from indexer.pipeline import report
        from retrieval.search.suggestions import suggestions

        with open_generation(self._home, self._name(lineage)) as generation:
            listed = _listed(generation)
            made = report(generation, requests={}, seconds={})
            shared = tuple(map(Shared.from_meta, generation.catalog.meta().get("shared_code", ())))
            links = generation.catalog.links()
            became = states(links, listed.works, generation.catalog.ledger("source"))
            derived = tuple(map(Derivation.from_meta, generation.catalog.meta().get("derivations", ())))
            held = dict.fromkeys(document.work for document in generation.catalog.documents())
            texts = tuple(listed.works[id_] for id_ in held if id_ in listed.works)
            parts = tuple(map(Ancestor.from_meta, generation.catalog.meta().get("ancestors", ())))
            return Overview(made, listed.references, listed.works, links, shared, became, derived, texts, suggestions(generation), parts)

    def suggestions(self, lineage: str = "") -> tuple[str, ...]:
        """Questions to begin with, which the lineage supports."""
        from retrieval.search.suggestions import suggestions

        with open_generation(self._home, self._name(lineage)) as generation:
            return suggestions(generation)

    def graph(self, lineage: str = "", form: str = "html") -> str:
        """The lineage as json, graphml, dot, svg or html."""
        from lineage.graph.build import build
        from lineage.graph.exports import export

        with open_generation(self._home, self._name(lineage)) as generation:
            listed = _listed(generation)
            return export(build(listed.target, listed.works, listed.references, generation.catalog.links()), form)

    def lineages(self) -> tuple[StoredLineage | Damaged, ...]:
        """The manifest of every lineage in the store with its target's title; of a damaged one, what is wrong."""
        return tuple(map(self._stored, layout.names(self._home)))

    def _stored(self, name: str) -> StoredLineage | Damaged:
        try:
            with open_generation(self._home, name) as generation:
                return StoredLineage(**vars(generation.manifest), title=_title(generation))
        except StoreDamaged as error:
            return Damaged(name, str(error))

    def status(self, lineage: str = "") -> Completeness:
        """How complete a lineage is: in = ok + degraded + failed + excluded by kind, and every loss."""
        with open_generation(self._home, self._name(lineage)) as generation:
            catalog = generation.catalog
            sums = {kind: catalog.sums(kind) for kind in ("reference", "member", "page", "source")}
            losses = tuple(row for row in catalog.ledger() if row.status.outcome in {"failed", "degraded"})
            return Completeness(generation.manifest.lineage, generation.manifest.id, sums, losses, _title(generation))

    def check(self, lineage: str = "", *, read_data: bool = False) -> tuple[Finding, ...]:
        """Everything that is wrong with one lineage or all; nothing is ever deleted."""
        from indexer.store.verify import built, check_blobs, check_lineage

        every = built(self._home)
        chosen = every if not lineage else (lineage,) if lineage in every else (self._name(lineage),)
        findings = [finding for name in chosen for finding in check_lineage(self._home, name, read_data)]
        return (*findings, *(check_blobs(self._home) if read_data else ()))

    def insist_sound(self, findings: Sequence[Finding | Damaged]) -> None:
        """Raise `StoreDamaged` if anything was found."""
        if findings:
            said = "; ".join(damaged.problem for damaged in findings if isinstance(damaged, Damaged)) or f"{len(findings)} findings"
            raise StoreDamaged(said, hint="build the lineage again to replace damaged files; nothing is deleted")

    def doctor(self) -> dict[str, dict[str, Any]]:
        """What would be used and why: store, embedder, upstreams, versions."""
        from api.doctor import examine

        return examine(self._parts.settings)

    def _name(self, lineage: str) -> str:
        """The lineage meant: by its name or its target, or the only one there is; raises `NotFound` and `AmbiguousTarget`."""
        return lineage_names.resolve(self._home, lineage)


def holders_of(engine: Engine) -> FactIndex:
    """Every fact of an open engine's generation, with its evidence."""
    from retrieval.decisions.fact_index import holders

    manifest = engine.generation.manifest
    return holders(engine.generation.catalog, engine.kinship, manifest.lineage, manifest.id, WorkId(manifest.target))


def _title(generation: Generation) -> str:
    """The title of the target, cleaned of what a reader cannot see."""
    target = generation.catalog.work(generation.manifest.target)
    return inline(target.title) if target else ""


def _listed(generation: Generation) -> ReferenceList:
    catalog = generation.catalog
    works = {work.id: work for work in catalog.works()}
    target = works[WorkId(generation.manifest.target)]
    edges = sorted(catalog.references(), key=lambda edge: (edge.distance, -edge.score, edge.number or 0, edge.cited))
    return ReferenceList(target, tuple(edges), works, catalog.meta().get("coverage", {}))
