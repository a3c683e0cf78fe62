"""The tools of a bundled sample, and serving them over stdio without the MCP library.

That library takes a second of CPU to load, which everybody would pay who lists the tools of a sample.
"""

from __future__ import annotations

import asyncio
import json
import sys
from abc import ABC, abstractmethod
from contextlib import suppress
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from mcp_tef.errors import InputError, NotFoundError, TefError
from mcp_tef.model.installation import VERSION
from mcp_tef.model.json import loads_bounded
from mcp_tef.model.tool_calls import ToolReply
from mcp_tef.servers.standard_input import StandardInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp_tef.model.json import JsonObject

PROTOCOL_VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Protocol versions with a handshake, the newest first."""
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
_LONGEST_CALLER = 200


class BundledTools(ABC):
    """Satisfies `ServedTools`: definitions of a file of the sample, which arguments have to fit."""

    def __init__(self, folder: str) -> None:
        text = files("resources").joinpath(folder, "tools.json").read_text("utf-8")
        self._definitions: list[JsonObject] = loads_bounded(text)["tools"]

    @property
    def definitions(self) -> Sequence[JsonObject]:
        """The definitions of the tools."""
        return self._definitions

    async def refresh(self) -> bool:
        """Change nothing: the tools stay the same."""
        return False

    async def call(self, name: str, arguments: JsonObject, *, caller_id: str, trace_id: str | None) -> ToolReply:
        """Carry out a tool; NotFoundError for another one. Every other failure is a reply that is an error."""
        raw = next((one for one in self._definitions if one["name"] == name), None)
        if raw is None:
            raise NotFoundError(f"There is no tool named {name[:100]}.", hint="List the tools again.")
        try:
            _require_fit(raw, arguments)
            return await self.reply(name, arguments)
        except TefError as error:
            return ToolReply(content=(text_block(f"{error.message} {error.hint}".strip()),), is_error=True)

    @abstractmethod
    async def reply(self, name: str, arguments: JsonObject) -> ToolReply:
        """Return the reply to fitting arguments; TefError."""


def text_block(text: str) -> JsonObject:
    """Return a text as a block of content."""
    return {"text": text, "type": "text"}


def _require_fit(raw: JsonObject, arguments: JsonObject) -> None:
    from mcp_tef.model.tools import Tool
    from mcp_tef.scoring.call_pairing import misfit_text

    tool = Tool(server="", name=raw["name"], description="", input_schema=raw["inputSchema"], raw=raw)
    if told := misfit_text(tool, arguments):
        raise InputError(f"The arguments do not fit {tool.name}. {told}", hint="Nothing was done.")


async def serve_over_stdio(tools: BundledTools, name: str) -> None:
    """Serve until standard input ends; calls that are under way then are answered."""
    conversation = _Conversation(tools, name)
    async for line in StandardInput():
        conversation.take(line)
    await conversation.finish()


class _Refusal(Exception):  # noqa: N818  # an answer of the protocol
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class _Conversation:
    """Answers one client, several calls at a time."""

    def __init__(self, tools: BundledTools, name: str) -> None:
        self._tools = tools
        self._name = name
        self._caller = "client"
        self._under_way: dict[Any, asyncio.Task[None]] = {}

    def take(self, line: bytes) -> None:
        """Begin to answer a message."""
        try:
            message = loads_bounded(line)
        except (ValueError, RecursionError):
            if line.strip():
                _write(None, error={"code": PARSE_ERROR, "message": "This is not JSON."})
            return
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            _write(None, error={"code": INVALID_REQUEST, "message": "This is no request."})
            return
        params = message["params"] if isinstance(message.get("params"), dict) else {}
        if isinstance(number := message.get("id"), str | int):
            task = asyncio.create_task(self._answer(number, message["method"], params))
            self._under_way[number] = task
            task.add_done_callback(lambda _: self._under_way.pop(number, None))
        elif message["method"] == "notifications/cancelled":
            asked = params.get("requestId")
            if isinstance(asked, str | int) and (running := self._under_way.get(asked)):
                running.cancel()

    async def finish(self) -> None:
        """Answer what is under way."""
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)

    async def _answer(self, number: str | int, method: str, params: Mapping[str, Any]) -> None:
        answer: JsonObject = {"error": {"code": INTERNAL_ERROR, "message": "The server itself failed."}}
        try:
            answer = {"result": await self._result(method, params)}
        except _Refusal as refusal:
            answer = {"error": {"code": refusal.code, "message": str(refusal)}}
        except asyncio.CancelledError:
            answer = {}
            raise
        finally:
            if answer:
                _write(number, **answer)

    async def _result(self, method: str, params: Mapping[str, Any]) -> JsonObject:
        if method == "initialize":
            return self._greeting(params)
        if method == "ping":
            return {}
        if method == "tools/list":
            return {"tools": list(self._tools.definitions)}
        if method == "tools/call":
            return await self._call(params)
        raise _Refusal(METHOD_NOT_FOUND, "Method not found")

    def _greeting(self, params: Mapping[str, Any]) -> JsonObject:
        client = params.get("clientInfo")
        if isinstance(client, dict) and isinstance(client.get("name"), str):
            self._caller = client["name"][:_LONGEST_CALLER]
        asked = params.get("protocolVersion")
        return {
            "protocolVersion": asked if asked in PROTOCOL_VERSIONS else PROTOCOL_VERSIONS[0],
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": self._name, "version": VERSION},
        }

    async def _call(self, params: Mapping[str, Any]) -> JsonObject:
        name, given, meta = params.get("name"), params.get("arguments"), params.get("_meta")
        if not isinstance(name, str) or not isinstance(given, dict | None):
            raise _Refusal(INVALID_PARAMS, "A call needs the name of a tool, and arguments that are an object.")
        trace = meta.get("traceparent") if isinstance(meta, dict) else None
        try:
            reply = await self._tools.call(
                name, given or {}, caller_id=self._caller, trace_id=trace if isinstance(trace, str) else None
            )
        except NotFoundError as error:
            raise _Refusal(INVALID_PARAMS, error.message) from None
        whole: JsonObject = {"content": list(reply.content), "isError": reply.is_error}
        return whole if reply.structured is None else {**whole, "structuredContent": reply.structured}


def _write(number: str | int | None, **rest: JsonObject) -> None:
    with suppress(BrokenPipeError):  # the client has gone, which the end of standard input tells next
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": number, **rest}) + "\n")
        sys.stdout.flush()
