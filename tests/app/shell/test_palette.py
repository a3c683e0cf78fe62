"""The palette does commands, says why some cannot be done, and goes to what has the typed name."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QWidget

from app.core_link.commands import Command
from app.core_link.session import Session
from app.core_link.targets import ShowTool, StartRuns, Target
from app.screens.runs.dialogs import StartDialog
from app.screens.servers.server_dialog import ServerDialog
from app.shell.main_window import MainWindow
from app.shell.palette import Palette
from app.shell.screen_specs import screens
from mcp_tef import BatchRequest, ToolLabel
from tests.support.fake_engine import FakeEngine
from tests.support.window_tour import overlays
from tests.support.windows import opened_dialog, session_for, shown, until
from tests.support.workbench import window, workbench


def opened(session: Session) -> tuple[Palette, QWidget]:
    host = QWidget()
    shown(host)
    palette = Palette(session, host)
    palette.open_centred(host)
    return palette, host


def titles(palette: Palette) -> list[str]:
    return [palette.list.rows.row(place).title for place in range(palette.list.rows.rowCount())]


def deeds(done: list[str]) -> list[Command]:
    return [
        Command(id="a", text="Add a server", do=lambda: done.append("a")),
        Command(id="b", text="Compare", do=lambda: done.append("b"), needs=lambda: False, unless="Select two batches"),
        Command(id="c", text="Copy", do=lambda: done.append("c")),
    ]


async def test_what_was_done_last_comes_first_and_what_cannot_be_done_last_with_the_reason(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        done: list[str] = []
        session.commands.put("page", deeds(done))
        palette, host = opened(session)
        assert titles(palette) == ["Add a server", "Copy", "Compare"]
        assert palette.list.rows.row(2).right == "Select two batches"
        QTest.keyClicks(palette.search, "compare")
        QTest.keyClick(palette.search, Qt.Key.Key_Return)
        assert (done, palette.isVisible()) == ([], True)
        palette.search.setText("copy")
        QTest.keyClick(palette.search, Qt.Key.Key_Return)
        assert done == ["c"]
        palette, host = opened(session)
        assert titles(palette) == ["Copy", "Add a server", "Compare"]
        palette.close()
        host.close()


async def test_a_tool_is_gone_to_by_its_name(qapp: QApplication) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    for server in await fake.servers.list():
        await fake.servers.check(server.id)
    async with session_for(fake) as (session, _):
        session.commands.put("page", deeds([]))
        went: list[Target] = []
        session.navigated.connect(went.append)
        palette, host = opened(session)
        QTest.keyClicks(palette.search, "book_rep")
        await until(lambda: titles(palette) == ["book_repair"])
        QTest.keyClick(palette.search, Qt.Key.Key_Return)
        assert went == [ShowTool(ToolLabel(tool="book_repair", server="Bike shop"))]
        host.close()


async def test_every_command_is_offered_on_every_screen_the_possible_ones_first(qapp: QApplication) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    async with workbench(fake) as bench:
        inside = window(bench)
        await until(inside.is_built)
        offered: dict[str, set[str]] = {}
        for place in screens():
            inside.show_screen(place.key)
            await inside.page(place.key).settled()
            palette = inside.show_palette()
            rows = [palette.list.rows.row(number) for number in range(palette.list.rows.rowCount())]
            offered[place.key] = {row.id for row in rows}
            assert [row.off for row in rows] == sorted(row.off for row in rows), place.key
            palette.search.setText("the")
            assert not palette.list.rows.row(0).off
            palette.close()
        everything = set.union(*offered.values())
        missing = {key: everything - ids for key, ids in offered.items() if ids != everything}
        assert missing == {}
        assert {"runs.start", "quit", "servers.add", "cases.new"} <= everything


async def test_a_command_of_another_screen_goes_there_and_is_done(qapp: QApplication) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    async with workbench(fake) as bench:
        inside = window(bench)
        await until(inside.is_built)
        inside.show_screen("quality")
        palette = inside.show_palette()
        QTest.keyClicks(palette.search, "add a server")
        QTest.keyClick(palette.search, Qt.Key.Key_Return)
        assert inside.current == "servers"
        dialog = await opened_dialog(bench.frame, ServerDialog)
        dialog.reject()


async def test_the_form_of_runs_opens_anywhere_and_cancel_leaves_the_user_where_they_were(qapp: QApplication) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    async with workbench(fake) as bench:
        inside = window(bench)
        await until(inside.is_built)
        for place in screens():
            inside.show_screen(place.key)
            await inside.page(place.key).settled()
            inside.activateWindow()
            await until(inside.isActiveWindow)
            had = inside.navigation.findChildren(QAbstractButton)[0]
            had.setFocus(Qt.FocusReason.TabFocusReason)
            QTest.keyClick(inside, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
            dialog = await opened_dialog(bench.frame, StartDialog)
            QTest.keyClick(dialog, Qt.Key.Key_Escape)
            await until(lambda: not bench.frame.findChildren(StartDialog))
            assert inside.current == place.key
            inside.activateWindow()
            await until(had.hasFocus)
        inside.show_screen("quality")
        inside.go(StartRuns())
        dialog = await opened_dialog(bench.frame, StartDialog)
        dialog.run.click()
        await until(lambda: inside.current == "runs")


async def test_ctrl_q_closes_the_window(qapp: QApplication) -> None:
    async with workbench(FakeEngine()) as bench:
        inside = window(bench)
        bench.frame.set_content(inside)
        inside.activateWindow()
        await until(inside.isActiveWindow)
        closed: list[bool] = []

        def refuse() -> bool:
            closed.append(True)
            return False

        bench.frame.on_close = refuse
        QTest.keyClick(inside, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)
        assert closed == [True]


async def test_enter_presses_the_focused_button_of_the_window(qapp: QApplication) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    async with workbench(fake) as bench:
        inside = window(bench)
        inside.show_screen("servers")
        await until(inside.is_built)
        cases = next(one for one in inside.navigation.findChildren(QAbstractButton) if "Test cases" in one.text())
        cases.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(cases, Qt.Key.Key_Return)
        await until(lambda: inside.current == "cases")


async def test_every_possible_command_can_be_given_from_another_screen(qapp: QApplication) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    async with workbench(fake) as bench:
        inside = window(bench)
        await until(inside.is_built)
        batch = await inside.session.call(lambda core: core.runs.start(BatchRequest()))
        await inside.session.call(lambda core: core.runs.wait(batch.id))
        inside.show_screen("runs")
        await inside.page("runs").settled()
        failures: list[str] = []
        inside.session.failed.connect(lambda *words: failures.append(str(words)))
        done: set[str] = set()
        offered = [(place.key, one.id) for place in screens() for one in inside.page(place.key).commands()]
        for key, command in sorted(offered, key=lambda one: one[1].endswith((".delete", ".remove"))):
            if await gave(inside, "quality" if key == "servers" else "servers", command):
                done.add(command)
            assert failures == [], command
        assert len(done) > len(offered) / 2
        assert {"servers.add", "cases.new", "runs.export", "metrics.export", "quality.ask"} <= done


async def gave(inside: MainWindow, away: str, command: str) -> bool:
    """Give a command in the palette of a screen that is not its own, if it is possible, and close what it opens."""
    inside.show_screen(away)
    palette = inside.show_palette()
    row = palette.list.rows.place(command)
    assert row is not None, command
    if palette.list.rows.row(row).off:
        palette.close()
        return False
    palette.list.select(command)
    QTest.keyClick(palette.search, Qt.Key.Key_Return)
    assert not palette.isVisible(), command
    await inside.page(inside.current).settled()
    for over in overlays(inside):
        (over.reject if isinstance(over, QDialog) else over.close)()
    await until(lambda: not [one for one in overlays(inside) if isinstance(one, QDialog)])
    return True
