"""Operations on test cases, and the run of one case."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from mcp_tef import BatchRequest, CaseId, RunFilter
from mcp_tef.rest.case_pages import PATH, CasePages
from mcp_tef.rest.parameters import EngineOf, KeyHeader, Limit, Offset, keys_of
from mcp_tef.rest.run_schemas import RunAnswer, run_answer
from mcp_tef.rest.schemas import AnswerPage, CaseAnswer, CaseChange, CaseCreate, WithModel, case_answer

router = APIRouter(prefix=PATH, tags=["test-cases"])


@router.post("", status_code=201)
async def create_case(engine: EngineOf, body: CaseCreate) -> CaseAnswer:
    """Add a test case; it names no model."""
    (case,) = await engine.cases.add([body.draft()])
    return case_answer(case)


@router.get("", response_model=AnswerPage[CaseAnswer])
async def list_cases(
    request: Request,
    suite: Annotated[list[str] | None, Query(description="only those in one of these suites")] = None,
    tag: Annotated[list[str] | None, Query(description="only those with one of these tags")] = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Response:
    """List the test cases, oldest first."""
    pages: CasePages = request.app.state.case_pages
    body = await pages.page(request.scope["query_string"], tuple(suite or ()), tuple(tag or ()), limit, offset)
    return Response(body, media_type="application/json")


@router.get("/{test_case_id}")
async def get_case(engine: EngineOf, test_case_id: str) -> CaseAnswer:
    """Return a test case."""
    return case_answer(await engine.cases.get(CaseId(test_case_id)))


@router.patch("/{test_case_id}")
async def update_case(engine: EngineOf, test_case_id: str, body: CaseChange) -> CaseAnswer:
    """Change a test case; its past runs keep their verdicts."""
    case = await engine.cases.get(CaseId(test_case_id))
    return case_answer(await engine.cases.edit(case.id, replace(case.draft, **body.fields())))


@router.delete("/{test_case_id}", status_code=204)
async def delete_case(engine: EngineOf, test_case_id: str) -> Response:
    """Delete a test case with its runs, unless a batch that is running asks it."""
    case = await engine.cases.get(CaseId(test_case_id))
    await engine.cases.require_idle([case.id])
    await engine.cases.remove([case.id])
    return Response(status_code=204)


@router.post("/{test_case_id}/run", tags=["test-runs"])
async def run_case(
    request: Request, engine: EngineOf, test_case_id: str, body: WithModel, key: KeyHeader = None
) -> RunAnswer:
    """List the tools of the case's servers, ask the model once, and return the judged run.

    A run whose server or model fails is an answer as well: its status is `failed`, with the reason.
    """
    model = body.model_settings.settings()
    case = await engine.cases.get(CaseId(test_case_id))
    async with request.app.state.single_runs:
        wanted = BatchRequest(cases=(case.id,), models=(model,))
        batch = await engine.runs.start(wanted, keys_of(engine, key, [model]))
        engine.runs.run_beside(batch.id)
        await engine.runs.wait(batch.id)
    (run,) = await engine.runs.list(RunFilter(batch_id=batch.id))
    return run_answer(run, await engine.runs.detail(run.id))
