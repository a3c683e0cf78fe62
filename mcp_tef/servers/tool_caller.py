"""Calls of one tool for a user who asked for that very call; replies are redacted and limited in size."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from time import perf_counter

import mcp_types

from mcp_tef.model.json import Json, JsonObject, deeper_than
from mcp_tef.model.limits import USUAL, LimitsSource
from mcp_tef.model.secrets import Secret, json_without_keys
from mcp_tef.model.servers import ServerSpec
from mcp_tef.model.tool_calls import ToolReply
from mcp_tef.ports import OpenAddress
from mcp_tef.servers.client import McpClient
from mcp_tef.servers.credential_store import CredentialStore
from mcp_tef.servers.error_messages import ServerErrors
from mcp_tef.servers.observations import Stage
from mcp_tef.servers.session import ServerRequest, ServerSession, UnfitAnswerError
from mcp_tef.servers.tool_list_request import headers_of, list_pages, mirrors
from mcp_tef.trust.plans import StartPlan

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
    """A request that calls a tool and returns its reply."""

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


class McpToolCaller:
    """Satisfies `ToolCaller`; apart from the gateway, so that no evaluation holds what could call a tool."""

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        limits: LimitsSource = USUAL,
        credentials: CredentialStore | None = None,
        show: OpenAddress | None = None,
        require_start: Callable[[ServerSpec, StartPlan], object] = lambda _spec, _plan: None,
    ) -> None:
        self._client = McpClient(environment, limits, credentials, show, require_start)

    async def call_tool(
        self,
        spec: ServerSpec,
        tool: str,
        arguments: JsonObject,
        *,
        timeout: float,  # noqa: ASYNC109
    ) -> ToolReply:
        """Return the reply of the tool; raises ServerError within `timeout` seconds, and ConsentError."""
        return await self._client.send(spec, lambda: calling(tool, arguments), timeout)

    async def close(self) -> None:
        """Leave every server."""
        await self._client.close()
