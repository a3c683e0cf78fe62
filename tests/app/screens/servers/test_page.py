"""Servers screen as a user works with it."""

from dataclasses import replace
from functools import partial

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QPlainTextEdit, QWidget

from app.arguments.parameters import SchemaParameter
from app.core_link.settings import Settings
from app.core_link.targets import ShowServer
from app.screens.servers.page import ServersPage
from app.screens.servers.parameter_table import SchemaParameterTable
from app.screens.servers.server_dialog import ServerDialog
from app.screens.servers.server_form import ServerForm
from app.widgets import FlowText, Notice
from mcp_tef import AuthType, ServerError, ServerFault, ServerId, ServerStatus, ToolProblem
from tests.support.fake_engine import SAMPLE_TOOLS, FakeEngine, made_tool
from tests.support.fake_ports import command_server, http_server, tool
from tests.support.servers_page import page_over, visible_text
from tests.support.windows import opened_dialog, shown, until

EXITED = ServerError(ServerFault.EXITED, "Could not start mail: it ended.", hint="Look.", context={"exit_code": 3})
UNSIGNED = ServerError(ServerFault.UNAUTHORIZED, "desk wants you to sign in.", hint="Sign in to it.")
EVIL = made_tool("evil", "<img src='file:///etc/passwd'>\u202eevil", "desk")


async def test_an_empty_page_says_what_belongs_here(page: ServersPage) -> None:
    assert "No servers yet" in visible_text(page)


async def test_what_was_searched_for_narrows_the_servers_at_the_next_start(qapp: QApplication) -> None:
    fake, settings = FakeEngine({"desk": [tool("mail")], "files": [tool("read")]}), Settings(None)
    async with page_over(fake, settings) as page:
        await page.session.call(lambda core: core.servers.add(command_server()))
        await page.session.call(lambda core: core.servers.add(http_server()))
        await until(lambda: page.server_list.rows.rowCount() == 2)
        assert page.header.search is not None
        page.header.search.setText("files")
        await until(lambda: page.server_list.rows.rowCount() == 1)
    async with page_over(fake, settings) as page:
        assert page.header.searched_for == "files"
        assert page.server_list.rows.rowCount() == 1


async def test_a_server_shows_its_tools_as_a_reader_sees_them(page: ServersPage) -> None:
    await page.session.call(lambda core: core.open_sample())
    await until(lambda: page.pane.tools.rows.rowCount() == 3)
    read = visible_text(page)
    for words in (
        "Find bikes for sale by type, size or price.",
        "required",
        "at least 1 character",
        "No description",
    ):
        assert words in read
    raw = page.findChild(QPlainTextEdit)
    assert raw is not None
    assert '"search_bikes"' in raw.toPlainText()


@pytest.mark.parametrize("engine", [partial(FakeEngine, {"files": [tool("read")]})])
async def test_a_program_starts_only_after_the_whole_command_was_agreed_to(page: ServersPage, fake: FakeEngine) -> None:
    await page.session.call(lambda core: core.servers.add(command_server()))
    await until(lambda: page.pane.consent.isVisible())
    assert '1. "serve"\n2. "--all"' in visible_text(page)
    assert fake.gateway.asked == []
    page.pane.consent.agreed.emit()
    await until(lambda: page.pane.tools.rows.rowCount() == 1)
    assert fake.gateway.asked == ["files"]
    assert not page.pane.consent.isVisible()


@pytest.mark.parametrize("engine", [partial(FakeEngine, {"desk": EXITED})])
async def test_a_failure_says_why_and_counts_in_the_navigation(page: ServersPage) -> None:
    await page.session.call(lambda core: core.servers.add(http_server()))
    await until(lambda: page.pane.failure.isVisible())
    assert "Could not start mail: it ended." in visible_text(page)
    assert page.badge == 1


@pytest.mark.parametrize("engine", [partial(FakeEngine, {"desk": UNSIGNED})])
async def test_a_server_that_needs_a_sign_in_offers_it(page: ServersPage, fake: FakeEngine) -> None:
    signed = replace(http_server(), auth_type=AuthType.OAUTH2)
    await page.session.call(lambda core: core.servers.add(signed))
    await until(lambda: page.pane.failure.isVisible())
    assert "desk wants you to sign in." in visible_text(page)
    fake.gateway.servers["desk"] = SAMPLE_TOOLS
    offers = page.pane.failure.findChildren(QAbstractButton)
    await until(lambda: any(offer.text() == "Sign in" and offer.isVisible() for offer in offers))
    next(offer for offer in offers if offer.text() == "Sign in").click()
    await until(lambda: page.pane.tools.rows.rowCount() == 3 and not page.pane.failure.isVisible())
    assert fake.sign_ins.signed_in == ["desk"]


