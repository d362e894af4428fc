"""The request of each operation: closed models with bounds, the examples that the OpenAPI document shows, and what else is checked beforehand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool

from indexer.plan import JOB_ID, BuildRequest
from lineage.errors import BadIdentifier, UsageError

if TYPE_CHECKING:
    from lineage.results import Stage
    from lineage.settings import Settings

NAMED = r"^([A-Za-z0-9][A-Za-z0-9._-]{0,79})?$"
CHUNK = r"^c_[0-9a-f]{8,64}$"
TEXT = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*[^\x00-\x20\x7f-\xa0][^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$"
"""At least one visible character, and no control characters except blanks."""
LINEAGE = r"^[^\x00-\x1f\x7f-\x9f]*$"


def _whole(value: Any) -> Any:
    """Reject strings and booleans where JSON must have a number."""
    if isinstance(value, str | bool):
        raise ValueError("a whole number is needed")
    return value


def _digits(value: Any) -> Any:
    """Accept only plain digits in a query string."""
    if isinstance(value, str) and not _PLAIN.match(value):
        raise ValueError("a whole number is needed")
    return value


def _truth(value: Any) -> Any:
    """Accept only `true` and `false` in a query string."""
    if isinstance(value, str) and value not in {"true", "false"}:
        raise ValueError("true or false is needed")
    return value


_PLAIN = re.compile(r"-?[0-9]{1,9}\Z")
WHOLE, DIGITS, TRUTH = BeforeValidator(_whole), BeforeValidator(_digits), BeforeValidator(_truth)
"""Placed after the bounds; otherwise the schema would lose them."""
Line = Annotated[str, Field(min_length=1, max_length=2048)]


class Closed(BaseModel):
    """A request that rejects unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Nothing(Closed):
    """No parameters."""


Lineage = Annotated[
    str,
    Field(
        max_length=2048,
        pattern=LINEAGE,
        description="Name or target (arXiv id, DOI, URL, title); optional while there is one.",
        examples=["arxiv-2504.17192", "arxiv:2504.17192"],
    ),
]


LINEAGE_NAME: dict[str, Any] = {
    "min_length": 1,
    "max_length": 2048,
    "pattern": LINEAGE,
    "description": "The lineage: name or target (arXiv id, DOI, URL, title).",
    "examples": ["arxiv-2504.17192"],
}
CHUNK_ID: dict[str, Any] = {"pattern": CHUNK, "description": "Identifier of a chunk, as hits name it."}
JOB: dict[str, Any] = {"pattern": f"^{JOB_ID}$", "description": "Identifier of a job."}


class OneLineage(Closed):
    """Names one lineage."""

    lineage: Annotated[str, Field(**LINEAGE_NAME)]


class OneJob(Closed):
    """Names one job."""

    job: Annotated[str, Field(**JOB)]


class Search(Closed):
    """A question to a lineage."""

    text: Annotated[str, Field(min_length=1, max_length=4096, pattern=TEXT, description="The question, as you would ask a colleague.")]
    lineage: Lineage = ""
    k: Annotated[int, Field(ge=1, le=100, description="How many hits."), WHOLE] = 10
    kind: Annotated[Literal["", "paper", "code", "config", "docs"], Field(description="Only this kind.")] = ""
    work: Annotated[str, Field(max_length=300, description="Only this paper or repository: NAME, OWNER/NAME, title, id.")] = ""
    no_target_code: Annotated[StrictBool, Field(description="Leave the target's own code out.")] = False
    explain: Annotated[StrictBool, Field(description="Show the parts of each score.")] = False

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "how is the encoder initialized?", "k": 5, "kind": "code"}]})


class Exact(Closed):
    """A string or a regular expression to look for."""

    pattern: Annotated[
        str, Field(min_length=1, max_length=1000, pattern=TEXT, description="A regular expression (RE2 syntax); a plain string if fixed.")
    ]
    lineage: Lineage = ""
    fixed: Annotated[StrictBool, Field(description="Match the pattern literally.")] = False
    word: Annotated[StrictBool, Field(description="Only whole words.")] = False
    any_case: Annotated[StrictBool | None, Field(description="Ignore case; default: if the pattern has no capitals.")] = None
    kind: Annotated[Literal["", "paper", "code", "config", "docs"], Field(description="Only this kind.")] = ""
    work: Annotated[str, Field(max_length=300, description="Only this paper or repository: NAME, OWNER/NAME, title, id.")] = ""
    context: Annotated[int, Field(ge=0, le=40, description="Lines to show around each; otherwise its statement."), WHOLE] = 0
    limit: Annotated[int, Field(ge=1, le=1000, description="How many lines."), WHOLE] = 30
    offset: Annotated[int, Field(ge=0, le=100_000, description="How many to skip."), WHOLE] = 0
    no_target_code: Annotated[StrictBool, Field(description="Leave the target's own code out.")] = False

    model_config = ConfigDict(json_schema_extra={"examples": [{"pattern": "weight_decay", "kind": "code", "limit": 20}]})


