"""Commands that ask: query, references, gaps, facts, context, answer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from api.cli import display, display_answers, display_gaps, display_gaps_brief, exit_codes, terminal
from api.cli.common import (
    Home,
    Json,
    Lineage,
    Named,
    NoTargetCode,
    Offline,
    Quiet,
    Words,
    joined,
    one_of,
    put,
    service_of,
    watching,
    watching_on_a_terminal,
)
from api.cli.files import label
from api.operations import Service
from api.wire.encode import MAX_TOKENS, MIN_TOKENS
from lineage.errors import NotFound, UsageError
from lineage.records import Answer
from lineage.results import Gaps

KINDS = one_of("paper", "code", "config", "docs")
STAGES = one_of("planning", "analysis", "coding")
STATES = one_of("unspecified", "partially_specified", "specified")
Kind = Annotated[str, typer.Option(help="Only: paper, code, config or docs.", show_default=False, autocompletion=KINDS)]
Work = Annotated[str, typer.Option(help="Only this paper or repository: its identifier, or OWNER/NAME.", show_default=False)]

DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the calls, tokens and price that the chat model would cost; send it nothing.")]


def query(
    words: Annotated[Words, typer.Argument(metavar="TEXT", help="The question, with or without quotes.", show_default=False)] = None,
    lineage: Lineage = "",
    k: Annotated[int | None, typer.Option("-k", min=1, max=100, help="How many hits (10; of a batch 20).", show_default=False)] = None,
    kind: Kind = "",
    no_target_code: NoTargetCode = False,
    work: Work = "",
    batch: Annotated[
        Path | None,
        typer.Option(
            help='A file of {"id", "text"} lines, or - for standard input; prints {"id", "supported", "hits", "notes"} lines.', show_default=False
        ),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show the parts of each score.")] = False,
    form: Annotated[
        Literal["compact", "full", "json"] | None,
        typer.Option(
            "--format", help="compact: only the lines that answer, for agents; full; json, as --json (and as a batch is).", show_default=False
        ),
    ] = None,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=MIN_TOKENS, help="Budget of a compact answer.")] = MAX_TOKENS,
    home: Home = None,
    json: Json = False,
) -> None:
    """Search a lineage: lines of code and passages, each with its citation, license and the reason it is relevant.

    Examples:

      lineage query how is the encoder initialized

      lineage query --batch - < questions.jsonl > answers.jsonl

      lineage query "learning rate schedule" --kind code -k 5 --json

      lineage query "which betas does the optimizer use?" --format compact --max-tokens 600

      lineage query "which seeds?" --work allenai/scifact
    """
    service, text = service_of(home), joined(words)
    if batch:
        if text:
            raise UsageError("a question and --batch cannot go together", hint="put the question into the file")
        default = 10 if form == "compact" else 20
        asked: dict[str, Any] = {"lineage": lineage, "k": k or default, "kind": kind, "no_target_code": no_target_code, "work": work}
        rendered = partial(_compact, service, max_tokens) if form == "compact" and not json else None
        _answer_batch(service.query_batch(batch, **asked), batch, rendered)
        return
    if not text.strip():
        raise UsageError("the question is empty", hint='for example: lineage query "how is the encoder initialized?"')
    answer = service.query(text, lineage=lineage, k=k or 10, kind=kind, no_target_code=no_target_code, work=work, explain=explain)
    compact = form == "compact" and not json
    put(answer, json or form == "json", partial(_compact, service, max_tokens) if compact else display.answer, operation="query", verbatim=compact)


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


def grep(
    pattern: Annotated[str, typer.Argument(help="A regular expression (RE2 syntax), or with -F a string.")],
    fixed: Annotated[bool, typer.Option("--fixed-strings", "-F", help="Take the pattern as it is written.")] = False,
    word: Annotated[bool, typer.Option("--word-regexp", "-w", help="Match whole words only.")] = False,
    any_case: Annotated[
        bool | None,
        typer.Option(
            "--ignore-case/--case-sensitive", "-i/-s", help="Upper and lower case (default: as written if there are capitals).", show_default=False
        ),
    ] = None,
    kind: Kind = "",
    work: Work = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many lines.")] = 50,
    offset: Annotated[int, typer.Option("--offset", min=0, help="How many to pass over.")] = 0,
    lineage: Lineage = "",
    no_target_code: NoTargetCode = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Find exact strings or regular expressions in the papers, code and settings of a lineage; definitions come first.

    Examples:

      lineage grep weight_decay

      lineage grep -F "nn.init." --kind code

      lineage grep -w EMA --work LTH14/mar
    """
    exact: dict[str, Any] = {"fixed": fixed, "word": word, "any_case": any_case, "kind": kind, "work": work}
    matches = service_of(home).grep(pattern, lineage=lineage, limit=limit, offset=offset, no_target_code=no_target_code, **exact)
    put(matches, json, display.matches, operation="grep")
    if not matches.total:
        raise NotFound(f"no line matches {pattern[:80]!r}", hint="`lineage query` searches by meaning")


