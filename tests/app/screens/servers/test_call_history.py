"""List of manual calls: search, filter, copy and delete."""

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.screens.kit import NO_FILTERS, ViewState
from app.screens.servers.call_history import NONE_FIT, CallHistory
from app.screens.servers.tool_call_presenter import calls_as_json
from tests.support.memory_servers import ended_call

CALLS = (
    ended_call(3, "tandem", seconds=9),
    ended_call(2, "chain", failed="desk is mute."),
    ended_call(1, "bike", tool="book"),
)


@pytest.fixture
def history(qtbot: QtBot) -> CallHistory:
    widget = CallHistory("find", ViewState())
    qtbot.addWidget(widget)
    widget.show()
    widget.show_calls(CALLS)
    return widget


def listed(history: CallHistory) -> list[str]:
    return history.list.rows.ids() if history.list.isVisible() else []


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
    failed = next(one for one in history.filter_actions() if one.text == "Failed")
    with qtbot.waitSignal(history.view_changed) as emitted:
        failed.do()
    assert emitted.args == [ViewState(filters=NO_FILTERS.with_values("outcome", "failed"))]
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
