"""Results and analyses for reports, with texts that try to break out, and a strict reader of HTML."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

import numpy as np

from mcp_tef.model.ids import BatchId, CaseId, RunId
from mcp_tef.model.metrics import (
    CalibrationBin,
    CalibrationReport,
    ConfusionMatrix,
    Metrics,
    MetricsOverview,
    Rate,
    RepeatStatistics,
    SourceCalibration,
)
from mcp_tef.model.quality import (
    GradedQuality,
    LintFinding,
    LintRule,
    ModelReview,
    QualityReport,
    ServerTokenCount,
    Severity,
    ToolQuality,
)
from mcp_tef.model.runs import FailureInfo, RunStatus, RunSummary
from mcp_tef.model.similarity import (
    CaseEffect,
    ComparedTool,
    DifferentiationIssue,
    IssueType,
    PairAdvice,
    Priority,
    Recommendation,
    ToolSet,
    UnreachableSource,
)
from mcp_tef.model.tools import LabelKind, Tool, ToolLabel, ToolProblem
from mcp_tef.model.verdicts import Classification, VerdictKind
from mcp_tef.reports.results import Results
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.signals import Matrix, Meaning, Square

EVIL = '<script>alert(1)</script> "&\x00\x1b[31m\ud800 ]]>'
NOW = datetime(2026, 11, 21, 14, 2, tzinfo=UTC)
SOME = Rate(0.5, 0.2, 0.8, 4)
NONE = Rate(None, None, None, 0)


def run(number: int, **changes: Any) -> RunSummary:
    """A run that passed, or as changed."""
    made = RunSummary(
        id=RunId(f"run-{number}"),
        batch_id=BatchId("batch"),
        case_id=CaseId(f"case-{number}"),
        case_name=f"case {number}",
        query=f"question {number}",
        model="openai/gpt-4.1-mini",
        repeat=0,
        status=RunStatus.COMPLETED,
        classification=Classification.TP,
        kind=VerdictKind.MATCH,
        expected="find",
        selected="find",
        parameters_ok=True,
        confidence=0.9,
        explanation="Selected `find`, as expected.",
        execution_time_ms=1500,
        created_at=NOW,
    )
    return replace(made, **changes)


def every_outcome() -> tuple[RunSummary, ...]:
    """A pass, a miss with hostile words, wrong parameters, a failed run and one that was not run."""
    wrong = {"classification": Classification.FN, "kind": VerdictKind.WRONG_TOOL, "selected": EVIL}
    failure = FailureInfo("server_silent", f"The server did not answer. {EVIL}", "Check it.")
    nothing = {"classification": None, "kind": None, "selected": None, "parameters_ok": None, "explanation": None}
    return (
        run(1),
        run(2, **wrong, case_name=EVIL, query=EVIL, explanation=f"Selected {EVIL}."),
        run(3, parameters_ok=False, explanation="The right tool with a wrong value."),
        run(4, status=RunStatus.FAILED, failure=failure, **nothing),
        run(5, status=RunStatus.CANCELLED, model="offline/retrieval", **nothing),
    )


def metrics(**changes: Any) -> Metrics:
    """Figures of which some are not defined."""
    rates = ("correct_call", "correct_tool", "precision", "recall", "accuracy", "type_conformance", "completeness")
    counts = ("n", "cases", "repeats", "priced", "unreadable", "not_offered", "cut_off", "tp", "fp", "tn", "fn")
    more = ("failed", "confidence_high", "confidence_low", "confidence_none")
    open_ones = ("cost_usd", "cost_p50_usd", "cost_p95_usd", "tokens", "latency_p99_ms")
    values: dict[str, Any] = dict.fromkeys(rates, SOME) | dict.fromkeys((*counts, *more), 1)
    values |= dict.fromkeys(open_ones) | {"hallucination": NONE, "f1": None, "parameter_accuracy": SOME}
    values |= {"robust": 1, "needs_clarity": 0, "misleading": 1, "recall_at": {}}
    values |= {"latency_p50_ms": 20.0, "latency_p95_ms": 40.0}
    return Metrics(**(values | {"n": SOME.n} | changes))


def matrix(tools: int = 2) -> ConfusionMatrix:
    """A confusion matrix with a hostile name in it."""
    names = [EVIL, *(f"tool_{number}" for number in range(1, tools))]
    rows = (*(ToolLabel(tool=name, kind=LabelKind.TOOL) for name in names), ToolLabel(kind=LabelKind.NO_TOOL))
    columns = (*rows, ToolLabel(kind=LabelKind.INVENTED))
    cells = {(0, 0): 1, (0, 1): 3, (1, 1): 2}
    totals = (4, 2, *([0] * (tools - 1)))
    return ConfusionMatrix(
        rows=rows,
        columns=columns,
        cells=cells,
        tools=(),
        row_totals=totals,
        column_totals=(1, 5, *([0] * tools)),
    )


def results(*runs: RunSummary, tools: int = 2, name: str = EVIL) -> Results:
    """A whole batch."""
    bins = (
        CalibrationBin(low=0.9, high=1.0, n=4, mean=0.93, right=SOME),
        CalibrationBin(low=0.0, high=0.1, n=0, mean=None, right=NONE),
    )
    overall = SourceCalibration(source=None, n=4, without=0, bins=bins, mean_gap=0.1, brier=0.2)
    overview = MetricsOverview(
        metrics=metrics(),
        confusions=matrix(tools),
        calibration=CalibrationReport(overall=overall, by_source=()),
        repeats=RepeatStatistics(groups=0, runs=0, pass_rate=NONE, pass_power=(), always=0, never=0, mixed=0, flaky=()),
        trend=(),
        models=(),
    )
    return Results(name, runs or every_outcome(), overview, BatchId("batch"))


def tool(name: str, description: str = "", *, server: str = "shop", schema: Any = None) -> Tool:
    """A tool of a server."""
    schema = schema or {"type": "object", "properties": {}}
    raw = {"name": name, "description": description, "inputSchema": schema}
    return Tool(server=server, name=name, description=description, input_schema=schema, raw=raw)


def compared(*tools: Tool) -> tuple[ComparedTool, ...]:
    """The tools under their ids."""
    return tuple(ComparedTool(f"{one.server}/{one.name}", one) for one in tools)


def some_tools() -> tuple[ComparedTool, ...]:
    """Two that look alike, one that does not, one of a stranger."""
    find, look, pay = (
        tool("find_file", "Find a file by its name."),
        tool("look_up_file", "Look up a file by its name."),
        tool("pay", "Pay an invoice."),
    )
    return compared(find, look, pay, tool(EVIL, f"Do {EVIL}", server="evil"))


SCORES = ((1.0, 0.91236, 0.1, 0.2), (0.91236, 1.0, 0.1, 0.3), (0.1, 0.1, 1.0, 0.12344), (0.2, 0.3, 0.12344, 1.0))


def similarity(tools: Sequence[ComparedTool] | None = None, scores: Any = SCORES, *, full: bool = False) -> Similarity:
    """An analysis with given cosines; the full ones are the same."""
    tool_set = ToolSet(
        tools=some_tools() if tools is None else tuple(tools),
        unreachable=(UnreachableSource("gone", f"It did not answer. {EVIL}", "Start it."),),
        problems=(("shop", ToolProblem(EVIL, "It has no inputSchema.")),),
    )
    square = np.array(scores, dtype=np.float32)
    meaning = Meaning(
        embedder="made", described=Square(square), full=Square(square) if full else None, notice="A made notice."
    )
    return Similarity(tool_set, meaning)


def many(count: int, *, full: bool = False) -> Similarity:
    """An analysis of so many tools."""
    scores: Matrix = np.random.default_rng(1).uniform(0, 0.8, (count, count)).astype(np.float32)
    scores = np.maximum(scores, scores.T)
    np.fill_diagonal(scores, 1)
    tools = compared(*(tool(f"tool_{number}", f"Does thing {number}.") for number in range(count)))
    return similarity(tools, scores, full=full)


def advice(*, failure: FailureInfo | None = None) -> PairAdvice:
    """Advice on a pair whose names are hostile."""
    issue = DifferentiationIssue(
        type=IssueType.TERMINOLOGY_OVERLAP,
        priority=Priority.HIGH,
        sentence="Both speak of files.",
        evidence=("file", "name"),
    )
    made = Recommendation(
        issue=IssueType.TERMINOLOGY_OVERLAP,
        tool_id=f"evil/../{EVIL}",
        tool_name=EVIL,
        server="evil/..",
        action="Say what only this tool does.",
        rationale="A model picks by what differs.",
        priority=Priority.HIGH,
        author="draft",
        before="Find a file.",
        revised='Find "one"\nfile – by name.',
        patch=({"op": "replace", "path": "/tools/0/description", "value": 'Find "one"\nfile – by name.'},),
        override={"toolsOverride": {EVIL: {"description": "x"}}},
        cases=CaseEffect(9, 5, 7),
    )
    return PairAdvice(
        a="shop/find_file",
        b="evil/x",
        similarity=0.912345,
        issues=(issue,),
        recommendations=(made,),
        failure=failure,
        tokens=120,
        cost_usd=0.001,
    )


def rule(identifier: str, severity: Severity) -> LintRule:
    """A rule by its id."""
    return LintRule(id=identifier, severity=severity, title=identifier, why="A model reads it.")


def finding(identifier: str = "description-missing", severity: Severity = Severity.ERROR) -> LintFinding:
    """What a rule found."""
    return LintFinding(
        rule=rule(identifier, severity),
        place="description",
        sentence=f"It has no description. {EVIL}",
        fix="Write one.",
        excerpt=EVIL,
        penalty=40,
    )


def quality() -> QualityReport:
    """The worst with a finding and a review, one that could not be reviewed, and one without any fault."""
    worst, failed, good, _ = (*some_tools()[3:], *some_tools()[:3])
    review = ModelReview(
        model="openai/judge",
        clarity=GradedQuality(2, f"Unclear. {EVIL}"),
        completeness=GradedQuality(3, "Parts are missing."),
        conciseness=GradedQuality(9, "Short."),
        suggested=f"Do it well. {EVIL}",
        tokens=99,
    )
    failure = FailureInfo("model_timeout", "The model did not answer.", "Try again.")
    warned = finding("vague-words", Severity.WARNING)
    return QualityReport(
        tools=(
            ToolQuality(tool=worst, score=45, findings=(finding(),), tokens=30, review=review),
            ToolQuality(tool=failed, score=90, findings=(warned,), tokens=12, failure=failure),
            ToolQuality(tool=good, score=100, findings=(), tokens=10),
        ),
        servers=(ServerTokenCount("shop", 2, 22), ServerTokenCount("evil", 1, 30)),
        tokenizer="made",
        unreachable=(UnreachableSource("gone", f"It did not answer. {EVIL}", "Start it."),),
        problems=(("shop", ToolProblem(None, "The listing was cut short because its pages repeat.")),),
    )


VOID = {"meta", "img", "wbr"}


class Reader(HTMLParser):
    """Notes elements, attributes and text, and that everything that opens closes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: Counter[str] = Counter()
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.attributes += attrs
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)
