"""Client for models: each is asked directly or through litellm, and failures become `ModelError`."""

import asyncio
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit

from mcp_tef.errors import ModelError, ModelFault
from mcp_tef.llm.direct_chat import DirectChat
from mcp_tef.llm.litellm_chat import LitellmChat
from mcp_tef.llm.model_table import ModelTable, model_table
from mcp_tef.llm.pacing import RequestPacer
from mcp_tef.llm.provider_errors import FailureEvidence, explain, key_missing, library_missing, retry_after, unaskable
from mcp_tef.llm.providers import KEEPS_REFERENCES, LITELLM, LOCAL, Target, directly, target, wants_key
from mcp_tef.llm.recent_values import RecentValues
from mcp_tef.llm.usage import Completion, Request, UsageCheck, keyless, known_cost
from mcp_tef.model.addresses import is_custom
from mcp_tef.model.installation import missing_library
from mcp_tef.model.limits import USUAL, LimitsSource
from mcp_tef.model.runs import ModelSettings
from mcp_tef.ports import WritingTask, Written
from mcp_tef.provider_http.exchange import Exchange, FailedCall
from mcp_tef.trust.addresses import UnexpectedAddressError
from mcp_tef.trust.bounds import unfolds_too_far
from mcp_tef.trust.connections import checked_address
from mcp_tef.trust.names import visible

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
            _, writer = await asyncio.open_connection(await checked_address(parts.hostname, port), port)
    except (OSError, TimeoutError, ValueError, UnexpectedAddressError):
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True


class ModelClient:
    """Client that asks each model directly where its server speaks OpenAI's protocol, else through litellm.

    `through` says `litellm` where the user wants that for every model. It belongs to the loop on which it is first
    used.
    """

    def __init__(
        self, environment: Mapping[str, str], limits: LimitsSource, through: Callable[[], str] = lambda: ""
    ) -> None:
        self._environment = environment
        self._limits = limits
        self._through = through
        self._table: ModelTable | None = None
        self._aims = [RecentValues(partial(self._aim, direct=direct)) for direct in (True, False)]
        self._pacers = defaultdict[tuple[str, str | None], RequestPacer](RequestPacer)
        self._litellm = LitellmChat()
        self._direct = DirectChat(environment)

    def exchange(self, request: Request) -> Exchange:
        """Return a fresh record of a call, with the bounds that it has to keep."""
        return Exchange(origins=request.origins, most_bytes=self._limits.limits.model_answer_bytes)

    async def prepare(self, settings: ModelSettings) -> None:
        """Load all that the first call with tools would load, and wait for the turn of the next call.

        Raises ModelError where the model cannot even be asked.
        """
        aim = await self.aim(settings)
        if not aim.chat_url:
            await self._litellm.load(tools=not aim.direct)
        await self._pacer(aim).turn()

    async def aim(self, settings: ModelSettings) -> Target:
        """Return a model and how it is asked; ModelError where it cannot even be asked."""
        self._table = self._table or await model_table()
        return self._aims[self._through() == LITELLM].of(settings)

    def _aim(self, settings: ModelSettings, *, direct: bool) -> Target:
        table = self._table or ModelTable({})
        aim = target(settings, table.providers, self._environment)
        if (error := unaskable(settings, aim, table.providers)) is not None:
            raise error
        aim = directly(aim, table) if direct else aim
        if not aim.chat_url and (library := missing_library("litellm", "openai")):
            raise library_missing(settings, library)
        return aim

    async def complete(self, request: Request, exchange: Exchange) -> Completion | FailedCall:
        """Make one attempt, no retries; what went over the wire is written down in `exchange`."""
        _require_bounded(request)
        usage = UsageCheck()
        chat = self._direct if request.target.chat_url else self._litellm
        pacer = self._pacer(request.target)
        sent_at, tokens = pacer.sent(), 0
        try:
            outcome = await chat.complete(request, exchange, usage)
            if isinstance(outcome, Completion):
                tokens = (outcome.tokens_in or 0) + (outcome.tokens_out or 0)
        finally:
            pacer.answered(sent_at, exchange.status, exchange.headers, tokens, retry_after(exchange.headers))
        if isinstance(outcome, FailedCall):
            return outcome
        cost = None if usage.notes else _cost(outcome, request)
        return keyless(replace(outcome, cost_usd=cost), request.key)

    def _pacer(self, aim: Target) -> RequestPacer:
        return self._pacers[aim.provider, aim.address]

    async def close(self) -> None:
        """Give back connections, and forget every key."""
        await self._direct.close()
        await self._litellm.close()


