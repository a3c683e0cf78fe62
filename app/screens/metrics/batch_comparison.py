"""Comparison of two batches as text: the conclusion, counts and pairs of runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from app.screens.metrics.filters import batch_title
from app.screens.metrics.metric_values import DataTable, model_name, percent_points, share_text
from app.text.formatting import count
from mcp_tef import (
    Batch,
    BatchComparison,
    BatchId,
    BatchStatus,
    ComparedRuns,
    ComparisonConclusion,
    PairChange,
    PairedTest,
    RunPair,
    RunStatus,
    RunSummary,
)

READINGS: Final[Mapping[ComparisonConclusion, str]] = {
    ComparisonConclusion.BETTER: "Better",
    ComparisonConclusion.WORSE: "Worse",
    ComparisonConclusion.UNDECIDED: "Not enough runs to tell",
}


class PairGroup(StrEnum):
    """A group of pairs with the same change; each is a tab."""

    ALL = "all"
    FIXED = "fixed"
    REGRESSED = "regressed"
    UNCHANGED = "unchanged"
    NEW = "new"
    GONE = "gone"
    UNCOMPARED = "uncompared"


CHANGES: Final[Mapping[PairGroup, tuple[PairChange, ...]]] = {
    PairGroup.ALL: tuple(PairChange),
    PairGroup.FIXED: (PairChange.FIXED,),
    PairGroup.REGRESSED: (PairChange.REGRESSED,),
    PairGroup.UNCHANGED: (PairChange.UNCHANGED_RIGHT, PairChange.UNCHANGED_WRONG),
    PairGroup.NEW: (PairChange.NEW,),
    PairGroup.GONE: (PairChange.GONE,),
    PairGroup.UNCOMPARED: (PairChange.NOT_COMPARABLE,),
}
WORDS: Final[Mapping[PairChange, str]] = {
    PairChange.FIXED: "fixed",
    PairChange.REGRESSED: "regressed",
    PairChange.UNCHANGED_RIGHT: "correct in both",
    PairChange.UNCHANGED_WRONG: "wrong in both",
    PairChange.NEW: "new",
    PairChange.GONE: "gone",
    PairChange.NOT_COMPARABLE: "not comparable",
}
HELP: Final[Mapping[PairGroup, str]] = {
    PairGroup.FIXED: "Wrong before, correct now.",
    PairGroup.REGRESSED: "Correct before, wrong now.",
    PairGroup.UNCHANGED: "Correct in both batches, or wrong in both.",
    PairGroup.NEW: "Only the newer batch ran this.",
    PairGroup.GONE: "Only the older batch ran this.",
    PairGroup.UNCOMPARED: "One of the two runs failed or was cancelled.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonView:
    """The head of a comparison: what it comes to, why, and how many pairs of each kind."""

    reading: str
    good: bool | None
    sentence: str
    short: str
    detail: str
    notes: tuple[str, ...]
    counts: Mapping[PairGroup, int]
    caption: str
    pairs: tuple[RunPair, ...]
    table: DataTable

    def of(self, group: PairGroup) -> tuple[RunPair, ...]:
        """Return the pairs of a group; among all, regressed and fixed ones come first."""
        wanted = CHANGES[group]
        chosen = [pair for pair in self.pairs if pair.change in wanted]
        if group is PairGroup.ALL:
            chosen.sort(key=lambda pair: _FIRST.index(pair.change))
        return tuple(chosen)


_FIRST: Final = (
    PairChange.REGRESSED,
    PairChange.FIXED,
    PairChange.UNCHANGED_WRONG,
    PairChange.NOT_COMPARABLE,
    PairChange.NEW,
    PairChange.GONE,
    PairChange.UNCHANGED_RIGHT,
)


def default_pair(batches: Sequence[Batch]) -> tuple[BatchId, BatchId] | None:
    """Return the two newest batches of one name, otherwise the two newest; the older one first."""
    done = [
        batch for batch in batches if batch.judged and batch.status not in (BatchStatus.WAITING, BatchStatus.RUNNING)
    ]
    for place, newer in enumerate(done):
        older = next((one for one in done[place + 1 :] if one.name == newer.name), None)
        if older is not None:
            return older.id, newer.id
    return (done[1].id, done[0].id) if len(done) > 1 else None


def comparison_view(comparison: BatchComparison, now: datetime) -> ComparisonView:
    """Return a comparison for the screen."""
    test = comparison.selection
    counts = {group: sum(comparison.counts.get(one, 0) for one in changes) for group, changes in CHANGES.items()}
    return ComparisonView(
        reading=READINGS[test.reading],
        good={ComparisonConclusion.BETTER: True, ComparisonConclusion.WORSE: False}.get(test.reading),
        sentence=test.sentence,
        short=_short(comparison.selection),
        detail=_detail(comparison),
        notes=comparison.notes,
        counts=counts,
        caption=f"{batch_title(comparison.before, now)} against {batch_title(comparison.after, now)}",
        pairs=comparison.pairs,
        table=_table(comparison),
    )


def _short(test: PairedTest) -> str:
    """Return the counts, and how many more pairs a conclusion needs."""
    unchanged = test.both_right + test.both_wrong
    counts = f"{test.fixed:,} fixed, {test.regressed:,} regressed, {unchanged:,} unchanged."
    if test.more_pairs is None:
        return counts
    return f"{counts} A difference this small needs about {rounded_up(test.more_pairs):,} more pairs."


def rounded_up(number: int) -> int:
    """Round an estimate up to two significant digits."""
    step = int(10 ** max(0, len(str(number)) - 2))
    return -(-number // step) * step


def _detail(comparison: BatchComparison) -> str:
    lines = [_rates_text("Right tool", comparison.selection)]
    if comparison.parameters.n:
        lines.append(_rates_text("Parameters right", comparison.parameters))
    return "\n".join(lines)


def _rates_text(what: str, test: PairedTest) -> str:
    if not test.n:
        return f"{what}: no pairs to compare"
    gap = percent_points(test.difference.value, test.difference.low, test.difference.high)
    pairs = count(test.n, "pair")
    return f"{what}: {share_text(test.before)} before, {share_text(test.after)} now; {gap}, {pairs}"


def _table(comparison: BatchComparison) -> DataTable:
    rows = tuple((WORDS[change], number) for change, number in comparison.counts.items())
    return DataTable(name="Comparison", columns=("Change", "Pairs"), rows=rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """One pair as a row: what changed, the query, and both choices."""

    change: PairChange
    word: str
    query: str
    before: str
    after: str
    before_right: bool | None
    after_right: bool | None
    model: str
    note: str


def pair_row(compared: ComparedRuns) -> PairRow:
    """Return a pair as text."""
    one = compared.after or compared.before
    parameters = compared.pair.parameters
    told = parameters in (PairChange.FIXED, PairChange.REGRESSED)
    return PairRow(
        change=compared.pair.change,
        word=WORDS[compared.pair.change],
        query=" ".join(one.query.split()) if one else "",
        before=_choice(compared.before),
        after=_choice(compared.after),
        before_right=_right(compared.before),
        after_right=_right(compared.after),
        model=model_name(one.model) if one else "",
        note=f"parameters {WORDS[parameters]}" if told and parameters else "",
    )


def by_column(compared: Sequence[ComparedRuns], column: str, *, down: bool) -> tuple[RunPair, ...]:
    """Sort pairs by a column; equal ones keep their order."""

    def place(one: ComparedRuns) -> tuple[int, str]:
        row = pair_row(one)
        said = {"query": row.query, "before": row.before, "after": row.after}.get(column, "")
        return _FIRST.index(row.change) if column == "change" else 0, said.casefold()

    return tuple(one.pair for one in sorted(compared, key=place, reverse=down))


def _choice(run: RunSummary | None) -> str:
    if run is None:
        return "not run"
    if run.status is not RunStatus.COMPLETED:
        return run.failure.message if run.failure else run.status.value
    return run.selected_tool or run.selected or "no tool"


def _right(run: RunSummary | None) -> bool | None:
    return None if run is None or run.classification is None else run.classification.value in ("TP", "TN")
