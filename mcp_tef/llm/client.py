"""Client for litellm: requests and completions as plain values, and failures as `ModelError`."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcp_tef.errors import ModelError
from mcp_tef.llm.provider_errors import FailureEvidence, explain, unaskable
from mcp_tef.llm.providers import LOCAL, Target, target
from mcp_tef.llm.usage import UsageCheck, known_cost
from mcp_tef.model.json import Json
from mcp_tef.model.limits import LimitsSource
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.secrets import Secret, without
from mcp_tef.prompts.answer_parsing import WrittenCall
from mcp_tef.provider_http.exchange import Exchange, FailedCall, ModelCall
from mcp_tef.provider_http.litellm_loader import load_chat, new_client

if TYPE_CHECKING:
    from mcp_tef.provider_http.litellm_client import LitellmClient


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One chat completion; `timeout` in seconds, `tools` in OpenAI's shape, `key` for this call only.

    `json_only` asks for one JSON object, where the provider can force it. `origins` are the addresses that the call may
    reach: that of the target, else the provider's own; None means any, for providers that use credentials of their own.
    """

    target: Target
    messages: Sequence[Mapping[str, str]]
    tools: Sequence[Mapping[str, Any]]
    temperature: float
    timeout: float
    key: Secret | None
    origins: frozenset[str]
    json_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """Answer of a model. `cost_usd` is None if the price is unknown; `notes` name other doubtful values.

    `raw` is the answer as litellm holds it, given only if the HTTP traffic was not recorded.
    """

    text: str
    calls: tuple[WrittenCall, ...]
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    raw: Json = None
    notes: tuple[str, ...] = ()


PROBE_SECONDS = 3.0
_PORTS = {"http": 80, "https": 443}


async def listens(address: str) -> bool:
    """Return True if a connection to the address of this url can be opened within three seconds."""
    try:
        parts = urlsplit(address)
        port = parts.port or _PORTS.get(parts.scheme)
        if not parts.hostname or port is None:
            return False
        async with asyncio.timeout(PROBE_SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, port)
    except (OSError, TimeoutError, ValueError):
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True


class ModelClient:
    """One client of litellm, made when it is first needed. It belongs to the loop on which it is first used."""

    def __init__(self, environment: Mapping[str, str], limits: LimitsSource) -> None:
        self._environment = environment
        self._limits = limits
        self._client: LitellmClient | None = None
        self._loading = asyncio.Lock()

    def exchange(self, request: Request) -> Exchange:
        """Return a fresh record of a call, with the bounds that it has to keep."""
        return Exchange(origins=request.origins, most_bytes=self._limits.limits.model_answer_bytes)

    async def prepare(self, settings: ModelSettings) -> None:
        """Load all that the first call with tools would load; ModelError where the model cannot even be asked."""
        aim = await self.aim(settings)
        async with self._loading:
            if not aim.direct:
                await load_chat(tools=True)

    async def aim(self, settings: ModelSettings) -> Target:
        """Return a model as litellm addresses it; ModelError where it cannot even be asked."""
        providers = (await self._ready()).providers
        aim = target(settings, providers, self._environment)
        if (error := unaskable(settings, aim, providers)) is not None:
            raise error
        return aim

    async def complete(self, request: Request, exchange: Exchange) -> Completion | FailedCall:
        """Make one attempt, no retries; what went over the wire is written down in `exchange`."""
        client, aim = await self._ready(), request.target
        usage = UsageCheck()
        exchange.rewrite = usage.clean

        def read(answer: Any, cost: float | None) -> Completion:
            return _completion(answer, _known_price(cost, aim.provider), usage, watched=bool(exchange.received))

        call = ModelCall(aim.provider, aim.model, aim.address, request.key, request.timeout)
        outcome = await client.complete(call, exchange, read, _options(request))
        return outcome if isinstance(outcome, FailedCall) else _keyless(outcome, request.key)

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
    """Return what litellm is given beside the address. To a direct target the tools go as they are.

    OpenAI's library would spend a third of the time of a call on walking through their schemas.
    """
    tools = list(request.tools)
    tool_options = {"extra_body": {"tools": tools}} if request.target.direct else {"tools": tools}
    return {
        "messages": list(request.messages),
        "temperature": request.temperature,
        "response_format": {"type": "json_object"} if request.json_only else None,
        **(tool_options if tools else {}),
    }


def _completion(answer: Any, cost: float | None, usage: UsageCheck, *, watched: bool) -> Completion:
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
        # litellm computes the cost from the usage, so doubtful usage has no cost.
        cost_usd=None if usage.notes else known_cost(cost),
        notes=usage.notes,
        raw=None if watched else answer.model_dump(mode="json"),
    )


def _text(message: Any) -> str:
    """Return the text of an answer; a refusal stands apart, with no other text beside it."""
    refusal = (getattr(message, "provider_specific_fields", None) or {}).get("refusal")
    return next((text for text in (message.content, refusal) if isinstance(text, str) and text), "")


def _known_price(cost: float | None, provider: str) -> float | None:
    """Return a cost in US dollars; litellm's 0 means unknown, except for models on the user's own machine."""
    return cost if cost or provider in LOCAL else None


def _keyless(outcome: Completion, key: Secret | None) -> Completion:
    """Return the answer without the key, should the provider have repeated it."""
    if not key:
        return outcome
    calls = tuple(WrittenCall(key.redact(call.name), without(call.arguments, [key])) for call in outcome.calls)
    return replace(outcome, text=key.redact(outcome.text), calls=calls)


async def failure(outcome: FailedCall, exchange: Exchange, request: Request, settings: ModelSettings) -> ModelError:
    """Return the error that a user reads for a call that gave no answer."""
    return explain(await _evidence(outcome, exchange, request), settings, request.target, request.key)


async def _evidence(outcome: FailedCall, exchange: Exchange, request: Request) -> FailureEvidence:
    status = exchange.status if exchange.sent else outcome.status
    address = exchange.origin or request.target.address
    silent = status is None and not outcome.timed_out
    return FailureEvidence(
        status=status,
        headers=exchange.headers or outcome.headers,
        body=exchange.received.decode("utf-8", "replace"),
        error=outcome.error,
        timed_out=outcome.timed_out,
        reachable=await listens(address) if silent and address and not exchange.refused_origin else None,
        refused_origin=exchange.refused_origin,
        too_large=exchange.too_large,
        most_bytes=exchange.most_bytes,
    )
