"""Analyses of tools as reports take them, with words in them that try to break out."""

from collections.abc import Sequence
from typing import Any

import numpy as np

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
from mcp_tef.model.runs import FailureInfo
from mcp_tef.model.similarity import (
    ComparedTool,
    DifferentiationIssue,
    IssueType,
    PairAdvice,
    Priority,
    Recommendation,
    ToolSet,
    UnreachableSource,
)
from mcp_tef.model.tools import Tool, ToolProblem
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.signals import Matrix, Meaning, Square
from tests.support.made_results import EVIL


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
        action="Say what only this tool does.",
        rationale="A model picks by what differs.",
        priority=Priority.HIGH,
        author="draft",
        before="Find a file.",
        revised='Find "one"\nfile – by name.',
        patch=({"op": "replace", "path": "/tools/0/description", "value": 'Find "one"\nfile – by name.'},),
        override={"toolsOverride": {EVIL: {"description": "x"}}},
        similarity_after=0.70001,
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
        problems=(("shop", ToolProblem(None, "It has no name.")),),
    )
