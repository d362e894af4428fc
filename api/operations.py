"""Every operation of the product, defined once. `api.table` says which door offers it and what readers outside see of its result.

An operation opens what it needs and closes it; calls share only the embedder. Errors come from `lineage.errors`; results are
frozen records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from api.bootstrap import Parts, holders_of
from api.cli.files import absolute, check_archive, lineage_of, writable
from api.wire.encode import view
from lineage import generation as layout
from lineage import lineage_names
from lineage.errors import NotFound, StoreDamaged, StoreError, UsageError
from lineage.generation import Damaged, Generation, open_generation
from lineage.hyperparameters.ontology import ontology
from lineage.progress import Stage, Watch, unwatched
from lineage.records import Answer, ChunkKind, Query, Reference, Work, WorkId
from lineage.settings import lineages_at

if TYPE_CHECKING:
    from api.wire.report import ReportView
    from api.wire.stored import Completeness, Locked, Overview, RankedReferences, Sayings, StoredLineage, Updated
    from indexer.against_source import SourceCheck
    from indexer.bundle.bring import Imported
    from indexer.bundle.shelf import Shelf, Shelved
    from indexer.bundle.write import Exported
    from indexer.pipeline import Estimate
    from indexer.plan import BuildReport, BuildRequest
    from indexer.repair import Pruned, Repair
    from indexer.store.generations import Finding
    from indexer.store.migration import Migrated
    from lineage.decisions import Decision, Decisions
    from lineage.results import Audit, CodeArchive, Consensus, Crop, Gaps, ModelUsage, Pack, Tallies, WrittenAnswer
    from lineage.settings import Settings
    from retrieval.context.token_budget import Tokens
    from retrieval.evaluation import CheckedEvaluation
    from retrieval.search.engine import Engine
    from retrieval.search.exact import ExactAnswer
    from retrieval.search.passages import EvidenceWindow
    from retrieval.search.read import CitedPassage

R = TypeVar("R")
_NO_CHUNK = "take chunk ids from the hits of a search; they can change when a lineage is rebuilt"
_READING = Stage("gaps", note="comparing the paper with its lineage")


class Service:
    """The operations on one store."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._home = parts.settings.home
        self._lineages = parts.settings.lineages

    @property
    def settings(self) -> Settings:
        """The settings of the store."""
        return self._parts.settings

    @property
    def tokens(self) -> Tokens:
        """What counts the tokens of packs and of concise results."""
        return self._parts.tokens

    # -- building

    def build(
        self, request: BuildRequest, *, tier: Literal["first", "full"] = "full", refresh: Sequence[str] = (), watch: Watch = unwatched
    ) -> BuildReport:
        """Build the requested lineage, or return the existing build. Failures are listed in the report's ledger.

        With tier `first`, return as soon as the fast index can answer questions, before dense vectors are computed.
        `refresh` names hosts or works that are asked again, or `all`.
        """
        from indexer.pipeline import build

        with self._parts.workbench(watch) as bench:
            return build(bench, request, tier, refresh=refresh)

    def plan(self, request: BuildRequest, *, watch: Watch = unwatched) -> Estimate:
        """Estimate what `build` would fetch, from which hosts, and its cost. Fetches metadata only and writes no lineage."""
        from indexer.pipeline import estimate

        with self._parts.workbench(watch) as bench:
            return estimate(bench, request)

    def add(self, lineage: str, sources: Sequence[str], *, watch: Watch = unwatched) -> BuildReport:
        """Rebuild a lineage with additional papers or repositories (paths, identifiers or URLs)."""
        from indexer.plan import BuildRequest

        with open_generation(self._lineages, self._name(lineage)) as generation:
            request = BuildRequest.from_meta(generation.catalog.meta()["request"])
        if not request.target:
            words = f"{generation.manifest.lineage} was built from local files you do not have"
            raise UsageError(words, hint="build it from the file: lineage build FILE --add PATH|URL")
        added = tuple(dict.fromkeys((*request.add, *map(absolute, sources))))
        return self.build(replace(request, name=generation.manifest.lineage, add=added), watch=watch)

    def update(self, lineage: str = "", *, every: bool = False, watch: Watch = unwatched) -> tuple[Updated, ...]:
        """Look for new versions and commits of a lineage, or of `every` one; build what changed and list the differences."""
        from api.wire.stored import Updated

        updated: list[Updated] = []
        for name in layout.names(self._lineages) if every else (self._name(lineage),):
            try:
                updated.append(self._updated(name, watch))
            except UsageError as error:
                if not every:
                    raise
                updated.append(Updated(name, layout.current(self._lineages, name), note=str(error)))
        return tuple(updated)

    def _updated(self, name: str, watch: Watch) -> Updated:
        from api.wire.stored import VERSION_HOSTS
        from indexer.pipeline import build, gathered

        before, request, fingerprint = self._sayings(name)
        if not request.target or fingerprint.startswith("bundle:"):
            raise UsageError(f"{name} was built from files you do not have", hint="import its new bundle, or build it from the file")
        with self._parts.workbench(watch) as bench:
            bench.transport.refresh(VERSION_HOSTS)
            if gathered(bench, request)[1] != fingerprint:
                build(bench, replace(request, name=name))
        return self._sayings(name)[0].since(before, name)

    def _sayings(self, name: str) -> tuple[Sayings, BuildRequest, str]:
        from api.wire.stored import Sayings
        from indexer.plan import BuildRequest

        report = self.gaps(lineage=name)
        with open_generation(self._lineages, name, report.generation) as generation:
            request = BuildRequest.from_meta(generation.catalog.meta()["request"])
            return Sayings.of(generation.catalog, report), request, generation.manifest.fingerprint

    # -- sharing

    def export(self, lineage: str = "", out: Path | None = None, *, all_texts: bool = False, sign: Path | None = None) -> Exported:
        """Export a lineage to one file, by default `NAME.lineage`, signed with the minisign secret key `sign` if there is one.

        Texts whose license forbids sharing are excluded unless `all_texts`.
        """
        from indexer.bundle.signature import sign as signed
        from indexer.bundle.write import export
        from indexer.store import decision_log

        with open_generation(self._lineages, self._name(lineage)) as generation:
            path = writable(out or Path(f"{generation.manifest.lineage}.lineage"))
            decisions = decision_log.read(self._home, generation.manifest.lineage).in_force
            made = export(generation, path, "all" if all_texts else "licensed", decisions)
        return replace(made, signer=signed(path, sign, self._parts.settings.signing_password.get_secret_value())) if sign else made

    def lock(self, lineage: str = "", out: Path | None = None) -> Locked:
        """Write a lock file, by default `lineage.lock`: the request, the settings and the files that the build read. Sends nothing."""
        from api.wire.stored import Locked
        from indexer.lock.record import Tape, lock_of

        tape, path = Tape(), writable(out or Path("lineage.lock"))
        with open_generation(self._lineages, self._name(lineage)) as generation, self._parts.changed(offline=True).workbench(kit=tape) as bench:
            made = lock_of(bench, tape, generation)
            return Locked(str(path), made.write(path), made.lineage, made.content_hash, made.papers, made.repositories, len(made.answers), made.open)

    def build_locked(self, path: Path, *, name: str = "", watch: Watch = unwatched) -> BuildReport:
        """Build what a lock file pins, fetching only its files. A note says whether the content hash matches."""
        from indexer.lock.form import read
        from indexer.lock.record import LockReplay, verify_content_hash
        from indexer.pipeline import build

        lock = read(path)
        with self._parts.changed(**asdict(lock.settings)).workbench(watch, LockReplay(lock)) as bench:
            return verify_content_hash(bench, lock, build(bench, replace(lock.request, name=name or lock.request.name)))

    def import_(self, path: Path, *, name: str = "", signer: str = "", watch: Watch = unwatched) -> Imported:
        """Import a bundle after verifying all of it, and that it was signed with the public key `signer` if one is given.

        Texts excluded for their license are fetched again unless offline.
        """
        from indexer.bundle.bring import bring

        check_archive(path)
        with self._parts.workbench(watch) as bench:
            return bring(bench, path, name, signer)

    def shelf(self, address: str = "") -> tuple[Shelved, ...]:
        """List the bundles on a shelf: a folder, or an address that fsspec knows."""
        return self._shelf(address).bundles()

    def push(self, lineage: str = "", address: str = "", *, sign: Path | None = None) -> Shelved:
        """Export a lineage to a shelf and name it in its index. Texts whose license forbids sharing are excluded."""
        from indexer.bundle.bring import aside

        shelf, name = self._shelf(address), self._name(lineage)
        with aside(self._home) as folder:
            made = self.export(name, folder / f"{name}.lineage", sign=sign)
            with open_generation(self._lineages, name) as generation:
                return shelf.put(made, generation.manifest, generation.title)

    def pull(self, wanted: str, address: str = "", *, name: str = "", signer: str = "", watch: Watch = unwatched) -> Imported:
        """Import a lineage from a shelf by its name, target or title, after verifying that it is what the index says, and its signature.

        Raises `NotFound`, `BadBundle` and `UsageError`.
        """
        from indexer.bundle.bring import aside, bring

        shelf = self._shelf(address)
        row = shelf.find(wanted)
        with aside(self._home) as folder, self._parts.workbench(watch) as bench:
            return bring(bench, shelf.take(row, folder), name or row.lineage, signer, row.target)

    def _shelf(self, address: str) -> Shelf:
        from indexer.bundle.shelf import Shelf

        if not (chosen := address or self.settings.shelf):
            raise UsageError("no shelf is named", hint="name a folder or an address (s3://…, hf://…), or set LINEAGE_SHELF")
        return Shelf(chosen, offline=self.settings.offline)

    # -- queries

    def query(
        self, text: str, *, lineage: str = "", k: int = 10, kind: str = "", no_target_code: bool = False, work: str = "", explain: bool = False
    ) -> Answer:
        """Return the `k` best hits for a question, optionally from one `work`. With `explain`, renderers show the parts of each score.

        Raises `UsageError` and `NotFound`.
        """
        return self.query_batch([text], lineage=lineage, k=k, kind=kind, no_target_code=no_target_code, work=work, explain=explain)[0]

    def query_batch(
        self,
        texts: Sequence[str],
        *,
        lineage: str = "",
        k: int = 10,
        kind: str = "",
        no_target_code: bool = False,
        work: str = "",
        explain: bool = False,
        model: bool = False,
    ) -> tuple[Answer, ...]:
        """The same for several questions, in order, from one generation.

        With `model` the configured chat model names what code that answers would contain and chooses among the passages found.
        """
        from retrieval.search.query import make_query

        kinds = (kind,) if kind else ()
        queries = [make_query(text, k=k, kinds=kinds, no_target_code=no_target_code, work=work, explain=explain) for text in texts]
        with self._parts.engine(self._name(lineage)) as engine:
            answers = self._chosen_by_model(engine, queries) if model else engine.ask_many(queries)
            return tuple(_traced(engine, engine.settled(answer)) for answer in answers)

    def _chosen_by_model(self, engine: Engine, queries: Sequence[Query]) -> list[Answer]:
        from retrieval.gaps.model_reader import Reader
        from retrieval.search_by_model import found

        return found(Reader(self._parts.chat_model, engine), queries)

    def evaluate(self, path: Path, *, lineage: str = "", k: int = 20) -> CheckedEvaluation:
        """Measure a lineage on a gold file: recall, MRR, nDCG, focus and latency. Raises `UsageError` with the line number.

        Lines have the format of `lineage eval`; lines that name another lineage are skipped. Without `lineage`, the one
        that all lines name is used.
        """
        from api.evaluation import measured

        return measured(self._parts, path, self._name(lineage or lineage_of(path)), k)

    def grep(
        self,
        pattern: str,
        *,
        lineage: str = "",
        fixed: bool = False,
        word: bool = False,
        any_case: bool | None = None,
        kind: ChunkKind | Literal[""] = "",
        work: str = "",
        context: int = 0,
        limit: int = 30,
        offset: int = 0,
        no_target_code: bool = False,
    ) -> ExactAnswer:
        """Find every line that matches a regular expression (or a string, if `fixed`), definitions first, with its statement or `context` lines.

        Raises `UsageError` and `NotFound`.
        """
        from retrieval.search.exact import ExactQuery, grep

        query = ExactQuery(pattern, fixed, word, any_case, (kind,) if kind else (), work, limit, offset, context)
        with self._parts.asked(self._name(lineage), no_target_code) as engine:
            return _traced(engine, grep(engine, query))

    def read(self, citation: str, *, lines: str = "", callers: bool = False, lineage: str = "", no_target_code: bool = False) -> CitedPassage:
        """Return the lines that a citation means, or other `lines` ("40-90") of its file, with their definition and, if asked for, `callers`.

        Raises `UsageError` and `NotFound`.
        """
        from retrieval.search.read import read

        with self._parts.asked(self._name(lineage), no_target_code) as engine:
            return _traced(engine, read(engine, citation, lines, callers=callers))

    def evidence(self, chunk: str, *, lineage: str = "", before: int = 60, after: int = 60, no_target_code: bool = False) -> EvidenceWindow:
        """Return a chunk with up to `before` and `after` lines of context, and the ids of its neighbors.

        The default window covers at least what a hit shows. Without `lineage`, searches all of them. Raises `NotFound`.
        """
        name, unread = (self._name(lineage), ()) if lineage else self._holding(chunk)
        if name:
            with self._parts.asked(name, no_target_code) as engine:
                if evidence_window := engine.evidence(chunk, before, after):
                    return _traced(engine, evidence_window)
        missed = f"; not searched because it cannot be read: {', '.join(unread)}" if unread else ""
        raise NotFound(f"there is no chunk {chunk[:80]!r}", hint=_NO_CHUNK + missed)

    def crop(self, chunk: str, *, lineage: str = "") -> Crop:
        """Draw the page of a PDF around a chunk, with a box, in the sandbox. Keeps nothing. Raises `NotFound`."""
        from api.cropping import crop

        return crop(self._parts, self._name(lineage) if lineage else self._holding(chunk)[0] or self._name(""), chunk)

    def _holding(self, chunk: str) -> tuple[str, tuple[str, ...]]:
        """The first lineage whose catalog has the chunk (empty if none has it), and the lineages that cannot be read."""
        unread = []
        for name in layout.names(self._lineages):
            try:
                with open_generation(self._lineages, name) as generation:
                    if generation.catalog.chunk(chunk):
                        return name, ()
            except (StoreError, NotFound):
                unread.append(name)
        return "", tuple(unread)

    def gaps(
        self, *, lineage: str = "", state: str = "", topic: str = "", no_target_code: bool = False, model: bool = False, watch: Watch = unwatched
    ) -> Gaps:
        """List the details that the target does not state, and the values its lineage suggests.

        With `model` the configured chat model reads too; what stored lines prove is kept, and shown by every operation from then on.

        `state` (specified, partially_specified, unspecified) and `topic` filter the rows. Raises `UsageError` and `NotFound`.
        """
        from api.deciding import decided, is_decided
        from api.requests import check_rows
        from retrieval.gaps.stored_report import chosen

        check_rows(state, topic, self._parts.settings)
        name = self._name(lineage)
        kept = None if model else self._parts.kept_gaps(name, no_target_code)
        if kept and not is_decided(self._parts, name):
            return chosen(kept, state, topic)
        with self._parts.asked(name, no_target_code) as engine:
            watch(_READING)
            report = self._read_by_model(engine, watch) if model else kept or self._parts.gaps(engine)
            return chosen(decided(self._parts, engine, report), state, topic)

    def _read_by_model(self, engine: Engine, watch: Watch) -> Gaps:
        from retrieval.gaps.model_claims import with_claims

        report = with_claims(self._parts.gaps_by_rules(engine), engine, holders_of(engine), self._parts.chat_model, watch)
        self._parts.keep_claims(engine, report)
        return report

    def model_usage(self, run: Callable[[], object]) -> ModelUsage:
        """Count what `run`, which calls operations of this service, would ask the configured chat model, and its price; nothing is sent to it.

        Raises `UsageError` where no model is configured.
        """
        with self._parts.rehearsing() as rehearsed:
            run()
            return rehearsed.usage

    def context(
        self, task: str, *, lineage: str = "", tokens: int = 6000, stage: str = "", no_target_code: bool = False, watch: Watch = unwatched
    ) -> Pack:
        """Pack the evidence that `task` needs into `tokens` tokens: the target's statements, its lineage's, and open details.

        Raises `UsageError` with the minimum if no piece of evidence fits the budget, and `NotFound`.
        """
        from api.deciding import decided
        from api.requests import stage_of_task
        from retrieval.context.compose import pack

        chosen = stage_of_task(task, tokens, stage)
        with self._parts.asked(self._name(lineage), no_target_code) as engine:
            watch(_READING)
            gaps = decided(self._parts, engine, self._parts.gaps(engine))
            watch(Stage("pack", note="gathering evidence for the task"))
            return _traced(engine, pack(engine, task, chosen, tokens, self._parts.tokens, gaps=gaps))

    def answer(self, text: str, *, lineage: str = "", no_target_code: bool = False, model: bool = False) -> WrittenAnswer:
        """Answer in the words of the evidence: the target's sentences that state what is asked, else quotations that come near.

        With `model` the configured chat model answers, and what quotes of stored passages prove is kept. Raises `UsageError` and `NotFound`.
        """
        from retrieval import answers, answers_by_model
        from retrieval.gaps.model_reader import Reader
        from retrieval.search.query import make_query

        query = make_query(text)
        with self._parts.asked(self._name(lineage), no_target_code) as engine:
            if model:
                return _traced(engine, answers_by_model.answered(Reader(self._parts.chat_model, engine), query))
            return _traced(engine, answers.answered(engine, query, holders_of(engine)))

    def facts(self, name: str, *, lineage: str = "", no_target_code: bool = False) -> Consensus:
        """List every value of a detail (by any of its names, or a title of `gaps`), its sources, and the value that the target inherits.

        Raises `NotFound`.
        """
        from retrieval.gaps.rows import values

        with self._parts.asked(self._name(lineage), no_target_code) as engine:
            return _traced(engine, values(holders_of(engine), name, ontology(self._parts.settings.ontology), lambda: self._parts.gaps(engine)))

    def facts_table(self, lineage: str = "", *, no_target_code: bool = False) -> Tallies:
        """List the details that have facts in a lineage, with the number of facts, values and works of each."""
        from retrieval.decisions.consensus import tallies

        with self._parts.asked(self._name(lineage), no_target_code) as engine:
            return _traced(engine, tallies(holders_of(engine), ontology(self._parts.settings.ontology)))

    def audit(
        self, code: Path | CodeArchive, *, lineage: str = "", no_target_code: bool = False, model: bool = False, watch: Watch = unwatched
    ) -> Audit:
        """Compare a generated repository (a folder, or an archive of one) with the target of a lineage and what it inherits. Runs no code.

        Only the target's statements can be contradicted; its own code (excluded with `no_target_code`) can only confirm. With `model`, the
        configured chat model compares text and code as well.
        The code is parsed in the sandbox, as in a build, into a temporary store; an archive is read as a stream of bounded size.
        Raises `UsageError` and `NotFound`.
        """
        from api.auditing import audit

        return audit(self._parts, code, self._name(lineage), no_target_code, model, watch)

    def references(self, lineage: str = "", *, top: int = 0, work: str = "") -> RankedReferences:
        """List what a lineage's target cites, with contexts, roles, rank and reasons: all of it, the first `top`, or one `work`."""
        with open_generation(self._lineages, self._name(lineage)) as generation:
            edges, works = _edges(generation)
            cited = [edge for edge in edges if work in {"", edge.cited}]
            return _listed(works[WorkId(generation.manifest.target)], cited, works, generation.catalog.meta().get("coverage", {}), top)

    def references_of(self, target: str, *, top: int = 0, watch: Watch = unwatched) -> RankedReferences:
        """The same of a lineage, of any other target or of a local paper."""
        from indexer.references import trace
        from indexer.sources.local import is_path
        from indexer.target import resolve

        if not target:
            return self.references(top=top)
        if target in layout.names(self._lineages) or not is_path(target):
            with suppress(NotFound):
                return self.references(target, top=top)
        with self._parts.workbench(watch) as bench:
            resolved_target = resolve(bench, target)
            traced = trace(bench, resolved_target.work, resolved_target.text.document)
        return _listed(resolved_target.work, traced.references, traced.works, traced.coverage, top)

    # -- decisions

    def decide(self, name: str, value: str, because: str, *, lineage: str = "", note: str = "", by: str = "", force: bool = False) -> Decision:
        """Record the value of a detail with a citation; its lines must state the value unless `force`d. Later runs use it.

        Raises `UnsupportedDecision`, which shows the lines, `UsageError` and `NotFound`.
        """
        from api.deciding import decide
        from lineage.decisions import Decision

        return decide(self._parts, self._name(lineage), Decision(name, value, because, note=note, by=by), force)

    def decisions(self, lineage: str = "") -> Decisions:
        """List what was decided on the details of a lineage, and whether its current generation still supports it."""
        from api.deciding import in_force

        with self._parts.engine(self._name(lineage)) as engine:
            return _traced(engine, in_force(self._parts, engine))

    def withdraw(self, name: str, *, lineage: str = "", by: str = "") -> Decision:
        """Withdraw the decision on a detail; the log keeps both. Raises `NotFound` if there is none."""
        from api.deciding import withdraw

        return withdraw(self._parts, self._name(lineage), name, by)

    # -- inspection

    def show(self, lineage: str = "") -> Overview:
        """Summarize a lineage: counts, ranked references, code links and code shared between repositories.

        Ancestors that the configured chat model read (`gaps --model`) come first.
        """
        from api.wire.stored import BuildReportView, Overview, indexed_texts, linked, ranked
        from indexer.pipeline import report
        from lineage.code_links.links import states
        from lineage.code_reuse.derivation import Derivation
        from lineage.code_reuse.reuse import Shared
        from lineage.references.signals import TitledAncestor, by_part, inherited
        from retrieval.search.batch import suggestions
        from retrieval.search.missing_software import missing_software

        with open_generation(self._lineages, self._name(lineage)) as generation:
            edges, works = _edges(generation)
            read = self._parts.ancestors_read(generation.manifest.lineage)
            catalog, meta, links = generation.catalog, generation.catalog.meta(), generation.catalog.links()
            return Overview(
                report=view(report(generation, requests={}, seconds={}), BuildReportView),
                references=ranked(inherited(edges, read), works),
                links=linked(links, works, states(links, works, catalog.ledger("source"))),
                shared_code=tuple(map(Shared.from_meta, meta.get("shared_code", ()))),
                derivations=tuple(map(Derivation.from_meta, meta.get("derivations", ()))),
                texts=indexed_texts(catalog, works),
                questions=suggestions(generation),
                ancestors=tuple(TitledAncestor.titled(row, works) for row in by_part(read) or meta.get("ancestors", ())),
                missing=missing_software(catalog, generation.manifest.target),
                provenance=generation.manifest.origin,
            )

    def report(self, lineage: str = "", *, no_target_code: bool = False, watch: Watch = unwatched) -> ReportView:
        """Report what the target does not say: decisions by part with the ancestors' answers, licenses, the ledger."""
        from api.wire.insight import GapsView
        from api.wire.report import report_of

        name = self._name(lineage)
        gaps = view(self.gaps(lineage=name, no_target_code=no_target_code, watch=watch), GapsView)
        with open_generation(self._lineages, name) as generation:
            return report_of(gaps, generation, self.status(name))

    def suggestions(self, lineage: str = "") -> tuple[str, ...]:
        """Example questions that the lineage supports."""
        from retrieval.search.batch import suggestions

        with open_generation(self._lineages, self._name(lineage)) as generation:
            return suggestions(generation)

    def graph(self, lineage: str = "", form: str = "html") -> str:
        """Export the lineage graph as json, graphml, dot, svg or html."""
        from lineage.graph.build import build
        from lineage.graph.exports import export

        with open_generation(self._lineages, self._name(lineage)) as generation:
            edges, works = _edges(generation)
            return export(build(works[WorkId(generation.manifest.target)], works, edges, generation.catalog.links()), form)

    def lineages(self) -> tuple[StoredLineage | Damaged, ...]:
        """List the lineages of the store with the titles of their targets; a damaged one has its problem."""
        return tuple(map(self._stored, layout.names(self._lineages)))

    def _stored(self, name: str) -> StoredLineage | Damaged:
        from api.wire.stored import StoredLineage

        try:
            with open_generation(self._lineages, name) as generation:
                return StoredLineage(**{**vars(generation.manifest), "provenance": generation.manifest.origin}, title=generation.title)
        except StoreDamaged as error:
            return Damaged(name, str(error))

    def status(self, lineage: str = "") -> Completeness:
        """Report how complete a lineage is: in = ok + degraded + failed + excluded by kind, and every failed or incomplete item."""
        from api.wire.stored import Completeness, Loss

        with open_generation(self._lineages, self._name(lineage)) as generation:
            sums = {kind: generation.catalog.sums(kind) for kind in ("reference", "member", "page", "source")}
            lost = tuple(Loss.from_record(row) for row in generation.catalog.ledger() if row.status.outcome in {"failed", "degraded"})
            return Completeness(generation.manifest.lineage, generation.manifest.id, sums, lost, generation.title, generation.manifest.origin)

    def check(self, lineage: str = "", *, read_data: bool = False) -> tuple[Finding, ...]:
        """Verify one lineage or all of them and list the problems. Deletes nothing."""
        from api.doctor import altered
        from indexer.store.generations import Finding
        from indexer.store.verify import check_lineage, check_shared, check_stored
        from lineage.tables import REINSTALL

        at = self._lineages
        checked = (check_lineage(at, name, read_data) if isinstance(at, Path) else check_stored(at, name) for name in self._chosen(lineage))
        changed = (Finding(str(path), "is not the table that was installed", REINSTALL) for path in altered())
        return (*(finding for findings in checked for finding in findings), *(check_shared(self._home) if read_data else ()), *changed)

    def repair(self, lineage: str = "", *, watch: Watch = unwatched) -> tuple[Repair, ...]:
        """Fetch again, or make again, just what is damaged in one lineage or all of them, and in what they share."""
        from indexer.repair import repair

        with self._parts.workbench(watch) as bench:
            return repair(bench, self._chosen(lineage))

    def against_source(self, lineage: str = "", *, watch: Watch = unwatched) -> tuple[SourceCheck, ...]:
        """Fetch every pinned repository and paper of a lineage again, and compare its texts: match, differs, gone or not checked."""
        from indexer.against_source import Afresh, against_source

        with open_generation(self._lineages, self._name(lineage)) as generation, self._parts.workbench(watch, Afresh()) as bench:
            return tuple(against_source(bench, generation))

    def migrate(self, source: str, target: str, lineage: str = "") -> tuple[Migrated, ...]:
        """Copy a lineage, or all of them, between stores: folders, or `postgresql://` addresses. What arrives is compared by its hashes."""
        from indexer.store.migration import migrate

        at = [lineages_at(text) for text in (source, target)]
        return tuple(migrate(at[0], at[1], (lineage,) if lineage else (), self._home))

    def prune(self, *, remove: bool = False, watch: Watch = unwatched) -> Pruned:
        """Count the downloads that no lineage refers to, and `remove` them if asked. Raises `UsageError` where that cannot be told."""
        from indexer.lock.record import Tape
        from indexer.repair import prune

        tape = Tape()
        with self._parts.changed(offline=True).workbench(watch, tape) as bench:
            return prune(bench, tape, remove=remove)

    def doctor(self) -> dict[str, dict[str, Any]]:
        """Report the configuration and where each part comes from: store, embedder, external services, versions."""
        from api.doctor import examine

        return examine(self._parts.settings)

    def _chosen(self, lineage: str) -> tuple[str, ...]:
        """One lineage, which may be damaged, or all of them."""
        from indexer.store.verify import built

        every = built(self._lineages)
        return every if not lineage else (lineage,) if lineage in every else (self._name(lineage),)

    def _name(self, lineage: str) -> str:
        """Resolve a lineage by name or target, or take the only one in the store. Raises `NotFound` and `AmbiguousTarget`."""
        return lineage_names.resolve(self._lineages, lineage)


def _traced(engine: Engine, result: R) -> R:
    """The result with where its generation comes from."""
    return replace(result, provenance=engine.generation.manifest.origin)  # type: ignore[type-var]  # every result has the field


def _edges(generation: Generation) -> tuple[tuple[Reference, ...], dict[WorkId, Work]]:
    """The references of a lineage, those of its target first and best first, and all its works."""
    edges = sorted(generation.catalog.references(), key=lambda edge: (edge.distance, -edge.score, edge.number or 0, edge.cited))
    return tuple(edges), {work.id: work for work in generation.catalog.works()}


def _listed(target: Work, references: Sequence[Reference], works: Mapping[WorkId, Work], coverage: Mapping[str, Any], top: int) -> RankedReferences:
    from api.wire.stored import RankedReferences, ranked

    return RankedReferences(target, len(references), ranked(references[:top] if top else references, works), coverage)