def _require_bounded(request: Request) -> None:
    """Raise ModelError where a schema would grow without bounds, since its provider takes no references."""
    if request.target.chat_url or request.target.provider in KEEPS_REFERENCES:
        return
    name = unfolds_too_far(request.tools)
    if name is not None:
        provider = request.target.provider
        raise ModelError(
            ModelFault.REJECTED,
            f"The schema of {visible(name)} refers to itself so often that it cannot be sent to {provider}.",
            hint="Write out the parameters of that tool, or ask a model of another provider.",
            context={"model": request.settings.label, "tool": name},
        )


def _cost(outcome: Completion, request: Request) -> float | None:
    """Return the cost of an answer in US dollars: by the prices that the user gave, else by litellm's.

    litellm's prices do not hold at a custom address, and its 0 means unknown, except for models on the user's machine.
    """
    if (prices := request.settings.token_prices) is not None:
        counts = (outcome.tokens_in, outcome.tokens_out)
        return (
            None if None in counts else sum(price * (count or 0) for price, count in zip(prices, counts, strict=True))
        )
    if is_custom(request.settings.provider, request.target.address):
        return None
    return _known_price(outcome.cost_usd, request.target.provider)


def _known_price(cost: float | None, provider: str) -> float | None:
    return known_cost(cost) if cost or provider in LOCAL else None


async def failure(outcome: FailedCall, exchange: Exchange, request: Request, settings: ModelSettings) -> ModelError:
    """Return the error that a user reads for a call that gave no answer."""
    return explain(await _evidence(outcome, exchange, request), settings, request.target, request.key)


async def _evidence(outcome: FailedCall, exchange: Exchange, request: Request) -> FailureEvidence:
    status = exchange.status if exchange.sent else outcome.status
    address = exchange.origin or request.target.address
    silent = status is None and not outcome.timed_out
    refused = exchange.refused_origin or exchange.refusal
    return FailureEvidence(
        status=status,
        headers=exchange.headers or outcome.headers,
        body=exchange.received.decode("utf-8", "replace"),
        error=outcome.error,
        timed_out=outcome.timed_out,
        reachable=await listens(address) if silent and address and not refused else None,
        refused_origin=exchange.refused_origin,
        refusal=exchange.refusal,
        too_large=exchange.too_large,
        most_bytes=exchange.most_bytes,
    )


_NO_VARIABLES: Mapping[str, str] = {}
_NO_JSON_MODE = re.compile(r"(?i)response[_ ]?format|json[_ ](?:object|mode|schema)")


class LitellmWriter:
    """A writer for every model but the baseline. It belongs to the loop on which it is first used.

    Where a provider refuses to be held to JSON, the model is asked again without, and so from then on.
    """

    def __init__(
        self,
        environment: Mapping[str, str] = _NO_VARIABLES,
        limits: LimitsSource = USUAL,
        through: Callable[[], str] = lambda: "",
    ) -> None:
        self._caller = ModelClient(environment, limits, through)
        self._without_json: set[tuple[str, str | None]] = set()

    async def write(self, task: WritingTask) -> Written:
        """Return one attempt, no retries; raises ModelError."""
        if not task.key and wants_key(task.settings):
            raise key_missing(task.settings)
        who = (task.settings.label, task.settings.base_url)
        try:
            return await self._ask(task, json_only=who not in self._without_json)
        except ModelError as error:
            if not _refuses_json(error) or who in self._without_json:
                raise
        self._without_json.add(who)
        return await self._ask(task, json_only=False)

    async def close(self) -> None:
        """Give back connections, and forget every key."""
        await self._caller.close()

    async def _ask(self, task: WritingTask, *, json_only: bool) -> Written:
        request = _request(task, await self._caller.aim(task.settings), json_only=json_only)
        exchange = self._caller.exchange(request)
        outcome = await self._caller.complete(request, exchange)
        if isinstance(outcome, FailedCall):
            raise await failure(outcome, exchange, request, task.settings)
        return _written(outcome)


def _refuses_json(error: ModelError) -> bool:
    return error.fault is ModelFault.REJECTED and bool(_NO_JSON_MODE.search(str(error.context["detail"])))


def _request(task: WritingTask, aim: Target, *, json_only: bool) -> Request:
    settings = task.settings
    return Request(
        target=aim,
        messages=[{"role": "system", "content": task.system}, {"role": "user", "content": task.prompt}],
        tools=(),
        settings=settings,
        key=task.key,
        origins=aim.origins,
        response_format={"type": "json_object"} if json_only else None,
    )


def _written(outcome: Completion) -> Written:
    return Written(outcome.text, outcome.tokens_in, outcome.tokens_out, outcome.cost_usd, outcome.cut_off)
