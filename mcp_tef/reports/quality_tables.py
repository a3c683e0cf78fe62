"""Quality report as JSON, and as CSV with one finding per line."""

import json
from collections.abc import Iterator

from mcp_tef.api.serializers.tools import quality_to_json
from mcp_tef.model.json import Json
from mcp_tef.model.quality import QualityReport, ToolQuality
from mcp_tef.reports.cells import csv_text

HEADS = ("tool", "server", "score", "tokens", "rule", "severity", "place", "finding", "fix", "excerpt", "penalty")


def quality_text(report: QualityReport) -> str:
    """The same as text."""
    return json.dumps(quality_to_json(report), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def quality_csv(report: QualityReport) -> str:
    """One finding a line, and one line for a tool without any."""
    return csv_text(HEADS, (row for quality in report.tools for row in _rows(quality)))


def _rows(quality: ToolQuality) -> Iterator[list[Json]]:
    tool: list[Json] = [quality.tool.id, quality.tool.tool.server, quality.score, quality.tokens]
    for one in quality.findings:
        yield [*tool, one.rule.id, one.rule.severity.value, one.place, one.sentence, one.fix, one.excerpt, one.penalty]
    if not quality.findings:
        yield [*tool, *[None] * (len(HEADS) - len(tool))]
