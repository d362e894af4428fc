"""Answers as text for a person: one function a kind of answer, marked for `api.cli.terminal`, readable when piped.

Everything that comes out of a paper, repository or bundle passes through `plain`, names and identifiers too: nothing of
it can make a line of its own. What would steer a terminal does not leave `api.cli.exit_codes.say` in any case.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from api.cli.terminal import bad, bold, cut, dim, good, one_line
from lineage.citation import name, pinpoint
from lineage.generation import Damaged
from lineage.hyperparameters.values import worded
from lineage.licenses import called
from lineage.records import Answer, Hit, LedgerRow, Status
from lineage.text.hidden_text import visible
from lineage.text.tokens import counted

if TYPE_CHECKING:
    from api.wire.bibliography import RankedReference
    from api.wire.hits import HitView
    from api.wire.stored import Completeness, Overview, RankedReferences, RepositoryStateView, StoredLineage
    from indexer.against_source import SourceCheck
    from indexer.plan import BuildReport
    from lineage.results import Consensus, FactOccurrence, ModelUsage, Pack, Tallies, Value, WrittenAnswer

plain = one_line
_NUMBER = re.compile(r"\d+")
_SHOWN_COPIES = 8
_SHOWN_PAIRS = 12
_SHOWN_LINES = 14
_SHOWN_LOSSES = 12
_TIERS = {"lexical": "lexical index only", "static": "fast index; dense vectors not computed yet", "dense": "dense vectors"}


def printable(text: str) -> str:
    """Lines as they are, without what cannot be shown."""
    return "".join(c if c.isprintable() or c in "\t\n" else " " for c in text)


def shorten(text: str, width: int) -> str:
    """The text on one line of at most `width` characters."""
    text = plain(text)
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def report(made: BuildReport, questions: Sequence[str] = ()) -> str:
    """A build: counts, the ledger equation, failures with reasons, and what to ask next."""
    ledger, seconds = made.ledger, made.seconds
    state = "up to date" if made.unchanged else "built"
    statuses = ", ".join(f"{count} {plain(status)}" for status, count in made.references["by_status"].items())
    lines = [
        f"{bold(made.lineage)}  {state}, generation {made.generation} ({_TIERS[made.tier]})",
        f"  target        {shorten(made.target.title or made.target.id, 90)}",
        f"  references    {made.references['total']} ({statuses})",
        f"  indexed       {made.lineage_papers} papers, {made.repositories} repositories, {made.chunks:,} chunks",
        f"  ledger        {_equation(ledger)}",
    ]
    if seconds:  # of a build just run: a stored lineage no longer knows what its making took
        lines.append(f"  requests      {_requests(made.requests)}")
        lines.append(f"  took          {_took(seconds)}")
    lines += [f"  note          {plain(note)}" for note in made.notes]
    lines += _losses(made.losses)
    asked = f'"{questions[0]}"' if questions else "QUESTION"
    return "\n".join([*lines, f"ask: lineage query {asked} --lineage {made.lineage}"])


def _equation(sums: Mapping[str, int]) -> str:
    parts = " + ".join(f"{sums[outcome]:,} {outcome}" for outcome in ("ok", "degraded", "failed", "excluded"))
    return f"{sums['in']:,} in = {parts}"


def _requests(sent: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {plain(host)}" for host, count in sorted(sent.items())) or "none"


def _took(seconds: Mapping[str, float]) -> str:
    """How long a build took, and its parts, longest first."""
    parts = {stage: value for stage, value in seconds.items() if stage != "wall"}
    parts["other"] = seconds["wall"] - sum(parts.values())  # less than nothing where parts ran side by side
    stages = ", ".join(f"{stage} {value:.0f} s" for stage, value in sorted(parts.items(), key=lambda part: -part[1]) if value >= 0.5)
    return f"{seconds['wall']:.0f} s" + (f" ({stages})" if stages else "")


def _losses(rows: Sequence[LedgerRow]) -> list[str]:
    """What failed or is incomplete, grouped by kind and reason; reasons that differ only in numbers are one, told by the first."""
    if not rows:
        return ["  failed        nothing"]
    groups: dict[tuple[str, str, str], list[LedgerRow]] = {}
    for row in rows:
        groups.setdefault((row.kind, row.status, _NUMBER.sub("", row.detail)), []).append(row)
    lines = ["  failed or incomplete:"]
    for (kind, status, _), group in list(groups.items())[:_SHOWN_LOSSES]:
        names = ", ".join(shorten(row.subject, 40) for row in group[:3]) + (f" and {len(group) - 3} more" if len(group) > 3 else "")
        detail = f" ({shorten(group[0].detail, 110)})" if group[0].detail else ""
        lines.append(f"    {len(group)} {kind}{'s' if len(group) > 1 else ''} {status}: {names}{detail}")
    if len(groups) > _SHOWN_LOSSES:
        lines.append(f"    and {len(groups) - _SHOWN_LOSSES} more groups; `lineage status` lists everything")
    return lines


def answer(given: Answer) -> str:
    """Hits, best first: citation, why it counts, the lines, with the focus marked."""
    blocks = [dim(f"{given.lineage} · generation {given.generation}")]
    blocks += [f"note: {plain(note)}" for note in given.notes]
    blocks += [_hit(hit, explain=given.query.explain) for hit in given.hits] or [
        "nothing in this lineage answers that; try other words, or `lineage gaps`"
    ]
    return "\n\n".join(blocks)


def _hit(hit: Hit, *, explain: bool = False) -> str:
    from api.wire.hits import hit_view

    view = hit_view(hit, explain=explain)
    what = " · ".join(filter(None, (view.kind, called(hit.work.license), "target's own" if hit.from_target else "")))
    lines = [f"{hit.rank}. {bold(plain(view.citation))}  ({what})"]
    if view.lineage.why:
        lines.append(f"   why: {shorten(view.lineage.why, 150)}")
    signals = ", ".join(f"{signal.retriever} {signal.rank}" for signal in hit.signals)
    lines.append(f"   {dim('found by: ' + signals)}" + (f"; also in {plain(', '.join(hit.chunk.copies[:3]))}" if hit.chunk.copies else ""))
    lines += _explained(view) if explain else []
    return "\n".join([*lines, *_window(hit, view.text)])


def _explained(view: HitView) -> list[str]:
    """A line for each part of a hit's score."""
    if not view.explain:
        return []
    rows = [f"     {part.value:+7.3f}  {part.name:<11} {shorten(', '.join(part.of), 90)}".rstrip() for part in view.explain.parts]
    return [*rows, f"     {view.explain.sum:+7.3f}  sum, score {view.score:.4f}"]


