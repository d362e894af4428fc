"""The routes of the table of operations (`api.table`): each endpoint's parameters, documentation and answer come from its entry."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Body, Depends, HTTPException, Path, Query, Request
from pydantic import BaseModel, create_model
from pydantic.warnings import UnsupportedFieldAttributeWarning
from starlette.responses import Response

from api import requests as asked
from api.operations import Service
from api.rest import PREFIX
from api.server.jobs import Jobs
from api.table import OPERATIONS, Desk, Operation, Route
from api.wire import encode

warnings.filterwarnings("ignore", category=UnsupportedFieldAttributeWarning)  # as FastAPI does, where requests are built at once
LineageName = Annotated[str, Path(**asked.LINEAGE_NAME)]
JobId = Annotated[str, Path(**asked.JOB)]
_PATHS: Mapping[str, Any] = {"lineage": LineageName, "chunk": Annotated[str, Path(**asked.CHUNK_ID)], "job": JobId}
ANY_LINEAGE = "{lineage:path}"
"""A DOI or a URL has slashes; so routes that go on after the lineage stand before the one that does not."""
ARCHIVES = ("application/gzip", "application/zip", "application/x-tar", "application/octet-stream")
"""Media types of an upload; no form of another site's page can send one."""
_JSON = ("application/json",)
_TYPES = {
    "graphml": "application/xml",
    "dot": "text/vnd.graphviz",
    "svg": "image/svg+xml",
    "html": "text/html",
    "markdown": "text/markdown",
    "bibtex": "application/x-bibtex",
    "csl-json": "application/vnd.citationstyles.csl+json",
    "ris": "application/x-research-info-systems",
}
"""Media types of results in another form than JSON."""


def as_json(value: Any, status: int = 200) -> Response:
    """The answer as the command line would print it, without the envelope."""
    return Response(encode.dumps(value), status, media_type="application/json")


def _text(text: str, form: str, scripts: bool) -> Response:
    """A result in another form than JSON; a page that a browser opens may do nothing but show itself."""
    from lineage.graph.exports import policy

    allowed = policy() if scripts and form == "html" else "default-src 'none'; style-src 'unsafe-inline'"
    headers = {"content-security-policy": f"{allowed}; sandbox{' allow-scripts' * scripts}; frame-ancestors 'none'"}
    return Response(text, media_type=_TYPES[form], headers=headers)


def router(desk: Desk) -> APIRouter:
    """The routes of the table."""
    made = APIRouter(prefix=PREFIX)
    for operation in OPERATIONS:
        if isinstance(operation.rest, Route):
            add(made, desk, operation, operation.rest)
    return made


def add(router: APIRouter, desk: Desk, operation: Operation, route: Route) -> None:
    """Put one route on a router."""
    described = inspect.getdoc(getattr(Jobs if route.tag == "building" else Service, _METHODS.get(operation.name, operation.name)))
    text = _RAISES.sub("", described or "").strip()
    members: dict[str, Any] = {route.wrap: (operation.result, ...)}
    router.add_api_route(
        route.path.replace("{lineage}", ANY_LINEAGE),
        endpoint(desk, operation, route),
        methods=[route.method],
        status_code=route.status,
        response_model=create_model(route.wrap.title(), **members) if route.wrap else operation.result,
        operation_id=operation.name,
        tags=[route.tag],
        summary=text.partition("\n")[0].partition(";")[0].rstrip("."),
        description=text,
        responses={**_forms(operation), **problems(route.path, route.method if _body(operation, route) else "GET")},
        dependencies=[_taking(*(ARCHIVES if route.upload else _JSON))] if route.method == "POST" and _body(operation, route) else [],
    )


_RAISES = re.compile(r"(?:^|(?<=[.;]))[ \n]*[Rr]aises `[^.]*\.", re.MULTILINE)
"""What a docstring says of exceptions; a client sees statuses."""
_METHODS = {"build": "submit", "jobs": "all", "job": "get"}
"""Methods of `Jobs` behind operations of another name."""


def _forms(operation: Operation) -> dict[int | str, Any]:
    """The media types of an operation that gives its result in other forms than JSON."""
    form = operation.request.model_fields.get("form") if operation.request else None
    kinds = [_TYPES[name] for name in get_args(form.annotation) if name != "json"] if form else []
    return {200: {"content": {kind: {"schema": {} if kind.endswith("+json") else {"type": "string"}} for kind in kinds}}} if kinds else {}


def endpoint(desk: Desk, operation: Operation, route: Route) -> Callable[..., Response]:
    """The function that FastAPI calls: its parameters are those of the path and the rest of the request, in the query or the body."""
    request = operation.request or asked.Nothing

    def answer(**given: Any) -> Response:
        rest = given.pop("asked", None)
        made = request(**{**(dict(rest) if rest else {}), **given})
        if (form := getattr(made, "form", "json")) != "json":
            return _text(operation.text(desk, made), form, scripts=operation.name == "graph")
        result = operation.ask(desk, made)
        answer = as_json({route.wrap: result} if route.wrap else result, route.status)
        if route.status == 202:
            answer.headers["location"] = result.links["self"]
        return answer

    named = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY)
    parameters = [named(name, annotation=kind) for name, kind in _PATHS.items() if f"{{{name}}}" in route.path]
    parameters += [named(route.upload, annotation=Annotated[bytes, Body(media_type=ARCHIVES[0])])] if route.upload else []
    if rest := _rest(request, {parameter.name for parameter in parameters}, route):
        place = Body() if _body(operation, route) and not route.upload else Query()
        parameters.append(named("asked", annotation=Annotated[rest, place]))
    answer.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # inspect documents it as the way to say it
    return answer


def _body(operation: Operation, route: Route) -> bool:
    """Whether a request has a body: one that is posted and names nothing in its path."""
    return route.method == "POST" and "{" not in route.path and operation.request is not None


def _rest(request: type[BaseModel], given: set[str], route: Route) -> type[BaseModel] | None:
    """The model of a request without the fields that come from elsewhere."""
    if not given:
        return request
    fields: dict[str, Any] = {name: (field.annotation, field) for name, field in request.model_fields.items() if name not in given}
    return create_model(request.__name__, __base__=asked.Closed, **fields)


def _taking(*kinds: str) -> Any:
    """What checks that a body says to be of a media type that is taken; a form that another site's page could post does not."""
    must = "application/json" if kinds == _JSON else f"an archive: {', '.join(kinds)}"

    def check(request: Request) -> None:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() not in kinds:
            raise HTTPException(415, f"the body must be {must}")

    return Depends(check)


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
    415: "The body is not of a media type that is taken.",
    422: "The request is understood and wrong; `errors` say where.",
}
