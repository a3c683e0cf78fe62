"""Pages of test cases as JSON, kept until a case changes here or another program writes to the workspace."""

import asyncio
import os
from collections import OrderedDict
from typing import Final, TypeAlias

from fastapi import Response

from mcp_tef import CasesChanged, Engine, Event, TestCase
from mcp_tef.rest.parameters import page_of
from mcp_tef.rest.request_guard import AsgiApp, Message, Receive, Send
from mcp_tef.rest.schemas import AnswerPage, CaseAnswer, case_answer

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
        found = page_of(self._cases[choice], limit, offset)
        items = [case_answer(case) for case in found.items]
        page = AnswerPage[CaseAnswer](items=items, total=found.total, offset=offset, limit=limit)
        return page.model_dump_json().encode()

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
