"""Texts and tool descriptions written by a model, with retries and a check of each answer."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mcp_tef.errors import InputError, ModelError, ModelFault, TefError
from mcp_tef.model.run_fields import require_amount
from mcp_tef.model.runs import CUT_OFF_CODE, FailureInfo, ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.ports import Writer, WritingTask, Written
from mcp_tef.prompts.templates import rewrite_text
from mcp_tef.prompts.writing_prompts import REWRITE_PROMPT, RewriteError, read_rewrite
from mcp_tef.scoring.differentiation.descriptions import why_unusable
from mcp_tef.scoring.differentiation.patches import DraftOutcome
from mcp_tef.scoring.differentiation.tool_pair import PairedTool
from mcp_tef.workflows.cost_budget import (
    BYTES_PER_TOKEN,
    CallPrice,
    CostBudget,
    byte_count,
    call_price,
    require_one,
    with_answer_limit,
)
from mcp_tef.workflows.estimate import USED_UP
from mcp_tef.workflows.evaluate import Sleep, backoff
from mcp_tef.workflows.models import Models


def check_can_write(settings: ModelSettings) -> None:
    """Raise InputError for the built-in baseline, which chooses tools but writes nothing."""
    if settings.offline:
        raise InputError(
            "The built-in baseline cannot write texts.", hint="Select a language model, or go on without one."
        )


class CappedWriter:
    """One model that writes texts, all of them together under a cost cap if there is one."""

    def __init__(
        self, writer: Writer, model: ModelSettings, key: Secret | None, cap: float | None, price: CallPrice | None
    ) -> None:
        self._writer = writer
        self._key = key
        self._cap = cap
        self._price = price
        self._budget = CostBudget(cap)
        self.model = model

    def require_one(self, prompts: Iterable[str], thing: str) -> None:
        """Raise InputError where the cap has no room for the shortest of these prompts."""
        if self._price:
            cheapest = min((self._price.dearest(_most_tokens(prompt)) for prompt in prompts), default=0.0)
            require_one(self._cap, cheapest, thing)

    async def write(self, system: str, prompt: str, sleep: Sleep = asyncio.sleep) -> Written:
        """Return the model's text after at most `max_retries` further attempts.

        Raises ModelError, and InputError for a text that the cap has no room for, or that was cut off by its limit.
        """
        tokens = _most_tokens(system + prompt)
        if not await self._budget.room(self._price, tokens):
            raise InputError(f"The cost cap of ${self._cap:g} would be passed.", hint="Raise the cap.", code=USED_UP)
        with self._budget.call(self._price, tokens) as cost:
            written = await _ask(self._writer, WritingTask(self.model, system, prompt, self._key), sleep)
            cost.settle(written.cost_usd, written.tokens_in)
        if written.cut_off:
            raise InputError(
                f"The answer of {self.model.label} was cut off by its limit.",
                hint="Ask with a higher answer limit.",
                code=CUT_OFF_CODE,
            )
        return written


async def capped_writer(
    writer: Writer, models: Models, model: ModelSettings, keys: Mapping[str, Secret], cap: float | None
) -> CappedWriter:
    """Return a writer with its key. InputError for the baseline, a cap that is none, and one without a known price."""
    check_can_write(model)
    require_amount(cap)
    key = models.keys_for([model], keys).get(model.destination)
    if cap is None:
        return CappedWriter(writer, model, key, None, None)
    info = await models.info(model)
    limited = with_answer_limit(model, info)
    return CappedWriter(writer, limited, key, cap, call_price(limited, info))


_FRAME_TOKENS = 20


def _most_tokens(prompt: str) -> int:
    return _FRAME_TOKENS + byte_count(prompt) // BYTES_PER_TOKEN


async def _ask(writer: Writer, task: WritingTask, sleep: Sleep) -> Written:
    for attempt in range(task.settings.max_retries):
        try:
            return await writer.write(task)
        except ModelError as error:
            if not error.retryable:
                raise
            await sleep(backoff(attempt, error.retry_after))
    return await writer.write(task)


def is_same_for_all(error: TefError) -> bool:
    """Return True for an error that every further request would meet."""
    return isinstance(error, ModelError) and error.fault in _SAME_FOR_ALL


_SAME_FOR_ALL = frozenset(
    {ModelFault.KEY_MISSING, ModelFault.KEY_WRONG, ModelFault.FORBIDDEN, ModelFault.QUOTA, ModelFault.NOT_FOUND}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteAttempt:
    """A description that a model wrote, or why there is none; `written` where it answered at all."""

    outcome: DraftOutcome | None = None
    failure: FailureInfo | None = None
    written: Written | None = None


class DescriptionAuthor:
    """One model that writes descriptions. What would fail alike for every pair, such as a wrong key, is asked once."""

    def __init__(self, writer: CappedWriter, sleep: Sleep) -> None:
        self._writer = writer
        self._sleep = sleep
        self._hopeless: FailureInfo | None = None

    @property
    def label(self) -> str:
        """`provider/model`, with the prompt if one was chosen."""
        return self._writer.model.asked

    async def rewrite(self, side: PairedTool, others: Sequence[PairedTool]) -> RewriteAttempt:
        """Return a description of one tool that tells it from the others, or why there is none."""
        if self._hopeless:
            return RewriteAttempt(failure=self._hopeless)
        request = rewrite_text(self._writer.model, side.tool, [other.tool for other in others])
        try:
            written = await self._writer.write(REWRITE_PROMPT.system, request, self._sleep)
        except (InputError, ModelError) as error:
            failure = FailureInfo(error.code, error.message, error.hint)
            self._hopeless = failure if is_same_for_all(error) else self._hopeless
            return RewriteAttempt(failure=failure)
        return self._read(written, side, others)

    def _read(self, written: Written, side: PairedTool, others: Sequence[PairedTool]) -> RewriteAttempt:
        try:
            rewrite = read_rewrite(written.text)
            reason = why_unusable(rewrite.description, side, others)
        except RewriteError as error:
            reason = str(error)
        if reason is not None:
            return RewriteAttempt(failure=self._unusable(reason, side), written=written)
        outcome = DraftOutcome(
            description=rewrite.description, named=others, author=self.label, reason=rewrite.rationale
        )
        return RewriteAttempt(outcome=outcome, written=written)

    def _unusable(self, reason: str, side: PairedTool) -> FailureInfo:
        message = f"{self.label} wrote no usable description of {side.name}: it {reason}."
        return FailureInfo("rewrite_unusable", message, "Ask again, select another model, or use the draft.")
