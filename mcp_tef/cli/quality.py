"""`quality`: how well tools are described, by rules, and by a model where one is asked."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import (
    InputError,
    ModelReview,
    PromptKind,
    QualityReport,
    Severity,
    Suppression,
    ToolQuality,
    ToolSet,
    did_you_mean,
    read_baseline,
    read_suppressions,
)
from mcp_tef.cli.arguments import FAILED, UNREACHED, Verbs, add_list_option, add_verb
from mcp_tef.cli.formatting import counted
from mcp_tef.cli.model_options import (
    add_key_option,
    add_prompt_options,
    add_writer_options,
    allow_typed_addresses,
    asked_with_prompt,
    read_keys,
    tell_estimate,
    writer,
)
from mcp_tef.cli.output_files import analysis_file, output_name, plain_file_name, writable
from mcp_tef.cli.session import opened, with_consent
from mcp_tef.cli.terminal import Terminal, one_line, table
from mcp_tef.cli.tool_options import add_source_options, code_of, gather

if TYPE_CHECKING:
    from mcp_tef import AnalysisReports, Engine

SENTENCE = 200
SEVERITIES = (Severity.ERROR, Severity.WARNING)
MARKS = {Severity.ERROR: "✗", Severity.WARNING: "!", Severity.NOTE: "·"}


def register(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "quality", "how well tools are described, the worst first, with what to fix", quality)
    given = "tools files, as a hook hands them over, after --; a name that begins with - is refused"
    parser.add_argument("files", nargs="*", type=plain_file_name, metavar="FILE", help=given)
    add_source_options(parser)
    add_writer_options(parser, "a model that reviews the descriptions, too")
    add_prompt_options(parser, PromptKind.REVIEW)
    add_key_option(parser)
    parser.add_argument("--fail-under", type=score, metavar="score=X", help="exit with 1 where a tool has less, of 100")
    grave = "exit with 1 where a finding is as grave (default: error, unless --fail-under is given)"
    parser.add_argument("--fail-on", choices=[str(one) for one in SEVERITIES], help=grave)
    add_list_option(parser, "--ignore", "[TOOL:]RULE", "leave out a rule, everywhere or in a tool")
    parser.add_argument("--reason", metavar="TEXT", help="keep each --ignore TOOL:RULE for this reason")
    parser.add_argument("--ignore-file", type=Path, metavar="F", help="kept entries (default: beside the workspace)")
    parser.add_argument("--baseline", type=Path, metavar="F", help="leave out findings of an earlier --json document")
    parser.add_argument("--out", type=analysis_file, metavar="F", help="write everything to F: .json, .csv or .html")
    parser.add_argument("--sarif", type=writable, metavar="F", help="write the findings as sarif to F")
    parser.add_argument("--markdown", type=writable, metavar="F", help="write the findings as markdown to F")


def score(text: str) -> int:
    """Parse `score=X`, or X alone, a whole number from 0 to 100."""
    number = text.removeprefix("score=")
    if not (number.isascii() and number.isdecimal()) or int(number) > 100:
        raise InputError(f"{text} is not a score.", hint="Write score=X, X from 0 to 100.", code="bad_usage")
    return int(number)


async def quality(arguments: Namespace, terminal: Terminal) -> int:
    """Tell every tool with its findings; 1 where a threshold is not kept, 3 where something could not be reached.

    Definitions that clients reject are judged like all others.
    """
    from mcp_tef import AnalysisReports, quality_to_json

    arguments.tools_file = [*arguments.tools_file, *arguments.files]
    model = writer(arguments)
    keys = read_keys(arguments, terminal, [model.provider] if model else [])
    async with opened(arguments, terminal) as engine:
        model = await asked_with_prompt(engine, model, arguments, PromptKind.REVIEW)
        tool_set = await gather(engine, arguments, terminal, at_least=1, broken_too=True)
        if model:
            tell_estimate(await engine.quality.estimate(tool_set, model), model, terminal)
            allow_typed_addresses(engine, [model])
        if arguments.reason:
            await _keep(engine, tool_set, arguments)
        review = partial(engine.quality.review, tool_set, model=model, keys=keys, max_cost_usd=arguments.max_cost)
        ignored = _ignored(engine, arguments)
        report = await with_consent(engine, arguments, terminal, partial(review, ignored=ignored))
        written = await _write(AnalysisReports(), report, arguments)
    terminal.document(quality_to_json(report))
    terminal.say(*quality_lines(report))
    for entry in report.void:
        terminal.note(f"{entry.tool} changed since {entry.date}, so that {entry.rule} is not ignored any more.")
    for path in written:
        terminal.say("", f"The findings were written to {output_name(path)}.")
    return code_of(tool_set) or _model_code(report) or _threshold_code(report, arguments, terminal)


def _ignored(engine: "Engine", arguments: Namespace) -> list[Suppression]:
    """Return what the options say is ignored, beside the file of the workspace."""
    found = [] if arguments.reason else [_suppression(engine, text) for text in arguments.ignore]
    found += read_suppressions(arguments.ignore_file) if arguments.ignore_file else ()
    return [*found, *(read_baseline(arguments.baseline) if arguments.baseline else ())]


def _suppression(engine: "Engine", text: str) -> Suppression:
    """Parse `RULE` or `TOOL:RULE`; InputError with the nearest name for an unknown rule."""
    tool, _, rule = text.rpartition(":")
    known = [one.id for one in engine.quality.rules()]
    if rule not in known:
        hint = did_you_mean(rule, known, "mcp-tef quality names the rule of each finding.")
        raise InputError(f"--ignore {text}: there is no rule {rule}.", hint=hint, code="bad_usage")
    return Suppression(tool=tool, rule=rule, reason="--ignore")


async def _keep(engine: "Engine", tool_set: ToolSet, arguments: Namespace) -> None:
    """Keep each `--ignore TOOL:RULE` with its reason; InputError where no tool or several are meant."""
    report = await engine.quality.review(tool_set)
    for text in arguments.ignore:
        entry = _suppression(engine, text)
        tools = [one for one in report.tools if entry.tool in (one.tool.id, one.tool.tool.name)]
        if len(tools) != 1:
            hint = did_you_mean(entry.tool, [one.tool.id for one in report.tools], "Write SERVER/TOOL:RULE.")
            raise InputError(f"--ignore {text}: {len(tools)} tools are meant.", hint=hint, code="bad_usage")
        engine.quality.ignore(tools[0], entry.rule, arguments.reason, arguments.ignore_file)


async def _write(reports: "AnalysisReports", report: QualityReport, arguments: Namespace) -> list[Path]:
    """Write the files that were asked for, and return them."""
    files = [path for path in (arguments.out, arguments.sarif, arguments.markdown) if path]
    if arguments.out:
        await reports.write_quality(report, arguments.out)
    if arguments.sarif:
        await reports.write_quality_sarif(report, arguments.sarif, [*map(Path, arguments.tools_file)])
    if arguments.markdown:
        await reports.write_quality_summary(report, arguments.markdown)
    return files


def _threshold_code(report: QualityReport, arguments: Namespace, terminal: Terminal) -> int:
    """Note each threshold that is not kept; 1 where there is one."""
    gravest = arguments.fail_on or (Severity.ERROR if arguments.fail_under is None else None)
    missed = shortfalls(report, arguments.fail_under, gravest)
    for sentence in missed:
        terminal.note(f"Not passed: {sentence}")
    return FAILED if missed else 0


def _model_code(report: QualityReport) -> int:
    """3 where the model reviewed no tool at all, 1 where it failed for some."""
    failed = sum(tool.failure is not None for tool in report.tools)
    return 0 if not failed else UNREACHED if failed == len(report.tools) else FAILED


def shortfalls(report: QualityReport, least: int | None, gravest: str | None) -> list[str]:
    """One sentence for each threshold that is not kept."""
    below = [tool for tool in report.tools if least is not None and tool.score < least]
    forbidden = SEVERITIES[: SEVERITIES.index(Severity(gravest)) + 1] if gravest else ()
    grave = [tool for tool in report.tools if any(finding.rule.severity in forbidden for finding in tool.findings)]
    words = " or ".join(f"{one}s" for one in forbidden)
    told = ((below, f"a score below {least}"), (grave, words))
    return [f"{counted(len(tools), 'tool')} with {what}, first {tools[0].tool.id}." for tools, what in told if tools]


def quality_lines(report: QualityReport) -> list[str]:
    """Return a table of all tools, the findings of each, and the token counts of servers."""
    if not report.tools:
        return ["No tool was read."]
    rows = [(str(one.score), str(one.tokens), one.tool.id, _counts(one)) for one in report.tools]
    lines = table(("SCORE", "TOKENS", "TOOL", "FINDINGS"), rows)
    for one in report.tools:
        lines += _tool_lines(one)
    weights = [(one.server, str(one.tools), f"{one.tokens:,}") for one in report.servers]
    counts = [*table(("SERVER", "TOOLS", "TOKENS"), weights), f"Tokens are counted by {report.tokenizer}."]
    return [*lines, "", *counts, *report.notes]


def _counts(one: ToolQuality) -> str:
    counts = {severity: sum(finding.rule.severity is severity for finding in one.findings) for severity in Severity}
    found = [f"{count} {severity}{'s' if count > 1 else ''}" for severity, count in counts.items() if count]
    return ", ".join(found) or "–"


def _tool_lines(one: ToolQuality) -> Iterator[str]:
    if any((one.findings, one.ignored, one.review, one.failure)):
        yield from ("", f"{one.tool.id}: {one.score} of 100")
    for finding in one.findings:
        sentence = one_line(f"{finding.sentence} {finding.fix}", SENTENCE)
        yield f"  {MARKS[finding.rule.severity]} {finding.rule.id} ({finding.place}): {sentence}"
    for finding, entry in one.ignored:
        yield f"  – {finding.rule.id} ({finding.place}) is ignored: {one_line(entry.reason, SENTENCE)}"
    if one.review:
        yield from _review_lines(one.review)
    if one.failure:
        yield f"  ! {one.failure.message} {one.failure.hint}".rstrip()


def _review_lines(review: ModelReview) -> Sequence[str]:
    grades = {"clarity": review.clarity, "completeness": review.completeness, "conciseness": review.conciseness}
    lines = [f"  {name} {grade.score} of 10: {one_line(grade.explanation, SENTENCE)}" for name, grade in grades.items()]
    lines += [f"  asked with {review.prompt}"]
    return [*lines, f"  {review.model} suggests: {one_line(review.suggested, SENTENCE)}"] if review.suggested else lines
