"""Commands that ask: query, grep, read, references, gaps, facts, context, answer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from api import requests
from api.cli import display, exit_codes, terminal
from api.cli.common import DryRun, Named, Run, Words, argument, command, joined, known, option
from api.cli.files import label, questions
from api.operations import Service
from api.wire import concise, exact_lines
from api.wire.encode import CITATION_TOKENS, MIN_TOKENS, PATTERN_TOKENS
from lineage.errors import LineageError, NotFound, UsageError
from lineage.records import Answer
from retrieval.search.query import beginning

if TYPE_CHECKING:
    from retrieval.search.exact import ExactAnswer
    from retrieval.search.read import CitedPassage

Format = Literal["compact", "full", "json"] | None


@command(requests.Search)
def query(
    run: Run,
    text: Annotated[Words, argument(metavar="QUESTION", help="One question, or several in quotes.")] = None,
    k: Annotated[int | None, option("-k", min=1, max=100, metavar="N", help="Hits a question (20; 10 in full).")] = None,
    batch: Annotated[Path | None, option(metavar="FILE", help='Questions of a file (- is stdin): a line each, or JSON {"id", "text"}.')] = None,
    form: Annotated[Format, option("--format", metavar="FORM", help="compact (default in a pipe), full or json (of JSON).")] = None,
    max_tokens: Annotated[int | None, option("--max-tokens", min=MIN_TOKENS, metavar="N", help="Budget a question (1,000; of several 300).")] = None,
    model: Annotated[bool, option("--model", help="Let the configured chat model choose what comes first (LINEAGE_LLM_MODEL).")] = False,
    dry_run: DryRun = False,
) -> None:
    """Search by meaning: what the cited works settle, then lines of code and passages with citations.

    Examples:

      lineage query "which weight decay?" "is EMA used?" "how are images cropped?"

      lineage query "is the gradient clipped? clip_grad_norm_ max_norm"   # identifiers that you expect

      lineage query "learning rate schedule" --work mar --kind code -k 5

      lineage query --batch - < questions.txt
    """
    if batch and text:
        raise UsageError("a question and --batch cannot go together", hint="put the question into the file")
    asked, is_json = questions(batch) if batch else (_asked(text or []), False)
    form = form or ("json" if run.json or is_json else "full" if sys.stdout.isatty() and not batch else "compact")
    kept, notes = zip(*(beginning(question) for _, question in asked), strict=True) if batch and asked else ([question for _, question in asked], ())
    wanted = {"k": k or (20 if batch or form == "compact" else 10), **run.asked}
    if (model or dry_run) and run.told_cost(lambda: run.service.query_batch(kept, **wanted, model=True), dry_run):
        return
    answers = run.service.query_batch(kept, **wanted, model=model)
    answers = tuple(replace(answer, notes=(*answer.notes, *note)) for answer, note in zip(answers, notes or [()] * len(answers), strict=True))
    if form == "compact":
        exit_codes.say(_compact(run.service, concise.budget(max_tokens, len(answers)), answers))
    elif batch:
        _put_batch([name for name, _ in asked], answers)
    else:
        for answer in answers:
            replace(run, json=form == "json").put(answer, display.answer, "query")
    if not asked:
        print(f"note: {label(batch or Path('-'))} holds no questions", file=sys.stderr)


def _asked(words: list[str]) -> list[tuple[str, str]]:
    """The questions, each with its number: each argument with a blank in it, or all words as one."""
    several = len(words) > 1 and all(len(word.split()) > 1 for word in words)
    texts = words if several else [joined(words)]
    if not all(map(str.strip, texts)):
        raise UsageError("the question is empty", hint='for example: lineage query "how is the encoder initialized?"')
    return [(str(number), text) for number, text in enumerate(texts, 1)]


def _compact(service: Service, max_tokens: int, answers: Sequence[Answer]) -> str:
    """The lines that answer, within the budget."""

    def frame(listed: concise.Listing) -> str:
        left = next((one.left for one in listed.answers if one.left), 0)
        more = f"--max-tokens (hits from {left} on)" if left else ""
        came = next((f"origin: {answer.provenance.words}" for answer in answers if answer.provenance.words), "")
        weak = "" if any(answer.supported for answer in answers) else "Nothing clearly answers; these are the nearest."
        end = concise.next_call(listed, "for what is open `lineage grep PATTERN...`, a narrow pattern each, or `lineage read PATH:3-20...`", more)
        return "\n".join(filter(None, (came, weak, listed.text, end)))

    return concise.listing(answers, frame, service.tokens.count, max_tokens).sent if answers else ""


def _put_batch(names: Sequence[str], answers: Sequence[Answer]) -> None:
    """One line of JSON a question."""
    from api.wire.encode import dumps
    from api.wire.hits import hit_view

    for name, answer in zip(names, answers, strict=True):
        hits = list(map(hit_view, answer.hits))
        exit_codes.say(dumps({"id": name, "supported": answer.supported, "hits": hits, "notes": answer.notes}), exact=True)


@command(requests.Exact)
def grep(
    run: Run,
    pattern: Annotated[list[str], argument(metavar="PATTERN", help="Regular expressions (RE2), one an argument.")],
    max_tokens: Annotated[int | None, option("--max-tokens", min=MIN_TOKENS, metavar="N", help="Budget a pattern (1,000; of several 300).")] = None,
) -> None:
    """Find lines by pattern in all code, settings and texts; definitions first, tests and comments last, statements joined to one line.

    Examples:

      lineage grep weight_decay "clip_grad|max_norm"

      lineage grep -C 8 "def forward" --work LTH14/mar

      lineage grep -F "nn.init." --kind code
    """
    answers = [run.service.grep(expression, **run.asked) for expression in pattern]
    allowed = concise.budget(max_tokens, len(answers), PATTERN_TOKENS)
    _put_all(run, answers, "grep", lambda: exact_lines.matching_lines(answers, run.service.tokens.count, allowed, blocks=run.asked["context"] > 0))
    with exit_codes.concluding():
        if not any(matches.total for matches in answers):
            raise NotFound(f"no line matches {' or '.join(pattern)[:80]!r}", hint="`lineage query` searches by meaning")


def _put_all(run: Run, results: Sequence[ExactAnswer | CitedPassage], operation: str, text: Callable[[], str]) -> None:
    """Results of one operation: as text together, in JSON one by one."""
    for result in results if run.json else results[:1]:
        run.put(result, lambda _: text(), operation, verbatim=not sys.stdout.isatty())


@command(requests.Citation)
def read(
    run: Run,
    citation: Annotated[list[str], argument(metavar="CITATION", help="As printed, or mar/main.py:3-9.")],
    max_tokens: Annotated[int | None, option("--max-tokens", min=MIN_TOKENS, metavar="N", help="Budget a citation (1,500).")] = None,
) -> None:
    """Read cited lines, as many places as you like in one call.

    Examples:

      lineage read mar/main_mar.py:70-95 DiT/train.py:140-160

      lineage read arXiv:2502.17437#A

      lineage read mar/util/misc.py --lines 290-303 --callers
    """
    missed: list[LineageError] = []
    passages: list[CitedPassage] = []
    for cited in citation:
        try:
            passages.append(run.service.read(cited, **run.asked))
        except LineageError as error:
            missed.append(error)
    allowed = concise.budget(max_tokens, len(passages), CITATION_TOKENS)
    _put_all(run, passages, "read", lambda: "\n".join(exact_lines.passages(passages, run.service.tokens.count, allowed)))
    with exit_codes.concluding():
        if missed:
            raise missed[0]


@command(offline=True, quiet=True)
def references(
    run: Run,
    lineage: Annotated[str, argument(help="A lineage, a target, or a local .tex, e-print or .pdf file.", autocompletion=known)] = "",
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
        listed = run.service.references_of(lineage, top=top, watch=watch)
    written = form not in {"table", "json"}
    text = (lambda cited: cited.text(form)) if written else display.references
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

    A terminal shows one screen: the most important open decisions.

    Examples:

      lineage gaps arxiv-2504.17192

      lineage gaps arxiv:2504.17192 --full | less

      lineage gaps --state unspecified --topic optimizer --json

      lineage gaps --model --dry-run
    """
    asked = {**run.asked, "lineage": run.asked["lineage"] or named}
    if (model or dry_run) and run.told_cost(lambda: run.service.gaps(**asked, model=True), dry_run):
        return
    with run.watching_on_a_terminal() as watch:
        gap_report = run.service.gaps(**asked, model=model, watch=watch)
    short = sys.stdout.isatty() and not (full or asked["state"] or asked["topic"])
    from api.cli import display_gaps

    columns, rows = terminal.size()
    run.put(gap_report, partial(display_gaps.brief, rows=rows, columns=columns) if short else display_gaps.gaps, "gaps")


