"""Requests about tools: list every page with each definition checked by itself, or call one tool once.

Replies are redacted and limited in size before they are stored.
"""

import asyncio
import threading
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from time import perf_counter

import mcp_types
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import find_invalid_x_mcp_header, mcp_param_headers, x_mcp_header_map
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcp_tef.model.json import Json, JsonObject, deeper_than
from mcp_tef.model.secrets import Secret, json_without_keys, without
from mcp_tef.model.servers import Transport
from mcp_tef.model.tool_calls import ToolReply
from mcp_tef.model.tools import Listing, Tool, ToolProblem
from mcp_tef.servers.definitions import CheckedDefinitions, check_definitions, why_unwieldy
from mcp_tef.servers.error_messages import ServerErrors
from mcp_tef.servers.observations import Stage
from mcp_tef.servers.session import ServerRequest, ServerSession, UnfitAnswerError


def mirrors(session: ServerSession) -> bool:
    """Return whether arguments are mirrored in headers: over HTTP, by the modern protocol."""
    over_http = session.spec.transport is Transport.STREAMABLE_HTTP
    return over_http and session.client.protocol_version in MODERN_PROTOCOL_VERSIONS


def unmirrorable(tools: Sequence[Tool]) -> Iterator[ToolProblem]:
    """The tools that ask for headers which cannot be; the protocol forbids to offer them."""
    for tool in tools:
        reason = find_invalid_x_mcp_header(tool.input_schema)
        if reason is not None:
            yield ToolProblem(tool.name, f"It asks for a header that cannot be sent: {reason}.")


def headers_of(definitions: Sequence[Json], tool: str, arguments: JsonObject, depth: int) -> Mapping[str, str]:
    """The headers of a call, by what the server says of the tool; none where it says nothing sound."""
    named = (raw for raw in definitions if isinstance(raw, dict) and raw.get("name") == tool)
    schema = next((raw.get("inputSchema") for raw in named), None)
    if not isinstance(schema, dict) or deeper_than(schema, depth) or find_invalid_x_mcp_header(schema) is not None:
        return {}
    return mcp_param_headers(x_mcp_header_map(schema), arguments)


_SHORTEST_SECRET = 8  # a shorter one may be a word in definitions by chance


async def list_everything(session: ServerSession) -> Listing:
    """All that the server lists, bad definitions set aside."""
    session.observations.stage = Stage.LISTING
    definitions, problems = await list_pages(session)
    latency = round((perf_counter() - session.began) * 1000)
    found = await _sorted(session, definitions)
    unfit = tuple(unmirrorable(found.tools)) if mirrors(session) else ()
    names = {problem.tool for problem in unfit}
    return Listing(
        server=session.spec.name,
        tools=tuple(tool for tool in found.tools if tool.name not in names),
        problems=(*found.problems, *unfit, *problems),
        protocol=session.client.protocol_version,
        latency_ms=latency,
    )


async def _sorted(session: ServerSession, definitions: Sequence[Json]) -> CheckedDefinitions:
    """Return the definitions without the secrets that the server was given; the check ends with the session."""
    limits, left = session.observations.limits, threading.Event()
    secrets = [secret for secret in session.observations.secrets if len(secret.reveal()) >= _SHORTEST_SECRET]

    def cleaned() -> Iterator[Json]:
        for raw in definitions:
            if left.is_set():
                return
            yield without(raw, secrets) if secrets and why_unwieldy(raw, limits) is None else raw

    try:
        return await asyncio.to_thread(check_definitions, session.spec, cleaned(), limits)
    finally:
        left.set()


