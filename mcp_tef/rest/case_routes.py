"""Operations on test cases and the run of one case, and pages of cases as JSON.

Pages are kept until a case changes here or another program writes to the workspace.
"""

import asyncio
import os
from collections import OrderedDict
from dataclasses import replace
from typing import Annotated, Final, TypeAlias

from fastapi import APIRouter, Query, Request, Response

from mcp_tef import BatchRequest, CaseId, CasesChanged, Engine, Event, RunFilter, TestCase
from mcp_tef.rest.parameters import EngineOf, KeyHeader, Limit, Offset, keys_of, page_of
from mcp_tef.rest.request_guard import AsgiApp, Message, Receive, Send
from mcp_tef.rest.run_schemas import RunAnswer, run_answer
from mcp_tef.rest.schemas import AnswerPage, CaseAnswer, CaseChange, CaseCreate, WithModel, case_answer

PATH: Final = "/test-cases"
MOST_PAGES: Final = 1_000
MOST_BYTES: Final = 32 * 1024 * 1024
_Stamp: TypeAlias = tuple[int, ...]
_Choice: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]


class CasePages:
    """Reads and serializes a page of cases once for all who ask for it: of 1,000 requests, few have other answers."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._changes = 0
        self._stamp: _Stamp = ()
        self._cases: dict[_Choice, tuple[TestCase, ...]] = {}
        self._pages: OrderedDict[bytes, bytes] = OrderedDict()
        self._reading = asyncio.Lock()
        self._files = (os.fspath(engine.workspace), f"{engine.workspace}-wal")
        engine.subscribe(self._hear)

    def kept(self, query: bytes) -> bytes | None:
        """Return the page that was read for a query string, unless something was written since."""
        return self._pages.get(query) if self._current() else None

    async def page(
        self, query: bytes, suites: tuple[str, ...], tags: tuple[str, ...], limit: int, offset: int
    ) -> bytes:
        """Return the page as JSON, and keep it under the query string that asked for it."""
        async with self._reading:
            if not self._current():
                self._pages.clear()
                self._cases.clear()
                self._stamp = self._now()
            if query not in self._pages:
                self._pages[query] = await self._read((suites, tags), limit, offset)
            found = self._pages[query]
            while len(self._pages) > 1 and self._are_too_many():
                self._pages.popitem(last=False)
            return found

    async def _read(self, choice: _Choice, limit: int, offset: int) -> bytes:
        if choice not in self._cases:
            self._cases = {choice: await self._engine.cases.list(suites=choice[0], tags=choice[1])}
        return page_of(self._cases[choice], limit, offset, case_answer).model_dump_json().encode()

    def _are_too_many(self) -> bool:
        return len(self._pages) > MOST_PAGES or sum(map(len, self._pages.values())) > MOST_BYTES

    def _hear(self, event: Event) -> None:
        self._changes += isinstance(event, CasesChanged)

    def _current(self) -> bool:
        return self._stamp == self._now()

    def _now(self) -> _Stamp:
        """Return what differs after each write, by this program or another one: the file and its log."""
        return (self._changes, *(part for file in self._files for part in _state(file)))


def _state(file: str) -> tuple[int, int]:
    try:
        status = os.stat(file)
    except OSError:
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)


class KeptPages:
    """Another ASGI app, which answers requests for pages that are kept: routing and checks take twice their time."""

    def __init__(self, app: AsgiApp, pages: CasePages) -> None:
        self._app = app
        self._pages = pages

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer from the pages, or hand the request on."""
        is_page = scope["type"] == "http" and (scope["method"], scope["path"]) == ("GET", PATH)
        page = self._pages.kept(scope["query_string"]) if is_page else None
        if page is None:
            await self._app(scope, receive, send)
        else:
            await Response(page, media_type="application/json")(scope, receive, send)


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
    draft = replace(case.draft, **body.fields())
    return case_answer(await engine.cases.edit(case.id, draft, seen=case.draft))


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
