"""Comparison of two batches as text: the both claims, counts and cases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from app.screens.metrics.filters import batch_title
from app.screens.metrics.metric_values import percent_points, share_text
from app.text.data_tables import DataTable
from app.text.formatting import count, model_name
from mcp_tef import (
    Batch,
    BatchComparison,
    BatchId,
    BatchStatus,
    CasePair,
    CaseSide,
    Claim,
    ClaimVerdict,
    ComparedRuns,
    PairChange,
    RunMark,
    RunStatus,
    RunSummary,
    ShareChange,
)

READINGS: Final[Mapping[ClaimVerdict, str]] = {
    ClaimVerdict.BETTER: "Better",
    ClaimVerdict.WORSE: "Worse",
    ClaimVerdict.NO_WORTHWHILE_CHANGE: "No worthwhile change",
    ClaimVerdict.CANNOT_TELL_YET: "Cannot tell yet",
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
    PairGroup.FIXED: "Cases that pass more often than before, by all their runs.",
    PairGroup.REGRESSED: "Cases that pass less often than before, by all their runs.",
    PairGroup.UNCHANGED: "Cases that pass as often as before.",
    PairGroup.NEW: "Only the newer batch ran this case.",
    PairGroup.GONE: "Only the older batch ran this case.",
    PairGroup.UNCOMPARED: "No run of one batch has a verdict.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonView:
    """The head of a comparison: both claims, and how many cases of each kind."""

    claims: tuple[Claim, Claim]
    short: str
    detail: str
    notes: tuple[str, ...]
    counts: Mapping[PairGroup, int]
    caption: str
    pairs: tuple[CasePair, ...]
    table: DataTable

    def of(self, group: PairGroup) -> tuple[CasePair, ...]:
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
    counts = {group: sum(comparison.counts.get(one, 0) for one in changes) for group, changes in CHANGES.items()}
    return ComparisonView(
        claims=(comparison.on_these_cases, comparison.for_queries_like_these),
        short=_short(comparison),
        detail=_detail(comparison),
        notes=comparison.notes,
        counts=counts,
        caption=" against ".join(
            batch_title(one, now, with_models=False) for one in (comparison.before, comparison.after)
        ),
        pairs=comparison.pairs,
        table=_table(comparison),
    )


def _short(comparison: BatchComparison) -> str:
    """Return the counts of cases, and what the other claim says."""
    fixed, regressed = comparison.counts[PairChange.FIXED], comparison.counts[PairChange.REGRESSED]
    unchanged = comparison.cases - fixed - regressed
    other = READINGS[comparison.for_queries_like_these.verdict].lower()
    changed = f"{count(fixed, 'case')} fixed, {regressed:,} regressed, {unchanged:,} unchanged"
    return f"{changed}. For queries like these: {other}."


def _detail(comparison: BatchComparison) -> str:
    lines = [_rates_text("Correct call", comparison.correct_call), _rates_text("Correct tool", comparison.correct_tool)]
    if comparison.icc is not None and comparison.run_pairs > comparison.cases:
        repeats = comparison.run_pairs / comparison.cases
        worth = repeats / (1 + (repeats - 1) * comparison.icc)
        lines.append(f"{repeats:.0f} repeats here are worth {worth:.1f} cases (ICC {comparison.icc:.2f})")
    return "\n".join(lines)


def _rates_text(what: str, share: ShareChange) -> str:
    if share.difference.value is None:
        return f"{what}: no cases to compare"
    gap = percent_points(share.difference.value, share.difference.low, share.difference.high)
    return f"{what}: {share_text(share.before)} before, {share_text(share.after)} now; {gap}"


def _table(comparison: BatchComparison) -> DataTable:
    rows = tuple((WORDS[change], number) for change, number in comparison.counts.items())
    return DataTable(name="Comparison", columns=("Change", "Cases"), rows=rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    """One case as a row: what changed, the query, and on both sides the choice of the run to look at."""

    change: PairChange
    word: str
    query: str
    before: str
    after: str
    before_mark: RunMark | None
    after_mark: RunMark | None
    model: str


def pair_row(compared: ComparedRuns) -> PairRow:
    """Return a pair as text."""
    one, pair = compared.after or compared.before, compared.pair
    return PairRow(
        change=pair.change,
        word=WORDS[pair.change],
        query=" ".join(one.query.split()) if one else "",
        before=_choice(compared.before, pair.before),
        after=_choice(compared.after, pair.after),
        before_mark=_mark(compared.before, pair.before),
        after_mark=_mark(compared.after, pair.after),
        model=model_name(one.model) if one else "",
    )


def by_column(compared: Sequence[ComparedRuns], column: str, *, down: bool) -> tuple[CasePair, ...]:
    """Sort pairs by a column; equal ones keep their order."""

    def place(one: ComparedRuns) -> tuple[int, str]:
        row = pair_row(one)
        said = {"query": row.query, "before": row.before, "after": row.after}.get(column, "")
        return _FIRST.index(row.change) if column == "change" else 0, said.casefold()

    return tuple(one.pair for one in sorted(compared, key=place, reverse=down))


def _choice(run: RunSummary | None, side: CaseSide | None) -> str:
    """Return what the run to look at selected, and how many of several runs passed."""
    if run is None or side is None:
        return "not run"
    if run.status is not RunStatus.COMPLETED:
        return run.failure.message if run.failure else run.status.value
    passed = f" ({side.passed:,} of {side.judged:,})" if side.judged > 1 else ""
    return (run.selected_tool or run.selected or "no tool") + passed


def _mark(run: RunSummary | None, side: CaseSide | None) -> RunMark | None:
    """Return the mark of the run to look at; None where only some of several runs passed."""
    mixed = side is not None and 0 < side.passed < side.judged
    return None if run is None or mixed else run.mark
