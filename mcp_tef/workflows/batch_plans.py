"""Batches that go on: they ask what they planned, whatever the cases and servers say by now."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from mcp_tef.model.cases import TestCase
from mcp_tef.model.comparison import AnsweredRun
from mcp_tef.model.ids import BatchId, CaseId
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import PlannedRun
from mcp_tef.model.tools import Snapshot
from mcp_tef.ports import Store
from mcp_tef.trust.field_changes import same

PlannedTools = Mapping[tuple[str, ...], Snapshot]
"""The tools that a batch offered, by the names of the servers."""


async def cases_as_planned(
    store: Store, batch_id: BatchId, ids: Collection[CaseId]
) -> tuple[tuple[TestCase, ...], PlannedTools]:
    """Return the cases of some runs of a batch as it began to ask them, and the tools that it offered."""
    planned = await store.runs.planned_cases(batch_id)
    cases = await store.cases.select(ids=sorted(ids)) if ids else ()
    asked = tuple(replace(case, draft=planned[case.id].of(case.draft)) for case in cases if case.id in planned)
    return asked, {one.servers: one.snapshot for one in planned.values() if one.snapshot}


async def changed_since_planned(store: Store, batch_id: BatchId) -> tuple[str, ...]:
    """Return the names of the cases that say something else by now than the batch asks."""
    planned = await store.runs.planned_cases(batch_id)
    cases = await store.cases.select(ids=sorted(planned)) if planned else ()
    return tuple(case.name for case in cases if not _asks_the_same(case, planned[case.id].of(case.draft)))


async def answered_repeats(
    store: Store, batch_id: BatchId, runs: Sequence[PlannedRun]
) -> Mapping[tuple[CaseId, str], Sequence[AnsweredRun]]:
    """Return the answered repeats of these runs' cases and models in the batch."""
    of_batch = await store.runs.runs(RunFilter(batch_id=batch_id))
    again = {(run.case_id, run.settings.asked) for run in runs}
    groups = {run.id: group for run in of_batch if run.mark and (group := (run.case_id, run.model)) in again}
    found: defaultdict[tuple[CaseId, str], list[AnsweredRun]] = defaultdict(list)
    for run in await store.runs.answered(list(groups)):
        found[groups[run.id]].append(run)
    return found


def _asks_the_same(case: TestCase, asked: object) -> bool:
    return all(same(getattr(case.draft, name), getattr(asked, name)) for name in ("query", "expectation", "before"))
