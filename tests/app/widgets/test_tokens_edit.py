"""Names as chips: typed, completed, taken away, and reached with Tab in reading order."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.widgets import LineText, Span, TokensEdit
from app.widgets.accessibility import reading_order
from app.widgets.tokens_edit import TokenChip
from tests.support.widgets import placed, recorded


@pytest.fixture
def edit(qtbot: QtBot) -> TokensEdit:
    return placed(qtbot, TokensEdit("tag", "Add a tag"), 200, 24)


def test_a_name_is_added_with_enter_or_a_comma_and_only_once(edit: TokensEdit) -> None:
    QTest.keyClicks(edit.entry, "search,")
    QTest.keyClicks(edit.entry, "files")
    QTest.keyClick(edit.entry, Qt.Key.Key_Return)
    QTest.keyClicks(edit.entry, "search,")
    assert edit.tokens() == ("search", "files")


def test_a_name_that_is_known_keeps_its_spelling(edit: TokensEdit) -> None:
    edit.set_known(["Everyday"])
    QTest.keyClicks(edit.entry, "everyDAY,")
    assert edit.tokens() == ("Everyday",)


def test_where_only_known_names_count_another_stays_typed(qtbot: QtBot) -> None:
    edit = placed(qtbot, TokensEdit("server", "Add a server", only_known=True))
    edit.set_known(["docs"])
    QTest.keyClicks(edit.entry, "dogs")
    QTest.keyClick(edit.entry, Qt.Key.Key_Return)
    assert (edit.tokens(), edit.entry.text()) == ((), "dogs")


def test_a_name_that_is_there_already_is_told_once_typing_pauses_and_taken_back_at_once(
    edit: TokensEdit, qtbot: QtBot
) -> None:
    edit.set_tokens(["search"])
    high = edit.height()
    QTest.keyClicks(edit.entry, "Search")
    assert edit.error.isHidden()
    qtbot.waitUntil(lambda: edit.error.text() == "The tag Search is there already.", timeout=30_000)
    assert edit.height() > high
    assert edit.entry.accessibleDescription() == edit.error.text()
    QTest.keyClicks(edit.entry, "es")
    assert edit.error.isHidden()
    assert edit.height() == high


def test_a_name_that_nobody_knows_is_told_where_only_known_ones_count(qtbot: QtBot) -> None:
    made = placed(qtbot, TokensEdit("server", "Add a server", only_known=True))
    made.set_known(["Bike shop"])
    made.show()
    QTest.keyClicks(made.entry, "bike")
    QTest.keyClicks(made.entry, "s")
    qtbot.waitUntil(lambda: made.error.text() == "There is no server named bikes.", timeout=30_000)


def test_backspace_in_the_empty_entry_and_del_on_a_chip_take_names_away(edit: TokensEdit) -> None:
    told = recorded(edit.changed)
    edit.set_tokens(["a", "b", "c"])
    QTest.keyClick(edit.entry, Qt.Key.Key_Backspace)
    QTest.keyClick(edit.findChildren(TokenChip)[0], Qt.Key.Key_Delete)
    assert told == [("a", "b"), ("b",)]


def test_chips_wrap_and_the_field_grows(edit: TokensEdit) -> None:
    edit.set_tokens(["one"])
    low = edit.height()
    edit.set_tokens(["a rather long name", "another rather long name", "and one more"])
    assert edit.height() > low


def test_tab_reaches_chips_that_came_later_in_reading_order(qtbot: QtBot) -> None:
    page = placed(qtbot, QWidget())
    column = QVBoxLayout(page)
    before, edit, after = QLineEdit(), TokensEdit("tag", "Add a tag"), QLineEdit()
    for part in (before, edit, after):
        column.addWidget(part)
    page.show()
    edit.set_tokens(["a", "b"])
    assert reading_order(page) == [before, *edit.findChildren(TokenChip), edit.entry, after]


def test_a_line_of_spans_is_one_safe_line(qtbot: QtBot) -> None:
    line = placed(qtbot, LineText())
    line.set_spans([Span("name", mono=True), Span("  te\u202ext\nmore")])
    assert line.text() == "name te⟨U+202E⟩xt more"
    assert line.accessibleName() == line.text()