async def test_what_was_set_aside_is_listed_with_its_reason(qapp: QApplication) -> None:
    fake = FakeEngine()
    fake.gateway.problems = (ToolProblem("broken", "Its input schema is no object."),)
    async with page_over(fake) as page:
        await page.session.call(lambda core: core.open_sample())
        await until(lambda: page.pane.tools.rows.rowCount() == 4)
        page.pane.tools.select(page.pane.tools.rows.ids()[-1])
        assert "Its input schema is no object." in visible_text(page)


async def test_a_removed_server_comes_back_by_undo(page: ServersPage) -> None:
    await page.session.call(lambda core: core.open_sample())
    await until(page.server_list.selected_ids)
    page.remove(page.server_list.selected_ids())
    await until(lambda: page.session.can_undo() and not page.server_list.rows.rowCount())
    page.session.undo()
    await until(lambda: page.server_list.rows.rowCount() == 1)
    page.session.redo()
    await until(lambda: not page.server_list.rows.rowCount())


async def test_a_server_that_is_removed_twice_in_one_breath_goes_once_and_comes_back(page: ServersPage) -> None:
    await page.session.call(lambda core: core.open_sample())
    await until(lambda: page.server_list.rows.rowCount() == 1)
    for _ in range(2):
        page.remove(page.server_list.selected_ids())
    await page.session.begun()
    assert [one.text for one in page.session.messages] == ["Removed Bike shop"]
    page.session.undo()
    await until(lambda: page.server_list.rows.rowCount() == 1)
    assert not page.session.can_undo()


async def test_an_edit_of_a_server_is_taken_back_and_done_again(qapp: QApplication) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    async with page_over(fake) as page:
        old, new = ["Bike shop"], ["Workshop"]
        fake.gateway.servers[new[0]] = fake.gateway.servers[old[0]]
        page.edit()
        sheet = await opened_dialog(page, ServerDialog)
        sheet.fields.fill(replace(sheet.fields.form(), name=new[0]))
        sheet.keep()
        await until(lambda: names(page) == new and page.session.can_undo())
        page.session.undo()
        await until(lambda: names(page) == old)
        page.session.redo()
        await until(lambda: names(page) == new)


def names(page: ServersPage) -> list[str]:
    return [page.server_list.rows.row(place).title for place in range(page.server_list.rows.rowCount())]


async def test_the_tool_that_is_read_stays_open_while_the_server_is_checked(page: ServersPage) -> None:
    await page.session.call(lambda core: core.open_sample())
    await until(lambda: page.pane.tools.rows.rowCount() == 3)
    page.pane.tools.select("book_repair")
    page.check()
    await until(lambda: page.presenter.any_starting() or page.stale is False)
    await page.settled()
    assert page.pane.tools.current_id() == "book_repair"


@pytest.mark.parametrize("engine", [partial(FakeEngine, {"docs": SAMPLE_TOOLS})])
async def test_a_server_is_added_by_pasting_its_command(page: ServersPage) -> None:
    page.add()
    sheet = await opened_dialog(page, ServerDialog)
    sheet.open_form(ServerForm(kind="command"))
    sheet.fields.command.setText("npx -y @acme/docs")
    assert sheet.fields.name.text() == "docs"
    sheet.keep()
    await until(lambda: page.server_list.rows.rowCount() == 1)
    server = page.current()
    assert server is not None
    assert (server.name, server.spec.argv, server.status) == (
        "docs",
        ("npx", "-y", "@acme/docs"),
        ServerStatus.INACTIVE,
    )


@pytest.mark.parametrize("engine", [partial(FakeEngine, {"desk": SAMPLE_TOOLS})])
async def test_a_connection_is_tried_before_it_is_kept(page: ServersPage) -> None:
    page.add()
    sheet = await opened_dialog(page, ServerDialog)
    sheet.open_form(ServerForm(kind="url", name="desk", url="http://127.0.0.1/desk"))
    sheet.test()
    await until(lambda: any("Connected." in note.accessibleName() for note in sheet.findChildren(Notice)))
    assert page.server_list.rows.rowCount() == 0
    sheet.reject()


