"""The calls of every client, typed once: each makes a request to an operation of `api.table`, to be sent or run in process."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, cast
from urllib.parse import quote

from pydantic import ValidationError

from api.requests import Closed, Nothing
from api.rest import PREFIX
from api.table import BY_CLIENT, Desk, Operation, Route
from api.wire.encode import dumps
from api.wire.hits import AnswerView, EvidenceView
from api.wire.insight import AuditView, ConsensusView, GapsView, PackView, WrittenAnswerView
from api.wire.lines import LinesView, PassageView
from api.wire.report import ReportView
from api.wire.stored import Completeness, GraphView, JobView, Overview, RankedReferences, StoredLineage
from lineage.decisions import Decision, Decisions
from lineage.errors import NotFound, UsageError
from lineage.generation import Damaged
from lineage.results import Tallies

Kind = Literal["", "paper", "code", "config", "docs"]
Stage = Literal["", "planning", "analysis", "coding"]
R = TypeVar("R")


@dataclass(frozen=True)
class Call(Generic[R]):
    """An operation and the values of its request."""

    operation: Operation
    values: Mapping[str, Any]

    def request(self) -> dict[str, Any]:
        """Arguments of the HTTP library; parameters that are empty are left to the server."""
        route = cast("Route", self.operation.rest)
        named = {name for name in self.values if f"{{{name}}}" in route.path}
        path = PREFIX + route.path.format(**{name: quote(str(self.values[name]), safe="") for name in named})
        rest = {name: value for name, value in self.values.items() if name not in {*named, route.upload}}
        sent: dict[str, Any] = {"method": route.method, "url": path}
        if route.upload:
            sent |= {"content": self.values[route.upload], "headers": {"content-type": "application/octet-stream"}}
        elif route.method == "POST" and not named:
            return {**sent, "json": rest}
        params = {name: str(value).lower() if isinstance(value, bool) else value for name, value in rest.items() if value != ""}
        return {**sent, "params": params}

    def run(self, desk: Desk) -> R:
        """The result in process, by way of its JSON, so that it is what a server would give. Raises `UsageError` for what no server takes."""
        kind: type[Closed] = self.operation.request or Nothing
        try:
            request = kind(**self.values)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise UsageError(f"/{'/'.join(map(str, first['loc']))}: {first['msg']}") from None
        return cast("R", self.operation.reader.validate_json(dumps(self.operation.ask(desk, request))))


def _call(method: str, **values: Any) -> Call[Any]:
    return Call(BY_CLIENT[method], values)


def search(text: str, *, lineage: str = "", k: int = 10, kind: Kind = "", no_target_code: bool = False, work: str = "") -> Call[AnswerView]:
    """The `k` best hits for a question."""
    return _call("search", text=text, lineage=lineage, k=k, kind=kind, no_target_code=no_target_code, work=work)


def grep(
    pattern: str,
    *,
    lineage: str = "",
    fixed: bool = False,
    word: bool = False,
    any_case: bool | None = None,
    kind: Kind = "",
    work: str = "",
    limit: int = 50,
    offset: int = 0,
    no_target_code: bool = False,
) -> Call[LinesView]:
    """Every line that matches a regular expression (or a string, if `fixed`), definitions first."""
    how: dict[str, Any] = {"fixed": fixed, "word": word, "any_case": any_case, "limit": limit, "offset": offset}
    return _call("grep", pattern=pattern, lineage=lineage, kind=kind, work=work, no_target_code=no_target_code, **how)


def read(citation: str, *, lines: str = "", lineage: str = "", no_target_code: bool = False) -> Call[PassageView]:
    """The lines that a citation means, or other `lines` ("40-90") of its file."""
    return _call("read", citation=citation, lines=lines, lineage=lineage, no_target_code=no_target_code)


def evidence(chunk: str, *, lineage: str = "", before: int = 60, after: int = 60) -> Call[EvidenceView]:
    """A chunk with the lines around it, and its neighbors."""
    return _call("evidence", chunk=chunk, lineage=lineage, before=before, after=after)


def context(task: str, *, lineage: str = "", tokens: int = 6000, stage: Stage = "", no_target_code: bool = False) -> Call[PackView]:
    """What a task needs to be written, in at most `tokens` tokens."""
    return _call("context", task=task, lineage=lineage, tokens=tokens, stage=stage, no_target_code=no_target_code)


def answer(text: str, *, lineage: str = "", no_target_code: bool = False) -> Call[WrittenAnswerView]:
    """An answer of which every sentence is tied to evidence."""
    return _call("answer", text=text, lineage=lineage, no_target_code=no_target_code)


def gaps(*, lineage: str = "", state: str = "", topic: str = "", no_target_code: bool = False) -> Call[GapsView]:
    """What the target does not state, and what its lineage says instead."""
    return _call("gaps", lineage=lineage, state=state, topic=topic, no_target_code=no_target_code)


def decide(name: str, value: str, because: str, *, lineage: str = "", note: str = "", by: str = "", force: bool = False) -> Call[Decision]:
    """Record that a detail has a value because of the lines at a citation, which must state it unless `force`d."""
    return _call("decide", name=name, value=value, because=because, lineage=lineage, note=note, by=by, force=force)


def decisions(*, lineage: str = "") -> Call[Decisions]:
    """What was decided on the details of a lineage."""
    return _call("decisions", lineage=lineage)


def withdraw(name: str, *, lineage: str = "", by: str = "") -> Call[Decision]:
    """Withdraw the decision on a detail."""
    return _call("withdraw", name=name, lineage=lineage, by=by)


def facts(name: str, *, lineage: str = "", no_target_code: bool = False) -> Call[ConsensusView]:
    """Every value of a detail, and its sources."""
    return _call("facts", name=name, lineage=lineage, no_target_code=no_target_code)


def details(*, lineage: str = "", no_target_code: bool = False) -> Call[Tallies]:
    """The details that a lineage has facts on."""
    return _call("details", lineage=lineage, no_target_code=no_target_code)


def audit(code: Path | str, *, lineage: str = "", no_target_code: bool = False) -> Call[AuditView]:
    """A folder of code, or an archive of one, compared with the paper. Text files are uploaded; no code is run."""
    path = Path(code)
    return _call("audit", archive=_packed(path), name=path.resolve().name, lineage=lineage, no_target_code=no_target_code)


def _packed(path: Path) -> bytes:
    """The text files of a folder as a gzipped tar, or the archive that lies at the path."""
    from indexer.sources import local  # parsers come with it

    if path.is_dir():
        return gzip.compress(local.pack(local.code(path).members), mtime=0)
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"there is no folder or archive {path}", hint="check the path") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


def lineages() -> Call[tuple[StoredLineage | Damaged, ...]]:
    """Every lineage of the store."""
    return _call("lineages")


def show(lineage: str) -> Call[Overview]:
    """A lineage at a glance."""
    return _call("show", lineage=lineage)


def references(lineage: str, *, top: int = 0) -> Call[RankedReferences]:
    """What the target of a lineage cites, best first: all of it, or the first `top`."""
    return _call("references", lineage=lineage, top=top)


def report(*, lineage: str = "", no_target_code: bool = False) -> Call[ReportView]:
    """What the target does not tell, by part, with the ancestors' answers: `.text("html")` and `.text("markdown")` write it out."""
    return _call("report", lineage=lineage, no_target_code=no_target_code)


def status(lineage: str) -> Call[Completeness]:
    """How complete a lineage is, and every loss."""
    return _call("status", lineage=lineage)


def graph(lineage: str) -> Call[GraphView]:
    """A lineage as nodes and edges."""
    return _call("graph", lineage=lineage)


def build(target: str, **options: Any) -> Call[JobView]:
    """Ask for a build (`name`, `papers`, `repos`, `add`, `depth`, `no_target_code`, `blacklist`, `code_as_of`)."""
    return _call("build", target=target, **options)


def jobs() -> Call[tuple[JobView, ...]]:
    """Every build that is kept, newest first."""
    return _call("jobs")


def job(id_: str) -> Call[JobView]:
    """A build as it now is."""
    return _call("job", job=id_)


def cancel(id_: str) -> Call[JobView]:
    """End a build."""
    return _call("cancel", job=id_)


def resume(id_: str) -> Call[JobView]:
    """Put a build that failed or was cancelled back into the queue."""
    return _call("resume", job=id_)
