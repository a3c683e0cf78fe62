"""Chats through litellm, for providers whose protocol it translates."""

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp_tef.llm.direct_chat import options
from mcp_tef.llm.usage import Completion, Request, UsageCheck, shown_name
from mcp_tef.prompts.answer_parsing import WrittenCall
from mcp_tef.provider_http.exchange import Exchange, FailedCall, ModelCall
from mcp_tef.provider_http.litellm_loader import load_chat, new_client

if TYPE_CHECKING:
    from mcp_tef.provider_http.litellm_client import LitellmClient


class LitellmChat:
    """One client of litellm, made when it is first needed."""

    def __init__(self) -> None:
        self._client: LitellmClient | None = None
        self._loading = asyncio.Lock()

    async def load(self, *, tools: bool) -> None:
        """Load all that the first call would load, or the first with tools."""
        await self._ready()
        if tools:
            async with self._loading:
                await load_chat(tools=True)

    async def complete(self, request: Request, exchange: Exchange, usage: UsageCheck) -> Completion | FailedCall:
        """Make one attempt; the cost of the answer is what litellm reports."""
        client, aim = await self._ready(), request.target
        exchange.rewrite = usage.clean

        def read(answer: Any, cost: float | None) -> Completion:
            return replace(_completion(answer, usage, watched=bool(exchange.received)), cost_usd=cost)

        call = ModelCall(aim.provider, aim.model, aim.address, request.key, request.settings.timeout)
        return await client.complete(call, exchange, read, _options(request))

    async def close(self) -> None:
        """Give back connections, and forget every key."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _ready(self) -> "LitellmClient":
        async with self._loading:
            if self._client is None:
                self._client = await new_client()
                await load_chat()
        return self._client


def _options(request: Request) -> dict[str, Any]:
    """Return what litellm is given beside the address. To a compatible server the tools go as they are.

    OpenAI's library would spend a third of the time of a call on walking through their schemas.
    """
    given = options(request)
    if not request.target.direct or not request.tools:
        return given
    return {**given, "extra_body": {name: given.pop(name) for name in ("tools", "tool_choice") if name in given}}


def _completion(answer: Any, usage: UsageCheck, *, watched: bool) -> Completion:
    message: Any = answer.choices[0].message
    reported: Any = getattr(answer, "usage", None)
    tokens_in, tokens_out = (
        usage.count(name, getattr(reported, name, None)) for name in ("prompt_tokens", "completion_tokens")
    )
    calls = message.tool_calls or ()
    return Completion(
        text=_text(message),
        calls=tuple(WrittenCall(call.function.name or "", call.function.arguments) for call in calls),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost_usd=None,
        notes=usage.notes,
        model=shown_name(getattr(answer, "model", None)),
        fingerprint=shown_name(getattr(answer, "system_fingerprint", None)),
        cut_off=answer.choices[0].finish_reason == "length",
        raw=None if watched else answer.model_dump(mode="json"),
    )


def _text(message: Any) -> str:
    """Return the text of an answer; a refusal stands apart, with no other text beside it."""
    refusal = (getattr(message, "provider_specific_fields", None) or {}).get("refusal")
    return next((text for text in (message.content, refusal) if isinstance(text, str) and text), "")
