"""Client for litellm: loads it on the first call and maps its failures to `ModelError`."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mcp_tef.errors import ModelError
from mcp_tef.llm.completion import Breakdown, Completion, Request
from mcp_tef.llm.litellm_loader import load_tool_calling, new_backend
from mcp_tef.llm.provider_errors import FailureEvidence, explain, unaskable
from mcp_tef.llm.providers import Target, target
from mcp_tef.model.limits import Limits
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.secrets import Secret, without
from mcp_tef.prompts.answer_parsing import WrittenCall
from mcp_tef.provider_http.exchange import Exchange

if TYPE_CHECKING:
    from mcp_tef.llm.litellm_backend import Backend


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
    """One backend, made when it is first needed. It belongs to the loop on which it is first used."""

    def __init__(self, environment: Mapping[str, str], limits: Limits) -> None:
        self._environment = environment
        self._limits = limits
        self._backend: Backend | None = None
        self._loading = asyncio.Lock()
        self._offers_tools = False

    def hold_to(self, limits: Limits) -> None:
        """Apply other limits from now on."""
        self._limits = limits

    def exchange(self, request: Request) -> Exchange:
        """Return a fresh record of a call, with the bounds that it has to keep."""
        return Exchange(origins=request.origins, most_bytes=self._limits.model_answer_bytes)

    async def ready(self) -> "Backend":
        """The backend, loading litellm first where that is still to be done."""
        async with self._loading:
            if self._backend is None:
                self._backend = await new_backend()
        return self._backend

    async def prepare(self, settings: ModelSettings) -> None:
        """Load all that the first call with tools would load; ModelError where the model cannot even be asked."""
        aim = await self.aim(settings)
        async with self._loading:
            if not (aim.direct or self._offers_tools):
                await load_tool_calling()
                self._offers_tools = True

    async def aim(self, settings: ModelSettings) -> Target:
        """How litellm is told of a model; ModelError where it cannot even be asked."""
        providers = (await self.ready()).providers
        aim = target(settings, providers, self._environment)
        if (error := unaskable(settings, aim, providers)) is not None:
            raise error
        return aim

    async def complete(self, request: Request, exchange: Exchange) -> Completion | Breakdown:
        """One attempt, no retries; what went over the wire is written down in `exchange`."""
        outcome = await (await self.ready()).complete(request, exchange)
        return outcome if isinstance(outcome, Breakdown) else _keyless(outcome, request.key)

    async def close(self) -> None:
        """Give back connections, and forget every key."""
        backend, self._backend = self._backend, None
        if backend is not None:
            await backend.close()


def _keyless(outcome: Completion, key: Secret | None) -> Completion:
    """The answer without the key, should the provider have repeated it."""
    if not key:
        return outcome
    calls = tuple(WrittenCall(key.redact(call.name), without(call.arguments, [key])) for call in outcome.calls)
    return replace(outcome, text=key.redact(outcome.text), calls=calls)


async def failure(outcome: Breakdown, exchange: Exchange, request: Request, settings: ModelSettings) -> ModelError:
    """The error that a user reads for a call that gave no answer."""
    return explain(await _evidence(outcome, exchange, request), settings, request.target, request.key)


async def _evidence(outcome: Breakdown, exchange: Exchange, request: Request) -> FailureEvidence:
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
