"""Analyses of tools as files: reports on quality, similarity and overlap, and patches of recommendations."""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from mcp_tef.api.serializers.tools import quality_to_json
from mcp_tef.errors import InputError
from mcp_tef.formats.cases.texts import write_text
from mcp_tef.formats.csv_tables import csv_text
from mcp_tef.model.json import Json
from mcp_tef.model.quality import LintFinding, ModelReview, QualityReport, Severity, Suppression, ToolQuality
from mcp_tef.model.similarity import FlagRule, PairAdvice
from mcp_tef.reports.charts import shown
from mcp_tef.reports.markdown import pair_markdown, quality_markdown, similarity_markdown, write_markdown
from mcp_tef.reports.page import cell, counted, page, paragraphs, section, table, unread
from mcp_tef.reports.sarif import quality_sarif
from mcp_tef.reports.similarity_html import SimilarityResults, overlap_html, similarity_html
from mcp_tef.reports.similarity_tables import (
    matrix_file,
    overlap_csv,
    overlap_json,
    save_matrices,
    similarity_csv,
    similarity_json,
)
from mcp_tef.scoring.differentiation.patches import joint_changes
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.overlap import Overlap
from mcp_tef.trust.files import make_folder, write_failed
from mcp_tef.trust.outputs import document_text

HEADS = ("tool", "server", "score", "tokens", "rule", "severity", "place", "finding", "fix", "excerpt", "penalty")


def quality_text(report: QualityReport) -> str:
    """Return the report as a JSON document."""
    return document_text(quality_to_json(report))


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


_UNSAFE = re.compile(r"[^a-z0-9]+")
_NAME_LENGTH = 40


def advice_files(pairs: Sequence[PairAdvice]) -> dict[str, str]:
    """Return the text of every file by its name: a patch and an override for each recommendation, and for each server.

    Those of a server, `all-…`, hold all its changes together. Names hold only a–z, 0–9 and hyphens, whatever the tools
    are called.
    """
    every = {one.tool_id: one for advice in reversed(pairs) for one in reversed(advice.recommendations)}
    files: dict[str, str] = {}
    for number, one in enumerate(reversed(every.values()), 1):
        files |= _files(f"{number:03}-{_slug(one.tool_id)}-{_slug(one.issue.value)}", one.patch, one.override)
    for number, (server, both) in enumerate(joint_changes(pairs).items(), 1):
        stem = f"all-{_slug(server)}"
        files |= _files(f"{stem}-{number}" if f"{stem}.patch.json" in files else stem, *both)
    return files


def _files(stem: str, patch: Sequence[Mapping[str, Json]], override: Mapping[str, Json]) -> dict[str, str]:
    held = {"patch": [dict(operation) for operation in patch], "override": dict(override)}
    return {f"{stem}.{kind}.json": _text(value) for kind, value in held.items()}


def write_advice_files(pairs: Sequence[PairAdvice], folder: Path) -> tuple[Path, ...]:
    """Write the files of `advice_files` into a folder, made if need be. OSError for it, InputError for a file."""
    make_folder(folder)
    paths = []
    for name, text in advice_files(pairs).items():
        paths.append(folder / name)
        write_text(paths[-1], text)
    return tuple(paths)


def _slug(text: str) -> str:
    return _UNSAFE.sub("-", text.lower()).strip("-")[:_NAME_LENGTH] or "tool"


def _text(value: Json) -> str:
    return document_text(value)


