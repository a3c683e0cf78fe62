"""Dialog that calls a tool: its form, and calls that are sent only after the user has seen the arguments."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from app.arguments.values import WHOLE, CallDraft, draft_from_arguments, read, turned
from app.dialogs.argument_form import ArgumentForm
from app.screens.servers.page import ServersPage
from app.screens.servers.tool_call_dialog import ConfirmCallDialog, ToolCallDialog
from app.screens.servers.tool_call_presenter import outcome, response_text
from app.widgets import CardList, GrowingEdit, MenuButton
from mcp_tef import FailureInfo, ServerError, ServerFault, Tool, ToolCall, ToolCallStatus, ToolReply, Transport
from mcp_tef.model.ids import ServerId, ToolCallId
from mcp_tef.model.servers import ServerSpec
from tests.support.fake_engine import SAMPLE_TOOLS, FakeEngine
from tests.support.fake_ports import command_server, http_server, tool
from tests.support.memory_servers import says
from tests.support.servers_page import page_over
from tests.support.windows import opened_dialog, session_for, shown, until

MANY = 100


def tool_with_many_parameters() -> Tool:
    properties = {f"p{number:02d}": {"type": "string"} for number in range(MANY)}
    schema = {"type": "object", "properties": properties}
    return Tool(server="docs", name="read", description="", input_schema=schema, raw={})


def test_a_hundred_fields_come_a_few_a_turn_and_lose_nothing(qtbot: QtBot) -> None:
    form = ArgumentForm(tool_with_many_parameters())
    qtbot.addWidget(form)
    assert 0 < len(form.rows) < MANY / 10
    form.fill({"p99": "last"})
    form.show_errors({"p98": "Not like this."})
    qtbot.waitUntil(lambda: len(form.rows) == MANY, timeout=30_000)
    assert list(form.rows) == [f"p{number:02d}" for number in range(MANY)]
    assert form.rows["p98"].value.accessibleDescription() == "Not like this."
    assert form.reading().arguments == {"p99": "last"}


def test_fields_that_come_later_stay_away_where_json_is_typed(qtbot: QtBot) -> None:
    form = ArgumentForm(tool_with_many_parameters())
    qtbot.addWidget(form)
    form.show()
    form.toggle.click()
    qtbot.waitUntil(lambda: len(form.rows) == MANY, timeout=30_000)
    assert not any(row.isVisible() for row in form.rows.values())


def test_json_that_cannot_be_read_is_told_once_typing_pauses(qtbot: QtBot) -> None:
    form = ArgumentForm(tool_with_many_parameters())
    qtbot.addWidget(form)
    form.show()
    form.toggle.click()
    form.json.setFocus()
    form.json.selectAll()
    QTest.keyClicks(form.json, '{"a": ')
    qtbot.waitUntil(lambda: form.json.property("wrong") is True, timeout=30_000)
    QTest.keyClicks(form.json, "1}")
    assert form.json.property("wrong") is False


SEARCH = SAMPLE_TOOLS[0]


SENT = ToolCall(
    id=ToolCallId("1"),
    server_id=ServerId("1"),
    server="desk",
    tool="find",
    arguments={},
    asked_at=datetime(2026, 11, 22, 6, tzinfo=UTC),
    duration_ms=2500,
)


@pytest.mark.parametrize("arguments", [{}, {"text": "city", "size": "M", "limit": 5}, {"limit": 0}])
def test_arguments_come_back_from_the_fields_as_they_were(arguments: dict[str, object]) -> None:
    draft = draft_from_arguments(SEARCH, arguments)
    assert draft.json_text is None
    assert read(SEARCH, draft).arguments == arguments


@pytest.mark.parametrize("arguments", [{"color": "red"}, {"text": ""}, {"limit": None}])
def test_what_fields_cannot_say_is_shown_as_json(arguments: dict[str, object]) -> None:
    draft = draft_from_arguments(SEARCH, arguments)
    assert draft.json_text is not None
    assert read(SEARCH, draft).arguments == arguments


def test_what_cannot_be_read_names_its_field_and_is_not_lost_by_turning() -> None:
    draft = CallDraft(texts={"limit": "five"})
    assert read(SEARCH, draft).faults == {"limit": "Write a number such as 20."}
    assert turned(SEARCH, draft) is draft
    assert WHOLE in read(SEARCH, CallDraft(json_text="[1]")).faults


def test_a_call_is_told_with_its_time_and_a_doubt_where_there_is_one() -> None:
    reply = ToolReply(
        content=({"type": "image", "data": "abc"},), structured=[1], is_error=True, execution_time_ms=7, cut=True
    )
    failed = replace(SENT, status=ToolCallStatus.TOOL_ERROR, reply=reply)
    assert outcome(failed) == "The tool reported an error after 7 ms (2.5 s in all). Only the beginning was kept."
    assert response_text(failed) == '{\n  "type": "image",\n  "data": "abc"\n}\n\n[\n  1\n]'
    assert "may have carried it out" in outcome(SENT)
    silent = replace(SENT, status=ToolCallStatus.FAILED, failure=FailureInfo("server_silent", "desk is mute.", "Wait."))
    assert (outcome(silent), response_text(silent)) == ("Failed after 2.5 s", "desk is mute.\nWait.")


def test_a_huge_answer_is_shown_by_its_beginning() -> None:
    huge = response_text(replace(SENT, status=ToolCallStatus.ANSWERED, reply=says("x" * 100_000)))
    assert len(huge) < 9_000
    assert huge.endswith("… (92,000 more characters)")


@asynccontextmanager
async def sheet_over(fake: FakeEngine, spec: ServerSpec | None = None) -> AsyncIterator[ToolCallDialog]:
    """Open the dialog for the first tool of a server."""
    async with page_over(fake) as page:
        await page.session.call(lambda core: core.servers.add(spec) if spec else core.open_sample())
        await until(lambda: page.current() is not None)
        page.tool_commands.call_tool(SEARCH if spec is None else tool("read", "files"))
        sheet = await opened_dialog(page, ToolCallDialog)
        yield sheet
        if isValid(sheet):
            sheet.reject()


@pytest.fixture
async def sheet(qapp: QApplication, fake: FakeEngine) -> AsyncIterator[ToolCallDialog]:
    """The dialog for the first tool of the sample."""
    async with sheet_over(fake) as made:
        yield made


def asked(sheet: ToolCallDialog) -> list[ConfirmCallDialog]:
    """The questions that can be seen."""
    return [question for question in sheet.findChildren(ConfirmCallDialog) if question.isVisible()]


async def agreed(sheet: ToolCallDialog) -> None:
    """Call, and agree once asked."""
    sheet.call_button.click()
    await until(lambda: asked(sheet))
    asked(sheet)[0].accept()


def has_rows(rows: CardList, number: int) -> bool:
    return rows.rows.rowCount() == number


def type_text(sheet: ToolCallDialog, text: str) -> None:
    """Type into the first field."""
    field = sheet.form.rows["text"].value
    assert isinstance(field, GrowingEdit)
    field.setPlainText(text)


async def test_a_call_is_sent_after_confirmation_and_its_answer_is_shown(
    sheet: ToolCallDialog, fake: FakeEngine
) -> None:
    fake.caller.reply = says("3 bikes <b>\u202e")
    type_text(sheet, "city bike")
    size = sheet.form.rows["size"].value
    assert isinstance(size, MenuButton)
    size.choose("M")
    sheet.call_button.click()
    await until(lambda: asked(sheet))
    assert '"city bike"' in asked(sheet)[0].arguments.toPlainText()
    assert fake.caller.asked == []
    asked(sheet)[0].accept()
    await until(lambda: "3 bikes" in sheet.history.response.toPlainText())
    assert fake.caller.asked == [("Bike shop", "search_bikes", {"text": "city bike", "size": "M"})]
    assert "<b>⟨U+202E⟩" in sheet.history.response.toPlainText()
    assert '"size": "M"' in sheet.history.request.toPlainText()
    assert sheet.history.outcome.text().startswith("Answered after 7 ms")


async def test_without_agreement_nothing_is_sent(sheet: ToolCallDialog, fake: FakeEngine) -> None:
    type_text(sheet, "city bike")
    sheet.call_button.click()
    await until(lambda: asked(sheet))
    asked(sheet)[0].reject()
    await until(lambda: not asked(sheet))
    await until(lambda: sheet._task is not None and sheet._task.done())
    assert (fake.caller.asked, fake.store.calls.kept) == ([], {})


async def test_what_does_not_fit_is_said_at_its_field_and_nobody_is_asked(sheet: ToolCallDialog) -> None:
    limit = sheet.form.rows["limit"].value
    assert isinstance(limit, QLineEdit)
    limit.setText("90")
    sheet.form.rows["limit"].typed.emit("90")
    sheet.call_button.click()
    missing, large = sheet.form.rows["text"].value, sheet.form.rows["limit"].value
    await until(lambda: missing.property("wrong") and large.property("wrong"))
    assert missing.accessibleDescription() == "text is missing, though the schema requires it."
    assert "maximum: 50" in large.accessibleDescription()
    assert not asked(sheet)


async def test_only_typed_arguments_are_checked_while_typing(
    sheet: ToolCallDialog,
) -> None:
    limit, missing = sheet.form.rows["limit"].value, sheet.form.rows["text"].value
    limit.setFocus()
    QTest.keyClicks(limit, "90")
    await until(lambda: limit.property("wrong"))
    assert "maximum: 50" in limit.accessibleDescription()
    assert not missing.property("wrong")
    QTest.keyClick(limit, Qt.Key.Key_Backspace)
    await until(lambda: not limit.property("wrong"))
    sheet.form.toggle.click()
    sheet.form.json.setFocus()
    sheet.form.json.selectAll()
    QTest.keyClicks(sheet.form.json, '{"limit": 5}')
    await until(lambda: sheet.form.json.property("wrong"))


async def test_a_call_under_way_can_be_cancelled_and_is_kept_as_such(sheet: ToolCallDialog, fake: FakeEngine) -> None:
    fake.caller.gate = asyncio.Event()
    type_text(sheet, "city bike")
    await agreed(sheet)
    await until(lambda: sheet.working.isVisible() and fake.caller.asked)
    assert not sheet.call_button.isEnabled()
    sheet.cancel()
    await until(lambda: sheet.call_button.isEnabled() and "Cancelled" in sheet.history.outcome.text())
    assert not sheet.working.isVisible()


async def test_closing_the_dialog_cancels_the_call(sheet: ToolCallDialog, fake: FakeEngine) -> None:
    fake.caller.gate = asyncio.Event()
    failed: list[str] = []
    sheet._session.failed.connect(lambda message, *_: failed.append(message))
    type_text(sheet, "city bike")
    await agreed(sheet)
    await until(lambda: sheet.working.isVisible() and fake.caller.asked)
    sheet.reject()
    await until(lambda: [call.status for call in fake.store.calls.kept.values()] == [ToolCallStatus.CANCELLED])
    await until(lambda: not isValid(sheet))
    assert failed == []


async def test_a_failed_call_shows_the_reason_and_stays_in_the_list(sheet: ToolCallDialog, fake: FakeEngine) -> None:
    fake.caller.reply = ServerError(ServerFault.SILENT, "Bike shop did not answer.", hint="Wait.")
    type_text(sheet, "city bike")
    await agreed(sheet)
    await until(lambda: sheet.failure.isVisible() and sheet.history.list.rows.rowCount() == 1)
    assert sheet.failure.accessibleName() == "Bike shop did not answer. Wait."
    fake.caller.reply = says("there")
    await agreed(sheet)
    await until(lambda: sheet.history.list.rows.rowCount() == 2)
    assert not sheet.failure.isVisible()


async def test_deleted_calls_come_back_by_the_undo_beside_them_and_by_that_of_the_window(sheet: ToolCallDialog) -> None:
    type_text(sheet, "city bike")
    rows = sheet.history.list
    for number in (1, 2):
        await agreed(sheet)
        await until(partial(has_rows, rows, number))
        await until(lambda: sheet.call_button.isEnabled())
    before = rows.rows.ids()
    rows.selectAll()
    QTest.keyClick(rows, Qt.Key.Key_Delete)
    await until(lambda: sheet.history.undo.isVisible())
    assert rows.isHidden()
    sheet.history.undo.click()
    await until(lambda: rows.isVisible() and rows.rows.ids() == before)
    rows.select(before[1])
    QTest.keyClick(rows, Qt.Key.Key_Delete)
    await until(lambda: rows.rows.ids() == before[:1] and sheet.history.undo.isVisible())
    sheet._session.undo()
    await until(lambda: rows.rows.ids() == before)
    sheet._session.redo()
    await until(lambda: rows.rows.ids() == before[:1])


async def test_a_call_is_made_again_after_the_same_question(sheet: ToolCallDialog, fake: FakeEngine) -> None:
    type_text(sheet, "city bike")
    await agreed(sheet)
    await until(lambda: sheet.history.list.rows.rowCount() == 1 and sheet.call_button.isEnabled())
    type_text(sheet, "something else")
    sheet.history.repeat.click()
    await until(lambda: asked(sheet))
    assert len(fake.caller.asked) == 1
    asked(sheet)[0].accept()
    await until(lambda: sheet.history.list.rows.rowCount() == 2)
    assert [arguments for _, _, arguments in fake.caller.asked] == [{"text": "city bike"}] * 2


async def test_earlier_arguments_can_be_used_again_and_all_calls_be_forgotten(sheet: ToolCallDialog) -> None:
    type_text(sheet, "city bike")
    await agreed(sheet)
    await until(lambda: sheet.history.list.rows.rowCount() == 1)
    type_text(sheet, "")
    (call,) = await sheet._session.call(lambda core: core.calls.history(sheet._server.id))
    sheet.history.use_wanted.emit(call)
    assert sheet.form.reading().arguments == {"text": "city bike"}
    sheet.history.forget.click()
    await until(lambda: sheet.history.list.isHidden())


async def test_a_program_is_started_for_a_call_only_after_its_command_was_agreed_to(qapp: QApplication) -> None:
    fake = FakeEngine({"files": [tool("read", "files")]})
    async with sheet_over(fake, command_server("files")) as sheet:
        sheet.call_button.click()
        await until(lambda: sheet.consent.isVisible())
        assert (fake.caller.asked, asked(sheet)) == ([], [])
        sheet.consent.agreed.emit()
        await until(lambda: asked(sheet))
        asked(sheet)[0].accept()
        await until(lambda: fake.caller.asked)


@pytest.mark.parametrize("of_file", [True, False])
async def test_only_the_tools_of_a_server_can_be_tried(qapp: QApplication, of_file: bool) -> None:
    fake = FakeEngine({"desk": SAMPLE_TOOLS})
    spec = ServerSpec(name="desk", transport=Transport.FILE, path="tools.json") if of_file else http_server("desk")
    async with session_for(fake) as (session, _):
        page = ServersPage(session)
        session.events.connect(lambda events: page.on_events(events, visible=True))
        shown(page)
        await session.call(lambda core: core.servers.add(spec))
        await until(lambda: page.pane.tools.rows.rowCount() == 3)
        await page.settled()
        assert page.pane.tool_pane.reader.attempt.isVisible() is not of_file
        page.close()
        page.deleteLater()
