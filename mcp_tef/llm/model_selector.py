"""Selection of tools by a model: natively, or by structured JSON, or by a built-in baseline."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp_tef.errors import InputError, ModelError, ModelFault
from mcp_tef.llm.catalogue import LitellmCatalogue
from mcp_tef.llm.client import ModelClient, failure
from mcp_tef.llm.provider_errors import key_missing
from mcp_tef.llm.providers import LOCAL, Target, wants_key
from mcp_tef.llm.recent_values import RecentValues
from mcp_tef.llm.redacted_recording import recorded_request, recorded_response, sent_seed, tools_were_dropped
from mcp_tef.llm.usage import Completion, Request
from mcp_tef.model.answers import ActualCall, Answer, CallingMode, ConfidenceSource, with_prompt
from mcp_tef.model.ids import BatchId
from mcp_tef.model.json import JsonObject, canonical
from mcp_tef.model.limits import USUAL, LimitsSource
from mcp_tef.model.runs import Baseline, ModelSettings
from mcp_tef.model.tools import OfferedTool
from mcp_tef.model.variables import size_words
from mcp_tef.ports import BaselineScores, ModelCatalogue, Question, SelectionPrompts, Selector
from mcp_tef.prompts.answer_parsing import ParsedAnswer, read_native, read_structured
from mcp_tef.prompts.selection_prompt import (
    TOOLS_VARIABLE,
    BundledPrompts,
    SelectionPrompt,
    answer_schema,
    offered_names,
    tool_lines,
)
from mcp_tef.provider_http.exchange import Exchange, FailedCall

if TYPE_CHECKING:
    from mcp_tef.llm.retrieval_baseline import MeaningSelector, WordsSelector

MOST_CALL_BYTES = 1024 * 1024
"""So much of the calls of one answer is stored; honest ones are a few KB."""

_NO_VARIABLES: Mapping[str, str] = {}
_SCHEMA_REFUSED = re.compile(r"(?i)response[_ ]?format|json[_ ]?schema|grammar")
_Subject: TypeAlias = tuple[BatchId | None, str, str | None]


class LitellmSelector:
    """A selector for every model but the baseline. It belongs to the loop on which it is first used.

    A model is asked natively unless the catalogue knows that it has no tool calling. If a provider refuses tools, the
    model is asked again by structured JSON, and so for the rest of the batch. If it refuses the schema of that JSON,
    the rest of the batch goes without.
    """

    def __init__(
        self,
        catalogue: ModelCatalogue,
        environment: Mapping[str, str] = _NO_VARIABLES,
        limits: LimitsSource = USUAL,
        prompts: SelectionPrompts | None = None,
        through: Callable[[], str] = lambda: "",
    ) -> None:
        self._catalogue = catalogue
        self._prompts = prompts or BundledPrompts()
        self._caller = ModelClient(environment, limits, through)
        self._functions = RecentValues[Sequence[OfferedTool], list[dict[str, Any]]](_functions)
        self._without_tools: set[_Subject] = set()
        self._without_schema: set[_Subject] = set()

    async def prepare(self, question: Question) -> None:
        """Load what asks the model; ModelError where the model cannot even be asked."""
        await self._caller.prepare(question.settings)

    async def select(self, question: Question) -> Answer:
        """Return one attempt, no retries; raises ModelError."""
        settings = question.settings
        if not question.key and wants_key(settings):
            raise key_missing(settings)
        if await self._mode(question) is CallingMode.JSON:
            return await self._ask_for_json(question)
        try:
            return await self._ask(question, CallingMode.NATIVE)
        except ModelError as error:
            if error.fault is not ModelFault.NO_TOOLS or settings.mode is not CallingMode.AUTO:
                raise
        self._without_tools.add(_subject(question))
        return await self._ask_for_json(question)

    async def close(self) -> None:
        """Give back connections, and forget every key."""
        await self._caller.close()

    async def _mode(self, question: Question) -> CallingMode:
        settings = question.settings
        if settings.mode is not CallingMode.AUTO:
            return settings.mode
        if _subject(question) in self._without_tools:
            return CallingMode.JSON
        info = await self._catalogue.find(settings)
        return CallingMode.JSON if info and info.tool_calling is False else CallingMode.NATIVE

    async def _ask_for_json(self, question: Question) -> Answer:
        """Ask with the schema of the answer if the server may take one, else without."""
        subject = _subject(question)
        if subject in self._without_schema or not await self._may_take_schema(question.settings):
            return await self._ask(question, CallingMode.JSON)
        try:
            return await self._ask(question, CallingMode.JSON, answer_schema(question.tools))
        except ModelError as error:
            if not _may_refuse_schema(error):
                raise
        answer = await self._ask(question, CallingMode.JSON)
        self._without_schema.add(subject)
        return answer

    async def _may_take_schema(self, settings: ModelSettings) -> bool:
        if settings.provider in LOCAL or (await self._caller.aim(settings)).direct:
            return True
        info = await self._catalogue.find(settings)
        return info is not None and info.structured_output is True

    async def _ask(self, question: Question, mode: CallingMode, schema: JsonObject | None = None) -> Answer:
        prompt = self._prompts.prompt_for(mode)
        functions = self._functions.of(question.tools) if mode is CallingMode.NATIVE else ()
        request = _request(question, prompt, functions, await self._caller.aim(question.settings), schema)
        exchange = self._caller.exchange(request)
        outcome = await self._caller.complete(request, exchange)
        if isinstance(outcome, Completion) and mode is CallingMode.NATIVE and tools_were_dropped(exchange):
            outcome = FailedCall(_TOOLS_DROPPED)
        if isinstance(outcome, FailedCall):
            raise await failure(outcome, exchange, request, question.settings)
        label = question.settings.prompt or prompt.label
        return _answer(outcome, exchange, request, question, mode, label)


_TOOLS_DROPPED = "The model does not support tools"


def _may_refuse_schema(error: ModelError) -> bool:
    if error.fault is ModelFault.PROVIDER:
        return bool(_SCHEMA_REFUSED.search(str(error.context["detail"])))
    return error.fault in (ModelFault.REJECTED, ModelFault.NO_TOOLS)


def _subject(question: Question) -> _Subject:
    return question.batch, question.settings.label, question.settings.base_url


def _request(
    question: Question,
    prompt: SelectionPrompt,
    functions: Sequence[Mapping[str, Any]],
    aim: Target,
    schema: JsonObject | None,
) -> Request:
    settings = question.settings
    text, whole = settings.system_prompt, False
    if settings.prompt and text:
        # Prompts of all kinds stand there, of which most runs need none.
        from mcp_tef.prompts.templates import filled, selection_values, variables_in

        whole = TOOLS_VARIABLE in variables_in(text)
        text = filled(text, selection_values(question.tools, date.today()) | dict(settings.variables))
    messages = prompt.messages(question.query, question.tools, text, question.before, whole, question.instructions)
    return Request(
        target=aim,
        messages=[{"role": message.role, "content": message.content} for message in messages],
        tools=functions,
        settings=settings,
        key=question.key,
        origins=aim.origins,
        response_format=schema and {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}},
    )


def _functions(tools: Sequence[OfferedTool]) -> list[dict[str, Any]]:
    return [_function(item) for item in tools]


def _function(item: OfferedTool) -> dict[str, Any]:
    schema = dict(item.tool.input_schema)
    return {
        "type": "function",
        "function": {"name": item.offered_name, "description": item.tool.description, "parameters": schema},
    }


def _answer(
    outcome: Completion, exchange: Exchange, request: Request, question: Question, mode: CallingMode, prompt: str
) -> Answer:
    native = mode is CallingMode.NATIVE
    listed_tools = () if native else (tool_lines(question.tools), offered_names(question.tools))
    reading = _read(outcome, question.tools, native)
    if len(exchange.received) > MOST_CALL_BYTES and _size(reading.calls) > MOST_CALL_BYTES:
        raise _calls_too_large(question.settings)
    return Answer(
        calls=reading.calls,
        words=reading.words,
        confidence=reading.confidence,
        confidence_source=None if reading.confidence is None else ConfidenceSource.SELF_REPORTED,
        mode=mode,
        raw_request=with_prompt(recorded_request(exchange, request, listed_tools), prompt),
        raw_response=recorded_response(exchange, outcome, question.key),
        read_from_text=reading.read_from_text,
        answered_model=outcome.model,
        answered_fingerprint=outcome.fingerprint,
        base_url=request.target.address,
        tokens_in=outcome.tokens_in,
        tokens_out=outcome.tokens_out,
        cost_usd=outcome.cost_usd,
        seed=sent_seed(exchange, request),
        answer_limit=request.settings.max_tokens,
        cut_off=outcome.cut_off,
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
    """The selectors of models and of both baselines (by words, by meaning), each made when it is first needed."""

    def __init__(
        self,
        baselines: "Callable[[], tuple[WordsSelector, MeaningSelector]]",
        catalogue: ModelCatalogue | None = None,
        environment: Mapping[str, str] = _NO_VARIABLES,
        limits: LimitsSource = USUAL,
        through: Callable[[], str] = lambda: "",
    ) -> None:
        self._load_baselines = baselines
        self._catalogue = catalogue or LitellmCatalogue()
        self._environment = environment
        self._limits = limits
        self._through = through

    @cached_property
    def _baselines(self) -> "tuple[WordsSelector, MeaningSelector]":
        return self._load_baselines()

    @cached_property
    def _models(self) -> LitellmSelector:
        return LitellmSelector(self._catalogue, self._environment, self._limits, through=self._through)

    async def resolve(self, settings: ModelSettings) -> ModelSettings:
        """Return the settings with the baseline that `offline/retrieval` stands for on this machine.

        Raises:
            InputError: there is no baseline of that name.
            EmbeddingError: `offline/meaning` is asked for, and no embedding model works on this machine.
        """
        match settings.model if settings.offline else "":
            case "" | Baseline.WORDS:
                return settings
            case Baseline.MEANING:
                await self._baselines[1].ranker()
                return settings
            case Baseline.DEFAULT:
                works = await self._baselines[1].works_here()
                return replace(settings, model=(Baseline.MEANING if works else Baseline.WORDS).value)
        raise InputError(f"There is no baseline {settings.label}.", hint="Use offline/words or offline/meaning.")

    def selector_for(self, settings: ModelSettings) -> Selector:
        """Return the selector for resolved settings."""
        if not settings.offline:
            return self._models
        return self._baselines[settings.model == Baseline.MEANING]

    async def scores(self, queries: Sequence[str], tools: Sequence[OfferedTool]) -> BaselineScores:
        """Return the scores of the default baseline of this machine for many queries; EmbeddingError."""
        words, meaning = self._baselines
        baseline = meaning if await meaning.works_here() else words
        return await baseline.scores(queries, tools)

    async def close(self) -> None:
        """Give back connections, and forget every key."""
        if "_models" in vars(self):
            await self._models.close()
