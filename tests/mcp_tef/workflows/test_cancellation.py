"""Stopped work that is all or nothing: it leaves nothing, and every waiter is told."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from mcp_tef import CaseImportPreview, Engine
from mcp_tef.model.cancellation import CancellableWork, StoppedError
from mcp_tef.workflows.cancellation import to_its_end
from tests.support.workspace_files import written


class Doing:
    """Work that is under way until it may look whether it is still wanted."""

    def __init__(self) -> None:
        self.work = CancellableWork()
        self.began, self.may_go_on = asyncio.Event(), asyncio.Event()
        self.taken_back = False

    async def __call__(self) -> str:
        """Do it, or take it back."""
        self.began.set()
        await self.may_go_on.wait()
        try:
            self.work.step(1, 2)
        except StoppedError:
            self.taken_back = True
            raise
        return "done"


async def test_giving_up_again_does_not_leave_before_all_is_taken_back() -> None:
    doing = Doing()
    waiting = asyncio.ensure_future(to_its_end(doing.work, doing()))
    await doing.began.wait()
    for _ in range(2):
        waiting.cancel()
        await asyncio.sleep(0)
    left_early = waiting.done()
    doing.may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (left_early, doing.taken_back) == (False, True)


async def test_who_waits_on_hears_that_it_was_stopped_or_what_came_of_it() -> None:
    for stopped in (False, True):
        doing = Doing()
        doing.may_go_on.set()
        if stopped:
            doing.work.stop()
            with pytest.raises(StoppedError):
                await to_its_end(doing.work, doing())
        else:
            assert await to_its_end(doing.work, doing()) == "done"


MANY = 10_000


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    opened = await Engine.open(tmp_path / "work.db")
    yield opened
    await opened.close()


class Halfway:
    """Work that is half done does something once, on the thread of the work; `shares` is all that was told."""

    def __init__(self, then: Callable[[], object], *, at: float = 0.5) -> None:
        self.shares: list[float] = []
        self._then, self._at = then, at
        self.work = CancellableWork(self._hear)

    def _hear(self, share: float) -> None:
        self.shares.append(share)
        if share >= self._at and len([one for one in self.shares if one >= self._at]) == 1:
            self._then()


async def many_cases(engine: Engine, folder: Path, number: int = MANY) -> CaseImportPreview:
    cases = [{"query": f"Question {place}", "expected": None, "suites": ["Large"]} for place in range(number)]
    return await engine.case_files.preview(written(folder / "many.json", {"version": 1, "cases": cases}))


def heard(engine: Engine) -> list[object]:
    """Every event from now on."""
    events: list[object] = []
    engine.subscribe(events.append)
    return events


async def test_ten_thousand_cases_are_stopped_half_way_and_none_of_them_stays(engine: Engine, tmp_path: Path) -> None:
    preview = await many_cases(engine, tmp_path)
    events = heard(engine)
    half = Halfway(lambda: half.work.stop())
    with pytest.raises(StoppedError):
        await engine.case_files.apply(preview, work=half.work)
    assert 0.5 <= half.shares[-1] < 0.6
    assert (await engine.cases.list(), await engine.cases.suites(), events) == ((), (), [])


async def test_an_import_tells_how_far_it_is_from_none_to_all(engine: Engine, tmp_path: Path) -> None:
    half = Halfway(lambda: None)
    await engine.case_files.apply(await many_cases(engine, tmp_path, 600), work=half.work)
    assert half.shares == [0.0, 250 / 600, 500 / 600, 1.0]


class Noticed(CancellableWork):
    """Work that tells when it is to stop."""

    def __init__(self, told: Callable[[float], object]) -> None:
        super().__init__(told)
        self.noticed = Event()

    def stop(self) -> None:
        super().stop()
        self.noticed.set()


async def test_who_gives_up_waiting_takes_all_of_it_back(engine: Engine, tmp_path: Path) -> None:
    preview = await many_cases(engine, tmp_path, 1_000)
    loop = asyncio.get_running_loop()

    def give_up_half_way(share: float) -> None:
        if share == 0.5:
            loop.call_soon_threadsafe(importing.cancel)
            assert work.noticed.wait(30)

    work = Noticed(give_up_half_way)
    importing = asyncio.ensure_future(engine.case_files.apply(preview, work=work))
    with pytest.raises(asyncio.CancelledError):
        await importing
    assert await engine.cases.list() == ()


async def test_what_was_done_before_it_could_be_stopped_counts(engine: Engine, tmp_path: Path) -> None:
    preview = await many_cases(engine, tmp_path, 10)
    events = heard(engine)
    late = Halfway(lambda: late.work.stop(), at=1.0)
    report = await engine.case_files.apply(preview, work=late.work)
    assert (len(report.added), len(await engine.cases.list()), len(events)) == (10, 10, 1)


def bfcl_row(number: int) -> dict[str, Any]:
    function = {"name": f"area_{number}", "description": "An area.", "parameters": {"type": "dict", "properties": {}}}
    question = [[{"role": "user", "content": f"Question {number}"}]]
    return {"id": f"simple_{number}", "question": question, "function": [function], "ground_truth": [{"area": {}}]}


async def test_tools_files_that_came_with_stopped_cases_go_again(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(json.dumps(bfcl_row(number)) for number in range(4)), "utf-8")
    preview = await engine.case_files.preview(file)
    assert len(preview.servers) == 4
    half = Halfway(lambda: half.work.stop())
    with pytest.raises(StoppedError):
        await engine.case_files.apply(preview, work=half.work)
    assert [server.path for server in preview.servers if server.path.exists()] == []
    assert await engine.servers.list() == ()
    await engine.case_files.apply(preview)
    assert len(await engine.servers.list()) == 4


async def test_servers_of_a_stopped_import_are_not_kept(engine: Engine, tmp_path: Path) -> None:
    servers = {f"server-{number}": {"command": "uvx", "args": [f"tool-{number}"]} for number in range(40)}
    preview = await engine.server_files.preview(written(tmp_path / "mcp.json", {"mcpServers": servers}))
    events = heard(engine)
    half = Halfway(lambda: half.work.stop())
    with pytest.raises(StoppedError):
        await engine.server_files.apply(preview, work=half.work)
    assert (await engine.servers.list(), events, half.shares[-1]) == ((), [], 0.5)
