"""Comparison of two batches as JSON, CSV and HTML."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mcp_tef.api.serializers.runs import NO_TOOL_TEXT, comparison_to_json
from mcp_tef.formats.csv_tables import csv_text
from mcp_tef.model.comparison import (
    BatchComparison,
    ComparedRuns,
    ComparisonConclusion,
    PairChange,
    PairedTest,
    RunPair,
)
from mcp_tef.model.json import Json
from mcp_tef.model.metrics import Rate
from mcp_tef.model.runs import Batch, RunSummary
from mcp_tef.reports import charts
from mcp_tef.reports.charts import rate_words, shown
from mcp_tef.reports.page import counted, page, paragraphs, section, table

CHANGES: Final[Mapping[PairChange, str]] = {
    PairChange.REGRESSED: "Regressed",
    PairChange.FIXED: "Fixed",
    PairChange.UNCHANGED_WRONG: "Wrong in both",
    PairChange.NOT_COMPARABLE: "Not comparable",
    PairChange.NEW: "New",
    PairChange.GONE: "Gone",
    PairChange.UNCHANGED_RIGHT: "Right in both",
}
_ORDER: Final = tuple(CHANGES)
_HEADS: Final = (
    "change",
    "parameters",
    "case",
    "query",
    "model",
    "expected",
    "before",
    "after",
    "run_before",
    "run_after",
)


@dataclass(frozen=True, slots=True)
class ComparedBatches:
    """A comparison with both runs of each pair."""

    comparison: BatchComparison
    rows: tuple[ComparedRuns, ...]

    def told(self) -> list[ComparedRuns]:
        """Return the pairs with regressions first and those right in both batches last."""
        return sorted(self.rows, key=lambda one: (_ORDER.index(one.pair.change), not parameters_changed(one.pair)))


def parameters_changed(pair: RunPair) -> bool:
    """Return True if the right tool was called with right values in only one of the batches."""
    return pair.parameters in (PairChange.FIXED, PairChange.REGRESSED)


def change_words(pair: RunPair) -> str:
    """Return the change of a run pair as text, or that only its parameters changed."""
    words = CHANGES[pair.change]
    if pair.parameters and parameters_changed(pair):
        return f"{words}, parameters {CHANGES[pair.parameters].lower()}"
    return words


def choice(run: RunSummary | None) -> str:
    """Return the tool that a run of a pair picked, or why it picked none."""
    if run is None:
        return "not run"
    return run.selected or (NO_TOOL_TEXT if run.classification else run.status.value)


def batch_name(batch: Batch) -> str:
    """Return the name of a batch with its time."""
    return f"{batch.name or 'Test runs'}, {batch.created_at:%Y-%m-%d %H:%M} UTC"


def comparison_json(compared: ComparedBatches) -> str:
    """Return the comparison as a JSON document."""
    return json.dumps(comparison_to_json(compared.comparison), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def comparison_csv(compared: ComparedBatches) -> str:
    """Return a head and a line for each pair, in the order of the later batch."""
    return csv_text(_HEADS, map(_cells, compared.rows))


def _cells(one: ComparedRuns) -> list[Json]:
    pair, run = one.pair, one.after or one.before
    told: list[Json] = [run.case_name, run.query, run.model, run.expected] if run else [None] * 4
    parameters = pair.parameters.value if pair.parameters else None
    return [pair.change.value, parameters, *told, choice(one.before), choice(one.after), pair.before, pair.after]


MOST_PAIRS: Final = 2000
READINGS: Final[Mapping[ComparisonConclusion, str]] = {
    ComparisonConclusion.BETTER: "Better",
    ComparisonConclusion.WORSE: "Worse",
    ComparisonConclusion.UNDECIDED: "Not enough runs to tell",
}
_COLOURS: Final[Mapping[PairChange, str]] = {
    PairChange.REGRESSED: "f-bad",
    PairChange.FIXED: "f-good",
    PairChange.UNCHANGED_WRONG: "f-warn",
    PairChange.UNCHANGED_RIGHT: "f-info",
}
_MARKS: Final[Mapping[PairChange, tuple[str, str]]] = {
    PairChange.REGRESSED: ("✗", "bad"),
    PairChange.FIXED: ("✓", "good"),
    PairChange.UNCHANGED_WRONG: ("✗", "dim"),
    PairChange.UNCHANGED_RIGHT: ("✓", "dim"),
}
_HOW: Final = (
    "The same questions before and after. Better or worse is said by McNemar's exact test at 5 %, never by a "
    "difference alone; lines are 95 % intervals, and n is how many pairs they are counted from."
)


def comparison_html(compared: ComparedBatches) -> str:
    """Render the whole page."""
    found = compared.comparison
    sections = [
        section("What changed", _changes(found)),
        section("Figures", _figures(found)),
        section("The two batches", _batches(found)),
        section("Pair by pair", _pairs(compared)),
    ]
    title = f"{found.before.name or 'Test runs'} against {found.after.name or 'Test runs'}"
    return page(f"{title}: better or worse?", _lead(found), sections, heading=title)


def _lead(found: BatchComparison) -> str:
    test = found.selection
    reading = READINGS[test.reading]
    told = f'<p class="lead"><strong>{reading}</strong> {shown(test.sentence.removeprefix(f"{reading}: "))}</p>'
    return told + paragraphs(*found.notes)


def _changes(found: BatchComparison) -> str:
    counts = [(CHANGES[one].lower(), _COLOURS.get(one, "f-none"), found.counts[one]) for one in CHANGES]
    return charts.shares([one for one in counts if one[2]], "What became of each pair") if found.pairs else ""


def _figures(found: BatchComparison) -> str:
    tests = [("Right tool", found.selection), ("Parameters right", found.parameters)]
    told = [(name, test) for name, test in tests if test.n]
    rates = [(f"{name}, {when}", rate) for name, test in told for when, rate in _both(test)]
    rows = [
        (name, rate_words(test.before), rate_words(test.after), difference_words(test), _probability(test))
        for name, test in told
    ]
    heads = ("Figure", "Before", "After", "Difference in points", "p")
    drawn = charts.intervals(rates) if rates else ""
    return drawn + paragraphs(_HOW) + table(heads, rows, range(1, 5), kind="narrow")


def _both(test: PairedTest) -> tuple[tuple[str, Rate], ...]:
    return ("before", test.before), ("after", test.after)


def difference_words(test: PairedTest) -> str:
    """`+7 (−3 to +17, n 39)`, in points of a hundred; a dash where it is not defined."""
    gap = test.difference
    if gap.value is None or gap.low is None or gap.high is None:
        return "–"
    value, low, high = (f"{100 * part:+.0f}".replace("-", "−") for part in (gap.value, gap.low, gap.high))
    return f"{value} ({low} to {high}, n {test.n:,})"


def _probability(test: PairedTest) -> str:
    return "–" if test.p is None else "under 0.001" if test.p < 0.001 else f"{test.p:.3f}"


def _batches(found: BatchComparison) -> str:
    rows = [("Before", *_batch(found.before)), ("After", *_batch(found.after))]
    return table(("", "Batch", "Models", "Runs", "Cost"), rows, (3, 4))


def _batch(batch: Batch) -> tuple[str, ...]:
    cost = "–" if batch.cost_usd is None else f"${batch.cost_usd:.4f}" if batch.cost_usd else "$0"
    return batch_name(batch), ", ".join(batch.models), f"{batch.total:,}", cost


def _pairs(compared: ComparedBatches) -> str:
    told = compared.told()
    more = f"The first {MOST_PAIRS:,} of {counted(len(told), 'pair')}; the CSV holds all." * (len(told) > MOST_PAIRS)
    first = told[:MOST_PAIRS]
    several = len({run.model for one in told if (run := one.after or one.before)}) > 1
    heads = ("Change", "Query", "Expected", "Before", "After", *["Model"] * several)
    rows = [_row(one, several=several) for one in first]
    return paragraphs(more) + table(heads, rows, kind="runs", colours=[_mark(one)[1] for one in first])


def _mark(one: ComparedRuns) -> tuple[str, str]:
    return _MARKS.get(one.pair.change, ("–", "dim"))


def _row(one: ComparedRuns, *, several: bool) -> tuple[str, ...]:
    run = one.after or one.before
    query, expected, model = (run.query, run.expected or "no tool", run.model) if run else ("", "", "")
    change = f"{_mark(one)[0]} {change_words(one.pair)}"
    return change, query, expected, choice(one.before), choice(one.after), *[model] * several
