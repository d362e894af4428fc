"""The table of operations: every operation is at every door, or the table says why not."""

from __future__ import annotations

import inspect

import pytest
from pydantic import TypeAdapter

from api import table
from api.cli.app import _COMMANDS
from api.client import AsyncLineage, Lineage
from api.local import Lineage as LocalLineage
from api.mcp.tools import TOOLS
from api.operations import Service
from api.rest.app import application, document
from api.server.security import AccessPolicy
from api.table import OPERATIONS, Missing, Route
from lineage import settings

PROGRAMS = {"demo", "serve", "mcp"}
"""Commands that are no operation on a store."""
METHODS = {"build_now": "build"}
OF_CLIENTS = {"close", "send", "events", "wait", "result", "reaching", "wait_before"}
HELPERS = {"settings", "tokens"}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_an_operation_is_at_every_door_or_says_why_not(operation, tmp_path):
    doors = {"command": operation.cli, "route": operation.rest, "tool": operation.mcp, "method": operation.client}
    offered = {
        "command": set(_COMMANDS),
        "tool": {tool.name for tool in TOOLS},
        "method": {name for name in dir(Lineage) if not name.startswith("_")},
    }
    for door, name in doors.items():
        if isinstance(name, Missing):
            assert len(name.reason.split()) > 3, door
        elif door != "route":
            assert name in offered[door]
    assert isinstance(operation.rest, Missing) == isinstance(operation.client, Missing)
    assert isinstance(operation.rest, Missing) or operation.request


def test_every_method_command_tool_and_client_method_is_in_the_table():
    methods = {name for name in vars(Service) if not name.startswith("_")} - HELPERS
    assert {METHODS.get(one.name, one.name) for one in OPERATIONS} >= methods
    assert {one.cli for one in OPERATIONS if isinstance(one.cli, str)} == set(_COMMANDS) - PROGRAMS
    assert {one.mcp for one in OPERATIONS if isinstance(one.mcp, str)} == {tool.name for tool in TOOLS}
    for kind in (Lineage, AsyncLineage, LocalLineage):
        assert {name for name in dir(kind) if not name.startswith("_")} - OF_CLIENTS == set(table.BY_CLIENT)


def test_the_routes_are_those_of_the_table(tmp_path):
    paths = document(application(settings.load(home=tmp_path), AccessPolicy()))["paths"]
    made = {(method.upper(), path) for path, methods in paths.items() for method in methods if path.startswith("/api/v1")}
    streams = {("GET", "/api/v1/jobs/{job}/events"), ("GET", "/api/v1/lineages/{lineage}/events")}
    assert made - streams == {(one.rest.method, f"/api/v1{one.rest.path}") for one in OPERATIONS if isinstance(one.rest, Route)}


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if one.request and not one.run], ids=lambda operation: operation.name)
def test_a_request_has_the_fields_that_the_method_takes(operation):
    taken = set(inspect.signature(getattr(Service, operation.name)).parameters) - {"self", "watch"}
    assert set(operation.request.model_fields) <= taken | {"form"}
    assert TypeAdapter(operation.result).json_schema(mode="serialization")
