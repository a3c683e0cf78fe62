"""Compares two batches run by run, and two runs down to their settings and the tools as each saw them."""

import asyncio
from collections.abc import Iterator, Sequence

from mcp_tef.errors import InputError
from mcp_tef.model.comparison import BatchComparison, ComparedRuns, PairableRun, PairedBy, RunComparison, RunPair
from mcp_tef.model.ids import BatchId, RunId
from mcp_tef.model.runs import Batch
from mcp_tef.ports import RunStore
from mcp_tef.scoring.phrases import counted
from mcp_tef.scoring.run_differences import answer_changes, setting_changes, tool_changes, verdict_changes
from mcp_tef.statistics.run_pairing import paired_by, pairs, tested


class Compare:
    """Reads two of a kind and tells them apart; nothing is written."""

    def __init__(self, store: RunStore) -> None:
        self._store = store

    async def batches(self, before: BatchId, after: BatchId) -> BatchComparison:
        """Compare two batches run by run. Raises InputError and NotFoundError."""
        if before == after:
            raise InputError("A batch cannot be compared with itself.", hint="Choose two batches.")
        first, second = await self._store.batch(before), await self._store.batch(after)
        old, new = await self._store.outcomes(before), await self._store.outcomes(after)
        return await asyncio.to_thread(_comparison, first, second, old, new)

    async def pairs(self, wanted: Sequence[RunPair]) -> tuple[ComparedRuns, ...]:
        """Return both runs of some pairs, such as a page of a table, in their order; a run that is gone is None."""
        ids = [run_id for pair in wanted for run_id in (pair.before, pair.after) if run_id]
        found = await self._store.summaries(ids)
        return tuple(
            ComparedRuns(
                pair=pair,
                before=found.get(pair.before) if pair.before else None,
                after=found.get(pair.after) if pair.after else None,
            )
            for pair in wanted
        )

    async def runs(self, before: RunId, after: RunId) -> RunComparison:
        """Return two runs side by side, down to settings and definitions. NotFoundError."""
        first, second = await self._store.detail(before), await self._store.detail(after)
        changes, alike = await asyncio.to_thread(tool_changes, first.snapshot, second.snapshot)
        return RunComparison(
            before=first,
            after=second,
            settings=setting_changes(first.settings, second.settings),
            verdict=verdict_changes(first, second),
            answer=answer_changes(first.answer, second.answer),
            tools=changes,
            tools_alike=alike,
        )


def _comparison(before: Batch, after: Batch, old: Sequence[PairableRun], new: Sequence[PairableRun]) -> BatchComparison:
    by = paired_by(old, new)
    found = pairs(old, new, by)
    otherwise = sum(not pair.posed_alike for pair in found)
    return BatchComparison(
        before=before,
        after=after,
        paired_by=by,
        pairs=found,
        selection=tested(pair.change for pair in found),
        parameters=tested(pair.parameters for pair in found),
        posed_otherwise=otherwise,
        notes=tuple(_notes(by, otherwise, found)),
    )


def _notes(by: PairedBy, otherwise: int, found: Sequence[RunPair]) -> Iterator[str]:
    if by is PairedBy.CASE:
        yield "The batches asked different models, so runs are paired by case."
    if otherwise:
        yield (
            f"{counted(otherwise, 'pair was', 'pairs were')} asked or judged otherwise the second time: the case was "
            "edited in between. "
            "Judge both batches again to compare them by the same expectation."
        )
    if len({pair.case_id for pair in found}) < len(found):
        yield "Cases were run several times: what is said holds for these cases, and less surely for others."