def _window(hit: Hit, text: str) -> list[str]:
    """The lines around the focus, numbered for code, the focus marked with a bar."""
    lines = printable(text).split("\n")
    first = hit.chunk.start_line
    focus = hit.focus
    start = max(0, focus.start_line - first - 3) if focus else 0
    shown = range(start, min(len(lines), start + _SHOWN_LINES))
    numbered = hit.chunk.kind != "paper"
    rows = [f"     … {start} lines above"] if start else []
    for at in shown:
        focused = bool(focus and focus.start_line <= first + at <= focus.end_line)
        mark = good("│") if focused else " "
        rows.append(cut(f"   {mark} {dim(f'{first + at:>5}')}  {lines[at][:168]}") if numbered else f"   {mark} {shorten(lines[at], 400)}")
    left = len(lines) - shown.stop
    return [*rows, f"     … {left} more lines"] if left > 0 else rows


def references(listed: RankedReferences) -> str:
    """A table of references: score, year, title, roles, mentions; the strongest reasons below."""
    head = f"{listed.total} references of {plain(listed.target.title or listed.target.id)}" + _coverage(listed.coverage)
    return "\n".join([head, *(_reference(n, row) for n, row in enumerate(listed.references, 1))])


def _coverage(coverage: Mapping[str, Any]) -> str:
    coverage_text = ", ".join(f"{plain(name.removeprefix('by '))} {count}" for name, count in sorted(coverage.items()) if name.startswith("by "))
    return f"  (listed by: {coverage_text}; {coverage.get('both', 0)} by both the paper and a service)" if coverage_text else ""


