"""The errand of a call: one tool of a server, asked once."""

import asyncio
from time import perf_counter

import mcp_types

from mcp_tef.model.json import JsonObject, deeper_than
from mcp_tef.model.tool_calls import ToolReply
from mcp_tef.servers.evidence import Stage
from mcp_tef.servers.faults import Faults
from mcp_tef.servers.listing import list_pages
from mcp_tef.servers.mirrored import headers_of, mirrors
from mcp_tef.servers.replies import kept_reply
from mcp_tef.servers.visit import Errand, Talk, UnfitAnswerError


def calling(tool: str, arguments: JsonObject) -> Errand[ToolReply]:
    """An errand that calls a tool and brings back its reply."""

    async def call(talk: Talk) -> ToolReply:
        if mirrors(talk):
            talk.evidence.stage = Stage.LISTING
            definitions, _ = await list_pages(talk)
            talk.dispatcher.headers = headers_of(definitions, tool, arguments, talk.evidence.limits.depth)
        talk.evidence.stage = Stage.CALLING
        params = mcp_types.CallToolRequestParams(name=tool, arguments=dict(arguments))
        began = perf_counter()
        await talk.session.send_request(mcp_types.CallToolRequest(params=params), mcp_types.CallToolResult)
        took = round((perf_counter() - began) * 1000)
        return await asyncio.to_thread(_reply, talk, took)

    return call


def _reply(talk: Talk, took: int) -> ToolReply:
    answer = talk.dispatcher.answer
    if answer.get("resultType", "complete") != "complete":
        raise Faults(talk.spec, talk.evidence).asks_back()
    if not isinstance(answer.get("content"), list):
        raise UnfitAnswerError("it holds no list of content")
    if deeper_than(answer, talk.evidence.limits.depth):
        raise UnfitAnswerError("it nests too deeply")
    return kept_reply(answer, talk.evidence.secrets, took, talk.evidence.limits.reply_characters)
