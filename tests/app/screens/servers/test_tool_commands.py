"""Commands on the selected tools of a server."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from app.core_link.settings import Settings
from app.core_link.targets import NewCases, ShowSimilarTools, ShowTool, ShowToolQuality, Target
from app.screens.kit import NO_FILTERS, SortState, ViewState
from app.screens.servers.page import ServersPage
from app.screens.servers.server_pane import EXCLUDED
from app.text.formatting import count
from mcp_tef import ToolLabel
from tests.support.fake_engine import SAMPLE_TOOLS, FakeEngine, made_tool
from tests.support.servers_page import Servers, page_over
from tests.support.windows import until

BARE = made_tool("ping", "", "Bike shop")
TOOLS = (*SAMPLE_TOOLS, BARE)
SHOP: Servers = {"Bike shop": TOOLS}
NAMES = ["search_bikes", "search_parts", "book_repair", "ping"]


@asynccontextmanager
async def tools_of_a_shop(fake: FakeEngine, settings: Settings | None = None) -> AsyncIterator[ServersPage]:
    """Show the page over the sample, once its tools are shown and nothing is under way."""
    async with page_over(fake, settings) as page:
        await page.session.call(lambda core: core.open_sample())
        await until(lambda: "Active" in page.presenter.state_summary(server) if (server := page.current()) else False)
        await page.settled()
        yield page


@pytest.fixture
async def page(qapp: QApplication) -> AsyncIterator[ServersPage]:
    """The page over the sample."""
    async with tools_of_a_shop(FakeEngine(SHOP)) as made:
        yield made


def chosen(page: ServersPage, *names: str) -> None:
    """Choose these tools as with Ctrl and clicks."""
    assert page.pane.tools.select_many(names)
    assert page.pane.side.selected_names() == names


def do(page: ServersPage, starts: str) -> None:
    """Choose from the menu of the chosen tools."""
    [action] = [one for one in page.tool_commands.actions() if one.text.startswith(starts)]
    assert action.enabled
    action.do()


def went(page: ServersPage) -> list[Target]:
    probe_summary: list[Target] = []
    page.session.navigated.connect(probe_summary.append)
    return probe_summary


def labels(*names: str) -> tuple[ToolLabel, ...]:
    return tuple(ToolLabel(tool=name, server="Bike shop") for name in names)


async def test_the_definitions_of_selected_tools_are_copied_as_a_list(
    page: ServersPage,
) -> None:
    page.pane.tools.select("search_bikes")
    page.pane.tools.setFocus()
    QTest.keyClick(page.pane.tools, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    do(page, "Copy 2 definitions as JSON")
    copied = json.loads(QGuiApplication.clipboard().text())
    assert copied == {"tools": [tool.raw for tool in SAMPLE_TOOLS[:2]]}
    chosen(page, "ping")
    do(page, "Copy the definition as JSON")
    assert json.loads(QGuiApplication.clipboard().text()) == BARE.raw


async def test_chosen_tools_lead_to_cases_quality_and_look_alikes_of_all_of_them(page: ServersPage) -> None:
    probe_summary = went(page)
    chosen(page, "search_parts")
    for verb in ("Write a test case", "Show quality", "Show look-alikes"):
        do(page, verb)
    [one] = labels("search_parts")
    assert probe_summary == [NewCases((one,)), ShowToolQuality((one,)), ShowSimilarTools((one,))]
    probe_summary.clear()
    two = ("search_bikes", "book_repair")
    chosen(page, *two)
    for verb in ("Write 2 test cases", "Show quality", "Compare the two"):
        do(page, verb)
    assert probe_summary == [
        NewCases(tuple(labels(*two))),
        ShowToolQuality(tuple(labels(*two))),
        ShowSimilarTools(tuple(labels(*two))),
    ]


async def test_the_menu_key_opens_the_menu_of_the_chosen_tools(page: ServersPage) -> None:
    chosen(page, "search_bikes", "ping")
    page.pane.tools.setFocus()
    QTest.keyClick(page.pane.tools, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    await until(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    texts = [entry.text() for entry in menu.actions()]
    menu.close()
    assert {"Write 2 test cases", "Leave out 2 tools", "Copy 2 rows"} <= set(texts)


async def test_excluded_tools_come_back_by_undo_or_from_their_own_list(
    page: ServersPage,
) -> None:
    side = page.pane.tools
    chosen(page, "search_bikes", "ping")
    side.setFocus()
    QTest.keyClick(side, Qt.Key.Key_Delete)
    rest = ["search_parts", "book_repair", EXCLUDED]
    await until(lambda: side.rows.ids() == rest and page.session.can_undo())
    server = page.current()
    assert server is not None
    assert server.spec.disallowed_tools == ("search_bikes", "ping")
    page.session.undo()
    await until(lambda: side.rows.ids() == NAMES)
    page.session.redo()
    await until(lambda: side.rows.ids() == rest)
    side.select(EXCLUDED)
    names = page.pane.tool_pane.left_out
    await until(lambda: names.isVisible() and names.list.rows.ids() == ["search_bikes", "ping"])
    names.list.select("ping")
    names.list.setFocus()
    QTest.keyClick(names.list, Qt.Key.Key_Return)
    await until(lambda: side.rows.ids() == ["search_parts", "book_repair", "ping", EXCLUDED])
    names.again.click()
    await until(lambda: side.rows.ids() == NAMES)


async def test_filter_and_order_of_tools_hold_are_told_and_are_there_at_the_next_start(qapp: QApplication) -> None:
    settings = Settings(None)

    async with tools_of_a_shop(FakeEngine(SHOP), settings) as page:
        page.show_tools_view(ViewState(filters=NO_FILTERS.with_values("only", "undescribed")))
        assert page.pane.tools.rows.ids() == ["ping"]
        assert page.pane.side.title() == "1 of 4 tools"
        page.show_tools_view(ViewState(sort=SortState("name")))
        assert page.pane.tools.rows.ids() == sorted(NAMES)

    async with tools_of_a_shop(FakeEngine(SHOP), settings) as page:
        assert page.pane.tools.rows.ids() == sorted(NAMES)
        page.show_tools_view(ViewState(filters=NO_FILTERS.with_values("only", "changed")))
        assert page.pane.tools.rows.ids() == []
        page.open_target(ShowTool(ToolLabel(tool="ping", server="Bike shop")))
        assert page.pane.tools.current_id() == "ping"


async def test_tools_sorted_by_tokens_show_them(page: ServersPage) -> None:
    page.show_tools_view(ViewState(sort=SortState("weight")))
    rows = page.pane.tools.rows
    await until(lambda: rows.row(0).right)
    weights = [int(shown.text) for place in range(4) if (shown := rows.row(place).right)]
    assert weights == sorted(weights, reverse=True)
    assert len(weights) == len(TOOLS)


async def test_only_one_tool_at_a_time_can_be_tried(page: ServersPage) -> None:
    chosen(page, *NAMES)
    off = [action.text for action in page.tool_commands.actions() if not action.enabled]
    assert off == ["Call…", "Edit in Workshop"]
    assert f"Leave out {count(4, 'tool')}" in [action.text for action in page.tool_commands.actions()]


async def test_tools_that_are_left_out_one_after_the_other_without_a_pause_are_all_left_out_and_all_come_back(
    qapp: QApplication,
) -> None:
    async def left_out(page: ServersPage) -> tuple[str, ...]:
        [server] = await page.session.call(lambda core: core.servers.list())
        return server.spec.disallowed_tools

    async with tools_of_a_shop(FakeEngine(SHOP)) as page:
        for name in ("search_bikes", "ping", "ping"):
            chosen(page, name)
            page.tool_commands.exclude()
        await until(lambda: page.session.undo_words() == "Undo leave out ping")
        await page.session.begun()
        assert await left_out(page) == ("search_bikes", "ping")
        page.session.undo()
        page.session.undo()
        await page.session.undone()
        assert await left_out(page) == ()
        assert not page.session.can_undo()


async def test_what_was_changed_since_stays_when_tools_are_offered_again(page: ServersPage) -> None:
    chosen(page, "ping")
    page.tool_commands.exclude()
    await until(page.session.can_undo)
    [server] = await page.session.call(lambda core: core.servers.list())
    slower = replace(server.spec, command="another")
    await page.session.call(lambda core: core.servers.edit(server.id, slower))
    page.session.undo()
    await page.session.undone()
    [server] = await page.session.call(lambda core: core.servers.list())
    assert (server.spec.command, server.spec.disallowed_tools) == ("another", ())