def _reference(n: int, reference: RankedReference) -> str:
    work = reference.work
    title = shorten((work.title if work else "") or reference.raw or reference.cited, 84)
    roles = ", ".join(verdict.role for verdict in reference.roles) or "-"
    head = f"{n:>4}. {(work.year if work else None) or '    '}  {title}  [{plain(reference.cited)}]"
    lines = [
        head,
        f"            {roles} · {counted(len(reference.mentions), 'mention')}"
        + (f" · {shorten('; '.join(reference.why), 110)}" if reference.why else ""),
    ]
    return "\n".join(lines)


def overview(shown: Overview) -> str:
    """A lineage at a glance: counts, what carries it, where the code is."""
    head = report(shown.report).rsplit("\nask:", 1)[0]
    top = [_reference(n, row) for n, row in enumerate(shown.references[:10], 1)]
    code = [bold("code:"), *_code(shown), *_shared(shown), *_derived(shown)]
    return "\n".join([head, "", bold("inherits most from:"), *top, *_ancestors(shown), "", *code])


def _ancestors(shown: Overview) -> list[str]:
    """The works that each part of the target comes from, with the sentence that says so."""
    lines = []
    for part, ancestors in groupby(shown.ancestors, key=lambda ancestor: ancestor.part):
        for n, ancestor in enumerate(ancestors):
            title = shorten(ancestor.title or ancestor.work, 70)
            lines.append(f"  {'' if n else part:<11} {n + 1}. {title}  [{plain(ancestor.work)}]")
            lines += [f"                 {shorten(ancestor.reason, 130)}"] if ancestor.reason else []
    return ["", "ancestors by part:", *lines] if lines else []


def _code(shown: Overview) -> list[str]:
    lines = []
    for link in shown.links:
        repository = link.repository
        commit = f" @{str(repository.meta['commit'])[:8]} ({called(repository.license)})" if repository and repository.meta.get("commit") else ""
        about = f"{link.tier} of {plain(link.paper)}: {shorten('; '.join(link.evidence), 90)}"
        lines.append(f"  {plain((name(repository) if repository else link.repo.removeprefix('repo:')) + commit)}{_became(link.state)}  {about}")
    return lines or ["  none found"]


def _became(state: RepositoryStateView | None) -> str:
    """The state of a repository and the chosen commit, in brackets; empty if there is nothing to report."""
    if not state:
        return ""
    words = (*state.words, state.detail) if state.status is Status.OK and state.detail else state.words
    return f" [{shorten('; '.join(words), 100)}]" if words else ""


def _shared(shown: Overview) -> list[str]:
    """Which repositories have code in common, most first."""
    named = (
        (shared_code.one.removeprefix("repo:"), shared_code.other.removeprefix("repo:"), shared_code)
        for shared_code in shown.shared_code[:_SHOWN_PAIRS]
    )
    lines = [
        f"  {plain(mine)} and {plain(theirs)}: {shared_code.words()} ({shorten(', '.join(shared_code.examples), 80)})"
        for mine, theirs, shared_code in named
    ]
    return ["", bold("identical code in:"), *lines] if lines else []


def _derived(shown: Overview) -> list[str]:
    """Functions that were reused as they are or modified, with what was modified."""
    changed = [derivation for derivation in shown.derivations if derivation.kind != "exact"]
    lines = [
        f"  {_where(derivation.taker)} {'from' if derivation.why else 'and'} {_where(derivation.source)}: {_said(derivation)}"
        for derivation in changed[:_SHOWN_COPIES]
    ]
    exact = len(shown.derivations) - len(changed)
    if not shown.derivations:
        return []
    head = f"reused functions: {exact} unchanged, {len(changed)} modified" + ("; the most similar of these:" if lines else "")
    return ["", bold(head), *lines]


def _where(place: Any) -> str:
    return plain(f"{place.work.removeprefix('repo:github.com/')} {place.path}:{place.start_line} {place.symbol}")


def _said(derivation: Any) -> str:
    return shorten("; ".join((*derivation.changes, *((derivation.why,) if derivation.why else ()))) or derivation.kind, 160)


def lineages(rows: Sequence[StoredLineage | Damaged]) -> str:
    """One line a lineage."""
    return "\n".join(map(_lineage, rows)) or "no lineage yet; build one: lineage build arxiv:2504.17192"


