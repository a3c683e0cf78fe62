"""Work of another process is on the screen after one look, ends with its process, and is not asked about at the end."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QFileDialog

from app.screens.cases.page import CasesPage
from app.screens.runs.page import RunsPage
from app.shell.other_processes import OtherProcessesWatch
from app.shell.work_questions import may_stop
from app.shell.workspace_controller import WorkspaceController
from app.widgets import Button
from mcp_tef import BatchStatus
from mcp_tef.storage.store import SqliteStore, open_store
from tests.support.displayed_text import drawn
from tests.support.windows import until
from tests.support.workbench import window, workbench
from tests.support.workspace_files import draft, fill, right, rows

SHOWN_WITHIN_MS = 2_000


@pytest.fixture
async def other(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    """The workspace as another process has it open, with a case."""
    store = await open_store(tmp_path / "work.db")
    await store.cases.add([draft("first", tool=None, servers=())])
    yield store
    await store.close()


@pytest.fixture
async def bench(qapp: QApplication, other: SqliteStore, tmp_path: Path) -> AsyncIterator[WorkspaceController]:
    """The window on the same workspace."""
    async with workbench(workspace=tmp_path / "work.db") as made:
        yield made


async def look(bench: WorkspaceController) -> None:
    """Look as the window does once a second."""
    watch = window(bench).session.findChild(OtherProcessesWatch)
    assert isinstance(watch, OtherProcessesWatch)
    await watch.look()


async def test_a_case_that_another_process_adds_is_in_the_list(bench: WorkspaceController, other: SqliteStore) -> None:
    await look(bench)
    window(bench).show_screen("cases")
    page = window(bench).page("cases")
    assert isinstance(page, CasesPage)
    await until(lambda: page.presenter.total == 1)
    await other.cases.add([draft("second", tool=None, servers=())])
    await look(bench)
    await until(lambda: page.presenter.total == 2)


async def test_each_look_is_followed_by_one_within_half_of_two_seconds(
    bench: WorkspaceController, other: SqliteStore
) -> None:
    """One look shows what is new, so that the rest of the two seconds is left for showing it."""
    watch = window(bench).session.findChild(OtherProcessesWatch)
    assert isinstance(watch, OtherProcessesWatch)
    timer = watch.findChild(QTimer)
    assert isinstance(timer, QTimer)
    for name in ("second", "third"):
        assert (timer.isActive(), timer.interval() <= SHOWN_WITHIN_MS / 2) == (True, True)
        await other.cases.add([draft(name, tool=None, servers=())])
        timer.stop()
        await watch.look()
    assert timer.isActive()


async def test_a_batch_of_another_process_is_shown_and_not_asked_about(
    bench: WorkspaceController, other: SqliteStore
) -> None:
    window(bench).show_screen("runs")
    page = window(bench).page("runs")
    assert isinstance(page, RunsPage)
    await look(bench)
    filled = await fill(other, repeats=2)
    await look(bench)
    await until(lambda: "0 of 2, running in another program" in drawn(page))
    await other.runs.finish([right(filled.runs[0])])
    await look(bench)
    await until(lambda: "1 of 2, running in another program" in drawn(page))
    assert not window(bench).session.activity.shown()
    assert "Cancel batch" not in {button.text() for button in page.findChildren(Button) if button.isVisible()}
    assert await may_stop(bench.frame, window(bench).session)
    await other.runs.finish([right(filled.runs[1])])
    await other.runs.set_batch_status(filled.batch.id, BatchStatus.COMPLETED)
    await look(bench)
    await until(lambda: "another program" not in drawn(page) and "2/2" in drawn(page))


async def test_a_workspace_that_was_deleted_is_said_to_be_and_can_be_saved_elsewhere(
    bench: WorkspaceController, other: SqliteStore, tmp_path: Path
) -> None:
    await look(bench)
    (tmp_path / "work.db").unlink()
    await look(bench)
    offer = window(bench).offer
    await until(lambda: "is gone while it was open" in drawn(offer))
    (save,) = [button for button in offer.findChildren(Button) if button.text() == "Save a copy…"]
    save.click()
    (dialog,) = bench.frame.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(tmp_path / "copy.mcp-tef"))
    dialog.reject()
    await until(lambda: bench.workspaces.current == tmp_path / "copy.mcp-tef")
    assert rows(tmp_path / "copy.mcp-tef", "SELECT name FROM test_cases") == [("first",)]
