"""Selection of tools by a model: natively, or by structured JSON, or by the built-in baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any

from mcp_tef.errors import ModelError, ModelFault
from mcp_tef.llm.catalogue import LitellmCatalogue
from mcp_tef.llm.client import Completion, ModelClient, Request, failure
from mcp_tef.llm.provider_errors import key_missing
from mcp_tef.llm.providers import Target, wants_key
from mcp_tef.llm.redacted_recording import recorded_request, recorded_response, tools_were_dropped
from mcp_tef.model.answers import ActualCall, Answer, CallingMode, ConfidenceSource, with_prompt
from mcp_tef.model.json import canonical
from mcp_tef.model.limits import USUAL, LimitsSource
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.tools import OfferedTool
from mcp_tef.model.variables import size_words
from mcp_tef.ports import ModelCatalogue, Question, SelectionPrompts, Selector
from mcp_tef.prompts.answer_parsing import ParsedAnswer, read_native, read_structured
from mcp_tef.prompts.selection_prompt import BundledPrompts, SelectionPrompt, tool_lines
from mcp_tef.provider_http.exchange import Exchange, FailedCall

MOST_CALL_BYTES = 1024 * 1024
"""So much of the calls of one answer is stored; honest ones are a few KB."""

_NO_VARIABLES: Mapping[str, str] = {}


class LitellmSelector:
    """A selector for every model but the baseline. It belongs to the loop on which it is first used.

    A model is asked natively unless the catalogue knows that it has no tool calling. Where a provider
    refuses tools, the model is asked again by structured JSON, and so from then on.
    """

    def __init__(
        self,
        catalogue: ModelCatalogue,
        environment: Mapping[str, str] = _NO_VARIABLES,
        limits: LimitsSource = USUAL,
        prompts: SelectionPrompts | None = None,
    ) -> None:
        self._catalogue = catalogue
        self._prompts = prompts or BundledPrompts()
        self._caller = ModelClient(environment, limits)
        self._without_tools: set[tuple[str, str | None]] = set()

    async def prepare(self, question: Question) -> None:
        """Load litellm; ModelError where the model cannot even be asked."""
        await self._caller.prepare(question.settings)

    async def select(self, question: Question) -> Answer:
        """Return one attempt, no retries; raises ModelError."""
        settings = question.settings
        if not question.key and wants_key(settings):
            raise key_missing(settings)
        mode = await self._mode(settings)
        try:
            return await self._ask(question, mode)
        except ModelError as error:
            if error.fault is not ModelFault.NO_TOOLS or settings.mode is not CallingMode.AUTO:
                raise
        self._without_tools.add(_identity(settings))
        return await self._ask(question, CallingMode.JSON)

    async def close(self) -> None:
        """Give back connections, and forget every key."""
        await self._caller.close()

    async def _mode(self, settings: ModelSettings) -> CallingMode:
        if settings.mode is not CallingMode.AUTO:
            return settings.mode
        if _identity(settings) in self._without_tools:
            return CallingMode.JSON
        info = await self._catalogue.find(settings)
        return CallingMode.JSON if info and info.tool_calling is False else CallingMode.NATIVE

    async def _ask(self, question: Question, mode: CallingMode) -> Answer:
        prompt = self._prompts.prompt_for(mode)
        request = _request(question, prompt, mode, await self._caller.aim(question.settings))
        exchange = self._caller.exchange(request)
        outcome = await self._caller.complete(request, exchange)
        if isinstance(outcome, Completion) and mode is CallingMode.NATIVE and tools_were_dropped(exchange):
            outcome = FailedCall(_TOOLS_DROPPED)
        if isinstance(outcome, FailedCall):
            raise await failure(outcome, exchange, request, question.settings)
        answer = _answer(outcome, exchange, request, question, mode)
        return replace(answer, raw_request=with_prompt(answer.raw_request, prompt.label))


_TOOLS_DROPPED = "The model does not support tools"


def _identity(settings: ModelSettings) -> tuple[str, str | None]:
    return settings.label, settings.base_url


def _request(question: Question, prompt: SelectionPrompt, mode: CallingMode, aim: Target) -> Request:
    settings, native = question.settings, mode is CallingMode.NATIVE
    return Request(
        target=aim,
        messages=[asdict(one) for one in prompt.messages(question.query, question.tools, settings.system_prompt)],
        tools=[_function(item) for item in question.tools] if native else (),
        temperature=settings.temperature,
        timeout=settings.timeout,
        key=question.key,
        origins=aim.origins,
    )


def _function(item: OfferedTool) -> dict[str, Any]:
    schema = dict(item.tool.input_schema)
    return {
        "type": "function",
        "function": {"name": item.offered_name, "description": item.tool.description, "parameters": schema},
    }


def _answer(outcome: Completion, exchange: Exchange, request: Request, question: Question, mode: CallingMode) -> Answer:
    native = mode is CallingMode.NATIVE
    reading = _read(outcome, question.tools, native)
    if len(exchange.received) > MOST_CALL_BYTES and _size(reading.calls) > MOST_CALL_BYTES:
        raise _calls_too_large(question.settings)
    return Answer(
        calls=reading.calls,
        words=reading.words,
        confidence=reading.confidence,
        confidence_source=None if reading.confidence is None else ConfidenceSource.SELF_REPORTED,
        mode=mode,
        raw_request=recorded_request(exchange, request, "" if native else tool_lines(question.tools)),
        raw_response=recorded_response(exchange, outcome, question.key),
        tokens_in=outcome.tokens_in,
        tokens_out=outcome.tokens_out,
        cost_usd=outcome.cost_usd,
    )


def _read(outcome: Completion, offered: Sequence[OfferedTool], native: bool) -> ParsedAnswer:
    if native:
        return read_native(outcome.text, outcome.calls, offered)
    return read_structured(outcome.text, offered)


def _size(calls: Sequence[ActualCall] | None) -> int:
    return sum(len(canonical(call.arguments)) for call in calls or ())


def _calls_too_large(settings: ModelSettings) -> ModelError:
    return ModelError(
        ModelFault.ANSWER_TOO_LARGE,
        f"The tool calls of {settings.label} are larger than {size_words(MOST_CALL_BYTES)}, so they were not judged.",
        hint="Ask another model.",
        context={"model": settings.label},
    )


class ModelSelectors:
    """Both selectors, made once and closed together; `baseline` answers for `offline/retrieval`."""

    def __init__(
        self,
        baseline: Selector,
        catalogue: ModelCatalogue | None = None,
        environment: Mapping[str, str] = _NO_VARIABLES,
        limits: LimitsSource = USUAL,
    ) -> None:
        self._baseline = baseline
        self._catalogue = catalogue or LitellmCatalogue()
        self._environment = environment
        self._limits = limits

    @cached_property
    def _models(self) -> LitellmSelector:
        return LitellmSelector(self._catalogue, self._environment, self._limits)

    def selector_for(self, settings: ModelSettings) -> Selector:
        """Return the selector for this model."""
        return self._baseline if settings.offline else self._models

    async def close(self) -> None:
        """Give back connections, and forget every key."""
        await self._baseline.close()
        if "_models" in vars(self):
            await self._models.close()