def _lineage(row: StoredLineage | Damaged) -> str:
    if isinstance(row, Damaged):
        return f"{row.lineage:<24} {bad('damaged:')} {plain(row.problem)}"
    came = f"  [{plain(row.provenance.words)}]" if row.provenance.words else ""
    return f"{bold(f'{row.lineage:<24}')} {plain(row.created)[:10]}  {row.counts['chunks']:>8,} chunks  {shorten(row.title or row.target, 100)}{came}"


def status(state: Completeness) -> str:
    """The ledger's sums by kind, then every loss."""
    lines = [f"{bold(state.lineage)}  generation {state.generation}", *([f"  {shorten(state.title, 110)}"] if state.title else [])]
    for kind, sums in state.sums.items():
        lines.append(f"  {kind:<10} {_equation(sums)}")
    for kind, group in groupby(state.losses, key=lambda row: row.kind):
        lines += ["", bold(f"{kind}s failed or incomplete:")]
        lines += [f"  {row.status:<14} {shorten(row.subject, 60):<60}  {shorten(row.detail, 110)}".rstrip() for row in group]
    return "\n".join(lines)


def findings(rows: Sequence[Any]) -> str:
    """The problems that `check` found, or that there are none."""
    return "\n".join(f"{plain(row.place)}: {plain(row.problem)}\n  hint: {plain(row.hint)}" for row in rows) or "no problems found"


def repairs(rows: Sequence[Any]) -> str:
    """What `check --repair` did."""
    return "\n".join(f"{plain(row.place)}: {plain(row.done)}" for row in rows) or "nothing needed repair"


def source_checks(rows: Sequence[SourceCheck]) -> str:
    """What `check --against-source` found, one line a work, and the sums."""
    lines = [
        f"{bad(f'{row.verdict:<12}') if row.verdict == 'differs' else f'{row.verdict:<12}'} {plain(row.work)}"
        f"  {row.same} of {row.checked} files{f'; {plain(row.detail)}' if row.detail else ''}"
        for row in rows
    ]
    counts = ", ".join(f"{sum(row.verdict == verdict for row in rows)} {verdict}" for verdict in ("match", "differs", "gone", "not checked"))
    return "\n".join([*lines, counts])


def doctor(facts: Mapping[str, Mapping[str, Any]]) -> str:
    """The configuration in use and its reasons."""
    lines: list[str] = []
    for section, values in facts.items():
        lines += [bold(section), *(f"  {name:<22} {plain(str(value))}" for name, value in values.items())]
    return "\n".join(lines)


def plan(made: Any) -> str:
    """What a build would fetch, and what it would cost."""
    lines = [f"would fetch for {plain(made.target.title or made.target.id)}:"]
    lines += [f"  paper       {shorten(work.title or work.id, 90)}  [{plain(work.id)}]" for work in made.papers]
    lines += [f"  repository  {plain(link.repo.removeprefix('repo:'))}  ({link.tier} of {plain(link.paper)})" for link in made.repos]
    total, cost = sum(made.requests.values()), f"{made.megabytes:.0f} MB, {made.minutes:.1f} minutes within the services' rate limits"
    lines.append(f"about {total} requests ({_requests(made.requests)}), {cost}")
    return "\n".join(lines)


# -- answers, packs and facts


_HELD = 6
_WHOLE, _SHORT = 8, 12
"""Values that are shown with their places, and after them with one place only."""


def pack(made: Pack) -> str:
    """Exactly what is sent; the command prints notes on it to stderr."""
    return made.text


def about(made: Pack) -> str:
    """One line on a pack: tokens used and allowed, items, what did not fit."""
    left = f"; did not fit: {'; '.join(plain(title) for title in made.left_out)}" if made.left_out else ""
    notes = "".join(f"\nnote: {plain(note)}" for note in made.notes)
    return f"{made.used} of {made.allowed} tokens ({plain(made.tokenizer)}), {len(made.items)} items{left}{notes}"


