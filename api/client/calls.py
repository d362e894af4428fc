"""The methods of every client, made from `api.table`: each sends one operation, with the fields of its request as parameters."""

from __future__ import annotations

import gzip
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from inspect import Parameter, Signature
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, cast, overload
from urllib.parse import quote

from pydantic import ValidationError

from api.client.connection import Event, ended
from api.requests import Closed, Nothing
from api.rest import PREFIX
from api.table import BY_CLIENT, Desk, Operation, Route
from api.wire.encode import dumps
from api.wire.hits import AnswerView, EvidenceView, LinesView, PassageView
from api.wire.insight import AuditView, ConsensusView, GapsView, PackView, WrittenAnswerView
from api.wire.report import ReportView
from api.wire.stored import Completeness, GraphView, JobView, Overview, RankedReferences, StoredLineage
from lineage.decisions import Decision, Decisions
from lineage.errors import NotFound, UsageError
from lineage.generation import Damaged
from lineage.results import Crop, Tallies

R = TypeVar("R")
_FORM = "form"
"""The field that no method takes: a client gets objects, which write themselves in other forms."""
_CODE = "code"
"""What a method takes in place of an upload: the folder or file that is packed for it."""


@dataclass(frozen=True)
class Call(Generic[R]):
    """An operation and the values of its request that are given; the others are left to their defaults."""

    operation: Operation
    values: Mapping[str, Any]

    def request(self) -> dict[str, Any]:
        """Arguments of the HTTP library."""
        route = cast("Route", self.operation.rest)
        named = {name for name in self.values if f"{{{name}}}" in route.path}
        path = PREFIX + route.path.format(**{name: quote(str(self.values[name]), safe="") for name in named})
        rest = {name: value for name, value in self.values.items() if name not in {*named, route.upload}}
        sent: dict[str, Any] = {"method": route.method, "url": path}
        if route.upload:
            sent |= {"content": self.values[route.upload], "headers": {"content-type": "application/octet-stream"}}
        elif route.method == "POST" and not named:
            return {**sent, "json": rest}
        return {**sent, "params": {name: str(value).lower() if isinstance(value, bool) else value for name, value in rest.items()}}

    def run(self, desk: Desk) -> R:
        """The result in process, by way of its JSON, so that it is what a server would give. Raises `UsageError` for what no server takes."""
        kind: type[Closed] = self.operation.request or Nothing
        try:
            request = kind(**self.values)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            raise UsageError(f"/{'/'.join(map(str, first['loc']))}: {first['msg']}") from None
        return cast("R", self.operation.reader.validate_json(dumps(self.operation.ask(desk, request))))


def call(method: str, *given: Any, **options: Any) -> Call[Any]:
    """The call that a method of the clients makes of its arguments. Raises `TypeError` for those it does not have."""
    operation = BY_CLIENT[method]
    values = signature(operation).bind(None, *given, **options).arguments
    del values["self"]
    if isinstance(operation.rest, Route) and (upload := operation.rest.upload):
        path = Path(values.pop(_CODE))
        values = {**values, upload: packed(path), "name": values.get("name", path.resolve().name)}
    return Call(operation, values)


def signature(operation: Operation) -> Signature:
    """The parameters of a client's method: what a request needs may be given by position, the rest by name."""
    fields = (operation.request or Nothing).model_fields
    upload = operation.rest.upload if isinstance(operation.rest, Route) else ""
    parameters = [Parameter("self", Parameter.POSITIONAL_ONLY)]
    for name, field in fields.items():
        kind = Parameter.POSITIONAL_OR_KEYWORD if field.is_required() else Parameter.KEYWORD_ONLY
        default = Parameter.empty if field.is_required() else field.default
        if name != _FORM:
            called, annotation = (_CODE, Path | str) if name == upload else (name, field.annotation)
            parameters.append(Parameter(called, kind, default=default, annotation=annotation))
    return Signature(sorted(parameters, key=lambda parameter: parameter.kind), return_annotation=operation.result)


def packed(path: Path) -> bytes:
    """The text files of a folder as a gzipped tar, or the archive that lies at the path. Raises `NotFound` and `UsageError`."""
    from indexer.sources import local  # parsers come with it

    if path.is_dir():
        return gzip.compress(local.pack(local.code(path).members), mtime=0)
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise NotFound(f"there is no folder or archive {path}", hint="check the path") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


class Method(Generic[R]):
    """A method that sends the operation of its name: `R` with a synchronous client, to be awaited with the other."""

    def __set_name__(self, owner: type, name: str) -> None:
        def send(client: Synchronous | Asynchronous, /, *given: Any, **options: Any) -> Any:
            return client.send(call(name, *given, **options))

        operation = BY_CLIENT[name]
        send.__name__, send.__doc__ = name, _described(operation.request or Nothing)
        send.__signature__ = signature(operation)  # type: ignore[attr-defined]  # inspect documents it as the way to say it
        self._send = send

    @overload
    def __get__(self, client: Synchronous, kind: type) -> Callable[..., R]: ...
    @overload
    def __get__(self, client: Asynchronous, kind: type) -> Callable[..., Awaitable[R]]: ...
    def __get__(self, client: Any, kind: type) -> Any:
        """The function, bound to a client if it is asked of one."""
        return self._send.__get__(client, kind)


def _described(request: type[Closed]) -> str:
    """What a request is for, and what its fields mean."""
    fields = (f"{name}: {field.description}" for name, field in request.model_fields.items() if name != _FORM)
    return "\n".join([f"{request.__doc__}\n", *fields]).strip()


class Methods:
    """The operations that clients have. `help` of each lists its parameters; `api.table` says what each gives."""

    search = Method[AnswerView]()
    evidence = Method[EvidenceView]()
    crop = Method[Crop]()
    grep = Method[LinesView]()
    read = Method[PassageView]()
    context = Method[PackView]()
    answer = Method[WrittenAnswerView]()
    gaps = Method[GapsView]()
    facts = Method[ConsensusView]()
    decide = Method[Decision]()
    decisions = Method[Decisions]()
    withdraw = Method[Decision]()
    details = Method[Tallies]()
    audit = Method[AuditView]()
    lineages = Method[tuple[StoredLineage | Damaged, ...]]()
    show = Method[Overview]()
    references = Method[RankedReferences]()
    report = Method[ReportView]()
    status = Method[Completeness]()
    graph = Method[GraphView]()
    build = Method[JobView]()
    jobs = Method[tuple[JobView, ...]]()
    job = Method[JobView]()
    cancel = Method[JobView]()
    resume = Method[JobView]()


class Asynchronous(Methods, ABC):
    """A client whose methods are awaited."""

    @abstractmethod
    async def send(self, call: Call[R]) -> R:
        """The result of a call."""


class Synchronous(Methods, ABC):
    """A client whose methods wait for their results. To be closed, or used as a context."""

    @abstractmethod
    def send(self, call: Call[R]) -> R:
        """The result of a call."""

    @abstractmethod
    def events(self, id_: str, after: int = 0) -> Iterator[Event]:
        """What happens to a build until it ends."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what is open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def wait(self, job: JobView, watch: Callable[[Event], None] | None = None) -> JobView:
        """The build when it has ended; `watch` hears what happens meanwhile. Raises `UpstreamError` if it failed, saying why."""
        for event in self.events(job.id):
            if watch:
                watch(event)
        return ended(self.job(job.id))
