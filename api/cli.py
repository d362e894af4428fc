"""The command line: every command is one method of `api.service.Service`, told to a person or as JSON.

stdout carries the answer and nothing else; progress, warnings and errors go to stderr. How a command ends, and with
which exit code, is `api.ending`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from enum import StrEnum
from json import loads
from pathlib import Path
from typing import Annotated, Any

import typer

from api import display, ending, wire
from api.bootstrap import Parts
from api.service import Damaged, Service, absolute, fragments
from indexer.plan import BuildReport, BuildRequest
from lineage import settings as configuration
from lineage.errors import UsageError
from lineage.progress import Watch

app = typer.Typer(
    name="lineage",
    help="What a paper took for granted: the papers and code it inherits from, indexed and answered with proof.",
    epilog='Start with: lineage demo   then: lineage build arxiv:2504.17192   and: lineage query "how is the encoder initialized?"',
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"max_content_width": 100, "help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


class AsOf(StrEnum):
    """Which commit of a repository is taken."""

    HEAD = "head"
    PAPER = "paper"


Home = Annotated[Path | None, typer.Option("--home", help="Folder of the store (or LINEAGE_HOME).", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help='Print one object {"schema_version": "1", "data": …}.')]
Offline = Annotated[bool, typer.Option("--offline", help="Send nothing; use what the store holds (or LINEAGE_OFFLINE=1).")]
Lineage = Annotated[str, typer.Option("--lineage", "-l", help="Which lineage; may be left out while there is only one.", show_default=False)]
Named = Annotated[str, typer.Argument(help="Name of the lineage; may be left out while there is only one.", show_default=False)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
TARGET = "arXiv id or URL, DOI, Semantic Scholar id, a title in quotes, or a local .pdf, .tex or e-print file."


def _service(home: Path | None, offline: bool = False) -> Service:
    return Service(Parts(configuration.load(home=home, offline=offline or None)))


def _print(value: Any, as_json: bool, text: Callable[[Any], str]) -> None:
    """The answer, once: as the JSON envelope, or as `text` makes it."""
    ending.say(wire.envelope(value) if as_json else text(value))


def _watching(quiet: bool) -> AbstractContextManager[Watch]:
    from api.progress import watching  # rich is imported only by what takes long

    return watching(quiet)


@app.command()
def build(
    target: Annotated[str, typer.Argument(help=TARGET)],
    name: Annotated[str, typer.Option(help="Name of the lineage (default: made from the target).", show_default=False)] = "",
    depth: Annotated[int, typer.Option(min=1, max=3, help="How many generations of references to follow.")] = 1,
    papers: Annotated[int | None, typer.Option(min=0, max=1000, help="Cited papers to fetch, best-ranked first (20).", show_default=False)] = None,
    repos: Annotated[int | None, typer.Option(min=0, max=500, help="Repositories to fetch (12).", show_default=False)] = None,
    add: Annotated[list[str] | None, typer.Option(help="A further paper or repository: path or URL; may be repeated.", show_default=False)] = None,
    no_target_code: Annotated[bool, typer.Option("--no-target-code", help="Keep the target's own code out of store and answers.")] = False,
    blacklist: Annotated[Path | None, typer.Option(help="File of URL fragments that are neither fetched nor returned.", show_default=False)] = None,
    code_as_of: Annotated[AsOf, typer.Option(help="Commit of each repository: its head, or the first one after its paper came out.")] = AsOf.HEAD,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be fetched, from where and how long it would take.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="End with exit code 5 if anything was lost.")] = False,
    offline: Offline = False,
    home: Home = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Build the lineage of a paper: its references, the papers and code it inherits from, indexed.

    Examples:

      lineage build arxiv:2504.17192

      lineage build ./paper.pdf --papers 40 --add https://github.com/owner/name
    """
    settings = configuration.load(home=home, offline=offline or None, papers=papers, repos=repos)
    request = BuildRequest(
        target=absolute(target),
        name=name,
        depth=depth,
        papers=settings.papers,
        repos=settings.repos,
        add=tuple(map(absolute, add or ())),
        no_target_code=no_target_code,
        blacklist=fragments(blacklist),
        code_as_of=code_as_of.value,
    )
    service = Service(Parts(settings))
    if dry_run:
        with _watching(quiet) as watch:
            plan = service.plan(request, watch=watch)
        _print(wire.to_json(plan) if json else plan, json, display.plan)
        return
    with _watching(quiet) as watch:
        made = service.build(request, watch=watch)
    _report(service, made, json, strict)


def _report(service: Service, made: BuildReport, json: bool, strict: bool = False) -> None:
    _print(wire.report_to_json(made) if json else made, json, display.report)
    with ending.concluding():
        service.insist(made, strict)


