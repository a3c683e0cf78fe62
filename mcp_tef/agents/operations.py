"""Tools, resources and the prompt of the MCP server for coding agents, each answer short and marked where untrusted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from mcp_tef import (
    InputError,
    NotFoundError,
    RunFilter,
    RunReports,
    TefError,
    ToolReply,
    answer_pages,
    canonical,
    page_within,
)
from mcp_tef.agents.analyses import add_case, case_row, find_lookalikes, lint_tools, list_cases, recommend
from mcp_tef.agents.evaluations import crowd_test, explain_run, run_cases, try_change
from mcp_tef.agents.paid_work import PaidWork
from mcp_tef.agents.untrusted import begin_answer, quoted, quoted_lines

if TYPE_CHECKING:
    from mcp_tef import CallBudget, CallingAgent, Engine, JsonObject, ModelSettings

    Answer = Mapping[str, Any]

CASES, LAST_BATCH, REPORT = "mcp-tef://cases", "mcp-tef://batches/latest", "mcp-tef://report"
PROMPT = "improve_tool"
_FREE = {
    "lint_tools": lint_tools,
    "find_lookalikes": find_lookalikes,
    "recommend": recommend,
    "list_cases": list_cases,
    "add_case": add_case,
    "explain_run": explain_run,
}
_PAID = {"run_cases": run_cases, "try_change": try_change, "crowd_test": crowd_test}
_ITEMS = {
    "lint_tools": "tools",
    "find_lookalikes": "pairs",
    "recommend": "recommendations",
    "list_cases": "cases",
    "run_cases": "failed_runs",
    "crowd_test": "points",
}
_CONSENT = "Nothing was started. The user allows it in a terminal, for example with: mcp-tef servers check NAME"


def tool_definitions() -> Sequence[JsonObject]:
    """Return the definitions of the tools, as clients list them."""
    found: dict[str, Any] = json.loads(files("resources").joinpath("agents", "tools.json").read_text("utf-8"))
    return tuple(found["tools"])


class WorkspaceOperations:
    """Satisfies `AgentOperations` over one workspace, with the model and the budget that the user set."""

    def __init__(self, engine: Engine, settings: ModelSettings, budget: CallBudget) -> None:
        self._engine = engine
        self._work = PaidWork(engine, settings, budget)
        self.definitions = tool_definitions()

    @property
    def resources(self) -> Sequence[JsonObject]:
        """Descriptions of the resources."""
        return (
            {"uri": CASES, "name": "cases", "description": "Every test case.", "mimeType": "application/json"},
            {
                "uri": LAST_BATCH,
                "name": "last batch",
                "description": "Results of the newest batch.",
                "mimeType": "application/json",
            },
            {
                "uri": REPORT,
                "name": "report",
                "description": "Report of the newest batch as Markdown.",
                "mimeType": "text/markdown",
            },
        )

    @property
    def prompts(self) -> Sequence[JsonObject]:
        """Descriptions of the prompts."""
        tool = {"name": "tool", "description": "Name of the tool, as server/tool", "required": True}
        described = "Steps that find out why models miss a tool, and that prove a better text."
        return ({"name": PROMPT, "title": "Improve this tool", "description": described, "arguments": [tool]},)

    def prompt(self, name: str, arguments: Mapping[str, str]) -> str:
        """Return the text of the prompt."""
        begin_answer()
        if name != PROMPT:
            raise NotFoundError(f"There is no prompt named {quoted(name, 100)}.")
        if not arguments.get("tool"):
            raise InputError("The prompt needs a tool.", hint="Give its name as server/tool.")
        text = files("resources").joinpath("agents", "improve_tool.md").read_text("utf-8")
        return text.replace("{tool}", quoted(arguments["tool"], 200))

    async def read(self, uri: str) -> str:
        """Return the text of a resource; NotFoundError."""
        begin_answer()
        if uri == CASES:
            cases = await self._engine.cases.list()
            rows, _ = page_within(map(case_row, cases), lambda row: len(canonical(row)))
            return canonical({"cases": rows, "total": len(cases)})
        if uri not in (LAST_BATCH, REPORT):
            raise NotFoundError("There is no such resource.", hint=f"Read {CASES}, {LAST_BATCH} or {REPORT}.")
        batch = await self._engine.runs.named("latest")
        if uri == LAST_BATCH:
            return canonical(await self._result("run_cases", {"batch": batch.id}, _NoAgent()))
        report = await RunReports(self._engine).markdown(RunFilter(batch_id=batch.id), "Newest batch")
        return f"{quoted_lines(report)}\n"

    async def call(self, name: str, arguments: JsonObject, agent: CallingAgent) -> ToolReply:
        """Carry out a tool; a failure is a reply with what to do about it."""
        begin_answer()
        try:
            answer = await self._result(name, arguments, agent)
        except TefError as error:
            hint = _CONSENT if getattr(error, "requests", ()) else error.hint
            text = canonical({"error": error.code, "message": quoted(error.message), "hint": quoted(hint)})
            return _reply(text, None, is_error=True)
        return _reply(canonical(answer), answer)

    async def _result(self, name: str, arguments: JsonObject, agent: CallingAgent) -> dict[str, Any]:
        if name in _FREE:
            found: Any = await _FREE[name](self._engine, arguments)
        else:
            found = await _PAID[name](self._work, arguments, agent)
        if not isinstance(found, tuple):
            return dict(found)
        answer, items = found
        pages = answer_pages(items)
        number = arguments.get("page", 1)
        if number > len(pages):
            raise InputError(f"There is no page {number}; the last one is {len(pages)}.", hint="Ask for that one.")
        paging = {"page": number, "pages": len(pages), "total": len(items)}
        return {**answer, _ITEMS[name]: pages[number - 1], **paging}


class _NoAgent:
    """Satisfies `CallingAgent` where nobody is there."""

    async def progress(self, done: int, total: int, message: str) -> None:
        """Ignore it."""

    async def confirm(self, question: str) -> bool | None:  # noqa: ARG002
        """Ask nobody."""
        return None


def _reply(text: str, structured: JsonObject | None, *, is_error: bool = False) -> ToolReply:
    content = ({"type": "text", "text": text},)
    return ToolReply(content=content, structured=structured, is_error=is_error, execution_time_ms=0)
