"""Texts and tool descriptions written by a model, with retries and a check of each answer."""

import asyncio
from dataclasses import dataclass

from mcp_tef.errors import InputError, ModelError, ModelFault
from mcp_tef.model.runs import FailureInfo, ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.ports import Writer, WritingTask, Written
from mcp_tef.prompts.rewrite_prompt import REWRITE_PROMPT, RewriteError, read_rewrite, rewrite_request
from mcp_tef.scoring.differentiation.descriptions import why_unusable
from mcp_tef.scoring.differentiation.patches import ProposalOutcome
from mcp_tef.scoring.differentiation.tool_pair import PairedTool
from mcp_tef.workflows.evaluate import Sleep, backoff


def check_can_write(settings: ModelSettings) -> None:
    """Raise InputError for the built-in baseline, which chooses tools but writes nothing."""
    if settings.offline:
        raise InputError(
            "The built-in baseline cannot write texts.", hint="Choose a language model, or go on without one."
        )


async def ask(writer: Writer, task: WritingTask, sleep: Sleep = asyncio.sleep) -> Written:
    """Return the model's text after at most `max_retries` further attempts; raises ModelError."""
    for attempt in range(task.settings.max_retries):
        try:
            return await writer.write(task)
        except ModelError as error:
            if not error.retryable:
                raise
            await sleep(backoff(attempt, error.retry_after))
    return await writer.write(task)


_SAME_FOR_ALL = frozenset(
    {ModelFault.KEY_MISSING, ModelFault.KEY_WRONG, ModelFault.FORBIDDEN, ModelFault.QUOTA, ModelFault.NOT_FOUND}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteAttempt:
    """A description that a model wrote, or why there is none; `written` where it answered at all."""

    settled: ProposalOutcome | None = None
    failure: FailureInfo | None = None
    written: Written | None = None


class DescriptionAuthor:
    """One model that writes descriptions. What would fail alike for every pair, such as a wrong key, is asked once."""

    def __init__(self, writer: Writer, model: ModelSettings, key: Secret | None, sleep: Sleep) -> None:
        self._writer = writer
        self._model = model
        self._key = key
        self._sleep = sleep
        self._hopeless: FailureInfo | None = None

    @property
    def label(self) -> str:
        """`provider/model`."""
        return self._model.label

    async def rewrite(self, side: PairedTool, other: PairedTool) -> RewriteAttempt:
        """Return a description of one tool that tells it from the other, or why there is none."""
        if self._hopeless:
            return RewriteAttempt(failure=self._hopeless)
        request = rewrite_request(side.tool, other.tool)
        task = WritingTask(self._model, REWRITE_PROMPT.system, request, self._key)
        try:
            written = await ask(self._writer, task, self._sleep)
        except ModelError as error:
            failure = FailureInfo(error.code, error.message, error.hint)
            self._hopeless = failure if error.fault in _SAME_FOR_ALL else self._hopeless
            return RewriteAttempt(failure=failure)
        return self._read(written, side, other)

    def _read(self, written: Written, side: PairedTool, other: PairedTool) -> RewriteAttempt:
        try:
            rewrite = read_rewrite(written.text)
            reason = why_unusable(rewrite.description, side, other)
        except RewriteError as error:
            reason = str(error)
        if reason is not None:
            return RewriteAttempt(failure=self._unusable(reason, side), written=written)
        return RewriteAttempt(settled=ProposalOutcome(rewrite.description, rewrite.rationale), written=written)

    def _unusable(self, reason: str, side: PairedTool) -> FailureInfo:
        message = f"{self.label} wrote no usable description of {side.name}: it {reason}."
        return FailureInfo("rewrite_unusable", message, "Ask again, choose another model, or use the draft.")
