"""Steering of a trial's batch: plans its runs round by round, and ends it when the decision has come."""

from collections.abc import Mapping, Sequence

from mcp_tef.model.cases import TestCase
from mcp_tef.model.ids import BatchId, CaseId, RunId, new_id
from mcp_tef.model.runs import Arm, ModelSettings, PlannedRun, RunResult
from mcp_tef.ports import RunStore
from mcp_tef.workflows.trial_record import FRESH_ROUND, TrialRecord, TrialRun
from mcp_tef.workflows.trial_tools import TrialTools


class TrialSteering:
    """Plans the passes of a trial from its record; satisfies `RunSteering`."""

    def __init__(
        self,
        record: TrialRecord,
        tools: TrialTools,
        cases: Mapping[CaseId, TestCase],
        settings: Mapping[Arm, ModelSettings],
        store: RunStore,
        batch_id: BatchId | None = None,
    ) -> None:
        self.record = record
        self.tools = tools
        self.cases = cases
        self.batch_id = batch_id
        self.settings = settings
        self._store = store

    def begin(self, batch_id: BatchId, models: Sequence[ModelSettings]) -> None:
        """Note the batch that the trial is, and the settings that its runs are done with."""
        self.batch_id, self.settings = batch_id, self.record.plan.arms(models)

    def left(self, runs: Sequence[PlannedRun]) -> tuple[PlannedRun, ...]:
        """Return those of the runs without a verdict that are still needed, and note what they will be offered."""
        kept = tuple(run for run in runs if not self.record.stopped or run.repeat >= FRESH_ROUND)
        self.tools.expect(kept)
        return kept

    @property
    def is_over(self) -> bool:
        """True if no further run is to be planned."""
        return not self.record.due()

    def hear(self, run: PlannedRun, result: RunResult) -> bool:
        """Take in a result; return True if the rest of the pass is not needed."""
        mark = result.verdict.mark if result.verdict else None
        self.record.end(run.id, mark, result.failure.code if result.failure else "")
        return run.repeat < FRESH_ROUND and self.record.rest_is_idle

    async def next_runs(self) -> Sequence[PlannedRun]:
        """Store and return the runs of the next pass; none at the end."""
        planned = [
            PlannedRun(
                id=RunId(new_id()),
                case_id=case_id,
                settings=self.settings[arm],
                repeat=round_,
                batch_id=self.batch_id,
                arm=arm,
                place=place,
            )
            for case_id, arm, round_, place in self.record.planned_runs(self.record.due())
        ]
        if planned and self.batch_id:
            await self._store.add_runs(self.batch_id, planned)
        for run in planned:
            if run.arm is not None and run.place is not None:
                self.record.put(TrialRun(run.id, run.case_id, run.arm, run.repeat, run.place))
        self.tools.expect(planned)
        return planned
