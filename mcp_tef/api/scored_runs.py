"""Judged lines of `score` as runs, so that metrics, thresholds and reports are those of every batch."""

from collections.abc import Sequence
from dataclasses import replace

from mcp_tef.api.score_lines import ScoredLine
from mcp_tef.model.answers import ActualCall, selected_label
from mcp_tef.model.cases import ExpectedCall
from mcp_tef.model.ids import CaseId, RunId
from mcp_tef.model.metrics import MetricsOverview
from mcp_tef.model.runs import FailureInfo, RunStatus, RunSummary
from mcp_tef.model.tools import Tool, ToolLabel
from mcp_tef.statistics.run_history import history_of
from mcp_tef.workflows.metrics import overview_of

RECORDED = "recorded calls"
BAD_LINE_CODE = "bad_line"


def scored_run(scored: ScoredLine, number: int) -> RunSummary:
    """Return the line of this number, from 1, as a run; lines of one id are runs of one case, a bad line failed."""
    name = scored.result["id"]
    case = f"line {number}" if name is None else str(name)
    run = RunSummary(
        id=RunId(str(number)),
        batch_id=None,
        case_id=CaseId(case),
        case_name=case,
        query=scored.query,
        model=RECORDED,
        repeat=0,
        status=RunStatus.FAILED,
    )
    if scored.verdict is None or scored.expectation is None:
        return replace(run, failure=FailureInfo(BAD_LINE_CODE, str(scored.result["error"])))
    verdict, expected = scored.verdict, _tool(scored.expectation.first_call, scored.tools)
    selected = _tool(scored.calls[0] if scored.calls else None, scored.tools)
    return replace(
        run,
        status=RunStatus.COMPLETED,
        classification=verdict.classification,
        kind=verdict.kind,
        expected=scored.expectation.label,
        selected=selected_label(scored.calls),
        parameters_ok=verdict.parameters_ok,
        completeness=verdict.completeness,
        correctness=verdict.correctness,
        type_conformance=verdict.type_conformance,
        hallucinated=verdict.hallucinated,
        findings=verdict.findings,
        confidence=scored.confidence,
        confidence_category=verdict.confidence_category,
        explanation=verdict.explanation,
        unreadable=verdict.unreadable,
        expected_tool=expected.tool,
        expected_server=expected.server,
        selected_tool=selected.tool,
        selected_server=selected.server,
    )


def _tool(call: ActualCall | ExpectedCall | None, tools: Sequence[Tool]) -> ToolLabel:
    """Return the tool of the first call; a server that was left open is the only one that offers the tool."""
    if call is None:
        return ToolLabel()
    servers = {tool.server for tool in tools if tool.name == call.tool}
    server = servers.pop() if call.server is None and len(servers) == 1 else call.server
    name = call.label if isinstance(call, ActualCall) else call.tool
    return ToolLabel(name, server or None)


def scored_overview(runs: Sequence[RunSummary]) -> MetricsOverview:
    """Return all metrics of runs that no workspace holds."""
    return overview_of(history_of(runs))
