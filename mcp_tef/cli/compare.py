"""`compare`: changes from one batch to another, and the two claims that they support."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from mcp_tef import (
    BatchComparison,
    BatchId,
    CasePair,
    CaseSide,
    ClaimVerdict,
    ComparedRuns,
    PairChange,
    ReportFormat,
    RunFilter,
    RunSummary,
    TestCase,
    ThresholdCheck,
)
from mcp_tef.cli.arguments import CANNOT_TELL, DONE, FAILED, Verbs, add_list_option, add_verb
from mcp_tef.cli.formatting import A_BATCH, CHANGES, comparison_lines
from mcp_tef.cli.output_files import asked_files, output_name, writable
from mcp_tef.cli.session import opened
from mcp_tef.cli.terminal import Terminal, table
from mcp_tef.cli.thresholds import add_threshold_options, has_thresholds, note_missed, threshold_checks

if TYPE_CHECKING:
    from mcp_tef import Engine

FILES = {
    "html": ReportFormat.HTML,
    "csv": ReportFormat.CSV,
    "markdown": ReportFormat.MARKDOWN,
    "junit": ReportFormat.JUNIT,
}
SHOWN = 50
TOLD_FIRST = (PairChange.REGRESSED, PairChange.FIXED)
SHAPE = """With --json: {"before", "after": batches, "paired_by": "case_and_model"|"case", "counts": {CHANGE: number
of cases}, "cases": {CHANGE: [case ids]}, "pairs": [{"case", "change", "before", "after": {"passed", "n", "runs":
[ids]}|null}], "criterion": "correct_call"|"correct_tool", "on_these_cases": VERDICT,
"for_queries_like_these": VERDICT, "sentence", "sentences": [of both], "n": pairs of runs, "compared_cases",
"families", "wins", "losses", "evidence": {"better", "worse"}, "p", "icc", "left_out", "rates": {"before", "after":
RATE}, "difference": {"value", "low", "high"}, "correct_call", "correct_tool": {"before", "after", "difference"},
"must_hold": [{"case", "holds", "p", "sentence"}], "notes": [sentence]}. VERDICT is better, worse,
no_worthwhile_change or cannot_tell_yet. CHANGE is fixed, regressed (by the pass rate of the case), unchanged_right,
unchanged_wrong, new, gone or not_comparable. What is not defined is null.

Exit codes: 0 not worse, 1 worse for queries like these, a case of --must-hold does not hold, or the later batch misses
a threshold; with --strict, 4 if the verdict for queries like these is cannot_tell_yet, and nothing else fails."""


def register(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(
        verbs, "compare", "what changed from one batch to another, and what that shows", compare, reads=True, more=SHAPE
    )
    parser.add_argument("before", metavar="BATCH_A", help=f"the earlier batch: {A_BATCH}")
    parser.add_argument("after", metavar="BATCH_B", help="the later batch")
    held = "a case, by id or name, that may not pass less often; can be repeated"
    add_list_option(parser, "--must-hold", "CASE", held)
    unknown = "exit with 4 if the runs cannot tell whether it is worse for queries like these"
    parser.add_argument("--strict", action="store_true", help=unknown)
    add_threshold_options(parser)
    for name in FILES:
        parser.add_argument(f"--{name}", type=writable, metavar="F", help=f"write the comparison as {name} to F")


async def compare(arguments: Namespace, terminal: Terminal) -> int:
    """Print what was fixed and what regressed; return 1 where it fails, and 4 where --strict asks for a decision."""
    from mcp_tef import RunReports, comparison_to_json

    async with opened(arguments, terminal) as engine:
        before, after = [(await engine.runs.named(text)).id for text in (arguments.before, arguments.after)]
        held = await engine.cases.named(arguments.must_hold)
        found = await engine.compare.batches(before, after, [case.id for case in held])
        thresholds = await _thresholds(engine, after, arguments)
        rows = await engine.compare.pairs(list(islice(_worth_telling(found), SHOWN)))
        terminal.document(comparison_to_json(found))
        terminal.say(*_lines(found, rows, held))
        files = asked_files(arguments, FILES)
        checks = [*_checks(found, held, strict=arguments.strict), *thresholds]
        await RunReports(engine).write_compared(found, files, checks=checks)
    terminal.say(*(f"The comparison was written to {output_name(path)} as {form}." for form, path in files.items()))
    if note_missed(thresholds, terminal) or found.failed:
        return FAILED
    return CANNOT_TELL if arguments.strict and found.undecided else DONE


async def _thresholds(engine: "Engine", after: BatchId, arguments: Namespace) -> list[ThresholdCheck]:
    """Return the thresholds of the later batch with their shortfalls; none without any."""
    if not has_thresholds(arguments):
        return []
    where = RunFilter(batch_id=after)
    metrics = await engine.metrics.summary(where)
    return threshold_checks(metrics, await engine.runs.list(where), arguments)


def _checks(found: BatchComparison, held: Sequence[TestCase], *, strict: bool) -> Iterator[ThresholdCheck]:
    """Yield what decides about the exit code."""
    claim, names = found.for_queries_like_these, {case.id: case.draft.name for case in held}
    worse = claim.verdict is ClaimVerdict.WORSE
    yield ThresholdCheck("Not worse for queries like these", claim.sentence * worse)
    if strict:
        yield ThresholdCheck("Decided for queries like these", claim.sentence * found.undecided)
    for one in found.must_hold:
        yield ThresholdCheck(f"{names[one.case_id]} holds", "" if one.holds else one.sentence)


def _worth_telling(found: BatchComparison) -> Iterator[CasePair]:
    for change in TOLD_FIRST:
        yield from found.of(change)


def _lines(found: BatchComparison, rows: Sequence[ComparedRuns], held: Sequence[TestCase]) -> Iterator[str]:
    yield from comparison_lines(found)
    yield from _held_lines(found, held)
    yield from found.notes
    if rows:
        yield ""
        yield from table(("CHANGE", "CASE", "EXPECTED", "BEFORE", "AFTER"), [_row(item) for item in rows])
        more = sum(1 for _ in _worth_telling(found)) - len(rows)
        if more:
            yield f"… and {more:,} more; --json tells them all."


def _held_lines(found: BatchComparison, held: Sequence[TestCase]) -> Iterator[str]:
    names = {case.id: case.draft.name for case in held}
    for one in found.must_hold:
        yield f"{'holds' if one.holds else 'broken':20} {names[one.case_id]}: {one.sentence}"


def _row(item: ComparedRuns) -> tuple[str, ...]:
    run = item.after or item.before
    name, expected = (run.case_name, run.expected) if run else ("", "")
    before, after = _selected(item.before, item.pair.before), _selected(item.after, item.pair.after)
    return CHANGES[item.pair.change], name, expected, before, after


def _selected(run: RunSummary | None, side: CaseSide | None) -> str:
    """Return the pick of the run to look at, and how many of several passed."""
    if run is None or side is None:
        return "–"
    passed = f" ({side.passed:,} of {side.judged:,})" if side.judged > 1 else ""
    return f"{run.selected or run.status.value}{passed}"
