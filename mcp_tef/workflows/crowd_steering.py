"""Steering of a crowd test's batch: plans its runs pass by pass, and leaves out sizes that are decided."""

from collections.abc import Mapping, Sequence

import numpy as np

from mcp_tef.model.cases import TestCase
from mcp_tef.model.ids import BatchId, CaseId, RunId, new_id
from mcp_tef.model.runs import ModelSettings, PlannedRun, RunResult
from mcp_tef.ports import RunStore
from mcp_tef.workflows.crowd_plan import CrowdPlan
from mcp_tef.workflows.crowd_record import CrowdRecord, CrowdRun
from mcp_tef.workflows.crowd_tools import CrowdTools


class CrowdSteering:
    """Plans the passes of a test from its record; satisfies `RunSteering`."""

    def __init__(
        self,
        plan: CrowdPlan,
        families: Sequence[int],
        tools: CrowdTools,
        cases: Mapping[CaseId, TestCase],
        store: RunStore,
    ) -> None:
        self.plan = plan
        self.tools = tools
        self.cases = cases
        self.batch_id: BatchId | None = None
        self._families = families
        self._settings: dict[str, ModelSettings] = {}
        self._store = store
        self.record = CrowdRecord(plan, families, ())

    def begin(self, batch_id: BatchId, models: Sequence[ModelSettings]) -> None:
        """Note the batch that the test is, and the settings that its runs are done with."""
        self.batch_id = batch_id
        self._settings = {one.label: one for one in models}
        self.record = CrowdRecord(self.plan, self._families, list(self._settings))

    def left(self, runs: Sequence[PlannedRun]) -> tuple[PlannedRun, ...]:
        """Return the runs without a verdict, and note what they will be offered."""
        self.tools.expect(runs)
        return tuple(runs)

    @property
    def is_over(self) -> bool:
        """True if no further run is to be planned."""
        self.record.advance()
        return not self.record.due()

    def hear(self, run: PlannedRun, result: RunResult) -> bool:
        """Take in a result; a pass is always asked to its end."""
        del run
        self.record.end(result)
        return False

    async def next_runs(self) -> Sequence[PlannedRun]:
        """Store and return the runs of the next pass in a seeded order; none at the end."""
        self.record.advance()
        due = self.record.due()
        random = np.random.default_rng([self.plan.seed, len(self.record.runs)])
        planned = []
        for place, number in enumerate(random.permutation(len(due)).tolist()):
            model, cell, case_id = due[number]
            planned.append(
                PlannedRun(
                    id=RunId(new_id()),
                    case_id=case_id,
                    settings=self._settings[model],
                    repeat=self.plan.number(cell),
                    batch_id=self.batch_id,
                    place=place,
                )
            )
            self.record.put(CrowdRun(planned[-1].id, model, case_id, cell))
        if planned and self.batch_id:
            await self._store.add_runs(self.batch_id, planned)
        self.tools.expect(planned)
        return planned