@command(requests.DetailName)
def facts(
    run: Run, name: Annotated[Words, argument(metavar="NAME", help="A detail by any of its names: lr, weight decay, optimizer.betas.")] = None
) -> None:
    """Show every value of a detail: where it is set, since when, and which one the target inherits.

    Without a name: the details that it has values for.

    Examples:

      lineage facts weight decay

      lineage facts lr --lineage arxiv-2504.17192 --json
    """
    if not joined(name):
        run.put(run.service.facts_table(**run.asked), display.tallies, "facts_table")
        return
    run.put(run.service.facts(joined(name), **run.asked), display.consensus, "facts")


@command(requests.Task, quiet=True)
def context(
    run: Run,
    task: Annotated[list[str], typer.Argument(metavar="TASK", help="What you will write; a list of files or components is taken item by item.")],
) -> None:
    """Pack what a task needs into a token budget: the target's statements, its lineage's, and open details.

    Examples:

      lineage context "implement the training loop" --tokens 4000

      lineage context "reproduce the paper" --stage planning > context.md
    """
    with run.watching_on_a_terminal() as watch:
        made = run.service.context(joined(task), **run.asked, watch=watch)
    run.put(made, display.pack, "context", verbatim=True)
    if not run.json:
        print(display.about(made), file=sys.stderr)


@command(requests.Question)
def answer(
    run: Run,
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="The question, with or without quotes.")],
    model: Annotated[bool, typer.Option("--model", help="Let the configured chat model answer, with quotes as proof (LINEAGE_LLM_MODEL).")] = False,
    dry_run: DryRun = False,
) -> None:
    """Answer a question in the words of the evidence. Exits with 3 if nothing supports an answer.

    A value is stated where the target's text states it in one way; everything else is quoted with its citation.

    Examples:

      lineage answer "which optimizer and learning rate are used?"

      lineage answer "how are rationales selected?" --lineage arxiv-2004.14974 --json
    """
    if (model or dry_run) and run.told_cost(lambda: run.service.answer(joined(text), **run.asked, model=True), dry_run):
        return
    answer_result = run.service.answer(joined(text), **run.asked, model=model)
    run.put(answer_result, display.written, "answer")
    with exit_codes.concluding():
        if not (answer_result.sentences or answer_result.quotes):
            raise NotFound("nothing in this lineage supports an answer", hint="the nearest evidence is listed; see also: lineage gaps")
