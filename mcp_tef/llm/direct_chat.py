"""Chats with OpenAI-compatible servers, asked directly."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from mcp_tef.llm.completions import Completion, Request
from mcp_tef.llm.direct_answers import read_answer
from mcp_tef.llm.direct_requests import DirectRequests, headers
from mcp_tef.llm.model_table import model_table
from mcp_tef.llm.prices import answer_cost
from mcp_tef.llm.usage import UsageCheck
from mcp_tef.provider_http.exchange import Exchange, FailedCall

if TYPE_CHECKING:
    from mcp_tef.provider_http.direct_client import DirectClient


class DirectChat:
    """One HTTP client, made when it is first needed."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._client: DirectClient | None = None
        self._loading = asyncio.Lock()
        self._requests = DirectRequests()

    async def complete(self, request: Request, exchange: Exchange, usage: UsageCheck) -> Completion | FailedCall:
        """Make one attempt; the cost of the answer is by the table of models."""
        client = self._client or await self._ready()
        sent = headers(request, self._environment)
        aim = request.target
        exchange.asked, body = self._requests.body(request)
        failed = await client.post(aim.chat_url, sent, body, exchange, request.settings.timeout)
        read = failed or read_answer(exchange, usage)
        if isinstance(read, FailedCall):
            return read
        outcome, answer = read
        return replace(outcome, cost_usd=answer_cost(await model_table(), aim.provider, aim.model, answer))

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _ready(self) -> "DirectClient":
        async with self._loading:
            if self._client is None:
                made = await asyncio.to_thread(_client_class)
                self._client = made(self._environment)
        return self._client


def _client_class() -> "type[DirectClient]":
    """Load aiohttp, which takes a tenth of a second."""
    from mcp_tef.provider_http.direct_client import DirectClient

    return DirectClient
