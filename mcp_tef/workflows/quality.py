"""Quality of tool definitions: lint findings, token counts, and a model's review on request."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from mcp_tef.errors import ModelError, ModelFault
from mcp_tef.model.quality import LintRule, ModelReview, QualityReport, ServerTokenCount, ToolQuality
from mcp_tef.model.runs import Estimate, FailureInfo, ModelInfo, ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import ComparedTool, ToolSet
from mcp_tef.ports import TokenCounter, Writer, WritingTask, Written
from mcp_tef.prompts.review_prompt import REVIEW_PROMPT, ReviewError, read_review, review_request
from mcp_tef.scoring.lint.definition_size import definition_text
from mcp_tef.scoring.lint.lint_context import ListedNames
from mcp_tef.scoring.lint.linter import RULES, lint, score
from mcp_tef.workflows.model_writing import ask, check_can_write
from mcp_tef.workflows.models import Models

AT_ONCE = 4
ANSWER_TOKENS = 350
_SAME_FOR_ALL = frozenset(
    {ModelFault.KEY_MISSING, ModelFault.KEY_WRONG, ModelFault.FORBIDDEN, ModelFault.QUOTA, ModelFault.NOT_FOUND}
)
_NO_KEYS: Mapping[str, Secret] = {}

Heard: TypeAlias = Callable[[ToolQuality], None]


class Quality:
    """Judges the definitions of a set of tools. Nothing of this is stored."""

    def __init__(self, writer: Writer, counter: TokenCounter, models: Models) -> None:
        self._writer = writer
        self._counter = counter
        self._models = models

    def rules(self) -> tuple[LintRule, ...]:
        """Return every lint rule."""
        return RULES

    async def review(
        self,
        tool_set: ToolSet,
        *,
        model: ModelSettings | None = None,
        keys: Mapping[str, Secret] = _NO_KEYS,
        heard: Heard | None = None,
    ) -> QualityReport:
        """Return tools from worst to best by lint, with the review of a model beside it where one is given.

        `heard` is called with each tool as it is done. A review that failed, or that cannot be read, is the tool's
        `failure`. Raises InputError for the built-in baseline and ModelError where a key is missing, before any call.
        """
        reviewer = self._reviewer(model, keys) if model else None
        report = await asyncio.to_thread(judged, tool_set, self._counter)
        tools = await _told(report.tools, reviewer, heard or _nobody)
        return replace(report, tools=tools)

    async def estimate(self, tool_set: ToolSet, model: ModelSettings) -> Estimate:
        """Estimate reviews of all tools: one request per tool; the cost is None if the price is unknown."""
        tokens_in = await asyncio.to_thread(self._tokens_asked, tool_set.tools)
        tokens_out = ANSWER_TOKENS * len(tool_set.tools)
        info = await self._models.info(model)
        cost = _cost(info, tokens_in, tokens_out)
        return Estimate(runs=len(tool_set.tools), tokens=tokens_in + tokens_out, cost_usd=cost, seconds=None)

    def _tokens_asked(self, tools: Sequence[ComparedTool]) -> int:
        requests = (review_request(definition_text(one.tool)) for one in tools)
        return sum(self._counter.count([f"{REVIEW_PROMPT.system}\n{request}" for request in requests]))

    def _reviewer(self, model: ModelSettings, keys: Mapping[str, Secret]) -> "_Reviewer":
        check_can_write(model)
        key = self._models.keys_for([model], keys).get(model.destination)
        return _Reviewer(self._writer, model, key)


def _cost(info: ModelInfo | None, tokens_in: int, tokens_out: int) -> float | None:
    if info is None or info.input_price is None or info.output_price is None:
        return None
    return tokens_in * info.input_price + tokens_out * info.output_price


def judged(tool_set: ToolSet, counter: TokenCounter) -> QualityReport:
    """Return lint, score and weight of every tool, worst first, ties by name; pure work, for a worker thread."""
    catalogue = ListedNames(one.tool for one in tool_set.tools)
    tokens = counter.count([definition_text(one.tool) for one in tool_set.tools])
    qualities = [_quality(one, count, catalogue) for one, count in zip(tool_set.tools, tokens, strict=True)]
    return QualityReport(
        tools=tuple(sorted(qualities, key=lambda one: (one.score, one.tool.tool.name, one.tool.id))),
        servers=weights(qualities),
        tokenizer=counter.name,
        unreachable=tool_set.unreachable,
        problems=tool_set.problems,
    )


def _quality(compared: ComparedTool, tokens: int, catalogue: ListedNames) -> ToolQuality:
    findings = lint(compared.tool, tokens, catalogue)
    return ToolQuality(tool=compared, score=score(findings), findings=findings, tokens=tokens)


def weights(qualities: Sequence[ToolQuality]) -> tuple[ServerTokenCount, ...]:
    """Return the total token count of each server's tools, largest first."""
    counts: dict[str, list[int]] = {}
    for one in qualities:
        counts.setdefault(one.tool.tool.server, []).append(one.tokens)
    rows = (ServerTokenCount(server, len(tokens), sum(tokens)) for server, tokens in counts.items())
    return tuple(sorted(rows, key=lambda row: (-row.tokens, row.server)))


async def _told(
    qualities: Sequence[ToolQuality], reviewer: "_Reviewer | None", heard: Heard
) -> tuple[ToolQuality, ...]:
    """Return the same tools in the same order, reviewed `AT_ONCE` at a time, each told as it is done."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def tell(quality: ToolQuality) -> ToolQuality:
        async with slots:
            done = await reviewer.review(quality) if reviewer else quality
        heard(done)
        return done

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(tell(quality)) for quality in qualities]
    return tuple(task.result() for task in tasks)


def _nobody(_quality: ToolQuality) -> None:
    """Ignore the progress."""


class _Reviewer:
    """Asks one model about tools. What would fail alike for every tool, such as a wrong key, is asked only once."""

    def __init__(self, writer: Writer, model: ModelSettings, key: Secret | None) -> None:
        self._writer = writer
        self._model = model
        self._key = key
        self._hopeless: FailureInfo | None = None

    async def review(self, quality: ToolQuality) -> ToolQuality:
        """Return the tool with the model's review, or with why there is none."""
        if self._hopeless:
            return replace(quality, failure=self._hopeless)
        task = WritingTask(
            self._model, REVIEW_PROMPT.system, review_request(definition_text(quality.tool.tool)), self._key
        )
        try:
            written = await ask(self._writer, task)
            return replace(quality, review=self._read(written))
        except ModelError as error:
            failure = FailureInfo(error.code, error.message, error.hint)
            self._hopeless = failure if error.fault in _SAME_FOR_ALL else self._hopeless
            return replace(quality, failure=failure)
        except ReviewError as error:
            hint = "Review the tool again, or choose another model."
            return replace(quality, failure=FailureInfo("review_unreadable", str(error), hint))

    def _read(self, written: Written) -> ModelReview:
        grades = read_review(written.text)
        counts = [count for count in (written.tokens_in, written.tokens_out) if count is not None]
        return ModelReview(
            model=self._model.label,
            clarity=grades.clarity,
            completeness=grades.completeness,
            conciseness=grades.conciseness,
            suggested=grades.suggested,
            tokens=sum(counts) if counts else None,
            cost_usd=written.cost_usd,
        )