class Citation(Closed):
    """A citation to read."""

    citation: Annotated[
        str,
        Field(
            min_length=1, max_length=600, pattern=TEXT, description="A citation as it is printed, OWNER/NAME/PATH:3-9, arXiv:ID#4.1, or a chunk id."
        ),
    ]
    lines: Annotated[
        str, Field(max_length=20, pattern=r"^L?[0-9]{1,7}( ?- ?[0-9]{1,7})?$|^$", description="Other lines of the same file: 40-90.")
    ] = ""
    callers: Annotated[StrictBool, Field(description="List who names the definition elsewhere.")] = False
    lineage: Lineage = ""
    no_target_code: Annotated[StrictBool, Field(description="Leave the target's own code out.")] = False

    model_config = ConfigDict(json_schema_extra={"examples": [{"citation": "github.com/DequanWang/tent/tent.py#L9-L13@e9e926a6", "lines": "1-40"}]})


class Task(Closed):
    """A task and its token budget."""

    task: Annotated[str, Field(min_length=1, max_length=20_000, pattern=TEXT, description="What you will write, in your words.")]
    lineage: Lineage = ""
    tokens: Annotated[int, Field(ge=1, le=200_000, description="Token budget of the context."), WHOLE] = 6000
    stage: Annotated[Literal["", "planning", "analysis", "coding"], Field(description="Stage of the work.")] = ""
    no_target_code: Annotated[StrictBool, Field(description="Leave the target's own code out.")] = False

    model_config = ConfigDict(json_schema_extra={"examples": [{"task": "write the training loop", "tokens": 4000, "stage": "coding"}]})


class Question(Closed):
    """A question to answer in sentences."""

    text: Annotated[str, Field(min_length=1, max_length=4096, pattern=TEXT, description="The question.")]
    lineage: Lineage = ""
    no_target_code: Annotated[StrictBool, Field(description="Leave the target's own code out.")] = False

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": "which learning rate is used?"}]})


class GapFilter(Closed):
    """Which gaps to list."""

    lineage: Lineage = ""
    state: Annotated[Literal["", "specified", "partially_specified", "unspecified"], Field(description="Only details of this state.")] = ""
    topic: Annotated[
        str,
        Field(
            pattern=r"^[a-z][a-z_ -]{0,39}$|^$", description="Only details of one topic (optimizer, data, evaluation ...).", examples=["optimizer"]
        ),
    ] = ""
    no_target_code: Annotated[bool, Field(description="Leave the target's own code out."), TRUTH] = False


class DetailName(Closed):
    """A detail by any of its names."""

    name: Annotated[str, Field(min_length=1, max_length=80, pattern=TEXT, description="Name of the detail.", examples=["learning rate"])]
    lineage: Lineage = ""
    no_target_code: Annotated[bool, Field(description="Leave the target's own code out."), TRUTH] = False


class OfLineage(Closed):
    """Which lineage to use."""

    lineage: Lineage = ""
    no_target_code: Annotated[bool, Field(description="Leave the target's own code out."), TRUTH] = False


class Deciding(Closed):
    """A decision on a detail, and the lines that it rests on."""

    name: Annotated[str, Field(min_length=1, max_length=120, pattern=TEXT, description="Name of the detail.", examples=["learning rate"])]
    value: Annotated[str, Field(min_length=1, max_length=2000, pattern=TEXT, description="The value you choose.")]
    because: Annotated[str, Field(min_length=1, max_length=600, pattern=TEXT, description="Citation of the lines that state it.")]
    lineage: Lineage = ""
    note: Annotated[str, Field(max_length=2000, pattern=f"{TEXT}|^$", description="Why, in your words.")] = ""
    by: Annotated[str, Field(max_length=200, pattern=LINEAGE, description="Who decides.")] = ""
    force: Annotated[StrictBool, Field(description="Record it as unsupported where the lines do not state it.")] = False

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "learning rate", "value": "1e-4", "because": "arXiv:2006.10726#4.1"}]})


class Withdrawal(Closed):
    """A decision to withdraw."""

    name: Annotated[str, Field(min_length=1, max_length=120, pattern=TEXT, description="Name of the detail.", examples=["learning rate"])]
    lineage: Lineage = ""
    by: Annotated[str, Field(max_length=200, pattern=LINEAGE, description="Who withdraws it.")] = ""


class LogOf(Closed):
    """Which lineage's decisions to list."""

    lineage: Lineage = ""


class Around(Closed):
    """A chunk, and how much of the document to show around it."""

    chunk: Annotated[str, Field(**CHUNK_ID)]
    lineage: Lineage = ""
    before: Annotated[int, Field(ge=0, le=400, description="Lines before it."), DIGITS] = 60
    after: Annotated[int, Field(ge=0, le=400, description="Lines after it."), DIGITS] = 60
    no_target_code: Annotated[bool, Field(description="Leave the target's own code out."), TRUTH] = False


