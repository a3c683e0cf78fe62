"""Quality report as JSON, and as CSV with one finding per line."""

import json
from collections.abc import Iterator
from dataclasses import asdict

from mcp_tef.model.json import Json
from mcp_tef.model.quality import GradedQuality, LintFinding, ModelReview, QualityReport, ToolQuality
from mcp_tef.reports.cells import csv_text
from mcp_tef.reports.similarity_advice import failure_to_json

HEADS = ("tool", "server", "score", "tokens", "rule", "severity", "place", "finding", "fix", "excerpt", "penalty")


def quality_to_json(report: QualityReport) -> dict[str, Json]:
    """Tools from worst to best with their findings, what they weigh, and what was not read."""
    return {
        "tools": [_tool(tool) for tool in report.tools],
        "servers": [asdict(server) for server in report.servers],
        "tokenizer": report.tokenizer,
        "unreachable": [{"server": one.server, "reason": one.reason} for one in report.unreachable],
        "problems": [
            {"server": server, "tool": problem.tool, "reason": problem.reason} for server, problem in report.problems
        ],
    }


def quality_text(report: QualityReport) -> str:
    """The same as text."""
    return json.dumps(quality_to_json(report), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _tool(quality: ToolQuality) -> dict[str, Json]:
    return {
        "id": quality.tool.id,
        "server": quality.tool.tool.server,
        "name": quality.tool.tool.name,
        "score": quality.score,
        "tokens": quality.tokens,
        "findings": [_finding(finding) for finding in quality.findings],
        "review": _review(quality.review) if quality.review else None,
        "failure": failure_to_json(quality.failure),
    }


def _finding(finding: LintFinding) -> dict[str, Json]:
    return {
        "rule": finding.rule.id,
        "severity": finding.rule.severity.value,
        "place": finding.place,
        "sentence": finding.sentence,
        "why": finding.rule.why,
        "fix": finding.fix,
        "excerpt": finding.excerpt,
        "penalty": finding.penalty,
    }


def _review(review: ModelReview) -> dict[str, Json]:
    return {
        "model": review.model,
        "clarity": _graded(review.clarity),
        "completeness": _graded(review.completeness),
        "conciseness": _graded(review.conciseness),
        "suggested": review.suggested,
        "tokens": review.tokens,
        "cost_usd": review.cost_usd,
    }


def _graded(graded: GradedQuality) -> dict[str, Json]:
    return {"score": graded.score, "explanation": graded.explanation}


def quality_csv(report: QualityReport) -> str:
    """One finding a line, and one line for a tool without any."""
    return csv_text(HEADS, (row for quality in report.tools for row in _rows(quality)))


def _rows(quality: ToolQuality) -> Iterator[list[Json]]:
    tool: list[Json] = [quality.tool.id, quality.tool.tool.server, quality.score, quality.tokens]
    for one in quality.findings:
        yield [*tool, one.rule.id, one.rule.severity.value, one.place, one.sentence, one.fix, one.excerpt, one.penalty]
    if not quality.findings:
        yield [*tool, *[None] * (len(HEADS) - len(tool))]
