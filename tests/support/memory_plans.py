"""What the batches of a workspace in memory planned."""

from collections.abc import Mapping, Sequence

from mcp_tef.model.batch_plans import PlannedCase
from mcp_tef.model.cases import TestCase
from mcp_tef.model.ids import CaseId, RunId, SnapshotId
from mcp_tef.model.runs import PlannedRun, RunResult, RunStatus, RunSummary
from mcp_tef.model.tools import Snapshot
from tests.support.memory_servers import NOW


def planned_cases(
    plans: Sequence[PlannedRun],
    asked: Mapping[RunId, TestCase],
    outcomes: Mapping[RunId, RunResult],
    snapshots: Mapping[SnapshotId, Snapshot],
    offered: Mapping[RunId, SnapshotId],
) -> dict[CaseId, PlannedCase]:
    """Return the cases of a batch as they were when it began."""
    found: dict[CaseId, PlannedCase] = {}
    for plan in plans:
        draft, outcome, known = asked[plan.id].draft, outcomes.get(plan.id), found.get(plan.case_id)
        seen = None if plan.settings.client else outcome and outcome.snapshot_id
        tools = snapshots.get(seen or offered.get(plan.id) or SnapshotId(""))
        found[plan.case_id] = PlannedCase(
            query=draft.query,
            expectation=draft.expectation,
            before=draft.before,
            snapshot=tools or (known.snapshot if known else None),
        )
    return found


def pending_row(plan: PlannedRun, case: TestCase) -> RunSummary:
    """Return the row of a run that is planned."""
    call = case.draft.expectation.first_call
    return RunSummary(
        id=plan.id,
        batch_id=plan.batch_id,
        case_id=case.id,
        case_name=case.name,
        query=case.draft.query,
        model=plan.settings.asked,
        repeat=plan.repeat,
        status=RunStatus.PENDING,
        expected=case.draft.expectation.label,
        expected_tool=call.tool if call else None,
        expected_server=call.server if call else None,
        created_at=NOW,
        arm=plan.arm,
        place=plan.place,
    )
