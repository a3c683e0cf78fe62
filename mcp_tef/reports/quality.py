"""Quality of tools as JSON, CSV and HTML."""

import json
from collections.abc import Iterator, Sequence

from mcp_tef.api.serializers.tools import quality_to_json
from mcp_tef.formats.csv_tables import csv_text
from mcp_tef.model.json import Json
from mcp_tef.model.quality import LintFinding, ModelReview, QualityReport, Severity, Suppression, ToolQuality
from mcp_tef.reports.charts import shown
from mcp_tef.reports.page import cell, counted, page, paragraphs, section, table, unread

HEADS = ("tool", "server", "score", "tokens", "rule", "severity", "place", "finding", "fix", "excerpt", "penalty")


def quality_text(report: QualityReport) -> str:
    """Return the report as a JSON document."""
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


MOST_TOOLS = 500
MARKS = {Severity.ERROR: ("bad", "✗ error"), Severity.WARNING: ("warn", "! warning"), Severity.NOTE: ("dim", "· note")}


def quality_html(report: QualityReport) -> str:
    """Render the whole page."""
    reviewed = [quality for quality in report.tools if _has_more(quality)]
    sections = [
        section("Tools, from worst to best", _scores(report)),
        section("What was found", _cut(len(reviewed)) + "".join(map(_findings, reviewed[:MOST_TOOLS]))),
        section("What the tools cost every request", _weights(report)),
        unread((one.server, f"{one.reason} {one.hint}".strip()) for one in report.unreachable),
        section("Not read to the end", _not_read(report)),
    ]
    return page("How well are the tools described?", _lead(report), sections)


def _lead(report: QualityReport) -> str:
    clean = sum(not quality.findings for quality in report.tools)
    first, *others = (counted(_count(report, severity), severity) for severity in Severity)
    return (
        f'<p class="lead"><strong>{first}</strong> and {", ".join(others)} in {counted(len(report.tools), "tool")}; '
        f"{counted(clean, 'tool')} without any finding.</p>"
        + paragraphs(
            "A score is 100 less the points of the findings. Errors break things, warnings cost selections, "
            "notes are polish."
        )
    )


def _count(report: QualityReport, severity: Severity) -> int:
    return sum(finding.rule.severity is severity for quality in report.tools for finding in quality.findings)


def _cut(count: int) -> str:
    return paragraphs(f"The worst {MOST_TOOLS} of {count:,} tools; the JSON file holds all.") * (count > MOST_TOOLS)


def _scores(report: QualityReport) -> str:
    rows = [(one.tool.id, str(one.score), f"{one.tokens:,}", _rules(one)) for one in report.tools]
    return table(("Tool", "Score", "Tokens", "Findings"), rows, (1, 2))


def _rules(quality: ToolQuality) -> str:
    return ", ".join(dict.fromkeys(finding.rule.id for finding in quality.findings)) or "–"


def _findings(quality: ToolQuality) -> str:
    """One tool with its words, as a kind reviewer would go through them."""
    description = quality.tool.tool.description
    parts = [
        f'<h3 class="low"><code>{cell(quality.tool.id)}</code> <span class="nowrap">{quality.score} of 100</span></h3>',
        f'<pre class="said">{shown(description)}</pre>' if description else "",
        _list(quality.findings),
        paragraphs(*(f"Ignored: {one.rule.id}, {one.place}. {_why(entry)}" for one, entry in quality.ignored)),
        _review(quality.review) if quality.review else "",
        paragraphs(f"{quality.failure.message} {quality.failure.hint}".strip()) if quality.failure else "",
    ]
    return "".join(parts)


def _has_more(quality: ToolQuality) -> bool:
    return bool(quality.findings or quality.ignored or quality.review or quality.failure)


def _why(entry: Suppression) -> str:
    return f"{entry.reason} ({entry.date})" if entry.date else entry.reason


def _list(findings: Sequence[LintFinding]) -> str:
    return f"<ul>{''.join(map(_finding, findings))}</ul>" if findings else ""


def _finding(finding: LintFinding) -> str:
    colour, word = MARKS[finding.rule.severity]
    excerpt = f"<pre>{shown(finding.excerpt)}</pre>" if finding.excerpt else ""
    source = shown(f"{finding.rule.id}, {finding.place}, {counted(finding.penalty, 'point')}")
    return (
        f'<li><span class="{colour}">{word}</span> {shown(finding.sentence)} {shown(finding.fix)} '
        f'<span class="dim">{source}</span>{excerpt}</li>'
    )


def _review(review: ModelReview) -> str:
    grades = {"Clarity": review.clarity, "Completeness": review.completeness, "Conciseness": review.conciseness}
    rows = [(name, f"{grade.score} of 10", grade.explanation) for name, grade in grades.items()]
    suggested = f"<p>It would write:</p><pre>{shown(review.suggested)}</pre>" if review.suggested else ""
    return table((review.model, "", ""), rows, (1,)) + suggested


def _weights(report: QualityReport) -> str:
    rows = [(one.server, f"{one.tools:,}", f"{one.tokens:,}") for one in report.servers]
    return paragraphs(f"Counted by {report.tokenizer}.") * bool(rows) + table(
        ("Server", "Tools", "Tokens"), rows, (1, 2)
    )


def _not_read(report: QualityReport) -> str:
    return table(("Server", "Why"), [(server, problem.reason) for server, problem in report.problems])