async def list_pages(session: ServerSession) -> tuple[list[Json], list[ToolProblem]]:
    """Every definition of every page, and a problem where the listing does not end by itself."""
    definitions: list[Json] = []
    cursors: set[str] = set()
    cursor: str | None = None
    limits = session.observations.limits
    for _ in range(limits.pages):
        cursor = await _next_page(session, cursor, definitions)
        if not cursor:
            return definitions, []
        if cursor in cursors:
            return definitions, [_stopped("its pages repeat")]
        if len(definitions) > limits.tools:
            return definitions[: limits.tools], [_stopped(f"it goes on after {limits.tools} tools")]
        cursors.add(cursor)
    return definitions, [_stopped(f"it goes on after {limits.pages} pages")]


async def _next_page(session: ServerSession, cursor: str | None, definitions: list[Json]) -> str | None:
    params = mcp_types.PaginatedRequestParams(cursor=cursor) if cursor else None
    try:
        result = await session.client.list_tools(params=params)
    except MCPError as error:
        capabilities = session.client.server_capabilities
        if error.code == mcp_types.METHOD_NOT_FOUND and capabilities is not None and capabilities.tools is None:
            return None
        raise
    page = session.dispatcher.answer.get("tools")
    if not isinstance(page, list):
        raise UnfitAnswerError("it holds no list of tools")
    definitions.extend(page)
    return result.next_cursor


def _stopped(why: str) -> ToolProblem:
    return ToolProblem(None, f"The listing was cut short because {why}.")


_LEAF = 8


def kept_reply(answer: JsonObject, secrets: Sequence[Secret], execution_time_ms: int, most: int) -> ToolReply:
    """The reply in a raw answer whose `content` is a list and which nests no deeper than a definition may.

    At most `most` characters of it are kept.
    """
    room = _Room(most)
    content = room.take(json_without_keys(answer["content"], secrets))
    structured = room.take(json_without_keys(answer.get("structuredContent"), secrets))
    return ToolReply(
        content=tuple(content),
        structured=structured,
        is_error=answer.get("isError") is True,
        execution_time_ms=execution_time_ms,
        cut=room.left < 0,
    )


class _Room:
    """Rest of the limit; values that do not fit any more are left out."""

    def __init__(self, most: int) -> None:
        self.left = most

    def take(self, value: Json) -> Json:
        """As much of a value as there is room for."""
        if isinstance(value, str):
            shown = value[: max(0, self.left)]
            self.left -= len(value) + _LEAF
            return shown
        if isinstance(value, Mapping):
            return {name: self.take(inner) for name, inner in value.items() if self._fits(name)}
        if isinstance(value, list):
            return [self.take(inner) for inner in value if self._fits("")]
        return str(value) if isinstance(value, float) and not isfinite(value) else value

    def _fits(self, name: str) -> bool:
        self.left -= len(name) + _LEAF
        return self.left >= 0


def calling(tool: str, arguments: JsonObject) -> ServerRequest[ToolReply]:
    """An errand that calls a tool and brings back its reply."""

    async def call(session: ServerSession) -> ToolReply:
        if mirrors(session):
            session.observations.stage = Stage.LISTING
            definitions, _ = await list_pages(session)
            session.dispatcher.headers = headers_of(definitions, tool, arguments, session.observations.limits.depth)
        session.observations.stage = Stage.CALLING
        params = mcp_types.CallToolRequestParams(name=tool, arguments=dict(arguments))
        began = perf_counter()
        await session.client.send_request(mcp_types.CallToolRequest(params=params), mcp_types.CallToolResult)
        took = round((perf_counter() - began) * 1000)
        return await asyncio.to_thread(_reply, session, took)

    return call


def _reply(session: ServerSession, took: int) -> ToolReply:
    answer = session.dispatcher.answer
    if answer.get("resultType", "complete") != "complete":
        raise ServerErrors(session.spec, session.observations).asks_back()
    if not isinstance(answer.get("content"), list):
        raise UnfitAnswerError("it holds no list of content")
    if deeper_than(answer, session.observations.limits.depth):
        raise UnfitAnswerError("it nests too deeply")
    return kept_reply(answer, session.observations.secrets, took, session.observations.limits.reply_characters)
