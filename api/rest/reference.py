"""The endpoints of an OpenAPI document, as values from which pages are written: HTML for a server, Markdown for the docs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

HEADS = ("name", "in", "type", "meaning", "required")
_CONTINUED = " \\\n"


@dataclass(frozen=True)
class Endpoint:
    """One method of one path. `parameters` are rows under `HEADS`, `answers` (status, words), `example` a command."""

    method: str
    path: str
    id: str
    summary: str
    description: str
    parameters: tuple[tuple[str, ...], ...]
    example: str
    answers: tuple[tuple[str, str], ...]


def endpoints(document: Mapping[str, Any]) -> Iterator[Endpoint]:
    """Every endpoint, in the document's order."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            body = _body(document, operation)
            yield Endpoint(
                method.upper(),
                path,
                operation["operationId"],
                operation.get("summary", ""),
                operation.get("description", ""),
                tuple(_parameters(operation, body)),
                _example(path, method, body),
                tuple((code, response.get("description", "")) for code, response in operation["responses"].items()),
            )


def _parameters(operation: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for p in operation.get("parameters", ()):
        description = p.get("description") or p["schema"].get("description", "")
        yield p["name"], p["in"], _type(p["schema"]), description, "yes" if p.get("required") else ""
    for name, schema in body.get("properties", {}).items():
        yield name, "body", _type(schema), schema.get("description", ""), "yes" if name in body.get("required", ()) else ""


def _body(document: Mapping[str, Any], operation: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of an operation's JSON body, empty if it has none."""
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    name = schema.get("$ref", "").rpartition("/")[2]
    models: Mapping[str, Any] = document["components"]["schemas"].get(name, schema)
    return models


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        kinds = [json.dumps(value) for value in schema["enum"]]
    else:
        kinds = [option.get("type", "") for option in schema.get("anyOf", (schema,)) if option.get("type") != "null"]
    bounds = [f"{word} {_bound(schema, key):.0f}" for key, word in _BOUNDS if _bound(schema, key) is not None]
    default = f", default {json.dumps(schema['default'])}" if schema.get("default") is not None else ""
    return " ".join([" or ".join(filter(None, kinds)), *bounds]) + default


_BOUNDS = (("minimum", "from"), ("maximum", "to"), ("maxLength", "up to"), ("maxItems", "up to"))


def _bound(schema: Mapping[str, Any], key: str) -> Any:
    return next((option[key] for option in (schema, *schema.get("anyOf", ())) if key in option), None)


def _example(path: str, method: str, body: Mapping[str, Any]) -> str:
    lines = [f"curl -s{'' if method == 'get' else ' -X ' + method.upper()} http://127.0.0.1:8765{path}"]
    for example in body.get("examples", ())[:1]:
        lines += ["  -H 'content-type: application/json'", f"  -d '{json.dumps(example)}'"]
    return _CONTINUED.join(lines)


def markdown(document: Mapping[str, Any]) -> str:
    """The endpoints as sections of Markdown."""
    return "\n".join(map(_section, endpoints(document)))


def _section(endpoint: Endpoint) -> str:
    rows = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in endpoint.parameters)
    table = f"| {' | '.join(HEADS)} |\n|{'---|' * len(HEADS)}\n{rows}\n\n" if rows else ""
    answers = ", ".join(code for code, _ in endpoint.answers if code != "default")
    return f"## {endpoint.method} {endpoint.path}\n\n{endpoint.description}\n\n{table}```text\n{endpoint.example}\n```\n\nAnswers: {answers}.\n"
