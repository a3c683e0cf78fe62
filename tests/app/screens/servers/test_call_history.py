"""The list of calls that were made by hand: searched, narrowed, sorted, copied."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.screens.servers.call_history import (
    NONE_FIT,
    CallHistory,
    CallOrder,
    CallsShown,
    calls_as_json,
    calls_shown_actions,
    calls_shown_of,
)
from mcp_tef import FailureInfo, ToolCall, ToolCallStatus
from mcp_tef.model.ids import ServerId, ToolCallId
from tests.support.memory_calls import says

AT = datetime(2026, 11, 22, 6, tzinfo=UTC)


def made(number: int, word: str, *, tool: str = "find", seconds: int = 1, failed: str = "") -> ToolCall:
    """A call that asked for a word; answered, or failed with a sentence."""
    return ToolCall(
        id=ToolCallId(str(number)),
        server_id=ServerId("1"),
        server="desk",
        tool=tool,
        arguments={"text": word},
        asked_at=AT + timedelta(seconds=number),
        duration_ms=seconds * 1_000,
        status=ToolCallStatus.FAILED if failed else ToolCallStatus.ANSWERED,
        reply=None if failed else says(f"{word} found"),
        failure=FailureInfo("server_silent", failed, "Wait.") if failed else None,
    )


CALLS = (made(3, "tandem", seconds=9), made(2, "chain", failed="desk is mute."), made(1, "bike", tool="book"))


@pytest.fixture
def history(qtbot: QtBot) -> CallHistory:
    widget = CallHistory("find", CallsShown())
    qtbot.addWidget(widget)
    widget.show()
    widget.show_calls(CALLS)
    return widget


def listed(history: CallHistory) -> list[str]:
    return history.list.rows.ids() if history.list.isVisible() else []


@pytest.mark.parametrize(
    ("shown", "text", "ids"),
    [
        (CallsShown(), "", ["3", "2", "1"]),
        (CallsShown(order=CallOrder.OLDEST), "", ["1", "2", "3"]),
        (CallsShown(order=CallOrder.LONGEST), "", ["3", "2", "1"]),
        (CallsShown(outcome=ToolCallStatus.FAILED), "", ["2"]),
        (CallsShown(), "FOUND bike", ["1"]),
        (CallsShown(), "mute", ["2"]),
        (CallsShown(), "book", ["1"]),
    ],
)
def test_calls_are_narrowed_searched_and_sorted(shown: CallsShown, text: str, ids: list[str]) -> None:
    assert [call.id for call in shown.of(CALLS, text)] == ids


@pytest.mark.parametrize(
    "shown", [CallsShown(), CallsShown(outcome=ToolCallStatus.SENT, every_tool=True, order=CallOrder.LONGEST)]
)
def test_what_narrows_calls_comes_back_from_the_settings(shown: CallsShown) -> None:
    assert calls_shown_of(shown.to_keep()) == shown
    assert calls_shown_of({"outcome": 7, "every_tool": "yes", "order": None}) == CallsShown()


def test_what_is_typed_narrows_the_list_and_none_is_told(history: CallHistory, qtbot: QtBot) -> None:
    QTest.keyClicks(history.search, "tandem")
    qtbot.waitUntil(lambda: listed(history) == ["3"], timeout=30_000)
    assert "tandem" in history.request.toPlainText()
    QTest.keyClicks(history.search, " unheard of")
    qtbot.waitUntil(lambda: listed(history) == [], timeout=30_000)
    assert NONE_FIT in history._title.text()
    history.search.clear()
    qtbot.waitUntil(lambda: listed(history) == ["3", "2", "1"], timeout=30_000)


def test_an_outcome_is_chosen_from_the_menu_and_told(history: CallHistory, qtbot: QtBot) -> None:
    failed = next(one for one in calls_shown_actions(history.shown, history._narrow) if one.text == "Failed")
    with qtbot.waitSignal(history.narrowed) as told:
        failed.do()
    assert told.args == [CallsShown(outcome=ToolCallStatus.FAILED)]
    assert listed(history) == ["2"]


def test_calls_of_another_tool_are_read_but_not_made_again_here(history: CallHistory) -> None:
    history.list.select("1")
    assert not history.use.isEnabled()
    assert not history.repeat.isEnabled()
    history.list.select("3")
    assert history.repeat.isEnabled()


def test_chosen_calls_are_copied_with_their_answers(history: CallHistory) -> None:
    history.list.selectAll()
    copy = next(action for action in history._menu(history.list.selected_ids()) if action.text.startswith("Copy"))
    assert copy.text == "Copy 3 calls as JSON"
    copy.do()
    copied = json.loads(QGuiApplication.clipboard().text())
    assert copied == json.loads(calls_as_json(CALLS))
    assert copied[0]["reply"]["content"] == [{"type": "text", "text": "tandem found"}]
    assert copied[1]["failure"] == {"message": "desk is mute.", "hint": "Wait."}
    assert copied[2]["arguments"] == {"text": "bike"}


def test_calls_that_are_deleted_are_gone_at_once_so_that_no_second_key_deletes_them_again(history: CallHistory) -> None:
    deleted: list[list[str]] = []
    history.remove_wanted.connect(lambda calls: deleted.append([call.id for call in calls]))
    history.list.select("2")
    for _ in range(2):
        QTest.keyClick(history.list, Qt.Key.Key_Delete)
    assert deleted == [["2"], [deleted[1][0]]]
    assert listed(history) == [left for left in ("3", "1") if left != deleted[1][0]]
    history.forget.click()
    history.forget.click()
    assert sorted(call for calls in deleted for call in calls) == ["1", "2", "3"]
