"""Quality of tool definitions: lint findings, token counts, and a model's review on request."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import count
from pathlib import Path
from typing import TypeAlias

from mcp_tef.errors import InputError, ModelError
from mcp_tef.formats.suppressions import read_suppressions, write_suppressions
from mcp_tef.model.clients import ClientProfile
from mcp_tef.model.definitions import BUILT_IN
from mcp_tef.model.model_catalogue import ModelInfo
from mcp_tef.model.quality import (
    DefinitionRepair,
    LintRule,
    ModelReview,
    QualityReport,
    ServerTokenCount,
    Suppression,
    ToolQuality,
)
from mcp_tef.model.runs import Estimate, FailureInfo, ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import ComparedTool, ToolSet
from mcp_tef.model.tools import Tool, ToolProblem
from mcp_tef.ports import TokenCounter, Writer, Written
from mcp_tef.prompts.templates import BUILT_IN_TEMPLATES, review_text
from mcp_tef.prompts.writing_prompts import REVIEW_PROMPT, ReviewError, read_review
from mcp_tef.scoring.lint.definition_size import definition_text, set_notes
from mcp_tef.scoring.lint.lint_context import ListedNames
from mcp_tef.scoring.lint.linter import RULES, lint, score
from mcp_tef.scoring.repairs.definition_edits import tool_of
from mcp_tef.workflows.model_writing import CappedWriter, capped_writer, is_same_for_all
from mcp_tef.workflows.models import Models

AT_ONCE = 4
ANSWER_TOKENS = 350
_NO_KEYS: Mapping[str, Secret] = {}

Heard: TypeAlias = Callable[[ToolQuality], None]


class Quality:
    """Judges the definitions of a set of tools. Only accepted findings are kept, in a file beside the workspace."""

    def __init__(
        self,
        writer: Writer,
        counter: TokenCounter,
        models: Models,
        ignored_file: Path | None = None,
        clients: Callable[[], Sequence[ClientProfile]] = tuple,
    ) -> None:
        self._writer = writer
        self._counter = counter
        self._models = models
        self.ignored_file = ignored_file
        self._clients = clients

    def rules(self) -> tuple[LintRule, ...]:
        """Return every lint rule."""
        return RULES

    def ignored(self) -> tuple[Suppression, ...]:
        """Return the findings that were accepted in this workspace; InputError where their file is damaged."""
        file = self.ignored_file
        return read_suppressions(file) if file and file.exists() else ()

    def ignore(self, tool: ToolQuality, rule: str, reason: str, file: Path | None = None) -> Suppression:
        """Accept the findings of a rule in a tool as it is now, in the file of the workspace or in another one."""
        path = file or self.ignored_file
        if not reason.strip() or path is None:
            raise InputError("An ignored finding needs a reason.", hint="Say why it is accepted.")
        today, why = date.today().isoformat(), reason.strip()
        entry = Suppression(rule=rule, tool=tool.tool.id, reason=why, date=today, definition=tool.definition)
        kept = read_suppressions(path) if path.exists() else ()
        same = (entry.tool, entry.rule)
        write_suppressions(path, [*(one for one in kept if (one.tool, one.rule) != same), entry])
        return entry

    def restore(self, tool_id: str, rule: str) -> None:
        """Report the findings of a rule in a tool again."""
        kept = [one for one in self.ignored() if (one.tool, one.rule) != (tool_id, rule)]
        if self.ignored_file:
            write_suppressions(self.ignored_file, kept)

    async def review(
        self,
        tool_set: ToolSet,
        *,
        model: ModelSettings | None = None,
        keys: Mapping[str, Secret] = _NO_KEYS,
        max_cost_usd: float | None = None,
        heard: Heard | None = None,
        ignored: Sequence[Suppression] = (),
    ) -> QualityReport:
        """Return tools from worst to best by lint, with the review of a model beside it where one is given.

        Findings that are `ignored` here or in the workspace count for nothing.
        `heard` is called with each tool as it is done. A review that failed, that cannot be read, or that the cost cap
        has no room for is the tool's `failure`. Raises InputError for the built-in baseline and a cap that allows no
        review, and ModelError where a key is missing, before any call.
        """
        writer = await capped_writer(self._writer, self._models, model, keys, max_cost_usd) if model else None
        if writer:
            writer.require_one((_prompt(writer.model, one) for one, _ in judged_tools(tool_set)), "review")
        reviewer = _Reviewer(writer) if writer else None
        accepted = (*ignored, *self.ignored())
        found = await asyncio.to_thread(judged, tool_set, self._counter, self._clients())
        report = without_ignored(found, accepted)
        tools = await _told(report.tools, reviewer, heard or _nobody)
        return replace(report, tools=tools)

    async def estimate(self, tool_set: ToolSet, model: ModelSettings) -> Estimate:
        """Estimate reviews of all tools: one request per tool; the cost is None if the price is unknown."""
        tools = [one for one, _ in judged_tools(tool_set)]
        tokens_in = await asyncio.to_thread(lambda: sum(self._counter.count([_prompt(model, one) for one in tools])))
        tokens_out = ANSWER_TOKENS * len(tools)
        info = await self._models.info(model)
        cost = _cost(info, tokens_in, tokens_out)
        return Estimate(runs=len(tools), tokens=tokens_in + tokens_out, cost_usd=cost, seconds=None)

    def repaired(
        self, tool: Tool, rule: str, beside: Sequence[Tool] = (), why_rejected: str = ""
    ) -> DefinitionRepair | None:
        """Return the repair of a rule's findings in a tool, `beside` those of its set; None where none is derivable.

        Pure work, for a worker thread.
        """
        from mcp_tef.scoring.repairs.definition_repair import repaired  # rarely needed, and long to load

        names = ListedNames(beside, self._clients())
        return repaired(tool, rule, names, why_rejected=why_rejected, tokens=self._tokens)

    def breaks(self, tool: Tool, rule: str, beside: Sequence[Tool] = (), why_rejected: str = "") -> bool:
        """Return True if a rule finds something in a tool, `beside` those of its set."""
        found = lint(tool, self._tokens(tool), ListedNames(beside, self._clients()), why_rejected)
        return any(finding.rule.id == rule for finding in found)

    def _tokens(self, tool: Tool) -> int:
        return self._counter.count([definition_text(tool)])[0]

    async def token_counts(self, tools: Sequence[Tool]) -> tuple[int, ...]:
        """Return the tokens that each definition takes in a request, as reports of quality count them."""
        return await asyncio.to_thread(lambda: self._counter.count([definition_text(tool) for tool in tools]))


def _prompt(model: ModelSettings, one: ComparedTool) -> str:
    return f"{REVIEW_PROMPT.system}\n{review_text(model, definition_text(one.tool))}"


def _cost(info: ModelInfo | None, tokens_in: int, tokens_out: int) -> float | None:
    if info is None or info.input_price is None or info.output_price is None:
        return None
    return tokens_in * info.input_price + tokens_out * info.output_price


def judged(tool_set: ToolSet, counter: TokenCounter, clients: Sequence[ClientProfile] = ()) -> QualityReport:
    """Return lint, score and weight of every tool, worst first, ties by name; pure work, for a worker thread.

    Definitions that were set aside are judged as well. They weigh nothing, since no model is offered them.
    """
    tools = judged_tools(tool_set)
    catalogue = ListedNames((one.tool for one, _ in tools), clients)
    counts = counter.count([definition_text(one.tool) for one in tool_set.tools])
    tokens = [*counts, *[0] * (len(tools) - len(counts))]
    qualities = [_quality(one, weight, catalogue, why) for (one, why), weight in zip(tools, tokens, strict=True)]
    return QualityReport(
        tools=_worst_first(qualities),
        servers=weights(qualities),
        tokenizer=counter.name,
        unreachable=tool_set.unreachable,
        problems=tuple((server, problem) for server, problem in tool_set.problems if problem.place is None),
        notes=set_notes([one.tool for one in tool_set.tools], tool_set.instructions, clients),
    )


def _worst_first(tools: Iterable[ToolQuality]) -> tuple[ToolQuality, ...]:
    return tuple(sorted(tools, key=lambda one: (one.score, one.tool.tool.name, one.tool.id)))


def without_ignored(report: QualityReport, entries: Sequence[Suppression]) -> QualityReport:
    """Return the report with accepted findings set apart, and with the entries that are void by now."""
    if not entries:
        return report
    bound = {one.tool.id: one.definition for one in report.tools}
    void = tuple(one for one in entries if one.definition and one.definition != bound.get(one.tool, one.definition))
    return replace(report, tools=_worst_first(_without(one, entries) for one in report.tools), void=void)


def _without(tool: ToolQuality, entries: Sequence[Suppression]) -> ToolQuality:
    about = [one for one in entries if tool.suppressed_by(one)]
    covers = [
        (finding, next((e for e in about if e.rule == finding.rule.id and e.place in ("", finding.place)), None))
        for finding in tool.findings
    ]
    kept = tuple(finding for finding, entry in covers if entry is None)
    ignored = tuple((finding, entry) for finding, entry in covers if entry)
    return replace(tool, findings=kept, ignored=ignored, score=score(kept)) if ignored else tool


def judged_tools(tool_set: ToolSet) -> list[tuple[ComparedTool, str]]:
    """Return the tools, each with "", then the definitions that were set aside, each with the reason."""
    tools = [(one, "") for one in tool_set.tools]
    taken = {one.id for one in tool_set.tools}
    for server, problem in tool_set.problems:
        if problem.place is not None:
            tool = _broken_tool(server, problem, problem.place)
            name = f"{server}/{tool.name}"
            numbered = (f"{name}#{number}" for number in count(2))
            name = name if name not in taken else next(one for one in numbered if one not in taken)
            taken.add(name)
            tools.append((ComparedTool(name, tool), problem.reason))
    return tools


def _broken_tool(server: str, problem: ToolProblem, place: int) -> Tool:
    """Return a definition that was set aside as a tool: its parts may be of any type, or missing."""
    tool = tool_of(server, problem.raw or {}, place)
    return replace(tool, name=problem.tool or f"definition {place + 1}")


def _quality(compared: ComparedTool, tokens: int, catalogue: ListedNames, why_rejected: str) -> ToolQuality:
    findings = lint(compared.tool, tokens, catalogue, why_rejected)
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

    def __init__(self, writer: CappedWriter) -> None:
        self._writer = writer
        self._hopeless: FailureInfo | None = None

    async def review(self, quality: ToolQuality) -> ToolQuality:
        """Return the tool with the model's review, or with why there is none."""
        if self._hopeless:
            return replace(quality, failure=self._hopeless)
        request = review_text(self._writer.model, definition_text(quality.tool.tool))
        try:
            written = await self._writer.write(REVIEW_PROMPT.system, request)
            return replace(quality, review=self._read(written))
        except (InputError, ModelError) as error:
            failure = FailureInfo(error.code, error.message, error.hint)
            self._hopeless = failure if is_same_for_all(error) else self._hopeless
            return replace(quality, failure=failure)
        except ReviewError as error:
            hint = "Review the tool again, or select another model."
            return replace(quality, failure=FailureInfo("review_unreadable", str(error), hint))

    def _read(self, written: Written) -> ModelReview:
        grades = read_review(written.text)
        counts = [count for count in (written.tokens_in, written.tokens_out) if count is not None]
        return ModelReview(
            model=self._writer.model.label,
            prompt=self._writer.model.prompt or BUILT_IN_TEMPLATES[f"{BUILT_IN}-review"].label,
            clarity=grades.clarity,
            completeness=grades.completeness,
            conciseness=grades.conciseness,
            suggested=grades.suggested,
            tokens=sum(counts) if counts else None,
            cost_usd=written.cost_usd,
        )
