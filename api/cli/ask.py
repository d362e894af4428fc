"""Commands that ask: query, grep, read, references, gaps, facts, context, answer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from api import requests
from api.cli import display, display_answers, exit_codes, terminal
from api.cli.common import Named, Run, Words, command, joined
from api.cli.files import label
from api.operations import Service
from api.wire.encode import MAX_TOKENS, MIN_TOKENS
from lineage.errors import NotFound, UsageError
from lineage.records import Answer

DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the calls, tokens and price that the chat model would cost; send it nothing.")]
Format = Literal["compact", "full", "json"] | None


@command(requests.Search)
def query(
    run: Run,
    text: Annotated[Words, typer.Argument(metavar="TEXT", help="The question, with or without quotes.", show_default=False)] = None,
    k: Annotated[int | None, typer.Option("-k", min=1, max=100, help="How many hits (10; of a batch 20).", show_default=False)] = None,
    batch: Annotated[
        Path | None,
        typer.Option(
            help='A file of {"id", "text"} lines, or - for standard input; prints {"id", "supported", "hits", "notes"} lines.', show_default=False
        ),
    ] = None,
    form: Annotated[
        Format,
        typer.Option(
            "--format", help="compact: only the lines that answer, for agents; full; json, as --json (and as a batch is).", show_default=False
        ),
    ] = None,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=MIN_TOKENS, help="Budget of a compact answer.")] = MAX_TOKENS,
) -> None:
    """Search a lineage: lines of code and passages, each with its citation, license and the reason it is relevant.

    Examples:

      lineage query how is the encoder initialized

      lineage query --batch - < questions.jsonl > answers.jsonl

      lineage query "learning rate schedule" --kind code -k 5 --json

      lineage query "which betas does the optimizer use?" --format compact --max-tokens 600

      lineage query "which seeds?" --work allenai/scifact
    """
    compact = partial(_compact, run.service, max_tokens) if form == "compact" and not run.json else None
    if batch:
        if text:
            raise UsageError("a question and --batch cannot go together", hint="put the question into the file")
        asked = {name: value for name, value in run.asked.items() if name != "explain"}
        _answer_batch(run.service.query_batch(batch, k=k or (10 if form == "compact" else 20), **asked), batch, compact)
        return
    if not joined(text).strip():
        raise UsageError("the question is empty", hint='for example: lineage query "how is the encoder initialized?"')
    answer = run.service.query(joined(text), k=k or 10, **run.asked)
    replace(run, json=run.json or form == "json").put(answer, compact or display.answer, "query", verbatim=bool(compact))


def _compact(service: Service, max_tokens: int, answer: Answer) -> str:
    """The lines that answer, within the budget."""
    from api.wire import concise

    def frame(listed: concise.Listing) -> str:
        left = listed.answers[0].left
        more = f"a larger --max-tokens (hits from {left} on)" if left else ""
        weak = "" if answer.supported else "Nothing clearly answers; these are the nearest."
        end = concise.next_call(listed, "`lineage read CITATION` (more lines)", more, "--format full (more of each hit)")
        return "\n".join(filter(None, (weak, listed.text, end)))

    return concise.listing([answer], frame, service.tokens.count, max_tokens).sent


def _answer_batch(answers: Iterator[tuple[str, Answer]], batch: Path, compact: Callable[[Answer], str] | None) -> None:
    """One line of JSON a question, or a heading with its id and the compact answer; a file without any says so."""
    from api.wire.encode import dumps
    from api.wire.hits import hit_view

    empty = True
    for name, answer in answers:
        empty = False
        if compact:
            exit_codes.say(f"== {display.plain(name)}\n{compact(answer)}\n")
            continue
        hits = list(map(hit_view, answer.hits))
        exit_codes.say(dumps({"id": name, "supported": answer.supported, "hits": hits, "notes": answer.notes}), exact=True)
    if empty:
        print(f"note: {label(batch)} holds no questions", file=sys.stderr)


@command(requests.Exact, argument="pattern")
def grep(run: Run) -> None:
    """Find exact strings or regular expressions in the papers, code and settings of a lineage; definitions come first.

    Examples:

      lineage grep weight_decay

      lineage grep -F "nn.init." --kind code

      lineage grep -w EMA --work LTH14/mar
    """
    matches = run.service.grep(**run.asked)
    run.put(matches, display.matches, "grep")
    if not matches.total:
        raise NotFound(f"no line matches {run.asked['pattern'][:80]!r}", hint="`lineage query` searches by meaning")


@command(requests.Citation, argument="citation")
def read(run: Run) -> None:
    """Read what a citation means: its lines, the definition or section they stand in, and who calls it.

    Examples:

      lineage read "github.com/LTH14/mar/main_mar.py#L81-L82@fe470ac2"

      lineage read LTH14/mar/util/misc.py:290-303

      lineage read arXiv:2502.17437#A
    """
    run.put(run.service.read(**run.asked), display.passage, "read")


@command(offline=True, quiet=True)
def references(
    run: Run,
    target: Annotated[str, typer.Argument(help="A lineage, a target, or a local .tex, e-print or .pdf file.")],
    top: Annotated[int, typer.Option("--top", min=0, help="Only the first N (0: all).")] = 0,
    form: Annotated[
        Literal["table", "json", "bibtex", "csl-json", "ris"], typer.Option("--format", help="table, json, or for reference managers the others.")
    ] = "table",
) -> None:
    """List what a paper cites: each reference with its identifiers, mentions, roles, score and why.

    Examples:

      lineage references arxiv-2504.17192 --top 10

      lineage references arxiv-2504.17192 --format bibtex > references.bib

      lineage references ./paper.tar.gz --json
    """
    with run.watching() as watch:
        listed = run.service.references_of(target, top=top, watch=watch)
    written = form not in {"table", "json"}
    text = (lambda found: found.text(form)) if written else display.references
    replace(run, json=run.json or form == "json").put(listed, text, "references", verbatim=written)


@command(requests.GapFilter, quiet=True)
def gaps(
    run: Run,
    named: Named = "",
    full: Annotated[bool, typer.Option("--full", help="Every detail with its evidence; a terminal shows one screen otherwise.")] = False,
    model: Annotated[bool, typer.Option("--model", help="Let the configured chat model read what rules missed (LINEAGE_LLM_MODEL).")] = False,
    dry_run: DryRun = False,
) -> None:
    """List what the paper leaves open: each detail a reproduction needs, whether it is stated, and the best value of the lineage.

    A terminal shows one screen: contradictions between sources, then the most important open decisions.

    Examples:

      lineage gaps arxiv-2504.17192

      lineage gaps arxiv:2504.17192 --full | less

      lineage gaps --state unspecified --topic optimizer --json

      lineage gaps --model --dry-run
    """
    asked = {**run.asked, "lineage": run.asked["lineage"] or named}
    if model or dry_run:
        usage = run.service.model_usage(lambda: run.service.gaps(**asked, model=True))
        if dry_run:
            run.put(usage, display_answers.usage, "model_usage")
            return
        print(display_answers.usage(usage), file=sys.stderr)
    with run.watching_on_a_terminal() as watch:
        gap_report = run.service.gaps(**asked, model=model, watch=watch)
    short = sys.stdout.isatty() and not (full or asked["state"] or asked["topic"])
    from api.cli import display_gaps

    columns, rows = terminal.size()
    run.put(gap_report, partial(display_gaps.brief, rows=rows, columns=columns) if short else display_gaps.gaps, "gaps")


@command(requests.DetailName)
def facts(
    run: Run,
    name: Annotated[
        Words, typer.Argument(metavar="NAME", help="A detail by any of its names: lr, weight decay, optimizer.betas.", show_default=False)
    ] = None,
) -> None:
    """Show every value of a detail: where it is set, since when, and which one the target inherits.

    Without a name: the details that it has values for.

    Examples:

      lineage facts weight decay

      lineage facts lr --lineage arxiv-2504.17192 --json
    """
    if not joined(name):
        run.put(run.service.facts_table(**run.asked), display_answers.tallies, "facts_table")
        return
    run.put(run.service.facts(joined(name), **run.asked), display_answers.consensus, "facts")


@command(requests.Task, quiet=True)
def context(
    run: Run,
    task: Annotated[list[str], typer.Argument(metavar="TASK", help="What you will write; a list of files or components is taken item by item.")],
) -> None:
    """Pack what a task needs into a token budget: the target's statements, its lineage's, conflicts and open details.

    Examples:

      lineage context "implement the training loop" --tokens 4000

      lineage context "reproduce the paper" --stage planning > context.md
    """
    with run.watching_on_a_terminal() as watch:
        made = run.service.context(joined(task), **run.asked, watch=watch)
    run.put(made, display_answers.pack, "context", verbatim=True)
    if not run.json:
        print(display_answers.about(made), file=sys.stderr)


@command(requests.Question)
def answer(
    run: Run,
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="The question, with or without quotes.")],
) -> None:
    """Answer a question in the words of the evidence. Exits with 3 if nothing supports an answer.

    A value is stated where the target's text states it in one way; everything else is quoted with its citation.

    Examples:

      lineage answer "which optimizer and learning rate are used?"

      lineage answer "how are rationales selected?" --lineage arxiv-2004.14974 --json
    """
    answer_result = run.service.answer(joined(text), **run.asked)
    run.put(answer_result, display_answers.written, "answer")
    with exit_codes.concluding():
        if not (answer_result.sentences or answer_result.quotes):
            raise NotFound("nothing in this lineage supports an answer", hint="the nearest evidence is listed; see also: lineage gaps")
