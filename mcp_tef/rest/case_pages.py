"""Pages of test cases as JSON, kept until a case changes here or another program writes to the workspace."""

import asyncio
import os
from collections import OrderedDict
from typing import Final, TypeAlias

from mcp_tef import CasesChanged, Engine, Event, TestCase
from mcp_tef.rest.parameters import page_of
from mcp_tef.rest.schemas import AnswerPage, CaseAnswer, case_answer

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
        self._pages: OrderedDict[tuple[_Choice, int, int], bytes] = OrderedDict()
        self._reading = asyncio.Lock()
        self._files = (os.fspath(engine.workspace), f"{engine.workspace}-wal")
        engine.subscribe(self._hear)

    async def page(self, suites: tuple[str, ...], tags: tuple[str, ...], limit: int, offset: int) -> bytes:
        """Return the page as JSON."""
        place = ((suites, tags), limit, offset)
        if self._current() and place in self._pages:
            return self._pages[place]
        async with self._reading:
            if not self._current():
                self._pages.clear()
                self._cases.clear()
                self._stamp = self._now()
            if place not in self._pages:
                await self._read(place)
            return self._pages[place]

    async def _read(self, place: tuple[_Choice, int, int]) -> None:
        choice, limit, offset = place
        if choice not in self._cases:
            self._cases = {choice: await self._engine.cases.list(suites=choice[0], tags=choice[1])}
        found = page_of(self._cases[choice], limit, offset)
        items = [case_answer(case) for case in found.items]
        page = AnswerPage[CaseAnswer](items=items, total=found.total, offset=offset, limit=limit)
        self._pages[place] = page.model_dump_json().encode()
        while len(self._pages) > 1 and sum(map(len, self._pages.values())) > MOST_BYTES:
            self._pages.popitem(last=False)

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
