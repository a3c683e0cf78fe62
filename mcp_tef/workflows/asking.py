"""Has a model write a text, trying again where that may help."""

import asyncio

from mcp_tef.errors import InputError, ModelError
from mcp_tef.model.runs import ModelSettings
from mcp_tef.ports import Writer, WritingTask, Written
from mcp_tef.workflows.evaluate import Sleep, backoff


def check_can_write(settings: ModelSettings) -> None:
    """InputError for the built-in baseline, which chooses tools but writes nothing."""
    if settings.offline:
        raise InputError(
            "The built-in baseline cannot write texts.", hint="Choose a language model, or go on without one."
        )


async def ask(writer: Writer, task: WritingTask, sleep: Sleep = asyncio.sleep) -> Written:
    """What the model writes, after at most `max_retries` further attempts; raises ModelError."""
    for attempt in range(task.settings.max_retries):
        try:
            return await writer.write(task)
        except ModelError as error:
            if not error.retryable:
                raise
            await sleep(backoff(attempt, error.retry_after))
    return await writer.write(task)
