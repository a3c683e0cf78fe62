"""From a crowd that loses tools to the one selected instead, and to what a new server takes; without a mouse."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.screens.workshop.crowd_tab import CrowdTab
from app.screens.workshop.page import WorkshopPage
from app.screens.workshop.steal_tab import StealTab
from mcp_tef import ServerSpec, Transport
from tests.support.keyboard_user import CTRL, SHIFT, Keyboard, at_the_window
from tests.support.windows import until
from tests.support.workspace_files import written_tools

Key = Qt.Key


async def test_a_lost_tool_and_a_thief_are_found_by_keyboard(qapp: QApplication, tmp_path: Path) -> None:
    page_file = tmp_path / "crowd.html"
    async with at_the_window(tmp_path / "first.db") as user:
        await user.see("Open the sample")
        user.press(Key.Key_Return)
        await user.come_to("runs")
        await user.go(6, "workshop")
        await user.command("Show the crowd test")
        tab = user.screen("workshop", WorkshopPage).tabs.tab
        assert isinstance(tab, CrowdTab)
        await until(lambda: tab.presenter.estimate)
        assert "No model was asked" in tab.banner.claims[0].text()
        await ask_for_two_sizes(user, tab)
        await to_the_tool_selected_instead(user, tab)
        await user.command("Show the crowd test")
        user.press(Key.Key_E, CTRL | SHIFT)
        await user.save_as(page_file)
        await ask_what_a_server_takes(user, tmp_path)
    assert "<svg" in page_file.read_text("utf-8")


async def ask_for_two_sizes(user: Keyboard, tab: CrowdTab) -> None:
    """Type other sizes, and start the test."""
    await user.push("Options")
    await user.choose("Sizes")
    await user.see("Use these options")
    await user.tab_to("Numbers of other tools")
    user.type("10, 60")
    user.press(Key.Key_Return)
    await until(lambda: tab.presenter.sizes == (0, 10, 60) and len(tab.presenter.line) == 3)
    await user.wake()
    user.press(Key.Key_Return, CTRL)
    await until(lambda: tab.presenter.result and not tab.presenter.under_way)
    assert "60 other tools" in tab.banner.claims[0].text()


async def to_the_tool_selected_instead(user: Keyboard, tab: CrowdTab) -> None:
    """Walk to a point of the curve, list its wrong runs, and go from one to the Workshop."""
    await user.tab_to("Correct tool among other tools")
    user.press(Key.Key_Right, times=3)
    user.press(Key.Key_Return)
    await until(lambda: tab.presenter.point == 2)
    await until(lambda: tab.wrong.table.rows.ids() and tab.wrong.table.hasFocus())
    run = next(one for one in tab.presenter.wrong if one.selected_tool)
    tab.wrong.table.select(run.id)
    await user.push("Change ")
    page = user.screen("workshop", WorkshopPage)
    await until(page.view.rival.isVisible)
    assert run.selected_tool is not None
    assert run.selected_tool in page.view.rival.title.text()
    assert page.presenter.revision().name == run.expected_tool


async def ask_what_a_server_takes(user: Keyboard, folder: Path) -> None:
    """Add a server that claims in their words what the cases ask of another, and ask what it takes."""
    cases = await user.window.session.call(lambda core: core.cases.list())
    queries = [case.draft.query for case in cases if case.draft.expectation.first_call]
    tools = written_tools(folder, {f"do_{place}": query for place, query in enumerate(queries[:3])})
    spec = ServerSpec(name="Thief", transport=Transport.FILE, path=str(tools))
    server = await user.window.session.call(lambda core: core.servers.add(spec))
    await user.window.session.call(lambda core: core.servers.check(server.id))
    await user.go(1, "servers")
    user.window.page("servers").server_list.select(server.id)  # type: ignore[attr-defined]  # the Servers screen
    await user.command("Ask what the server takes from others")
    await user.come_to("workshop")
    tab = user.screen("workshop", WorkshopPage).tabs.tab
    assert isinstance(tab, StealTab)
    await until(lambda: tab.presenter.estimate)
    assert tab.presenter.server == "Thief"
    user.press(Key.Key_Return, CTRL)
    await until(lambda: tab.presenter.result and not tab.presenter.under_way)
    await until(lambda: tab.takers.rows.ids() and tab.cases.rows.ids())
