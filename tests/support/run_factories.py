"""Batches, runs and run details for tests, and histories of them for a workspace in memory."""

from collections.abc import Iterator, Mapping, Sequence
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
from tests.support.fake_engine import FakeEngine

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
        tally={"correct_call": 91, "wrong_arguments": 21, "wrong": 27, "unreadable": 4, "failed": 3},
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


Confusions = Mapping[str | None, Mapping[str | None, int]]
SMALL: Confusions = {
    "search_code": {"search_code": 12, "search_files": 7, None: 1},
    "search_files": {"search_code": 1, "search_files": 14},
    "read_file": {"read_file": 5, None: 1},
    None: {"search_files": 2, None: 9},
}


def past_batch(number: int, name: str = "Everyday", **changes: object) -> Batch:
    """A finished batch; higher numbers are older by a day."""
    started = NOW - timedelta(days=number)
    made = batch(number, name=name, status=BatchStatus.COMPLETED, created_at=started, completed_at=started, total=100)
    return replace(made, **changes)  # type: ignore[arg-type]  # the fields are the caller's to name rightly


def past_runs(
    of: Batch, confusions: Confusions = SMALL, *, model: str = GPT, repeats: int = 1, first: int = 0
) -> list[RunSummary]:
    """One run for each count: what was expected, what was picked; equal places are equal cases."""
    made = list(_runs(of, confusions, model))
    return [
        replace(one, id=RunId(f"{of.id}-{model}-{first + place}"), case_id=CaseId(f"case-{(first + place) // repeats}"),
                case_name=f"case {(first + place) // repeats}", repeat=place % repeats)
        for place, one in enumerate(made)
    ]  # fmt: skip


def _runs(of: Batch, confusions: Confusions, model: str) -> Iterator[RunSummary]:
    for expected, row in confusions.items():
        for selected, number in row.items():
            for count in range(number):
                yield _run(of, expected, selected, model, count)


def _run(of: Batch, expected: str | None, selected: str | None, model: str, count: int) -> RunSummary:
    classification, kind = outcome(expected, selected)
    right = classification in (Classification.TP, Classification.TN)
    confidence = (0.55 + 0.04 * (count % 11)) if right else (0.35 + 0.06 * (count % 9))
    return run(
        model=model,
        batch_id=of.id,
        query=f"Question {count} about {expected or 'nothing'}",
        expected=f"docs / {expected}" if expected else "no tool",
        expected_tool=expected,
        expected_server="docs" if expected else None,
        selected=f"docs / {selected}" if selected else "no tool",
        selected_tool=selected,
        selected_server="docs" if selected else None,
        classification=classification,
        kind=kind,
        parameters_ok=count % 6 != 5 if classification is Classification.TP else None,
        correctness=0.5 if count % 6 == 5 else 1.0,
        completeness=1.0,
        type_conformance=count % 17 != 16 if classification is Classification.TP else None,
        hallucinated=("limit",) if count % 23 == 22 else (),
        confidence=min(0.97, confidence),
        confidence_category=_category(right, confidence),
        execution_time_ms=700 + 90 * (count % 13),
        tokens=850,
        cost_usd=0.0009,
        created_at=of.created_at,
        completed_at=of.created_at,
    )


def _category(right: bool, confidence: float) -> ConfidenceCategory | None:
    if right:
        return ConfidenceCategory.ROBUST if confidence >= 0.7 else ConfidenceCategory.NEEDS_CLARITY
    return ConfidenceCategory.MISLEADING if confidence >= 0.7 else None


def outcome(expected: str | None, selected: str | None) -> tuple[Classification, VerdictKind]:
    """How such a run is judged."""
    if expected is None:
        if selected is None:
            return Classification.TN, VerdictKind.NO_CALL_EXPECTED
        return Classification.FP, VerdictKind.UNEXPECTED_CALL
    if selected == expected:
        return Classification.TP, VerdictKind.MATCH
    return Classification.FN, VerdictKind.NO_TOOL if selected is None else VerdictKind.WRONG_TOOL


def remember(fake: FakeEngine, *past: tuple[Batch, Sequence[RunSummary]]) -> None:
    """Put batches with their runs into the workspace, newest first."""
    for of, runs in reversed(past):
        fake.store.runs.put(of, runs)


def ids(*numbers: int) -> tuple[BatchId, ...]:
    """The ids of past batches."""
    return tuple(BatchId(f"batch-{number}") for number in numbers)
