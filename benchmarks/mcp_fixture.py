"""What the official conformance suite calls for, behind the endpoint and the guard of `lineage serve`.

The suite's scenarios call tools, prompts and resources of its own. This server offers those of content, logging,
progress, sampling, elicitation, resources and prompts (not those of multi-round input, tasks and custom headers, which
Lineage has no use for), so that the endpoint is tested with every kind of message that can pass through it.

    python -m benchmarks.mcp_conformance --suite DIR --fixture
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import sys
import zlib
from base64 import b64encode
from typing import Any

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp_types import (
    AudioContent,
    Completion,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from starlette.applications import Starlette
from starlette.routing import Route

from api.mcp.server import Door
from api.server.security import AccessPolicy, Guard

server = MCPServer("fixture", version="1", log_level="ERROR")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


PNG = (
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(b"\0\xff\0\0"))
    + _chunk(b"IEND", b"")
)
WAV = b"RIFF" + struct.pack("<I", 36) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8) + b"data" + struct.pack("<I", 0)
IMAGE = ImageContent(data=b64encode(PNG).decode(), mime_type="image/png")


def embedded(uri: str, text: str, kind: str = "text/plain") -> EmbeddedResource:
    """A resource inside a message."""
    return EmbeddedResource(resource=TextResourceContents(uri=uri, mime_type=kind, text=text))


@server.tool()
def test_simple_text() -> str:
    """Text."""
    return "This is a simple text response for testing."


@server.tool(structured_output=False)
def test_image_content() -> ImageContent:
    """An image."""
    return IMAGE


@server.tool(structured_output=False)
def test_audio_content() -> AudioContent:
    """A sound."""
    return AudioContent(data=b64encode(WAV).decode(), mime_type="audio/wav")


@server.tool(structured_output=False)
def test_embedded_resource() -> EmbeddedResource:
    """A resource."""
    return embedded("test://embedded-resource", "This is an embedded resource content.")


@server.tool(structured_output=False)
def test_multiple_content_types() -> list[Any]:
    """Text, image and resource."""
    resource = embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
    return [TextContent(text="Multiple content types test:"), IMAGE, resource]


@server.tool()
async def test_tool_with_logging(ctx: Context[Any]) -> str:
    """Three log messages."""
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(said)
        await asyncio.sleep(0.05)
    return "logged"


@server.tool()
def test_error_handling() -> str:
    """An error."""
    raise ToolError("This tool intentionally returns an error for testing")


@server.tool()
async def test_tool_with_progress(ctx: Context[Any]) -> str:
    """Progress to 100."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100)
        await asyncio.sleep(0.05)
    return "progressed"


@server.tool()
async def test_sampling(prompt: str, ctx: Context[Any]) -> str:
    """Ask the client's model."""
    message = SamplingMessage(role="user", content=TextContent(text=prompt))
    answer = await ctx.session.create_message([message], max_tokens=100, related_request_id=ctx.request_id)
    return f"LLM response: {getattr(answer.content, 'text', '')}"


async def _elicited(ctx: Context[Any], message: str, properties: dict[str, Any], required: list[str]) -> str:
    schema = {"type": "object", "properties": properties, "required": required}
    answer = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
    return f"action={answer.action}, content={json.dumps(answer.content)}"


@server.tool()
async def test_elicitation(message: str, ctx: Context[Any]) -> str:
    """Ask the user."""
    fields = {"username": {"type": "string", "description": "User's response"}, "email": {"type": "string", "description": "User's email address"}}
    return "User response: " + await _elicited(ctx, message, fields, ["username", "email"])


@server.tool()
async def test_elicitation_sep1034_defaults(ctx: Context[Any]) -> str:
    """Ask with defaults."""
    fields = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    return "Elicitation completed: " + await _elicited(ctx, "Review", fields, [])


@server.tool()
async def test_elicitation_sep1330_enums(ctx: Context[Any]) -> str:
    """Ask with choices."""
    plain = ["option1", "option2", "option3"]
    titled = [{"const": f"value{n}", "title": f"{word} Option"} for n, word in enumerate(("First", "Second", "Third"), 1)]
    fields = {
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    return "Elicitation completed: " + await _elicited(ctx, "Choose", fields, [])


@server.resource("test://static-text", name="static-text", description="Text.", mime_type="text/plain")
def static_text() -> str:
    """Text."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", name="static-binary", description="An image.", mime_type="image/png")
def static_binary() -> bytes:
    """An image."""
    return PNG


@server.resource("test://watched-resource", name="watched-resource", description="Watched.", mime_type="text/plain")
def watched() -> str:
    """Text."""
    return "Watched resource content"


@server.resource("test://template/{id}/data", name="template", description="By id.", mime_type="application/json")
def by_id(id: str) -> str:  # noqa: A002 - the template's name
    """Data of an id."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@server.prompt()
def test_simple_prompt() -> str:
    """A prompt."""
    return "This is a simple prompt for testing."


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt with arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.prompt()
def test_prompt_with_embedded_resource(resourceUri: str) -> list[Any]:  # noqa: N803 - the suite's name
    """A prompt with a resource."""
    return [UserMessage(embedded(resourceUri, "Embedded resource content for testing.")), UserMessage("Please process the embedded resource above.")]


@server.prompt()
def test_prompt_with_image() -> list[Any]:
    """A prompt with an image."""
    return [UserMessage(IMAGE), UserMessage("Please analyze the image above.")]


@server.completion()
async def complete(ref: Any, argument: Any, context: Any) -> Completion:
    """Nothing to suggest."""
    return Completion(values=[], total=0, has_more=False)


async def accepted(ctx: Any, params: Any) -> EmptyResult:
    """Subscriptions and levels are taken note of."""
    return EmptyResult()


def main() -> None:
    """Serve, and print the URL as `lineage serve --json` does."""
    server.streamable_http_app()
    made = server.session_manager.app
    for method, kind in (("resources/subscribe", SubscribeRequestParams), ("resources/unsubscribe", UnsubscribeRequestParams)):
        made.add_request_handler(method, kind, accepted)
    made.add_request_handler("logging/setLevel", SetLevelRequestParams, accepted)
    door = Door(made, guarded=True)
    app = Guard(Starlette(routes=[Route("/mcp", door)], lifespan=lambda _: door.lifespan()), AccessPolicy(rate=1e6, burst=10**6))
    listening = socket.create_server(("127.0.0.1", 0))
    print(json.dumps({"data": {"url": f"http://127.0.0.1:{listening.getsockname()[1]}"}}), flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run([listening])
    sys.exit(0)
