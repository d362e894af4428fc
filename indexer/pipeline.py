"""A build, stage by stage: resolve, trace, choose, fetch, parse, chunk, write, embed, switch.

A failed item is a ledger row, never the end of a run. Every fetch, parse and vector is kept under the hash of what
it was made from, so an interrupted build resumes where it was, and a build whose inputs have not changed finds its
generation already there.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from indexer.build_context import BuildContext
from indexer.chunking.chunker import VERSION as CHUNKER
from indexer.collect import Collected, collect
from indexer.documents import FormerVectors, at_once, cut, embed, missing, read, reads_further
from indexer.embedding_ahead import embedding_ahead
from indexer.extraction import extract as facts
from indexer.parsers.select import versions
from indexer.plan import BuildReport, BuildRequest, choose_papers, choose_repos, worths
from indexer.read_document import Extracted, ReadDocument
from indexer.references import trace
from indexer.repo_profile import VERSION as PROFILE
from indexer.repositories import read_upload
from indexer.store.generations import Writing
from indexer.target import TEXT, ResolvedTarget, check, of_code, resolve
from indexer.transport.politeness import SPENT
from indexer.transport.upstreams import UPSTREAMS
from indexer.units import version
from indexer.work_budget import Allowance, limits_of
from lineage import ids
from lineage.catalog.reader import Catalog
from lineage.errors import NotFound, StoreDamaged, UsageError
from lineage.generation import SETTLED, Generation, Manifest, open_generation
from lineage.hyperparameters.ontology import ontology
from lineage.ports import Embedder
from lineage.progress import Note, Stage
from lineage.records import Chunk, CodeLink, Fact, Setting, Work, built_here
from lineage.references.ancestors import VERSION as ANCESTORS
from lineage.text.tokens import VERSION as TOKENS
from lineage.text.tokens import counted

# Chunks that are embedded before the first answer; with more, a generation of the first tier is written before. One of more chunks answers
# before its reports are made.
_WORTH_WAITING = 1_000
_TOLD = 3


def build(
    bench: BuildContext,
    request: BuildRequest,
    tier: Literal["first", "full"] = "full",
    upload: bytes | None = None,
    refresh: Sequence[str] = (),
) -> BuildReport:
    """Build (or find built) the lineage that `request` asks for; raises the errors of `lineage.errors`.

    What is remembered of the hosts or works in `refresh` is asked again first, and the generation is written anew.

    With the tier `first` it ends as soon as questions can be answered, by words and the vectors of words; the same build
    in full goes on from there. With an `upload` the target is the name of that archive of code.
    """
    before = bench.transport.requests.copy()
    bench.transport.refresh(refresh)
    if request.name:
        ids.check_name(request.name)
    check(request.add)
    embedder = bench.embedder()  # what is wrong in itself is said before anything is asked
    resolved_target = resolve(bench, request.target) if upload is None else of_code(read_upload(bench, request.target, upload))
    slug = ids.check_name(request.name) if request.name else ids.slug(resolved_target.work.id)
    with bench.store.writing(slug) as writing:
        current = _current(bench, slug)
        if current and _is_of_another(bench, current, request, resolved_target):
            words = f"there is another lineage called {slug!r}, of {current.target}"
            raise UsageError(words, hint="give this one a name of its own: lineage build TARGET --name NAME")
        with embedding_ahead(bench, embedder) if tier == "full" else nullcontext(bench) as collecting:
            collected = collect(collecting, request, resolved_target)
        mark = _fingerprint(bench, collected, embedder.id)
        if refresh or (current and current.fingerprint == mark and _reads_further(bench, collected, current)):
            current = None
        if current and current.fingerprint == mark and (tier == "first" or _is_whole(bench, current, embedder)):
            manifest, unchanged = current, True
        else:
            manifest, unchanged = _write(bench, writing, collected, embedder, mark, current, tier), False
            writing.sweep()
        writing.tidy()
    with open_generation(bench.settings.lineages, slug, manifest.id) as generation:
        requests = bench.transport.requests - before
        made = report(generation, requests=requests, seconds=bench.clock.seconds(), unchanged=unchanged)
        return replace(made, notes=(*made.notes, *_remembered(bench.transport.remembered)))


def gathered(bench: BuildContext, request: BuildRequest) -> tuple[Collected, str]:
    """What a build of `request` would be made from now, and its fingerprint; no lineage is written."""
    collected = collect(bench, request, resolve(bench, request.target))
    return collected, _fingerprint(bench, collected, bench.embedder().id)


def _is_whole(bench: BuildContext, current: Manifest, embedder: Embedder) -> bool:
    """Whether a generation has the vectors and the reports of a build in full."""
    return current.embedder == embedder.id and (SETTLED in current.files or not bench.reports)


def _current(bench: BuildContext, slug: str) -> Manifest | None:
    """The current generation; a damaged one is reported and rebuilt."""
    try:
        return bench.store.manifest(slug) if slug in bench.store.lineages() else None
    except StoreDamaged as error:
        bench.watch(Note(f"{error}; it is built anew", "warning"))
        return None


def _is_of_another(bench: BuildContext, current: Manifest, request: BuildRequest, resolved_target: ResolvedTarget) -> bool:
    """Whether a generation is of another target: of no common identifier, and not of the same file before it was edited."""
    if current.target == resolved_target.work.id:
        return False
    try:
        with open_generation(bench.settings.lineages, current.lineage, current.id) as generation:
            before = generation.catalog.work(current.target)
            build_request = generation.catalog.meta().get("request") or {}
    except StoreDamaged:
        return False  # it is built anew
    target_ids = {current.target, *(before.aliases if before else ())}
    return build_request.get("target") != request.target and target_ids.isdisjoint({resolved_target.work.id, *resolved_target.work.aliases})


def _reads_further(bench: BuildContext, collected: Collected, current: Manifest) -> bool:
    with open_generation(bench.settings.lineages, current.lineage, current.id) as generation:
        return reads_further(bench, collected, cut(generation.catalog.ledger()))


def _fingerprint(bench: BuildContext, collected: Collected, embedder: str) -> str:
    """A hash over everything a generation is a function of: bytes, versions, graph, choices, model, budgets, the lists of details."""
    made = [PROFILE, facts.VERSION, ontology(bench.settings.ontology).digest, bench.reports.digest if bench.reports else ""]
    basis = [collected.inputs(), versions(), CHUNKER, TOKENS, embedder, *made, ANCESTORS, limits_of(bench.settings)]
    return hashlib.sha256(json.dumps(basis, sort_keys=True, default=str).encode()).hexdigest()


def _write(
    bench: BuildContext,
    writing: Writing,
    collected: Collected,
    embedder: Embedder,
    mark: str,
    current: Manifest | None,
    tier: Literal["first", "full"],
) -> Manifest:
    """The generation: at once where embedding is short, else first with the first tier's vectors, so that it answers meanwhile."""
    if current and current.fingerprint == mark:
        return _completed(bench, writing, current, embedder)
    contents = read(bench, collected).within(Allowance(bench.work))
    if not any(document.cuts for document in contents.documents):
        raise _nothing_to_read(collected)
    with writing.draft() as draft:
        with bench.clock.timed("write"), _before(bench, current) as before, draft.catalog(before, version(bench.settings)) as catalog:
            units, extracted = _units(bench, contents.into(catalog))
            catalog.add_chunks(units)
            catalog.add_facts(extracted.facts)
            catalog.add_settings(extracted.settings)
            catalog.finish()
            known = FormerVectors.of(before, catalog.rows)
        unknown = partial(known.unknown, new=units, every=draft.chunks)
        soon = tier == "full" and missing(bench, embedder, unknown(embedder.id)) <= _WORTH_WAITING
        with bench.clock.timed("embed"):
            if soon:
                draft.vectors(known.joined(embed(bench, embedder, unknown(embedder.id))), embedder.id)
            elif bench.first:
                first = bench.first()
                draft.vectors(known.joined(at_once(first, unknown(first.id))), first.id)
        later = soon and not bench.store.shelf and len(catalog.rows) > _WORTH_WAITING
        with bench.clock.timed("report"):
            manifest = draft.commit(
                target=collected.target.id,
                fingerprint=mark,
                provenance=built_here(bench.transport.mirrored, bench.transport.answered),
                reports=None if later else bench.report_maker(whole=soon),
            )
    if (soon and not later) or tier == "first":
        return manifest
    how, what = ("", "the report of gaps is being made") if soon else (" by the fast index", "dense vectors are being computed")
    bench.watch(Note(f"{manifest.counts['chunks']:,} chunks are searchable now{how} (generation {manifest.id}); {what}"))
    return _completed(bench, writing, manifest, embedder)