def written(answer: WrittenAnswer) -> str:
    """The sentences or quotations with the numbers of their evidence, the evidence, then what came near."""
    statements = answer.sentences or answer.quotes
    hits = list({hit.chunk.id: hit for statement in statements for hit in statement.evidence}.values())
    numbers = {hit.chunk.id: number for number, hit in enumerate(hits, 1)}
    lines = [dim(f"{answer.lineage} · generation {answer.generation}")]
    lines += [f"note: {plain(note)}" for note in answer.notes]
    lines += ["", "quoted, not claimed: these passages come nearest"] if answer.quotes else []
    for sentence in statements:
        cited = ", ".join(str(number) for number in sorted({numbers[hit.chunk.id] for hit in sentence.evidence}))
        lines += ["", f"{printable(visible(sentence.text)[0])} {dim(f'[{cited}]')}"]
    if not statements:
        lines += ["", "nothing in this lineage supports an answer"]
    lines += ["", *(f"[{number}] {_source(hit)}" for number, hit in enumerate(hits, 1))] if hits else []
    lines += ["", "nearest evidence:", *(f"  {_source(hit)}" for hit in answer.nearest)] if answer.nearest else []
    return "\n".join(lines)


def _source(hit: Hit) -> str:
    return " · ".join(filter(None, (plain(pinpoint(hit)), called(hit.work.license), "target's own" if hit.from_target else "", plain(hit.chunk.id))))


def consensus(agreed: Consensus) -> str:
    """Each value with its holders: where, since when, in which words, and what it overrides."""
    lines = [f"{plain(agreed.title)} ({plain(agreed.name)}) in {agreed.lineage} · generation {agreed.generation}"]
    lines += [f"note: {plain(note)}" for note in agreed.notes]
    for value in agreed.values[:_WHOLE]:
        lines += ["", *_value(value)]
    lines += _rest(agreed.values[_WHOLE:])
    if agreed.why:
        lines += ["", "why the first one:", *(f"  {shorten(reason, 300)}" for reason in agreed.why)]
    return "\n".join(lines)


def _rest(values: Sequence[Value]) -> list[str]:
    """Further values, each with its first place only."""
    if not values:
        return []
    lines = [f"  {shorten(worded(value.value, value.unit), 60)}  {dim(plain(pinpoint(value.held[0].evidence)))}" for value in values[:_SHORT]]
    more = f", the first {_SHORT} of them with one place each" if len(values) > _SHORT else ", one place each"
    return ["", f"{counted(len(values), 'further value')}{more}; --json gives all:", *lines]


def _value(value: Value) -> list[str]:
    works = len({occurrence.fact.work for occurrence in value.held})
    computed = "" if value.held[0].fact.literal else "computed: "
    mark = "  ← inherited by the target" if value.inherited else ""
    count = counted(len(value.held), "place") + (f" in {counted(works, 'work')}" if len(value.held) > 1 else "")
    lines = [f"{computed}{bold(plain(worded(value.value, value.unit)))}  ({count}){good(mark)}"]
    lines += [line for occurrence in value.held[:_HELD] for line in _holder(occurrence)]
    left = len(value.held) - _HELD
    return [*lines, f"    … {left} more"] if left > 0 else lines


def _holder(occurrence: FactOccurrence) -> list[str]:
    fact = occurrence.fact
    where = " · ".join(
        filter(None, (pinpoint(occurrence.evidence), fact.kind, occurrence.since and f"since {occurrence.since}", fact.scope and f"of {fact.scope}"))
    )
    quote = f": {shorten(fact.said, 140)}" if fact.said else ""
    lines = [f"    {plain(where)}", f"        {shorten(fact.written, 40)}{quote}"]
    return [*lines, *(f"        overrides {plain(old.value)} ({old.kind}, line {old.line})" for old in occurrence.overridden)]


def tallies(listed: Tallies) -> str:
    """Details by topic: how many values in how many works."""
    lines = [f"{len(listed.rows)} details have values in {listed.lineage} · generation {listed.generation}", *map(plain, listed.notes)]
    for topic, rows in groupby(listed.rows, key=lambda row: row.topic):
        lines += ["", f"{plain(topic):<26} values works facts"]
        lines += [f"  {plain(row.name):<24} {row.values:>6} {row.works:>5} {row.facts:>5}  {plain(row.title)}" for row in rows]
    return "\n".join([*lines, "", "ask: lineage facts NAME"])


def usage(used: ModelUsage) -> str:
    """What a chat model is asked, or would be, and what that costs at most."""
    cost = f", at most ${used.cost:.4f}" if used.cost else ""
    tokens = f"at most {used.tokens_in:,} tokens in and {used.tokens_out:,} out"
    return f"{plain(used.model)}: {used.calls} calls ({used.cached} answers are kept), {tokens}{cost}"
