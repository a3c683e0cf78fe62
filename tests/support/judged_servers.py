"""The servers that the official conformance suite judges, served without a token.

They are a library with the tools that the suite calls, and the server for coding agents.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.lowlevel import Server

from mcp_tef import CallBudget, Engine, ModelSettings, ToolStatus, WorkspaceOperations
from mcp_tef.model.library import ExecutorKind, ToolDesign
from mcp_tef.servers.agent_server import AgentServer
from mcp_tef.servers.library_server import LibraryServer
from mcp_tef.servers.serving import listen
from tests.support.agent_client import serving_ended
from tests.support.library_designs import answering

EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
NAMED: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
MIRRORED: dict[str, Any] = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "query": {"type": "string"}},
    "required": ["region", "query"],
}
TOOLS: tuple[ToolDesign, ...] = (
    answering("test_simple_text", "This is a simple text response for testing.", input_schema=EMPTY),
    answering(
        "test_error_handling",
        input_schema=EMPTY,
        executor=ExecutorKind.MCP,
        config={"server": "nowhere", "tool": "nothing"},
    ),
    answering("json_schema_2020_12_tool", "Fine.", input_schema=NAMED),
    answering("test_x_mcp_header", "Fine.", input_schema=MIRRORED),
)


@asynccontextmanager
async def judged_server(name: str, engine: Engine) -> AsyncIterator[str]:
    """The address of the `library` or of the server for `agents`, served meanwhile."""
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    if name == "library":
        for design in TOOLS:
            await engine.library.add(design)
            await engine.library.set_status(design.name, ToolStatus.ACTIVE)
        await engine.served_library.refresh()
        server: Server[Any] = LibraryServer(engine.served_library)
    else:
        operations = WorkspaceOperations(engine, ModelSettings(), CallBudget())
        server = AgentServer(operations)
    app = server.streamable_http_app(host="127.0.0.1")  # the judging programs can send no token
    serving = asyncio.create_task(listen(app, 0, address.set_result))
    try:
        yield await address
    finally:
        await serving_ended(serving)
