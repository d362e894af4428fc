"""The table of routes: method, path, operation. Each endpoint is made from the bound method that it names.

A new operation of `Service` becomes a route by one row here; its documentation is the method's own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, HTTPException, Path, Query, Request
from pydantic import BaseModel
from starlette.responses import Response

from api.operations import Service
from api.rest import PREFIX, insight
from api.rest import requests as asked
from api.rest import responses as said
from api.server.journal import JOB_ID
from api.wire import facts, gaps, hits, packs

LineageName = Annotated[
    str,
    Path(
        min_length=1,
        max_length=2048,
        pattern=asked.LINEAGE,
        description="The lineage, by its name or its target (identifier, URL or title).",
        examples=["arxiv-2504.17192"],
    ),
]
ChunkId = Annotated[str, Path(pattern=asked.CHUNK, description="Identifier of a chunk, as hits name it.")]
JobId = Annotated[str, Path(pattern=f"^{JOB_ID}$", description="Identifier of a job.")]
ANY_LINEAGE = "{lineage:path}"
"""A DOI or a URL has slashes; so routes that go on after the lineage stand before the one that does not."""
_PATHS: Mapping[str, Any] = {"lineage": LineageName, "chunk": ChunkId}


def as_json(value: Any) -> Response:
    """The answer as the command line would print it, without the envelope."""
    return Response(hits.dumps(value), media_type="application/json")


@dataclass(frozen=True)
class Operation:
    """A route. `tell` makes the answer's JSON of what the method named `does` returns; `asked` is the query or body."""

    method: str
    path: str
    does: str
    answer: type[BaseModel] | None
    tell: Callable[[Any], Any]
    asked: type[asked.Closed] = asked.Nothing
    tag: str = "asking"
    respond: Callable[[Any, Mapping[str, Any]], Response] | None = None
    responses: Mapping[int | str, Any] = field(default_factory=dict)


_TYPES = {
    "json": "application/json",
    "graphml": "application/xml",
    "dot": "text/vnd.graphviz",
    "svg": "image/svg+xml",
    "html": "text/html",
}
_DRAWN: Mapping[int | str, Any] = {200: {"content": {kind: {"schema": {"type": "string"}} for name, kind in _TYPES.items() if name != "json"}}}


def _drawing(text: str, values: Mapping[str, Any]) -> Response:
    from lineage.graph.html import policy

    form = values["form"]
    allowed = policy() if form == "html" else "default-src 'none'; style-src 'unsafe-inline'"
    return Response(text, media_type=_TYPES[form], headers={"content-security-policy": f"{allowed}; sandbox allow-scripts; frame-ancestors 'none'"})


OPERATIONS = (
    Operation("GET", "/lineages", "lineages", said.Lineages, lambda rows: {"lineages": hits.to_json(rows)}, tag="lineages"),
    Operation("GET", "/lineages/{lineage}/status", "status", said.Completeness, hits.status_to_json, tag="lineages"),
    Operation("GET", "/lineages/{lineage}/graph", "graph", said.Graph, str, asked.Drawing, "lineages", _drawing, _DRAWN),
    Operation("GET", "/lineages/{lineage}", "show", said.Overview, hits.overview_to_json, tag="lineages"),
    Operation("POST", "/search", "query", said.Answer, hits.answer_to_json, asked.Search),
    Operation("GET", "/evidence/{chunk}", "evidence", said.Evidence, hits.evidence_to_json, asked.Around),
    Operation("POST", "/context", "context", insight.Pack, packs.pack_to_json, asked.Task),
    Operation("POST", "/answer", "answer", insight.Written, packs.written_to_json, asked.Question),
    Operation("GET", "/gaps", "gaps", insight.Gaps, gaps.gaps_to_json, asked.Unsaid),
    Operation("GET", "/facts", "facts", insight.Consensus, facts.consensus_to_json, asked.Named),
    Operation("GET", "/details", "facts_table", insight.Tallies, facts.tallies_to_json, asked.OfLineage),
)


def router(service: Service) -> APIRouter:
    """The routes of the table over one service."""
    made = APIRouter(prefix=PREFIX)
    for operation in OPERATIONS:
        add(made, operation, getattr(service, operation.does))
    return made


def add(router: APIRouter, operation: Operation, does: Callable[..., Any]) -> None:
    """Put one route on a router."""
    router.add_api_route(
        operation.path.replace("{lineage}", ANY_LINEAGE),
        endpoint(operation, does),
        methods=[operation.method],
        response_model=operation.answer,
        operation_id=does.__name__,
        tags=[operation.tag],
        summary=(inspect.getdoc(does) or "").partition("\n")[0].partition(";")[0].rstrip("."),
        description=inspect.getdoc(does),
        responses={**operation.responses, **problems(operation.path, operation.method)},
        dependencies=[Depends(json_only)] if operation.method == "POST" else [],
    )


def endpoint(operation: Operation, does: Callable[..., Any]) -> Callable[..., Response]:
    """The function that FastAPI calls: its parameters are those of the path and of the request model."""

    def answer(**given: Any) -> Response:
        values = {**dict(given.pop("asked")), **given}
        result = does(**values)
        return operation.respond(result, values) if operation.respond else as_json(operation.tell(result))

    place = Query() if operation.method == "GET" else Body()
    names = [name for name in _PATHS if f"{{{name}}}" in operation.path]
    parameters = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=_PATHS[name]) for name in names]
    parameters.append(inspect.Parameter("asked", inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[operation.asked, place]))
    answer.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # inspect documents it as the way to say it
    return answer


def json_only(request: Request) -> None:
    """A body is JSON and says so; a form that another site's page could post does not."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, "the body must be application/json")


def problems(path: str, method: str) -> dict[int | str, Any]:
    """The errors that a route documents; whatever else can go wrong has the same form."""
    statuses = [422, *([404] if "{" in path or method == "POST" else []), *([400, 413, 415] if method == "POST" else [])]
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}}
    named: dict[int | str, Any] = {status: {"description": _WORDS[status], "content": content} for status in sorted(statuses)}
    return named | {"default": {"description": "Any other error: 401, 403, 421 (who asks), 429, 503 (too much), 500, 502, 507.", "content": content}}


_WORDS = {
    400: "The body is not JSON.",
    404: "There is no such lineage, chunk or job.",
    413: "The body is too large.",
    415: "The body is not application/json.",
    422: "The request is understood and wrong; `errors` say where.",
}
