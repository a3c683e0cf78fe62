"""Operations on runs and their metrics, and the comparison of two batches."""

from datetime import UTC, datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query

from mcp_tef import (
    BatchId,
    CaseId,
    ConflictError,
    InputError,
    RunFilter,
    RunId,
    RunStatus,
    comparison_to_json,
    run_detail_to_json,
)
from mcp_tef.rest.parameters import EngineOf, Limit, Offset
from mcp_tef.rest.run_schemas import MetricsAnswer, ResultAnswer, RunAnswer, metrics_answer, result_answer, run_answer
from mcp_tef.rest.schemas import AnswerPage

FIRST_YEAR: Final = 1971
LAST_YEAR: Final = 9998
router = APIRouter(tags=["test-runs"])


@router.get("/test-runs")
async def list_runs(
    engine: EngineOf,
    test_case_id: str | None = None,
    batch_id: str | None = None,
    status: RunStatus | None = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> AnswerPage[RunAnswer]:
    """List runs, newest batch first."""
    where = RunFilter(
        case_id=CaseId(test_case_id) if test_case_id is not None else None,
        batch_id=BatchId(batch_id) if batch_id is not None else None,
        statuses=(status,) if status else (),
    )
    total = await engine.runs.count(where)
    runs = await engine.runs.list(where, limit=limit, offset=offset)
    return AnswerPage(items=[run_answer(run) for run in runs], total=total, offset=offset, limit=limit)


@router.get("/test-runs/{test_run_id}")
async def get_run(engine: EngineOf, test_run_id: str) -> RunAnswer:
    """Return a run with the settings of its model, never the key."""
    detail = await engine.runs.detail(RunId(test_run_id))
    return run_answer(detail.summary, detail)


@router.get("/test-runs/{test_run_id}/result")
async def get_result(engine: EngineOf, test_run_id: str) -> ResultAnswer:
    """Return the evaluation of a run that has ended with a verdict."""
    detail = await engine.runs.detail(RunId(test_run_id))
    if detail.verdict is None:
        hint = "GET /test-runs/{id} says why."
        raise ConflictError(f"The run is {detail.summary.status} and has no verdict.", hint=hint, code="no_verdict")
    return result_answer(detail.summary, detail.verdict)


@router.get("/test-runs/{test_run_id}/detail")
async def get_run_detail(engine: EngineOf, test_run_id: str) -> dict[str, Any]:
    """Return everything that was kept of a run, as `mcp-tef runs show --json` has it."""
    detail = await engine.runs.detail(RunId(test_run_id))
    shape: dict[str, Any] = run_detail_to_json(detail, {})
    return shape


@router.get("/metrics/summary", tags=["metrics"])
async def get_metrics(
    engine: EngineOf,
    test_case_ids: Annotated[str | None, Query(description="ids, separated by commas", max_length=500_000)] = None,
    batch_id: str | None = None,
    model: str | None = None,
    from_date: datetime | None = None,
    to_date: datetime | None = None,
) -> MetricsAnswer:
    """Return the metrics of all judged runs, or of those that pass the filter."""
    where = RunFilter(
        case_ids=tuple(CaseId(one.strip()) for one in (test_case_ids or "").split(",") if one.strip()),
        batch_id=BatchId(batch_id) if batch_id is not None else None,
        model=model,
        since=_aware(from_date),
        until=_aware(to_date),
    )
    return metrics_answer(await engine.metrics.summary(where))


def _aware(moment: datetime | None) -> datetime | None:
    """Return a moment in UTC; one without a time zone is in the machine's own. InputError for other years."""
    if moment is None:
        return None
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise InputError(f"The year {moment.year} is out of bounds.", hint=f"Use {FIRST_YEAR} to {LAST_YEAR}.")
    return moment.astimezone(UTC)


@router.get("/compare", tags=["batches"])
async def compare_batches(
    engine: EngineOf, before: str, after: str, must_hold: Annotated[list[str] | None, Query()] = None
) -> dict[str, Any]:
    """Compare two batches, as `mcp-tef compare --json` does; `must_hold` are ids of cases."""
    held = [(await engine.cases.get(CaseId(one))).id for one in must_hold or ()]
    ids = [(await engine.runs.batch(BatchId(one))).id for one in (before, after)]
    return comparison_to_json(await engine.compare.batches(ids[0], ids[1], held))
