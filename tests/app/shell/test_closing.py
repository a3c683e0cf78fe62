"""Closing names the work that would be stopped; at the end of the desktop session it waits, but not for ever."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog

from app.core_link.session import Session
from app.core_link.settings import Settings
from app.screens.cases.page import CasesPage
from app.screens.runs.page import RunsPage
from app.shell.process import Shutdown
from app.shell.workspace_controller import WorkspaceController
from app.widgets import Button, Dialog, FlowText
from mcp_tef import BatchId, BatchRequest, BatchStatus, ModelSettings
from tests.support.fake_engine import NEVER, FakeEngine
from tests.support.windows import opened_dialog, until
from tests.support.workbench import window, workbench

HOSTED = ModelSettings(provider="openai", model="gpt-4o-mini")
QUESTION = "Close while work is under way?"


@pytest.fixture
async def fake() -> FakeEngine:
    """The sample in memory, whose runs never end."""
    made = FakeEngine(pace=NEVER)
    await made.open_sample()
    return made


@pytest.fixture
async def bench(qapp: QApplication, fake: FakeEngine) -> AsyncIterator[WorkspaceController]:
    """The workbench over the sample."""
    async with workbench(fake) as made:
        yield made


async def asked(bench: WorkspaceController) -> Dialog:
    """The question that closing brings."""
    bench.frame.close()
    await until(lambda: bench.frame.findChildren(Dialog))
    return bench.frame.findChildren(Dialog)[0]


def said(sheet: Dialog) -> list[str]:
    """What the question says, line by line."""
    return [words.text() for words in sheet.findChildren(FlowText)]


def press(sheet: Dialog, text: str) -> None:
    """Press a button of the question."""
    next(one for one in sheet.findChildren(Button) if one.text() == text).click()


async def started(bench: WorkspaceController, name: str) -> BatchId:
    """A batch that is under way, or waits, and shows at the foot."""
    page = window(bench).page("runs")
    assert isinstance(page, RunsPage)
    batch = await window(bench).session.call(lambda core: core.runs.start(BatchRequest(name=name)))
    await until(lambda: any(name in bar.words() for bar in window(bench).session.activity.shown()))
    return batch.id


def never_ending(session: Session, what: str) -> "asyncio.Task[None]":
    """A long work of any other kind, that ends when it is stopped."""

    async def work() -> None:
        with suppress(asyncio.CancelledError):
            await session.call_long(what, lambda _: asyncio.Event().wait(), slow_s=0.0)

    return session.spawn(work())


async def test_every_kind_of_work_under_way_is_named_as_the_foot_of_the_window_names_it(
    bench: WorkspaceController,
) -> None:
    session = window(bench).session
    await started(bench, "First")
    await started(bench, "Second")
    works = ["Reading cases.csv", "Comparing tools", "Downloading the local model", "Asking gpt about 3 pairs"]
    tasks = [never_ending(session, what) for what in works]
    await until(lambda: len(session.activity.shown()) == 6)
    sheet = await asked(bench)
    assert sheet.windowTitle() == QUESTION
    lines = [line for line in said(sheet) if line.startswith("• ")]
    assert lines[0].startswith("• 0 of 4 · First")
    assert "Second" in lines[1]
    assert "waiting, next" in lines[1]
    assert lines[2:] == [f"• {what}" for what in works]
    sheet.reject()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks)


async def test_done_of_total_and_the_cost_so_far_are_told(qapp: QApplication) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    async with workbench(fake) as bench:
        session = window(bench).session
        session.activity.add().set_state(0.3, "12 of 40", ["All cases", "$0.04 of $1.00", "12 s left"])
        sheet = await asked(bench)
        assert "• 12 of 40 · All cases · $0.04 of $1.00 · 12 s left" in said(sheet)
        sheet.reject()


async def test_cancelling_the_question_leaves_everything_as_it_is(bench: WorkspaceController, fake: FakeEngine) -> None:
    await started(bench, "First")
    press(await asked(bench), "Cancel")
    await until(lambda: not bench.frame.findChildren(Dialog))
    assert (bench.frame.isVisible(), bench.frame.isMinimized()) == (True, False)
    assert len(fake.runs.active()) == 1


async def test_work_can_go_on_out_of_sight(bench: WorkspaceController, fake: FakeEngine) -> None:
    await started(bench, "First")
    press(await asked(bench), "Keep running, minimised")
    await until(bench.frame.isMinimized)
    assert (len(fake.runs.active()), fake.closed) == (1, False)


@pytest.mark.parametrize("batches", [1, 2])
async def test_what_is_stopped_can_be_resumed(bench: WorkspaceController, fake: FakeEngine, batches: int) -> None:
    ids = [await started(bench, f"Batch {number}") for number in range(batches)]
    press(await asked(bench), "Stop and close")
    await until(lambda: fake.closed)
    for batch_id in ids:
        assert (await fake.store.runs.batch(batch_id)).status is BatchStatus.INTERRUPTED
        assert len(await fake.store.runs.unfinished(batch_id)) == 4


async def test_another_workspace_is_not_opened_beside_work_that_goes_on(
    bench: WorkspaceController, tmp_path: Path
) -> None:
    await started(bench, "First")
    bench.workspaces.ask_new()
    (dialog,) = bench.frame.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(tmp_path / "other.mcp-tef"))
    dialog.close()
    sheet = await opened_dialog(bench.frame, Dialog)
    assert [one.text() for one in sheet.findChildren(Button)] == ["Cancel", "Stop and close"]
    sheet.reject()


async def test_closing_remembers_the_panes_of_the_screen_that_is_shown(qapp: QApplication) -> None:
    settings = Settings(None)
    settings.set("window.place", "cases")
    fake = FakeEngine()
    await fake.open_sample()
    async with workbench(fake, settings) as bench:
        page = window(bench).page("cases")
        assert isinstance(page, CasesPage)
        await until(page.view.editor.isVisible)
    assert all(settings.get("cases.split", []))
    assert len(settings.get("cases.split", [])) == 2


async def test_the_end_of_a_session_asks_nothing_and_closes_the_question_that_is_open(
    bench: WorkspaceController, fake: FakeEngine
) -> None:
    await started(bench, "First")
    await asked(bench)
    bench.end()
    await until(lambda: fake.closed)
    assert not bench.frame.isVisible()


CLOSING_MS, LONGEST_MS = 60, 1_000


class Desktop(QObject):
    """Stands in for the application, which nobody but Qt can have tell of a session's end."""

    commitDataRequest = Signal(object)  # noqa: N815 (Qt's name)


def end_session(closing_ms: int | None) -> float:
    """End a session whose window takes so long to close, None for ever; the seconds that the desktop waits."""
    ended: list[bool] = []

    def end() -> None:
        if closing_ms is not None:
            QTimer.singleShot(closing_ms, lambda: ended.append(True))

    desktop = Desktop()
    shutdown = Shutdown(end, lambda: bool(ended), LONGEST_MS)
    shutdown.follow(cast(QGuiApplication, desktop))
    began = time.monotonic()
    desktop.commitDataRequest.emit(None)
    return time.monotonic() - began


def test_a_session_ends_after_the_window_is_closed(qapp: QApplication) -> None:
    assert CLOSING_MS / 1000 <= end_session(CLOSING_MS) < LONGEST_MS / 1000


def test_a_session_does_not_wait_for_ever(qapp: QApplication) -> None:
    assert end_session(None) >= LONGEST_MS / 1000 * 0.9