class AnalysisReports:
    """Files for readers (.html), for spreadsheets (.csv), and for programs (.json, or without an ending).

    InputError where a file cannot be written; what was there under the name is kept then.
    """

    async def write_similarity(self, results: SimilarityResults, path: Path, *, full: bool = True) -> None:
        """Write a similarity report; above 2,000 tools the matrices go to an .npz file beside the JSON."""
        similarity, rule = results.similarity, results.rule
        forms = {".csv": lambda: similarity_csv(similarity, rule), ".html": lambda: similarity_html(results)}
        await _write(path, forms, lambda: _similarity_json(similarity, rule, path, full))

    async def similarity_page(self, results: SimilarityResults) -> str:
        """Return the similarity report as an HTML page."""
        return await asyncio.to_thread(similarity_html, results)

    async def similarity_markdown(self, results: SimilarityResults) -> str:
        """Return the pairs to work on as Markdown."""
        return await asyncio.to_thread(similarity_markdown, results)

    async def pair_markdown(self, similarity: Similarity, a: int, b: int) -> str:
        """Two tools that look alike, to be pasted."""
        return await asyncio.to_thread(pair_markdown, similarity, a, b)

    async def quality_markdown(self, tools: Sequence[ToolQuality]) -> str:
        """Return the findings of tools as Markdown."""
        return await asyncio.to_thread(quality_markdown, tools)

    async def quality_page(self, report: QualityReport) -> str:
        """Return the quality report as an HTML page."""
        return await asyncio.to_thread(quality_html, report)

    async def write_overlap(self, similarity: Similarity, overlap: Overlap, path: Path, *, limit: int) -> None:
        """Write an overlap report by dimension; the `limit` pairs that overlap most are explained."""
        forms = {
            ".csv": lambda: overlap_csv(similarity, overlap, limit),
            ".html": lambda: overlap_html(similarity, overlap, limit),
        }
        await _write(path, forms, lambda: overlap_json(similarity, overlap, limit))

    async def overlap_page(self, similarity: Similarity, overlap: Overlap, *, limit: int) -> str:
        """Return the overlap report as an HTML page."""
        return await asyncio.to_thread(overlap_html, similarity, overlap, limit)

    async def write_quality_summary(self, report: QualityReport, path: Path) -> None:
        """Write the findings as Markdown; the summary of a GitHub job is appended to."""
        await asyncio.to_thread(lambda: write_markdown(path, quality_markdown(report.tools)))

    async def write_quality_sarif(self, report: QualityReport, path: Path, tools_files: Sequence[Path] = ()) -> None:
        """Write the findings as SARIF; those of tools in one of the files are shown there."""
        await asyncio.to_thread(lambda: write_text(path, quality_sarif(report, tools_files)))

    async def write_quality(self, report: QualityReport, path: Path) -> None:
        """Write a quality report."""
        forms = {".csv": lambda: quality_csv(report), ".html": lambda: quality_html(report)}
        await _write(path, forms, lambda: quality_text(report))

    async def write_advice(self, pairs: Sequence[PairAdvice], folder: Path) -> tuple[Path, ...]:
        """Write the patches and overrides of recommendations into a folder; return the files."""
        try:
            return await asyncio.to_thread(write_advice_files, pairs, folder)
        except OSError as error:
            raise write_failed(folder, error) from error


def _similarity_json(similarity: Similarity, rule: FlagRule, path: Path, full: bool) -> str:
    matrices = matrix_file(similarity, path)
    if matrices:
        try:
            save_matrices(similarity, matrices, full=full)
        except OSError as error:
            raise write_failed(matrices, error) from error
    return similarity_json(similarity, rule, full=full, matrices_in=matrices)


async def _write(path: Path, forms: Mapping[str, Callable[[], str]], as_json: Callable[[], str]) -> None:
    """Write the form that the ending of a file names, by default JSON; InputError for an ending that names none."""
    require_ending(path)
    text = forms.get(path.suffix.lower(), as_json)
    await asyncio.to_thread(lambda: write_text(path, text()))


def require_ending(path: Path) -> None:
    """Raise InputError for a file whose ending does not name the form of an analysis."""
    if path.suffix.lower() not in ("", ".json", ".csv", ".html"):
        hint = "Name it .json, .csv or .html."
        raise InputError(f"{path} cannot be written: its ending names no known form.", hint=hint, code="bad_usage")
