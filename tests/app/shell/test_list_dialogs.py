"""Shortcuts and messages are lists to look things up in: what is searched for is what is left."""

from datetime import UTC, datetime

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.core_link.commands import Command
from app.core_link.session import Message
from app.shell.list_dialogs import NONE, NONE_FIT, SearchableListDialog, open_messages, open_shortcuts
from app.widgets import Dialog, FlowText

NOON = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
COMMANDS = {
    "Runs": [
        Command(id="a", text="Run test cases", do=list, keys="Ctrl+R"),
        Command(id="b", text="Pause", do=list, keys="F8"),
    ],
    "Test cases": [Command(id="c", text="New case", do=list, keys="Ctrl+N")],
}


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    made.resize(1100, 800)
    made.show()
    return made


def kept(sheet: Dialog) -> SearchableListDialog:
    """The sheet, which goes with its window."""
    sheet.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
    assert isinstance(sheet, SearchableListDialog)
    return sheet


def said(sheet: SearchableListDialog) -> list[str]:
    """What can be read below the title."""
    return [part.text() for part in sheet.findChildren(FlowText) if part.isVisible() and part is not sheet.title]


def test_shortcuts_are_found_by_what_they_do_by_their_keys_or_by_their_place(window: QWidget, qtbot: QtBot) -> None:
    sheet = kept(open_shortcuts(window, COMMANDS, [("Runs", {"Enter": "Read the run"})]))
    for typed, found in (
        ("new", ["New case"]),
        ("f8", ["Pause"]),
        ("in the list: runs", ["Read the run"]),
    ):
        sheet.search.clear()
        QTest.keyClicks(sheet.search, typed)
        qtbot.waitUntil(lambda found=found: said(sheet) == found, timeout=30_000)  # type: ignore[misc]
    QTest.keyClicks(sheet.search, "nobody")
    qtbot.waitUntil(lambda: said(sheet) == [NONE_FIT], timeout=30_000)
    QTest.keyClick(sheet.search, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: len(said(sheet)) > 6, timeout=30_000)
    assert sheet.isVisible()


def test_messages_are_searched_and_an_empty_list_says_what_comes_here(window: QWidget, qtbot: QtBot) -> None:
    sheet = kept(open_messages(window, [Message(NOON, "Removed desk"), Message(NOON, "Imported 2 cases")]))
    qtbot.waitUntil(lambda: said(sheet) == ["Imported 2 cases", "Removed desk"], timeout=30_000)
    QTest.keyClicks(sheet.search, "desk")
    qtbot.waitUntil(lambda: said(sheet) == ["Removed desk"], timeout=30_000)
    empty = kept(open_messages(window, []))
    qtbot.waitUntil(lambda: said(empty) == [NONE], timeout=30_000)
    assert not empty.search.isVisible()
