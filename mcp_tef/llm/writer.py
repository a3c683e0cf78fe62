"""Text written by a model, as JSON where the provider can enforce it."""

import re
from collections.abc import Callable, Mapping

from mcp_tef.errors import ModelError, ModelFault
from mcp_tef.llm.client import ModelClient, failure
from mcp_tef.llm.completions import Completion, Request
from mcp_tef.llm.provider_errors import key_missing
from mcp_tef.llm.providers import Target, wants_key
from mcp_tef.model.limits import USUAL, LimitsSource
from mcp_tef.ports import WritingTask, Written
from mcp_tef.provider_http.exchange import FailedCall

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
