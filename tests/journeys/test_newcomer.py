"""A newcomer's paths in the real window, counted: clicks and entries to the first verdict, to its reason, to advice."""

import shlex
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QPlainTextEdit, QWidget

from app.screens.cases.page import CasesPage
from app.screens.runs.page import RunsPage
from app.screens.servers.server_dialog import ServerDialog
from app.screens.similarity.page import SimilarityPage
from app.shell.workspace_controller import WorkspaceController
from app.widgets import FlowText
from mcp_tef import BatchEnded, Classification, Event, RunEnded, RunFilter
from tests.support.command_line import command
from tests.support.keyboard_user import Keyboard
from tests.support.windows import until
from tests.support.workbench import window, workbench

LEFT = Qt.MouseButton.LeftButton


class Newcomer:
    """Somebody with a mouse, who types where the focus is; counts clicks and entries."""

    def __init__(self, bench: WorkspaceController) -> None:
        self._bench = bench
        self.clicks = self.entries = 0
        self.heard: list[Event] = []
        assert bench.session is not None
        bench.session.events.connect(self.heard.extend)

    async def click(self, text: str) -> None:
        """Click the button of this text, once it can be clicked."""

        def found() -> list[QAbstractButton]:
            buttons = self._bench.frame.findChildren(QAbstractButton)
            named = [one for one in buttons if one.text().rstrip("…") == text]
            return [one for one in named if one.isVisible() and one.isEnabled()]

        await until(found)
        QTest.mouseClick(found()[0], LEFT)
        self.clicks += 1

    async def enter(self, text: str, kind: type[QWidget]) -> None:
        """Type into the field that has the focus, without a click."""
        await Keyboard(self._bench).wake()
        await until(lambda: isinstance(QApplication.focusWidget(), kind))
        field = QApplication.focusWidget()
        assert field is not None
        QTest.keyClicks(field, text)
        self.entries += 1

    async def verdict(self, says: str) -> None:
        """Wait for a verdict in sight whose sentence says so."""
        await until(lambda: any(isinstance(event, RunEnded) for event in self.heard))
        page = window(self._bench).page("runs")
        assert isinstance(page, RunsPage)
        sentence = page.detail.verdict.head.sentence
        await until(lambda: sentence.isVisible() and says in sentence.text())


async def test_the_first_verdict_is_two_clicks_from_the_first_start_its_reason_one_more_and_advice_two(
    qapp: QApplication, tmp_path: Path
) -> None:
    async with workbench(workspace=tmp_path / "first.mcp-tef") as bench:
        user = Newcomer(bench)
        await user.click("Open the sample")
        await user.click("Run 30 cases offline")
        await user.verdict("")
        print(f"first verdict of the sample: {user.clicks} clicks, {user.entries} entries")
        assert (user.clicks, user.entries) == (2, 0)
        await until(lambda: any(isinstance(event, BatchEnded) for event in user.heard))
        inside = window(bench)
        runs, similarity = inside.page("runs"), inside.page("similarity")
        assert isinstance(runs, RunsPage)
        assert isinstance(similarity, SimilarityPage)
        await runs.settled()
        user.clicks = 0
        await click_a_confusion(user, runs)
        print(f"from a wrong run to its reason: {user.clicks} click")
        assert user.clicks == 1
        await user.click("Suggest better descriptions")
        await until(lambda: inside.current == "similarity" and similarity.view.pair.advice.copy.isVisible())
        print(f"from a wrong run to advice: {user.clicks} clicks")
        assert user.clicks == 2


async def test_the_first_verdict_on_an_own_server_takes_seven_clicks_and_two_entries_at_most(
    qapp: QApplication, tmp_path: Path
) -> None:
    async with workbench(workspace=tmp_path / "own.mcp-tef") as bench:
        user = Newcomer(bench)
        await user.click("Start empty")
        await user.click("Add server")
        await user.click("A command")
        await user.enter(shlex.join(command("sample-server")), QLineEdit)
        dialog = bench.frame.findChildren(ServerDialog)[0]
        program = shlex.split(dialog.fields.command.text())[0]
        await until(lambda: any(program in text.text() for text in dialog.findChildren(FlowText) if text.isVisible()))
        await user.click("Add and start")
        await user.click("Write a test case")
        await user.enter("Which spare parts for brakes do you have?", QPlainTextEdit)
        cases = window(bench).page("cases")
        assert isinstance(cases, CasesPage)
        assert cases.presenter.edited is not None
        assert cases.presenter.edited.form.calls[0].tool == "find_parts"
        await user.click("Run")
        await user.verdict("find_parts")
        print(f"first verdict on an own server: {user.clicks} clicks, {user.entries} entries")
        assert user.clicks <= 7
        assert user.entries <= 2
        await until(lambda: any(isinstance(event, BatchEnded) for event in user.heard))


async def click_a_confusion(user: Newcomer, page: RunsPage) -> None:
    """Click a run that selected another tool than the expected one, and wait for the reason."""
    wrong = await page.session.call(lambda core: core.runs.list(RunFilter(classifications=(Classification.FN,))))
    run = next(
        one for one in wrong if set((one.selected_tool or "").split("_")) & set((one.expected_tool or "").split("_"))
    )
    table = page.run_list.table
    await until(lambda: table.rows.place(run.id) is not None)
    place = table.rows.place(run.id)
    assert place is not None
    where = table.visualRect(table.rows.index(place, 1)).center()
    QTest.mouseClick(table.viewport(), LEFT, pos=where)
    user.clicks += 1
    await user.verdict(f"Selected {run.selected_tool}")
