"""The request that lists the tools of a server: every page, each definition checked by itself."""

import asyncio
import threading
from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter

import mcp_types
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import find_invalid_x_mcp_header, mcp_param_headers, x_mcp_header_map
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcp_tef.model.json import Json, JsonObject, deeper_than
from mcp_tef.model.secrets import without
from mcp_tef.model.servers import Transport
from mcp_tef.model.tools import LONGEST_INSTRUCTIONS, Listing, Tool, ToolProblem
from mcp_tef.servers.definitions import CheckedDefinitions, check_definitions, why_unwieldy
from mcp_tef.servers.observations import Stage
from mcp_tef.servers.session import ServerSession, UnfitAnswerError


def mirrors(session: ServerSession) -> bool:
    """Return whether arguments are mirrored in headers: over HTTP, by the modern protocol."""
    over_http = session.spec.transport is Transport.STREAMABLE_HTTP
    return over_http and session.client.protocol_version in MODERN_PROTOCOL_VERSIONS


def unmirrorable(tools: Sequence[Tool]) -> Iterator[ToolProblem]:
    """The tools that ask for headers which cannot be; the protocol forbids to offer them."""
    for tool in tools:
        reason = find_invalid_x_mcp_header(tool.input_schema)
        if reason is not None:
            yield ToolProblem(tool.name, f"It asks for a header that cannot be sent: {reason}.", tool.place, tool.raw)


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
        instructions=_instructions(session),
    )


def _instructions(session: ServerSession) -> str:
    """Return the instructions that the server gave when it was greeted, without its secrets, and at most so long."""
    given = session.client.instructions or ""
    secrets = [secret for secret in session.observations.secrets if len(secret.reveal()) >= _SHORTEST_SECRET]
    told = without({"instructions": given[:LONGEST_INSTRUCTIONS]}, secrets)
    return str(told["instructions"]).strip()


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
