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
from mcp_tef.model.addresses import is_custom
from mcp_tef.model.answers import ToolChoiceMode
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
    """One chat completion with `settings`; `tools` in OpenAI's shape, `key` for this call only.

    `response_format` asks for JSON, where the provider can force it. `origins` are the addresses that the call may
    reach: that of the target, else the provider's own; None means any, for providers that use credentials of their own.
    """

    target: Target
    messages: Sequence[Mapping[str, str]]
    tools: Sequence[Mapping[str, Any]]
    settings: ModelSettings
    key: Secret | None
    origins: frozenset[str]
    response_format: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """Answer of a model. `cost_usd` is None if the price is unknown; `notes` name other doubtful values.

    `model` and `fingerprint` are those that the provider says have answered. `cut_off` is True if the answer ended at
    its limit.

    `raw` is the answer as litellm holds it, given only if the HTTP traffic was not recorded.
    """

    text: str
    calls: tuple[WrittenCall, ...]
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    raw: Json = None
    notes: tuple[str, ...] = ()
    model: str | None = None
    fingerprint: str | None = None
    cut_off: bool = False


LONGEST_NAME = 200
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
            outcome = _completion(answer, usage, watched=bool(exchange.received))
            return replace(outcome, cost_usd=None if usage.notes else _cost(outcome, cost, request))

        call = ModelCall(aim.provider, aim.model, aim.address, request.key, request.settings.timeout)
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
    settings = request.settings
    tools: dict[str, Any] = {"tools": list(request.tools)}
    if settings.tool_choice is not ToolChoiceMode.AUTO:
        tools["tool_choice"] = settings.tool_choice.value
    tool_options = {"extra_body": tools} if request.target.direct else tools
    return {
        "messages": list(request.messages),
        "temperature": settings.temperature,
        "seed": settings.seed,
        "max_tokens": settings.max_tokens,
        "response_format": None if request.response_format is None else dict(request.response_format),
        **(tool_options if request.tools else {}),
    }


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
        model=_name(answer, "model"),
        fingerprint=_name(answer, "system_fingerprint"),
        cut_off=answer.choices[0].finish_reason == "length",
        raw=None if watched else answer.model_dump(mode="json"),
    )


def _name(answer: Any, field: str) -> str | None:
    name = getattr(answer, field, None)
    return name[:LONGEST_NAME] if isinstance(name, str) and name else None


def _text(message: Any) -> str:
    """Return the text of an answer; a refusal stands apart, with no other text beside it."""
    refusal = (getattr(message, "provider_specific_fields", None) or {}).get("refusal")
    return next((text for text in (message.content, refusal) if isinstance(text, str) and text), "")


def _cost(outcome: Completion, reported: float | None, request: Request) -> float | None:
    """Return the cost of an answer in US dollars: by the prices that the user gave, else as litellm reports it.

    litellm's prices do not hold at a custom address, and its 0 means unknown, except for models on the user's machine.
    """
    if (prices := request.settings.token_prices) is not None:
        counts = (outcome.tokens_in, outcome.tokens_out)
        return (
            None if None in counts else sum(price * (count or 0) for price, count in zip(prices, counts, strict=True))
        )
    if is_custom(request.settings.provider, request.target.address):
        return None
    return _known_price(reported, request.target.provider)


def _known_price(cost: float | None, provider: str) -> float | None:
    return known_cost(cost) if cost or provider in LOCAL else None


def _keyless(outcome: Completion, key: Secret | None) -> Completion:
    """Return the answer without the key, should the provider have repeated it."""
    if not key:
        return outcome
    calls = tuple(WrittenCall(key.redact(call.name), without(call.arguments, [key])) for call in outcome.calls)
    model, fingerprint = (name and key.redact(name) for name in (outcome.model, outcome.fingerprint))
    return replace(outcome, text=key.redact(outcome.text), calls=calls, model=model, fingerprint=fingerprint)


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
