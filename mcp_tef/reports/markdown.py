"""Results as Markdown, to paste into an issue, a chat or a merge request. Words of strangers stay words."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from mcp_tef.api.serializers.runs import NO_TOOL_TEXT
from mcp_tef.formats.cases.texts import write_text
from mcp_tef.model.comparison import PairChange
from mcp_tef.model.metrics import Rate
from mcp_tef.model.quality import ToolQuality
from mcp_tef.model.runs import RunDetail, RunStatus, RunSummary
from mcp_tef.reports.charts import dollars, rate_words, visible
from mcp_tef.reports.comparison import CHANGES, ComparedBatches, batch_name, choice, difference_words, share_rows
from mcp_tef.reports.page import counted
from mcp_tef.reports.results import Results, reason
from mcp_tef.reports.similarity_html import STANDINGS, SimilarityResults, observed_words
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.trust.files import append_text, write_failed

MOST_ROWS: Final = 50
MOST_TOOLS: Final = 30
_LONGEST: Final = 2000
_SPECIAL: Final = re.compile(
    r"(?P<counted>^\d+(?=[.)]))|[\\`*_{}\[\]<>#|~&$@]|:(?=//)|(?<=www)\.|^[-+=]|^:(?=:)", re.IGNORECASE
)
_CHANGED: Final = (PairChange.REGRESSED, PairChange.FIXED)


def plain(text: str) -> str:
    """Text of a stranger on one line, so that nothing in it is read as Markdown, a link or a mention."""
    line = " ".join(visible(text).split())
    short = line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
    return _SPECIAL.sub(_harmless, short)


def _harmless(found: re.Match[str]) -> str:
    """Return a sign with a backslash before it; after a number at the start of a line, the dot gets one."""
    return f"{found[0]}\\" if found["counted"] else f"\\{found[0]}"


def results_markdown(results: Results) -> str:
    """Return the metrics and the runs that did not pass as Markdown."""
    metrics = results.overview.metrics
    figures = [("Correct call", metrics.correct_call), ("Correct tool", metrics.correct_tool)]
    figures += [("Recall", metrics.recall), ("Precision", metrics.precision)]
    wrong = [run for run in results.runs if not run.passes]
    return _joined(
        f"## {plain(results.title)}",
        "\n".join(f"- {plain(line)}" for line in results.condition_lines),
        "\n\n".join(map(plain, results.sentences)),
        results.unfinished_sentence,
        _rates(figures),
        f"Cost: {dollars(metrics.cost_usd, metrics.priced, metrics.unpriced)}" if metrics.cost_usd else "",
        _table(("Threshold", "Kept"), [(plain(one.name), plain(one.shortfall) or "yes") for one in results.checks]),
        _table(("Case", "Query", "Expected", "Selected", "Why"), map(_wrong, wrong[:MOST_ROWS])),
        _rest(len(wrong), "run"),
    )


def comparison_markdown(compared: ComparedBatches) -> str:
    """Return the changes between two batches and both claims as Markdown."""
    found = compared.comparison
    rows = [
        (name, rate_words(share.before), rate_words(share.after), difference_words(share.difference))
        for name, share in share_rows(found)
    ]
    counts = ", ".join(f"{number:,} {CHANGES[change].lower()}" for change, number in found.counts.items() if number)
    changed = [one for one in compared.told() if one.pair.change in _CHANGED]
    pairs = [
        (
            CHANGES[one.pair.change],
            plain(run.query),
            plain(choice(one.before, one.pair.before)),
            plain(choice(one.after, one.pair.after)),
        )
        for one in changed[:MOST_ROWS]
        if (run := one.after or one.before)
    ]
    return _joined(
        f"## {plain(batch_name(found.before))} against {plain(batch_name(found.after))}",
        f"**{found.on_these_cases.sentence}**",
        found.for_queries_like_these.sentence,
        f"{counts}." if counts else "",
        *map(plain, found.notes),
        _table(("Figure", "Before", "After", "Difference in points"), rows),
        _table(("Change", "Query", "Before", "After"), pairs),
        _rest(len(changed), "case"),
    )


def run_markdown(run: RunDetail) -> str:
    """One run: what was asked, what was expected, what was picked, and why it was judged so."""
    summary = run.summary
    matches = run.verdict.matches if run.verdict else ()
    found = [(plain(one.parameter), plain(one.sentence)) for match in matches for one in match.findings]
    words = run.answer.words if run.answer else None
    return _joined(
        f"## {plain(summary.case_name)}",
        f"> {plain(summary.query)}",
        plain(_why(replace(summary, findings=()))),
        _table(
            ("", ""),
            [
                ("Expected", plain(summary.expected or NO_TOOL_TEXT)),
                ("Selected", plain(summary.selected or NO_TOOL_TEXT)),
                ("Model", plain(summary.model)),
                ("Confidence", "–" if summary.confidence is None else f"{summary.confidence:.2f}"),
            ],
        ),
        _table(("Parameter", "Finding"), found),
        f"The model said: {plain(words)}" if words else "",
    )


def similarity_markdown(results: SimilarityResults) -> str:
    """Return the flagged pairs of tools as Markdown, with how often each was confused."""
    similarity, count = results.similarity, results.similarity.count_flagged(results.rule)
    tools = similarity.tools
    rows = [
        (
            plain(tools[item.pair.a].id),
            plain(tools[item.pair.b].id),
            STANDINGS[item.standing],
            observed_words(item.observation),
            f"{item.pair.similarity:.2f}",
            item.pair.level.value,
        )
        for item in results.work[:MOST_ROWS]
    ]
    return _joined(
        "## Which tools look alike?",
        f"{count:,} of {counted(similarity.pair_count, 'pair')} {'is' if count == 1 else 'are'} flagged: "
        f"{results.rule.text}. {counted(len(similarity), 'tool')}, compared by "
        f"{plain(similarity.embedder)}.",
        _table(("Tool", "Other tool", "Standing", "Confused", "Similarity", "Confusable"), rows),
        _rest(len(results.work), "pair"),
    )


def pair_markdown(similarity: Similarity, a: int, b: int) -> str:
    """Two tools that look alike: their words, their scores, and why."""
    why, tools = similarity.explain(a, b), [similarity.tools[place] for place in (a, b)]
    return _joined(
        f"## {' and '.join(plain(one.id) for one in tools)}",
        plain(why.summary),
        *(f"**{plain(one.id)}**: {plain(one.tool.description) or '–'}" for one in tools),
        _table(("Score", "", "Why"), [(one.title, one.shown, plain(one.sentence)) for one in why.scores]),
    )


def quality_markdown(tools: Sequence[ToolQuality]) -> str:
    """Return the findings of tools as Markdown; the callers sort them, worst first."""
    told = [one for one in tools if one.findings]
    return _joined("## Tool quality", *map(_tool, told[:MOST_TOOLS]), _rest(len(told), "tool", MOST_TOOLS))


def _tool(quality: ToolQuality) -> str:
    lines = [
        f"- **{one.rule.severity.value}** ({one.rule.id}, {plain(one.place)}): {plain(one.sentence)} {plain(one.fix)}"
        for one in quality.findings
    ]
    return _joined(f"### {plain(quality.tool.id)}, {quality.score} of 100", "\n".join(lines))


def _wrong(run: RunSummary) -> tuple[str, ...]:
    expected, selected = plain(run.expected or NO_TOOL_TEXT), plain(run.selected or "–")
    return plain(run.case_name), plain(run.query), expected, selected, plain(_why(run))


def _why(run: RunSummary) -> str:
    if run.status in (RunStatus.CANCELLED, RunStatus.PENDING):
        return "Not finished."
    return reason(run).replace("`", "")


def _rates(rates: Sequence[tuple[str, Rate]]) -> str:
    return _table(("Figure", "95 % interval"), [(name, rate_words(rate)) for name, rate in rates])


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Render a table of cells that are escaped already; nothing where there is no row."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    head = [f"| {' | '.join(heads)} |", f"| {' | '.join('---' for _ in heads)} |"]
    return "\n".join([*head, *lines]) if lines else ""


def write_markdown(path: Path, text: str) -> None:
    """Write a Markdown file; the summary of a GitHub job is appended to, since other steps write there as well."""
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if not summary or path.resolve() != Path(summary).resolve():
        return write_text(path, text)
    try:
        append_text(path, f"{text.rstrip()}\n\n")
    except OSError as error:
        raise write_failed(path, error) from error


def _rest(count: int, thing: str, most: int = MOST_ROWS) -> str:
    return f"… and {count - most:,} more {thing}s." if count > most else ""


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)
