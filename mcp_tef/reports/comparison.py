"""Comparison of two batches as JSON, CSV and HTML; `ComparedBatches` is what every report shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mcp_tef.api.serializers.runs import NO_TOOL_TEXT, comparison_to_json
from mcp_tef.formats.csv_tables import csv_text
from mcp_tef.model.comparison import BatchComparison, CaseSide, ComparedRuns, PairChange, RateDifference, ShareChange
from mcp_tef.model.json import Json
from mcp_tef.model.metrics import Rate, ThresholdCheck
from mcp_tef.model.runs import Batch, RunSummary
from mcp_tef.model.times import local_time_text
from mcp_tef.reports import charts
from mcp_tef.reports.charts import dollars, rate_words, shown
from mcp_tef.reports.page import counted, page, paragraphs, section, table
from mcp_tef.trust.outputs import document_text

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
    "passed_before",
    "judged_before",
    "passed_after",
    "judged_after",
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
    """A comparison with both runs of each pair, and what decided about the exit code of a command."""

    comparison: BatchComparison
    rows: tuple[ComparedRuns, ...]
    checks: tuple[ThresholdCheck, ...] = ()

    def told(self) -> list[ComparedRuns]:
        """Return the cases with regressions first and those right in both batches last."""
        return sorted(self.rows, key=lambda one: _ORDER.index(one.pair.change))


def choice(run: RunSummary | None, side: CaseSide | None) -> str:
    """Return the tool that the run to look at picked, or why it picked none, and how many of several runs passed."""
    return _pick(run) + (f" ({side.passed:,} of {side.judged:,})" if side and side.judged > 1 else "")


def _pick(run: RunSummary | None) -> str:
    if run is None:
        return "not run"
    return run.selected or (NO_TOOL_TEXT if run.classification else run.status.value)


def share_rows(found: BatchComparison) -> list[tuple[str, ShareChange]]:
    """Return the two shares with their names."""
    return [("Correct call", found.correct_call), ("Correct tool", found.correct_tool)]


def batch_name(batch: Batch) -> str:
    """Return the name of a batch with its time."""
    return f"{batch.name or 'Test runs'}, {local_time_text(batch.created_at)}"


def comparison_json(compared: ComparedBatches) -> str:
    """Return the comparison as a JSON document."""
    return document_text(comparison_to_json(compared.comparison))


def comparison_csv(compared: ComparedBatches) -> str:
    """Return a head and a line for each case, in the order of the later batch; the runs are those to look at."""
    return csv_text(_HEADS, map(_cells, compared.rows))


def _cells(one: ComparedRuns) -> list[Json]:
    pair, run = one.pair, one.after or one.before
    told: list[Json] = [run.case_name, run.query, run.model, run.expected] if run else [None] * 4
    picks = (_pick(one.before), _pick(one.after))
    return [pair.change.value, *_counts(pair.before), *_counts(pair.after), *told, *picks, *pair.shown]


def _counts(side: CaseSide | None) -> tuple[Json, Json]:
    return (side.passed, side.judged) if side else (None, None)


MOST_PAIRS: Final = 2000
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
    "Lines are 95 % intervals by case, since repeats of one case are not new cases; n is the number of runs. The claim "
    "on these cases rests on pairs of runs with different results, that for queries like these on a sign-flip test "
    "over cases at 5 %."
)


def comparison_html(compared: ComparedBatches) -> str:
    """Render the whole page."""
    found = compared.comparison
    sections = [
        section("What changed", _changes(found)),
        section("Figures", _figures(found)),
        section("The two batches", _batches(found)),
        section("Case by case", _pairs(compared)),
    ]
    title = f"{found.before.name or 'Test runs'} against {found.after.name or 'Test runs'}"
    return page(f"{title}: better or worse?", _lead(found), sections, heading=title)


def _lead(found: BatchComparison) -> str:
    claims = (found.on_these_cases, found.for_queries_like_these)
    told = "".join(f'<p class="lead">{shown(claim.sentence)}</p>' for claim in claims)
    return told + paragraphs(*found.notes)


def _changes(found: BatchComparison) -> str:
    counts = [(CHANGES[one].lower(), _COLOURS.get(one, "f-none"), found.counts[one]) for one in CHANGES]
    return charts.shares([one for one in counts if one[2]], "What became of each case") if found.pairs else ""


def _figures(found: BatchComparison) -> str:
    told = share_rows(found)
    rates = [(f"{name}, {when}", rate) for name, share in told for when, rate in _both(share)]
    rows = [
        (name, rate_words(share.before), rate_words(share.after), difference_words(share.difference))
        for name, share in told
    ]
    drawn = charts.intervals(rates) if found.cases else ""
    heads = ("Figure", "Before", "After", "Difference in points")
    return drawn + paragraphs(_HOW) + table(heads, rows, range(1, 4), kind="narrow")


def _both(share: ShareChange) -> tuple[tuple[str, Rate], ...]:
    return ("before", share.before), ("after", share.after)


def difference_words(gap: RateDifference) -> str:
    """`+7 (−3 to +17)`, in points of a hundred; a dash where it is not defined."""
    if gap.value is None or gap.low is None or gap.high is None:
        return "–"
    value, low, high = (f"{100 * part:+.0f}".replace("-", "−") for part in (gap.value, gap.low, gap.high))
    return f"{value} ({low} to {high})"


def _batches(found: BatchComparison) -> str:
    rows = [("Before", *_batch(found.before)), ("After", *_batch(found.after))]
    return table(("", "Batch", "Models", "Runs", "Cost"), rows, (3, 4))


def _batch(batch: Batch) -> tuple[str, ...]:
    cost = dollars(batch.cost_usd, batch.priced, batch.unpriced)
    return batch_name(batch), ", ".join(batch.models), f"{batch.total:,}", cost


def _pairs(compared: ComparedBatches) -> str:
    told = compared.told()
    more = f"The first {MOST_PAIRS:,} of {counted(len(told), 'case')}; the CSV holds all." * (len(told) > MOST_PAIRS)
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
    change = f"{_mark(one)[0]} {CHANGES[one.pair.change]}"
    before, after = choice(one.before, one.pair.before), choice(one.after, one.pair.after)
    return change, query, expected, before, after, *[model] * several