@app.command()
def add(
    lineage: Annotated[str, typer.Argument(help="Name of the lineage (see `lineage list`).")],
    sources: Annotated[list[str], typer.Argument(help="Paths of papers or code folders, arXiv ids, or repository URLs.")],
    offline: Offline = False,
    home: Home = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Add papers or repositories to a lineage and build it anew (what is there is not fetched again).

    Example:

      lineage add arxiv-2504.17192 ./my-fork https://github.com/owner/name
    """
    service = _service(home, offline)
    with _watching(quiet) as watch:
        made = service.add(lineage, tuple(sources), watch=watch)
    _report(service, made, json)


@app.command()
def query(
    text: Annotated[str, typer.Argument(help="The question, as you would ask a colleague.", show_default=False)] = "",
    lineage: Lineage = "",
    k: Annotated[int | None, typer.Option("-k", min=1, max=100, help="How many hits (10; of a batch 20).", show_default=False)] = None,
    kind: Annotated[str, typer.Option(help="Only: paper, code, config or docs.", show_default=False)] = "",
    no_target_code: Annotated[bool, typer.Option("--no-target-code", help="Leave the target's own code out.")] = False,
    batch: Annotated[Path | None, typer.Option(help='A file of {"id", "text"} lines; prints {"id", "hits"} lines.', show_default=False)] = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """Ask a lineage: lines of code and passages, each with its citation, licence and why it counts.

    Examples:

      lineage query "how is the encoder initialized?"

      lineage query "learning rate schedule" --kind code -k 5 --json
    """
    service = _service(home)
    if batch:
        for name, answer in service.query_batch(batch, lineage=lineage, k=k or 20, kind=kind, no_target_code=no_target_code):
            ending.say(wire.dumps({"id": name, "hits": [wire.hit_to_json(hit) for hit in answer.hits]}))
        return
    answer = service.query(text, lineage=lineage, k=k or 10, kind=kind, no_target_code=no_target_code)
    _print(wire.answer_to_json(answer) if json else answer, json, display.answer)


app.command("search", hidden=True, help="The same as `query`.")(query)


@app.command()
def references(
    target: Annotated[str, typer.Argument(help="A lineage, a target, or a local .tex, e-print or .pdf file.")],
    top: Annotated[int, typer.Option("--top", min=0, help="Only the first N (0: all).")] = 0,
    offline: Offline = False,
    home: Home = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """List what a paper cites: each reference with its identifiers, mentions, roles, score and why.

    Examples:

      lineage references arxiv-2504.17192 --top 10

      lineage references ./paper.tar.gz --json
    """
    with _watching(quiet) as watch:
        listed = _service(home, offline).references(target, watch=watch)
    _print(wire.references_to_json(listed, top) if json else listed, json, lambda value: display.references(value, top))


@app.command()
def show(lineage: Named = "", home: Home = None, json: Json = False) -> None:
    """Show a lineage: the target, what it inherits from and why, the repositories, what was lost."""
    shown = _service(home).show(lineage)
    _print(wire.overview_to_json(shown) if json else shown, json, display.overview)


@app.command()
def graph(
    lineage: Named = "",
    form: Annotated[str, typer.Option("--format", help="json, graphml, dot, svg or html.")] = "html",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write (default: stdout).", show_default=False)] = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """The lineage as a picture or a file for other tools: x = year, size = weight, colour = role.

    Examples:

      lineage graph arxiv-2504.17192 -o lineage.html

      lineage graph arxiv-2504.17192 --format graphml -o lineage.graphml
    """
    text = _service(home).graph(lineage, "json" if json else form)
    text = wire.envelope(loads(text)) if json else text
    if not out:
        ending.say(text)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}") from error
    print(f"wrote {out}", file=sys.stderr)


@app.command("list")
def list_(home: Home = None, json: Json = False) -> None:
    """List the lineages of the store. Ends with 6 if one of them is damaged."""
    service = _service(home)
    rows = service.lineages()
    _print([wire.to_json(row) for row in rows] if json else rows, json, display.lineages)
    with ending.concluding():
        service.insist_sound([row for row in rows if isinstance(row, Damaged)])


@app.command()
def status(lineage: Named = "", home: Home = None, json: Json = False) -> None:
    """Say how complete a lineage is: the ledger's sums, and every loss with its reason."""
    found = _service(home).status(lineage)
    _print(wire.status_to_json(found) if json else found, json, display.status)


@app.command()
def check(
    lineage: Annotated[str, typer.Argument(help="Name of the lineage (default: all).")] = "",
    read_data: Annotated[bool, typer.Option("--read-data", help="Read and hash every file and row, blobs included.")] = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Prove that the store is whole: hashes, ledger equation, vectors, exclusions. Ends with 6 if it is not."""
    service = _service(home)
    findings = service.check(lineage, read_data=read_data)
    _print([wire.to_json(row) for row in findings] if json else findings, json, display.findings)
    with ending.concluding():
        service.insist_sound(findings)


@app.command()
def doctor(offline: Offline = False, home: Home = None, json: Json = False) -> None:
    """Say what would be used and why: store, disk, embedder, keys, mirror, versions."""
    _print(_service(home, offline).doctor(), json, display.doctor)


@app.command()
def demo(
    folder: Annotated[Path, typer.Option(help="Where the demonstration's store goes.")] = Path(".demo"),
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Build the demonstration lineage against a loopback upstream and answer three questions. Sends nothing out."""
    from api.demo import run

    run(folder, quiet, json)


def main() -> None:
    """Entry point: runs the command and turns every way to end into an exit code and one clear line."""
    ending.run(app)