class OneChunk(Closed):
    """Names one chunk."""

    chunk: Annotated[str, Field(**CHUNK_ID)]
    lineage: Lineage = ""


class Cited(OneLineage):
    """Which references to list, and in which format."""

    top: Annotated[int, Field(ge=0, le=100_000, description="Only the first N (0: all)."), DIGITS] = 0
    work: Annotated[str, Field(max_length=300, pattern=LINEAGE, description="Only references to this work, by its identifier.")] = ""
    form: Annotated[Literal["json", "bibtex", "csl-json", "ris"], Field(description="Format of the references.")] = "json"


class Reporting(OfLineage):
    """A lineage and the format of its report."""

    form: Annotated[Literal["json", "html", "markdown"], Field(description="Format of the report.")] = "json"


class AuditUpload(Closed):
    """An archive of code to compare with a paper."""

    archive: Annotated[bytes, Field(min_length=1, description="A .zip, .tar or .tar.gz of the code.")]
    name: Annotated[str, Field(max_length=200, pattern=LINEAGE, description="Name of the code in the result.")] = "upload"
    lineage: Lineage = ""
    no_target_code: Annotated[bool, Field(description="Expect nothing of what only the target's own code says."), TRUTH] = False


class Drawing(OneLineage):
    """A lineage and the format of its graph."""

    form: Annotated[Literal["json", "graphml", "dot", "svg", "html"], Field(description="Format of the graph.")] = "json"


class Build(Closed):
    """A lineage to build."""

    target: Annotated[str, Field(min_length=1, max_length=2048, description="arXiv id or URL, DOI, Semantic Scholar id, or a title in quotes.")]
    name: Annotated[str, Field(pattern=NAMED, description="Name of the lineage; default: made from the target.")] = ""
    depth: Annotated[int, Field(ge=1, le=3, description="How many generations of references to follow."), WHOLE] = 1
    papers: Annotated[
        int | None, Field(ge=0, le=1000, description="Cited papers to fetch, best-ranked first; default: the server's setting."), WHOLE
    ] = None
    repos: Annotated[int | None, Field(ge=0, le=500, description="Repositories to fetch; default: the server's setting."), WHOLE] = None
    add: Annotated[tuple[Line, ...], Field(max_length=50, description="Further papers or repositories, by identifier or URL.")] = ()
    no_target_code: Annotated[StrictBool, Field(description="Keep the target's own code out of store and answers.")] = False
    blacklist: Annotated[tuple[Line, ...], Field(max_length=200, description="URL fragments that are neither fetched nor returned.")] = ()
    code_as_of: Annotated[Literal["head", "paper"], Field(description="Commit of each repository: head, or the first after its paper.")] = "head"

    model_config = ConfigDict(json_schema_extra={"examples": [{"target": "arxiv:2504.17192", "papers": 20, "repos": 12}]})

    def request(self, papers: int, repos: int) -> BuildRequest:
        """The build that is meant; raises `BadIdentifier` for a path, which only the command line may name."""
        from indexer.sources.local import is_path

        for text in (self.target, *self.add):
            if is_path(text):
                raise BadIdentifier(f"{text!r} is a path of this machine; over HTTP a paper or repository is named by identifier or URL")
        return BuildRequest(
            **{**dict(self), "papers": papers if self.papers is None else self.papers, "repos": repos if self.repos is None else self.repos}
        )


# -- checks that run before any work: a report takes seconds, rejecting a bad request takes none

LEAST_TOKENS = 100
"""The frame of a pack (title, generation, notice, one heading) takes most of these; no piece of evidence fits into fewer."""


def check_rows(state: str, topic: str, settings: Settings) -> None:
    """Raise `UsageError` for a state or topic that no report can have; it names those that one can."""
    from lineage.hyperparameters.checklist import checklist
    from lineage.records import Work, WorkId
    from lineage.results import Gap, Gaps, Specification
    from retrieval.gaps.stored_report import chosen

    if not (state or topic):
        return
    blank = Gaps("", "", Work(WorkId("")), (), tuple(Gap(need.detail, Specification.UNSPECIFIED) for need in checklist(settings.details).needs))
    chosen(blank, state, topic)


def stage_of_task(task: str, tokens: int, stage: str) -> Stage | None:
    """The stage that a task is packed for; raises `UsageError` for a task, budget or stage that cannot be."""
    from retrieval.context.compose import check, stage_of

    check(task, tokens)
    if tokens < LEAST_TOKENS:
        raise UsageError(f"a budget of {tokens} tokens holds no whole piece of evidence", hint=f"at least {LEAST_TOKENS} tokens are needed")
    return stage_of(stage)
