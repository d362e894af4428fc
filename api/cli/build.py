"""Commands that write: build, add, update, export, import, migrate, prune."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from api.bootstrap import Parts
from api.cli import display, display_files, exit_codes
from api.cli.common import Named, Run, argument, command, known, option
from api.cli.files import absolute, fragments, writable
from api.operations import Service
from indexer.plan import BuildReport, BuildRequest
from lineage import settings as configuration
from lineage.errors import Losses, UsageError
from lineage.settings import PROFILES

_EVERY = 0.01
"""Seconds between two looks: some thousands of them in a build, which take no time themselves."""
_ROWS = 30
_FONTS = re.compile(r"https://fonts\.googleapis\.com/[^\"')]*")
_NOTE = "Of the thread that builds; what it waits for others in (parsers in their own processes, the network) counts where it waits."


@contextmanager
def profiled(path: Path | None) -> Iterator[None]:
    """Write the page of what happens in the block to a file, also where it ends early; nothing without a path.

    Raises `UsageError` where pyinstrument is not installed (extra `profile`) or the file cannot be written.
    """
    if path is None:
        yield
        return
    try:
        from pyinstrument import Profiler
    except ImportError as error:
        raise UsageError("--profile-report needs pyinstrument", hint="pip install 'paper-lineage[profile]'") from error
    profiler, place = Profiler(interval=_EVERY, async_mode="disabled"), writable(path)
    profiler.start()
    try:
        yield
    finally:
        root = profiler.stop().root_frame()
        page = _FONTS.sub("", profiler.output_html())  # it is read offline too
        place.write_text(page.replace("<body>", f"<body>{_table(root)}", 1), encoding="utf-8")


def _table(root: Any) -> str:
    """Seconds by module of ours, with what it calls of others, most first, and the most memory that was held."""
    seconds: Counter[str] = Counter()
    frames = [(root, "python")] if root else []
    while frames:
        frame, caller = frames.pop()
        module = _module(frame.file_path_short or "") or caller
        seconds[module] += frame.total_self_time
        frames += [(child, module) for child in frame.children if not child.is_synthetic_leaf]
    total = seconds.total() or 1.0
    rows = "".join(f"<tr><td>{name}<td>{value:.2f} s<td>{value / total:.1%}" for name, value in seconds.most_common(_ROWS))
    return f"<table cellpadding=4><tr><th>module<th>time<th>share{rows}</table><p>{_memory()} {_NOTE}"


def _module(path: str) -> str:
    """The module of ours that a file is, or nothing."""
    parts = path.removesuffix(".py").replace("\\", "/").split("/")
    return ".".join(parts) if parts[0] in {"api", "indexer", "lineage", "retrieval"} else ""


def _memory() -> str:
    """The most memory that this process and the largest of its children held; nothing where the system does not say."""
    try:
        import resource
    except ImportError:
        return ""
    unit = 1 << (20 if sys.platform == "darwin" else 10)
    own, child = (resource.getrusage(who).ru_maxrss // unit for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return f"Most memory: {own:,} MB in this process, {child:,} MB in one that it started."


TARGET = "arXiv id or URL, DOI, Semantic Scholar id, a title in quotes, or a local .pdf, .tex or e-print file."


Signer = Annotated[str, option(metavar="KEY", help="Refuse it unless signed with this minisign public key (text or .pub file).")]


@command(offline=True, quiet=True)
def build(
    run: Run,
    target: Annotated[str, argument(help=TARGET)] = "",
    name: Annotated[str, option(help="Name of the lineage (default: made from the target).")] = "",
    profile: Annotated[
        Literal["fast", "default", "deep"], typer.Option(help="How much to fetch; --papers, --repos and --depth override it.")
    ] = "default",
    depth: Annotated[int | None, option(min=1, max=3, help="How many generations of references to follow (1).")] = None,
    papers: Annotated[int | None, option(min=0, max=1000, help="Cited papers to fetch, best-ranked first (20).")] = None,
    repos: Annotated[int | None, option(min=0, max=500, help="Repositories to fetch (12).")] = None,
    add: Annotated[list[str] | None, option(help="A further paper or repository: path or URL; may be repeated.")] = None,
    no_target_code: Annotated[bool, typer.Option("--no-target-code", help="Exclude the target's own code from store and answers.")] = False,
    blacklist: Annotated[Path | None, option(help="File of URL fragments that are neither fetched nor returned.")] = None,
    code_as_of: Annotated[
        Literal["head", "paper"], typer.Option(help="Commit of each repository: its head, or the first one after its paper came out.")
    ] = "head",
    lock: Annotated[Path | None, option(help="Build what a lock file pins, instead of a target.")] = None,
    tier: Annotated[Literal["first", "full"], typer.Option(help="first: stop at the fast index (seconds); full: dense vectors too.")] = "full",
    refresh: Annotated[list[str] | None, option(metavar="HOST|WORK", help="Ask a host or about a work again, or `all`; may be repeated.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be fetched, from where and how long it would take.")] = False,
    profile_report: Annotated[Path | None, option(metavar="FILE.html", help="Write where time and memory went (needs the extra `profile`).")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="End with exit code 5 if anything failed or is incomplete.")] = False,
) -> None:
    """Build the lineage of a paper: its references, the papers and code it inherits from, indexed.

    Examples:

      lineage build arxiv:2504.17192

      lineage build arxiv:2504.17192 --profile fast

      lineage build ./paper.pdf --papers 40 --add https://github.com/owner/name

      lineage build --lock lineage.lock
    """
    if bool(target) == bool(lock):
        words = "a lock file names its target; give one of the two" if lock else "missing argument: a target, or --lock FILE"
        raise UsageError(words, hint="lineage build arxiv:2504.17192, or: lineage build --lock FILE")
    if lock:
        with profiled(profile_report), run.watching() as watch:
            made = run.service.build_locked(lock, name=name, watch=watch)
        report(run, made, strict)
        return
    chosen = PROFILES[profile]
    papers, repos = chosen.papers if papers is None else papers, chosen.repos if repos is None else repos
    settings = configuration.load(home=run.home, offline=run.offline or None, papers=papers, repos=repos)
    request = BuildRequest(
        target=absolute(target),
        name=name,
        depth=chosen.depth if depth is None else depth,
        papers=settings.papers,
        repos=settings.repos,
        add=tuple(map(absolute, add or ())),
        no_target_code=no_target_code,
        blacklist=fragments(blacklist),
        code_as_of=code_as_of,
    )
    service = Service(Parts(settings))
    if dry_run:
        with run.watching() as watch:
            plan = service.plan(request, watch=watch)
        run.put(plan, display.plan)
        return
    with profiled(profile_report), run.watching() as watch:
        made = service.build(request, tier=tier, refresh=tuple(refresh or ()), watch=watch)
    report(run, made, strict)


def report(run: Run, made: BuildReport, strict: bool = False) -> None:
    """Print the result of a build; exit with 5 if `strict` and something failed or is incomplete."""
    questions = () if run.json else run.service.suggestions(made.lineage)
    run.put(made, lambda value: display.report(value, questions), "build_now")
    with exit_codes.concluding():
        fail_if_incomplete(made, strict)


def fail_if_incomplete(made: BuildReport, strict: bool) -> None:
    """Raise `Losses` if `strict` and an item failed or is incomplete."""
    lost = made.ledger["failed"] + made.ledger["degraded"]
    if strict and lost:
        raise Losses(f"{lost} of {made.ledger['in']} items failed or are incomplete", hint=f"lineage status {made.lineage} lists them")


@command(offline=True, quiet=True)
def add(
    run: Run,
    lineage: Annotated[str, typer.Argument(help="The lineage: name or target (see `lineage list`).", autocompletion=known)],
    sources: Annotated[list[str], typer.Argument(help="Paths of papers or code folders, arXiv ids, or repository URLs.")],
) -> None:
    """Add papers or repositories to a lineage and rebuild it (nothing is fetched twice).

    Example:

      lineage add arxiv-2504.17192 ./my-fork https://github.com/owner/name
    """
    with run.watching() as watch:
        made = run.service.add(lineage, tuple(sources), watch=watch)
    report(run, made)


@command(quiet=True)
def update(
    run: Run,
    lineage: Named = "",
    every: Annotated[bool, typer.Option("--all", help="Every lineage of the store.")] = False,
) -> None:
    """Look for new versions and commits of what a lineage holds, build what changed, and say which values changed.

    Examples:

      lineage update

      lineage update --all
    """
    with run.watching() as watch:
        made = run.service.update(lineage, every=every, watch=watch)
    run.put(made, display_files.updated)


@command()
def export(
    run: Run,
    lineage: Named = "",
    out: Annotated[Path | None, argument(help="File to write (default: NAME.lineage).")] = None,
    all_texts: Annotated[bool, typer.Option("--all-texts", help="Include texts whose license forbids redistribution (own machines only).")] = False,
    lock: Annotated[bool, typer.Option("--lock", help="Write a lock file instead (default: lineage.lock).")] = False,
    sign: Annotated[Path | None, option("--sign", metavar="KEY", help="Sign with a minisign secret key, into FILE.minisig.")] = None,
) -> None:
    """Write a lineage as one file that opens on another machine without a network.

    Texts whose license does not allow redistribution are excluded and listed; their sources and hashes are kept, so that
    `lineage import` can fetch them again and verify that they are identical.

    With --lock it records the answers of the services and the versions and commits that were read: `lineage build --lock FILE`
    builds the same content from it on any machine.

    Examples:

      lineage export arxiv-2504.17192 paper2code.lineage

      lineage export arxiv-2504.17192 mine.lineage --all-texts

      lineage export arxiv-2504.17192 --sign minisign.key

      lineage export arxiv-2504.17192 --lock
    """
    if out is None and lineage.endswith((".lineage", ".lock")):
        lineage, out = "", Path(lineage)  # the only lineage there is, to that file
    if lock:
        if sign:
            raise UsageError("a lock file is not signed: it holds hashes, not texts")
        locked = run.service.lock(lineage, out)
        run.put(locked, display_files.locked)
        return
    made = run.service.export(lineage, out, all_texts=all_texts, sign=sign)
    run.put(made, display_files.exported)


@command(offline=True, quiet=True)
def import_(
    run: Run,
    file: Annotated[Path, argument(help="A bundle that `lineage export` wrote.")],
    name: Annotated[str, option(help="Name of the lineage here (default: the one it had).")] = "",
    signer: Signer = "",
) -> None:
    """Import a bundle: it is verified first, then written; texts excluded for their license are fetched again.

    It can be queried as soon as it is written. Run the command again to fetch what failed the first time.

    Examples:

      lineage import paper2code.lineage

      lineage import paper2code.lineage --name theirs --offline

      lineage import paper2code.lineage --signer colleague.pub
    """
    with run.watching() as watch:
        made = run.service.import_(file, name=name, signer=signer, watch=watch)
    run.put(made, display_files.imported)


@command()
def push(
    run: Run,
    lineage: Annotated[str, argument(help="The lineage: name or target.", autocompletion=known)],
    target: Annotated[str, argument(help="A folder, s3://…, hf://… (default: LINEAGE_SHELF).")] = "",
    sign: Annotated[Path | None, option("--sign", metavar="KEY", help="Sign with a minisign secret key.")] = None,
) -> None:
    """Put a lineage on a shelf that others pull from: a folder, a bucket, a Hugging Face dataset.

    Texts whose license does not allow redistribution stay out, as `lineage export` leaves them out.

    Examples:

      lineage push arxiv-2504.17192 /mnt/lab/lineages

      lineage push arxiv-2504.17192 s3://lab/lineages --sign minisign.key
    """
    run.put(run.service.push(lineage, target, sign=sign), display_files.pushed)


@command(offline=True, quiet=True)
def pull(
    run: Run,
    wanted: Annotated[str, argument(help="Name, target or title of a lineage (default: list the shelf).")] = "",
    shelf: Annotated[str, option("--from", metavar="TARGET", help="A folder, s3://…, hf://… (default: LINEAGE_SHELF).")] = "",
    name: Annotated[str, option(help="Name of the lineage here (default: the one it has there).")] = "",
    signer: Signer = "",
) -> None:
    """Take a lineage from a shelf: held against the index's hash, verified as every bundle, then imported.

    Examples:

      lineage pull --from /mnt/lab/lineages

      lineage pull arxiv:2504.17192 --from s3://lab/lineages --signer lab.pub
    """
    if not wanted:
        run.put(run.service.shelf(shelf), display_files.shelf)
        return
    with run.watching() as watch:
        made = run.service.pull(wanted, shelf, name=name, signer=signer, watch=watch)
    run.put(made, display_files.imported)


@command()
def migrate(
    run: Run,
    source: Annotated[str, argument(metavar="FROM", help="A folder, or a postgresql:// address.")],
    target: Annotated[str, argument(metavar="TO", help="The same.")],
    lineage: Annotated[str, option("--lineage", "-l", help="Only this one (default: all).")] = "",
) -> None:
    """Copy lineages from one store to another and compare what arrived by its hashes; the first store stays as it is.

    A database holds lineages; downloads and caches stay in the folder.

    Examples:

      lineage migrate ~/.local/share/lineage postgresql://lineage@db.example/lineage

      lineage migrate postgresql://lineage@db.example/lineage ./copy -l arxiv-2504.17192
    """
    run.put(run.service.migrate(source, target, lineage), display_files.migrated)


@command()
def prune(
    run: Run,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Remove them; without it they are only counted.")] = False,
) -> None:
    """Remove downloads that no lineage refers to: what a build of each would read is kept, and what came within the last day.

    Sends nothing. Without --yes nothing is removed.

    Examples:

      lineage prune

      lineage prune --yes
    """
    run.put(run.service.prune(remove=yes), display_files.pruned)
