"""`compare`: what changed from one batch to another, and whether it says anything."""

from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from itertools import islice

from mcp_tef import BatchComparison, BatchId, ComparedRuns, PairChange, PairedTest, ReportFormat, RunPair, RunSummary
from mcp_tef.cli.arguments import Verbs, add_verb
from mcp_tef.cli.formatting import rate
from mcp_tef.cli.output_files import writable
from mcp_tef.cli.session import opened
from mcp_tef.cli.terminal import Terminal, table

NOT_WORSE, WORSE = 0, 1
SHOWN = 50
TOLD_FIRST = (PairChange.REGRESSED, PairChange.FIXED)
WORDS = {
    PairChange.FIXED: "fixed",
    PairChange.REGRESSED: "regressed",
    PairChange.UNCHANGED_RIGHT: "right as before",
    PairChange.UNCHANGED_WRONG: "wrong as before",
    PairChange.NEW: "new",
    PairChange.GONE: "gone",
    PairChange.NOT_COMPARABLE: "without a verdict",
}
SHAPE = """With --json: {"before", "after": batches, "paired_by": "run"|"case", "counts": {CHANGE: number of pairs},
"cases": {CHANGE: [case ids]}, "pairs": [{"case", "change", "parameters", "before", "after": run ids}],
"reading": "better"|"worse"|"undecided", "mcnemar_p", "more_runs", "n", "accuracy": {"before", "after": RATE},
"difference": {"value", "low", "high"}, "sentence", "parameters": the same from "reading" on, for parameters
where both runs chose the right tool, "notes": [sentence]}. CHANGE is fixed, regressed, unchanged_right,
unchanged_wrong, new, gone or not_comparable. What is not defined is null.

Exit codes: 0 not worse, 1 worse (the choice of tools or the parameters, by McNemar's exact test at 5 %)."""


def register(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(
        verbs, "compare", "what changed from one batch to another, with a paired test", compare, reads=True
    )
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = SHAPE
    parser.add_argument("before", metavar="BATCH_A", help="the earlier batch")
    parser.add_argument("after", metavar="BATCH_B", help="the later batch")
    parser.add_argument("--html", type=writable, metavar="F", help="write a report to read to F")
    parser.add_argument("--csv", type=writable, metavar="F", help="write every pair to F, one a line")


async def compare(arguments: Namespace, terminal: Terminal) -> int:
    """Tell what was fixed and what regressed; 1 where the later batch is worse."""
    from mcp_tef import RunReports, comparison_to_json

    before, after = BatchId(arguments.before), BatchId(arguments.after)
    async with opened(arguments, terminal) as engine:
        found = await engine.compare.batches(before, after)
        changed = list(islice(_worth_telling(found), SHOWN))
        rows = await engine.compare.pairs(changed)
        for form, path in ((ReportFormat.HTML, arguments.html), (ReportFormat.CSV, arguments.csv)):
            if path:
                await RunReports(engine).write_comparison(before, after, path, form)
    terminal.document(comparison_to_json(found))
    terminal.say(*_lines(found, rows))
    return WORSE if found.worse else NOT_WORSE


def _worth_telling(found: BatchComparison) -> Iterator[RunPair]:
    for change in TOLD_FIRST:
        yield from found.of(change)
    yield from (pair for pair in found.pairs if pair.change not in TOLD_FIRST and pair.parameters in TOLD_FIRST)


def _lines(found: BatchComparison, rows: Sequence[ComparedRuns]) -> Iterator[str]:
    counts = ", ".join(f"{number:,} {WORDS[change]}" for change, number in found.counts.items() if number)
    yield f"pairs                {counts or 'none'}"
    yield from _test_lines("right tools", found.selection)
    if found.parameters.n:
        yield from _test_lines("right parameters", found.parameters)
    yield from found.notes
    if rows:
        yield ""
        yield from table(("CHANGE", "CASE", "EXPECTED", "BEFORE", "AFTER"), [_row(item) for item in rows])
        more = sum(1 for _ in _worth_telling(found)) - len(rows)
        if more:
            yield f"… and {more:,} more; --json tells them all."


def _test_lines(name: str, test: PairedTest) -> Iterator[str]:
    yield f"{name:20} {rate(test.before)} before, {rate(test.after)} after{_gain(test)}"
    yield f"{'':20} {test.sentence}"


def _gain(test: PairedTest) -> str:
    gain = test.difference
    if gain.value is None:
        return ""
    return f": {gain.value:+.2f} ({gain.low:+.2f} to {gain.high:+.2f})"


def _row(item: ComparedRuns) -> tuple[str, ...]:
    run = item.after or item.before
    change = WORDS[item.pair.change]
    if item.pair.change not in TOLD_FIRST and item.pair.parameters in TOLD_FIRST:
        change = f"parameters {WORDS[item.pair.parameters]}"
    name, expected = (run.case_name, run.expected) if run else ("", "")
    return change, name, expected, _selected(item.before), _selected(item.after)


def _selected(run: RunSummary | None) -> str:
    return (run.selected or run.status.value) if run else "–"
