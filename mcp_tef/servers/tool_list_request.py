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
from mcp_tef.model.tools import Listing, Tool, ToolProblem
from mcp_tef.servers.definitions import Sorted, sort_out, why_unwieldy
from mcp_tef.servers.observations import Stage
from mcp_tef.servers.session import Talk, UnfitAnswerError


def mirrors(talk: Talk) -> bool:
    """Whether arguments are mirrored here at all: over HTTP, by the modern protocol."""
    over_http = talk.spec.transport is Transport.STREAMABLE_HTTP
    return over_http and talk.session.protocol_version in MODERN_PROTOCOL_VERSIONS


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


async def list_everything(talk: Talk) -> Listing:
    """All that the server lists, bad definitions set aside."""
    talk.evidence.stage = Stage.LISTING
    definitions, problems = await list_pages(talk)
    latency = round((perf_counter() - talk.began) * 1000)
    found = await _sorted(talk, definitions)
    unfit = tuple(unmirrorable(found.tools)) if mirrors(talk) else ()
    names = {problem.tool for problem in unfit}
    return Listing(
        server=talk.spec.name,
        tools=tuple(tool for tool in found.tools if tool.name not in names),
        problems=(*found.problems, *unfit, *problems),
        protocol=talk.session.protocol_version,
        latency_ms=latency,
    )


async def _sorted(talk: Talk, definitions: Sequence[Json]) -> Sorted:
    """The definitions without the secrets that the server was given; checking them ends when the visit does."""
    limits, left = talk.evidence.limits, threading.Event()
    secrets = [secret for secret in talk.evidence.secrets if len(secret.reveal()) >= _SHORTEST_SECRET]

    def cleaned() -> Iterator[Json]:
        for raw in definitions:
            if left.is_set():
                return
            yield without(raw, secrets) if secrets and why_unwieldy(raw, limits) is None else raw

    try:
        return await asyncio.to_thread(sort_out, talk.spec, cleaned(), limits)
    finally:
        left.set()


async def list_pages(talk: Talk) -> tuple[list[Json], list[ToolProblem]]:
    """Every definition of every page, and a problem where the listing does not end by itself."""
    definitions: list[Json] = []
    cursors: set[str] = set()
    cursor: str | None = None
    limits = talk.evidence.limits
    for _ in range(limits.pages):
        cursor = await _next_page(talk, cursor, definitions)
        if not cursor:
            return definitions, []
        if cursor in cursors:
            return definitions, [_stopped("its pages repeat")]
        if len(definitions) > limits.tools:
            return definitions[: limits.tools], [_stopped(f"it goes on after {limits.tools} tools")]
        cursors.add(cursor)
    return definitions, [_stopped(f"it goes on after {limits.pages} pages")]


async def _next_page(talk: Talk, cursor: str | None, definitions: list[Json]) -> str | None:
    params = mcp_types.PaginatedRequestParams(cursor=cursor) if cursor else None
    try:
        result = await talk.session.list_tools(params=params)
    except MCPError as error:
        capabilities = talk.session.server_capabilities
        if error.code == mcp_types.METHOD_NOT_FOUND and capabilities is not None and capabilities.tools is None:
            return None
        raise
    page = talk.dispatcher.answer.get("tools")
    if not isinstance(page, list):
        raise UnfitAnswerError("it holds no list of tools")
    definitions.extend(page)
    return result.next_cursor


def _stopped(why: str) -> ToolProblem:
    return ToolProblem(None, f"The listing was cut short because {why}.")