def _before(bench: BuildContext, current: Manifest | None) -> AbstractContextManager[Generation | None]:
    return open_generation(bench.settings.lineages, current.lineage, current.id) if current else nullcontext()


def _nothing_to_read(collected: Collected) -> NotFound:
    """Why there is no lineage: neither the target nor anything that it cites has a text that could be had."""
    target = collected.target
    row = next((row for row in collected.rows if row.subject == TEXT), None)
    why = f" ({row.detail})" if row and row.detail else ""
    hint = "build it from the paper's file: lineage build ./paper.pdf, or from its arXiv id: lineage build arxiv:2504.17192"
    what = f"{target.title!r} ({target.id})" if target.title else target.id
    words = f"nothing to read was found for {what}: no text of it{why}, and none of its {len(collected.references)} references has one"
    return NotFound(words, hint=hint)


def _units(bench: BuildContext, documents: Sequence[ReadDocument]) -> tuple[list[Chunk], Extracted]:
    """The chunks of documents, and the facts and settings in them."""
    units: list[Chunk] = []
    unit_facts: list[Fact] = []
    settings: list[Setting] = []
    with bench.clock.timed("parse"):
        for n, document in enumerate(documents, 1):
            own, document_facts = facts.units(document)
            units += own
            unit_facts += document_facts.facts + document_facts.mechanisms
            settings += document_facts.settings
            if n % 50 == 0 or n == len(documents):
                bench.watch(Stage("chunk", n, len(documents), document.path))
    return units, Extracted(tuple(unit_facts), settings=tuple(settings))