@pytest.mark.parametrize("engine", [partial(FakeEngine, {"desk": SAMPLE_TOOLS})])
async def test_a_name_that_is_taken_is_said_at_its_field(page: ServersPage) -> None:
    await page.session.call(lambda core: core.servers.add(http_server()))
    page.add()
    sheet = await opened_dialog(page, ServerDialog)
    sheet.open_form(ServerForm(kind="url", name="desk", url="http://127.0.0.1/other"))
    sheet.keep()
    await until(lambda: "already" in sheet.fields.name.accessibleDescription())
    sheet.reject()


@pytest.mark.parametrize("engine", [partial(FakeEngine, {"desk": SAMPLE_TOOLS})])
async def test_a_name_that_is_taken_is_told_while_it_is_typed_and_none_such_is_suggested(page: ServersPage) -> None:
    await page.session.call(lambda core: core.servers.add(http_server("desk")))
    await until(lambda: page.server_list.rows.rowCount() == 1)
    page.add()
    sheet = await opened_dialog(page, ServerDialog)
    sheet.open_form(ServerForm(kind="command"))
    fields = sheet.fields
    QTest.keyClicks(fields.command, "uvx desk")
    assert fields.name.text() == "desk-2"
    fields.name.clear()
    QTest.keyClicks(fields.name, "desk")
    await until(lambda: "already" in fields.name.accessibleDescription())
    QTest.keyClicks(fields.name, "s")
    assert not fields.name.property("wrong")
    sheet.reject()


async def test_what_is_wrong_with_a_server_is_told_while_it_is_typed_and_untouched_fields_are_left_in_peace(
    page: ServersPage,
) -> None:
    page.add()
    sheet = await opened_dialog(page, ServerDialog)
    sheet.open_form(ServerForm(kind="url"))
    fields = sheet.fields
    QTest.keyClicks(fields.headers, "X-Team")
    await until(lambda: fields.headers.property("wrong"))
    assert fields.headers.accessibleDescription() == "Line 1 is not NAME: value."
    assert not fields.url.property("wrong")
    QTest.keyClicks(fields.headers, ": docs")
    assert not fields.headers.property("wrong")
    QTest.keyClicks(fields.url, "tools.example.com")
    await until(lambda: fields.url.property("wrong"))
    fields.url.clear()
    QTest.keyClicks(fields.url, "https://tools.example.com")
    assert not fields.url.property("wrong")
    sheet.reject()


@pytest.mark.parametrize("engine", [partial(FakeEngine, {"mail": [EVIL], "desk": [EVIL]})])
async def test_a_link_to_a_hidden_server_clears_the_filters(
    page: ServersPage,
) -> None:
    await page.session.call(lambda core: core.servers.add(http_server("mail")))
    await page.session.call(lambda core: core.servers.add(http_server("desk")))
    await until(lambda: page.server_list.rows.rowCount() == 2)
    ids = {server.name: server.id for server in page.presenter.servers.values()}
    said: list[str] = []
    page.session.toasted.connect(lambda text, _: said.append(text))
    assert page.header.search is not None
    QTest.keyClicks(page.header.search, "desk")
    await until(lambda: page.server_list.rows.rowCount() == 1)
    page.open_target(ShowServer(ids["mail"]))
    assert page.server_list.current_id() == ids["mail"]
    page.open_target(ShowServer(ServerId("a server that was removed")))
    assert said == ["That server no longer exists"]


def test_where_it_is_narrow_a_description_has_the_whole_width_under_its_parameter(qapp: QApplication) -> None:
    table = SchemaParameterTable()
    words = "What the part is, in the customer’s words."
    row = SchemaParameter(name="query", type="text", required=True, description=words, limits="")
    try:
        table.set_parameters([row])
        shown(table, 900, 300)
        name, description = (part_saying(table, text) for text in ("query", words))
        assert top(description, table) == top(name, table)
        table.resize(380, 300)
        QApplication.processEvents()
        assert top(description, table) > top(name, table)
        assert description.width() > 300
        table.resize(900, 300)
        QApplication.processEvents()
        assert top(description, table) == top(name, table)
    finally:
        table.close()
        table.deleteLater()


def part_saying(where: QWidget, text: str) -> FlowText:
    """The visible paragraph with a text."""
    return next(part for part in where.findChildren(FlowText) if part.text() == text and part.isVisible())


def top(part: QWidget, where: QWidget) -> int:
    """How far down a part begins, in pixels."""
    return part.mapTo(where, QPoint()).y()
