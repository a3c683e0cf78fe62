"""The servers that the official conformance suite judges, served without a token by one program.

They are a library with the tools that the suite calls, and the server for coding agents.
"""

import asyncio
import sys
from functools import partial
from pathlib import Path
from typing import Any

from mcp_tef import CallBudget, Engine, ModelSettings, ToolStatus, WorkspaceOperations, serve_agents
from mcp_tef.model.library import ExecutorKind, ToolDesign
from mcp_tef.servers.library_server import serve_over_http
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


async def serve(workspace: Path) -> None:
    """Serve until the process is ended; the first lines of its output are the addresses, each after its name."""
    async with await Engine.open(workspace) as engine:
        for design in TOOLS:
            await engine.library.add(design)
            await engine.library.set_status(design.name, ToolStatus.ACTIVE)
        operations = WorkspaceOperations(engine, ModelSettings(), CallBudget())
        await asyncio.gather(
            serve_over_http(engine.served_library, 0, None, partial(_tell, "library")),
            serve_agents(operations, partial(_tell, "agents"), (0, None)),
        )


def _tell(name: str, address: str) -> None:
    sys.stdout.write(f"{name} {address}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