def read(
    citation: Annotated[str, typer.Argument(help="A citation as it is printed, OWNER/NAME/PATH:3-9, arXiv:ID#4.1, or a chunk id.")],
    lines: Annotated[str, typer.Option("--lines", help="Other lines of the same file: 40-90.", show_default=False)] = "",
    lineage: Lineage = "",
    no_target_code: NoTargetCode = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Read what a citation means: its lines, the definition or section they stand in, and who calls it.

    Examples:

      lineage read "github.com/LTH14/mar/main_mar.py#L81-L82@fe470ac2"

      lineage read LTH14/mar/util/misc.py:290-303

      lineage read arXiv:2502.17437#A
    """
    put(service_of(home).read(citation, lines=lines, lineage=lineage, no_target_code=no_target_code), json, display.passage, operation="read")


def references(
    target: Annotated[str, typer.Argument(help="A lineage, a target, or a local .tex, e-print or .pdf file.")],
    top: Annotated[int, typer.Option("--top", min=0, help="Only the first N (0: all).")] = 0,
    form: Annotated[
        Literal["table", "json", "bibtex", "csl-json", "ris"], typer.Option("--format", help="table, json, or for reference managers the others.")
    ] = "table",
    offline: Offline = False,
    home: Home = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """List what a paper cites: each reference with its identifiers, mentions, roles, score and why.

    Examples:

      lineage references arxiv-2504.17192 --top 10

      lineage references arxiv-2504.17192 --format bibtex > references.bib

      lineage references ./paper.tar.gz --json
    """
    with watching(quiet) as watch:
        listed = service_of(home, offline).references_of(target, top=top, watch=watch)
    written = form not in {"table", "json"}
    put(
        listed,
        json or form == "json",
        lambda found: found.text(form) if written else display.references(found),
        operation="references",
        verbatim=written,
    )


def gaps(
    named: Named = "",
    lineage: Lineage = "",
    state: Annotated[str, typer.Option(help="Only: unspecified, partially_specified or specified.", show_default=False, autocompletion=STATES)] = "",
    topic: Annotated[str, typer.Option(help="Only details of one topic (optimizer, data, evaluation ...).", show_default=False)] = "",
    no_target_code: NoTargetCode = False,
    full: Annotated[bool, typer.Option("--full", help="Every detail with its evidence; a terminal shows one screen otherwise.")] = False,
    model: Annotated[bool, typer.Option("--model", help="Let the configured chat model read what rules missed (LINEAGE_LLM_MODEL).")] = False,
    dry_run: DryRun = False,
    home: Home = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """List what the paper leaves open: each detail a reproduction needs, whether it is stated, and the best value of the lineage.

    A terminal shows one screen: contradictions between sources, then the most important open decisions.

    Examples:

      lineage gaps arxiv-2504.17192

      lineage gaps arxiv:2504.17192 --full | less

      lineage gaps --state unspecified --topic optimizer --json

      lineage gaps --model --dry-run
    """
    service = service_of(home)
    asked: dict[str, Any] = {"lineage": lineage or named, "state": state, "topic": topic, "no_target_code": no_target_code}
    if model or dry_run:
        usage = service.model_usage(lambda: service.gaps(**asked, model=True))
        if dry_run:
            put(usage, json, display_answers.usage, operation="model_usage")
            return
        print(display_answers.usage(usage), file=sys.stderr)
    with watching_on_a_terminal(quiet) as watch:
        gap_report = service.gaps(**asked, model=model, watch=watch)
    short = sys.stdout.isatty() and not (full or state or topic)
    put(gap_report, json, _brief if short else display_gaps.gaps, operation="gaps")


def _brief(found: Gaps) -> str:
    return display_gaps_brief.brief(found, *terminal.size()[::-1])


def facts(
    words: Annotated[
        Words, typer.Argument(metavar="NAME", help="A detail by any of its names: lr, weight decay, optimizer.betas.", show_default=False)
    ] = None,
    lineage: Lineage = "",
    no_target_code: NoTargetCode = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Show every value of a detail: where it is set, since when, and which one the target inherits.

    Without a name: the details that it has values for.

    Examples:

      lineage facts weight decay

      lineage facts lr --lineage arxiv-2504.17192 --json
    """
    service, name = service_of(home), joined(words)
    if not name:
        listed = service.facts_table(lineage, no_target_code=no_target_code)
        put(listed, json, display_answers.tallies, operation="facts_table")
        return
    consensus = service.facts(name, lineage=lineage, no_target_code=no_target_code)
    put(consensus, json, display_answers.consensus, operation="facts")


def context(
    words: Annotated[list[str], typer.Argument(metavar="TASK", help="What you will write; a list of files or components is taken item by item.")],
    lineage: Lineage = "",
    tokens: Annotated[int, typer.Option("--tokens", help="Budget of the whole text.")] = 6000,
    stage: Annotated[str, typer.Option("--stage", help="planning, analysis or coding.", show_default=False, autocompletion=STAGES)] = "",
    no_target_code: NoTargetCode = False,
    home: Home = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Pack what a task needs into a token budget: the target's statements, its lineage's, conflicts and open details.

    Examples:

      lineage context "implement the training loop" --tokens 4000

      lineage context "reproduce the paper" --stage planning > context.md
    """
    task = joined(words)
    with watching_on_a_terminal(quiet) as watch:
        made = service_of(home).context(task, lineage=lineage, tokens=tokens, stage=stage, no_target_code=no_target_code, watch=watch)
    put(made, json, display_answers.pack, verbatim=True, operation="context")
    if not json:
        print(display_answers.about(made), file=sys.stderr)


def answer(
    words: Annotated[list[str], typer.Argument(metavar="TEXT", help="The question, with or without quotes.")],
    lineage: Lineage = "",
    no_target_code: NoTargetCode = False,
    dry_run: DryRun = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Answer a question in sentences that cite evidence for their numbers and names. Exits with 3 if nothing supports an answer.

    Extracted from the evidence; written by a language model if one is configured (LINEAGE_LLM_MODEL), and then checked.

    Examples:

      lineage answer "which optimizer and learning rate are used?"

      lineage answer "how are rationales selected?" --lineage arxiv-2004.14974 --json
    """
    service = service_of(home)
    if dry_run:
        usage = service.model_usage(lambda: service.answer(joined(words), lineage=lineage, no_target_code=no_target_code))
        put(usage, json, display_answers.usage, operation="model_usage")
        return
    answer_result = service.answer(joined(words), lineage=lineage, no_target_code=no_target_code)
    put(answer_result, json, display_answers.written, operation="answer")
    with exit_codes.concluding():
        if not answer_result.sentences:
            raise NotFound("nothing in this lineage supports an answer", hint="the nearest evidence is listed; see also: lineage gaps")