def _completed(bench: BuildContext, writing: Writing, before: Manifest, embedder: Embedder) -> Manifest:
    """The same generation again, with the embedder's vectors and the reports."""
    with open_generation(bench.settings.lineages, before.lineage, before.id) as generation, writing.draft() as draft:
        with bench.clock.timed("write"), generation.files() as folder:
            draft.take(folder, before)
        if before.embedder != embedder.id:
            with bench.clock.timed("embed"):
                draft.vectors(embed(bench, embedder, draft.chunks()), embedder.id)
        with bench.clock.timed("report"):
            return draft.commit(target=before.target, fingerprint=before.fingerprint, provenance=before.provenance, reports=bench.report_maker())


def report(generation: Generation, *, requests: Mapping[str, int], seconds: Mapping[str, float], unchanged: bool = False) -> BuildReport:
    """What a generation holds, in the words of CONTRACTS; `requests` and `seconds` are this build's."""
    catalog, manifest = generation.catalog, generation.manifest
    by_status = {str(status): count for status, count in sorted(catalog.statuses("reference").items())}
    papers = {document.work for document in catalog.documents() if document.kind == "paper" and document.parser != "abstract@1"} - {manifest.target}
    code = {document.work for document in catalog.documents() if document.kind != "paper"}
    target = catalog.work(manifest.target)
    if not target:
        raise StoreDamaged(f"generation {manifest.id} lacks its own target")
    return BuildReport(
        lineage=manifest.lineage,
        generation=manifest.id,
        target=target,
        references={"total": sum(by_status.values()), "by_status": by_status},
        lineage_papers=len(papers),
        repositories=len(code),
        chunks=manifest.counts["chunks"],
        facts=manifest.counts["facts"],
        requests=dict(requests),
        seconds=seconds,
        content_hash=manifest.content_hash,
        ledger=catalog.sums(),
        losses=tuple(row for row in catalog.ledger() if row.status.outcome in {"failed", "degraded"}),
        unchanged=unchanged,
        tier=manifest.tier,
        notes=tuple(_notes(catalog)),
        peak_memory=_peak(),
        provenance=manifest.origin,
    )


def _notes(catalog: Catalog) -> Iterator[str]:
    """What a reader of the report has to know to judge the lineage."""
    lost = next((row for row in catalog.ledger("source") if row.subject == TEXT and row.status.outcome == "failed"), None)
    if lost:
        yield f"the target's full text is not available ({lost.detail}); roles rest on metadata only. To use a file: lineage build paper.pdf"
    unread = catalog.meta().get("facts_notes", ())
    if unread:
        yield f"files whose settings were read only in part: {len(unread)} ({'; '.join(unread[:2])}{' ...' if len(unread) > 2 else ''})"
    doubts = catalog.meta().get("notes", ())
    if doubts:
        yield f"{len(doubts)} uncertain matches while merging reference lists: {'; '.join(doubts[:_TOLD])}{' ...' if doubts[_TOLD:] else ''}"
    spent = sum(SPENT in row.detail for row in catalog.ledger())
    if spent:
        yield f"{spent} items were not fetched because the budget (max_requests, max_megabytes) was used up; the same command continues"


def _remembered(days: Sequence[str]) -> Iterator[str]:
    """How many refusals were not asked about again, and since when."""
    if days:
        refusals = f"{counted(len(days), 'refusal')} of services {'is' if len(days) == 1 else 'are'} remembered"
        yield f"{refusals}, the oldest since {min(days)}; `lineage build --refresh all` asks again"


def _peak() -> int:
    """The most memory that this process has held, in bytes; 0 where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


EPRINT_MB, TARBALL_MB = 1.5, 4.0
MB_PER_SECOND = 2.0


@dataclass(frozen=True)
class Estimate:
    """`requests` by host, `megabytes` and `minutes` for what is not here yet; papers and repositories best first."""

    target: Work
    papers: tuple[Work, ...]
    repos: tuple[CodeLink, ...]
    requests: Mapping[str, int]
    megabytes: float
    minutes: float


def estimate(bench: BuildContext, request: BuildRequest) -> Estimate:
    """The cost of `request`, from metadata alone. Depth beyond 1 is counted as further papers within the budget."""
    resolved_target = resolve(bench, request.target)
    traced = trace(bench, resolved_target.work, resolved_target.text.document)
    papers, _ = choose_papers(traced.references, traced.works, request.papers)
    repos, _ = choose_repos(traced.links, worths(traced.references, traced.works, traced.citing.id), request.repos)
    requests = Counter({"export.arxiv.org": len(papers), "api.github.com": 2 * len(repos), "codeload.github.com": len(repos)})
    megabytes = EPRINT_MB * len(papers) + TARBALL_MB * len(repos)
    slowest = max((count * UPSTREAMS[host].interval for host, count in requests.items()), default=0.0)
    minutes = (slowest + megabytes / MB_PER_SECOND) / 60
    works = tuple(traced.works[name] for name in papers)
    return Estimate(resolved_target.work, works, repos, {host: count for host, count in requests.items() if count}, megabytes, minutes)
