"""Batches, runs and details made up for tests of whatever shows them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from mcp_tef import (
    ActualCall,
    Answer,
    Batch,
    BatchId,
    BatchStatus,
    CaseDraft,
    CaseId,
    Classification,
    ConfidenceCategory,
    ConfidenceSource,
    Expectation,
    ExpectedCall,
    FailureInfo,
    ModelSettings,
    OfferedTool,
    RankedTool,
    RunDetail,
    RunId,
    RunStatus,
    RunSummary,
    Snapshot,
    SnapshotId,
    TestCase,
    Tool,
    VerdictKind,
)
from mcp_tef.scoring.judge import judge

NOW = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)
GPT = "openai/gpt-4.1-mini"

SEARCH_CODE = "Search source code by text or pattern and return matching lines with their file and line number."
SEARCH_FILES = "Search files in the workspace by text or pattern and return matching paths, best match first."


def batch(number: int = 1, **changes: Any) -> Batch:
    """A batch of 200 runs under way, started at 14:02, each further one an hour earlier."""
    made = Batch(
        id=BatchId(f"batch-{number}"),
        name="Everyday",
        status=BatchStatus.RUNNING,
        models=(GPT,),
        total=200,
        counts={"TP": 96, "TN": 16, "FN": 20, "FP": 7, "failed": 3, "pending": 58},
        created_at=NOW - timedelta(hours=number - 1, minutes=3),
    )
    return replace(made, **changes)


def run(number: int = 1, **changes: Any) -> RunSummary:
    """A run that picked the right tool."""
    made = RunSummary(
        id=RunId(f"run-{number}"),
        batch_id=BatchId("batch-1"),
        case_id=CaseId(f"case-{number}"),
        case_name=f"case {number}",
        query=f"Find uses of parse_config, {number}",
        model=GPT,
        repeat=0,
        status=RunStatus.COMPLETED,
        classification=Classification.TP,
        kind=VerdictKind.MATCH,
        expected="docs / search_code",
        selected="docs / search_code",
        selected_tool="search_code",
        selected_server="docs",
        parameters_ok=True,
        confidence=0.93,
        confidence_source=ConfidenceSource.SELF_REPORTED.value,
        confidence_category=ConfidenceCategory.ROBUST,
        execution_time_ms=1240,
        created_at=NOW,
        completed_at=NOW,
    )
    return replace(made, **changes)


def waiting_run(number: int = 1, **changes: Any) -> RunSummary:
    """The same run before it was asked."""
    nothing: Mapping[str, Any] = dict.fromkeys(
        (
            "classification",
            "kind",
            "selected",
            "selected_tool",
            "selected_server",
            "parameters_ok",
            "confidence",
            "confidence_source",
            "confidence_category",
            "execution_time_ms",
            "completed_at",
        )
    )
    return replace(run(number), **{"status": RunStatus.PENDING, **nothing, **changes})


def wrong_run(number: int = 1, **changes: Any) -> RunSummary:
    """A run that was sure of the wrong tool."""
    return run(
        number,
        **{
            "query": "Where are retry headers parsed?",
            "classification": Classification.FN,
            "kind": VerdictKind.WRONG_TOOL,
            "selected": "docs / search_files",
            "selected_tool": "search_files",
            "parameters_ok": None,
            "confidence": 0.91,
            "confidence_category": ConfidenceCategory.MISLEADING,
            **changes,
        },
    )


def failed_run(number: int = 1, **changes: Any) -> RunSummary:
    """A run whose model did not answer in time."""
    failure = FailureInfo("model_timeout", "The model gave no answer within 30 s.", "Raise the timeout, or try again.")
    return waiting_run(number, **{"status": RunStatus.FAILED, "failure": failure, **changes})


def tool(name: str, description: str, *parameters: str, server: str = "docs") -> OfferedTool:
    """A tool as it was offered under its own name."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in parameters},
        "required": list(parameters[:1]),
    }
    raw = {"name": name, "description": description, "inputSchema": schema}
    return OfferedTool(name, Tool(server=server, name=name, description=description, input_schema=schema, raw=raw))


TOOLS = (
    tool("search_code", SEARCH_CODE, "query", "path", "language", "limit", "regex"),
    tool("search_files", SEARCH_FILES, "query", "path", "limit", "kind"),
    tool("read_file", "Read a file.", "path"),
)


def detail(
    summary: RunSummary | None = None,
    *,
    expected: Sequence[ExpectedCall] = (ExpectedCall(tool="search_code", server="docs"),),
    calls: Sequence[ActualCall] | None = (ActualCall(tool="search_code", server="docs"),),
    **changes: Any,
) -> RunDetail:
    """Everything of a run; the verdict is the real judge's."""
    row = summary or run()
    expectation = Expectation((tuple(expected),))
    judged = judge(expectation, [offered.tool for offered in TOOLS], calls, row.confidence)
    answer = Answer(
        calls=None if calls is None else tuple(calls),
        words="A code search should show it.",
        confidence=row.confidence,
        confidence_source=ConfidenceSource.SELF_REPORTED,
        raw_request={"model": "gpt-4.1-mini", "messages": [{"role": "user", "content": row.query}]},
        raw_response={"choices": []},
        tokens_in=812,
        tokens_out=41,
    )
    made = RunDetail(
        summary=row,
        settings=ModelSettings(provider="openai", model="gpt-4.1-mini"),
        expectation=expectation,
        snapshot=Snapshot(SnapshotId("snapshot-1"), TOOLS),
        answer=answer if row.status is RunStatus.COMPLETED else None,
        verdict=judged if row.status is RunStatus.COMPLETED else None,
    )
    return replace(made, **changes)


def wrong_detail() -> RunDetail:
    """The run of the first picture: search_files where search_code was expected."""
    return detail(
        wrong_run(),
        expected=(
            ExpectedCall(
                tool="search_code",
                server="docs",
                parameters={"query": "retry header", "path": "src/", "language": "python"},
            ),
        ),
        calls=(
            ActualCall(
                tool="search_files",
                server="docs",
                arguments={"query": "retry-after", "path": "src/", "limit": 20},
            ),
        ),
    )


def judged_detail() -> RunDetail:
    """The run of the second picture: the right tool, with some of its parameters wrong."""
    expected = ExpectedCall(
        tool="search_code",
        server="docs",
        parameters={
            "query": "parse_config",
            "path": "backend",
            "language": {"$any_of": ["py", "python"]},
            "limit": {"$approx": 50, "$tolerance": 10},
        },
    )
    call = ActualCall(
        tool="search_code",
        server="docs",
        arguments={"query": "parse_config", "path": "./backend", "language": "Python", "recursive": True},
    )
    return detail(run(parameters_ok=False), expected=(expected,), calls=(call,))


def baseline_detail() -> RunDetail:
    """A run of the offline baseline, with its ranking."""
    row = run(model=ModelSettings().label, confidence_source=ConfidenceSource.MARGIN.value, expected_rank=2)
    made = detail(row, settings=ModelSettings())
    ranking = (RankedTool("search_files", 0.61), RankedTool("search_code", 0.58), RankedTool("read_file", 0.2))
    return replace(made, answer=replace(made.answer, ranking=ranking) if made.answer else None)


def case(number: int = 1, **changes: Any) -> TestCase:
    """A stored case of the suite Everyday."""
    draft = CaseDraft(name=f"case {number}", query=f"Query {number}", suites=("Everyday",), tags=("smoke",))
    return TestCase(id=CaseId(f"case-{number}"), draft=replace(draft, **changes), created_at=NOW, updated_at=NOW)
