"""Columns of a table are shown, moved and widened without a mouse."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from app.widgets import CellKind, Column, ListTable, Row
from app.widgets.columns import ColumnsDialog
from tests.support.widgets import placed

COLUMNS = (
    Column(key="mark", title="", kind=CellKind.MARK, width=40),
    Column(key="query", title="Query", stretch=True),
    Column(key="share", title="Share", kind=CellKind.NUMBER, width=80, tip="How sure\nit was"),
)
ALT = Qt.KeyboardModifier.AltModifier


@pytest.fixture
def table(qtbot: QtBot) -> ListTable:
    """A shown table with a row."""
    made = placed(qtbot, ListTable(COLUMNS, "Runs"))
    made.set_rows([Row("1", ("", "a query", "0.9"))])
    made.resize(900, 700)
    made.show()
    return made


@pytest.fixture
def sheet(table: ListTable) -> ColumnsDialog:
    """The sheet as the key opens it."""
    QTest.keyClick(table, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    found = table.findChild(ColumnsDialog)
    assert isinstance(found, ColumnsDialog)
    return found


def order(table: ListTable) -> list[str]:
    """The keys of the columns from left to right."""
    return [COLUMNS[table.horizontalHeader().logicalIndex(place)].key for place in range(len(COLUMNS))]


def test_every_column_stands_there_with_what_it_means(sheet: ColumnsDialog) -> None:
    rows = [sheet.list.rows.row(place) for place in range(3)]
    assert [row.title for row in rows] == ["Mark", "Query", "Share"]
    assert rows[2].spoken == "Share, How sure it was, 80 px"
    assert rows[1].right is not None
    assert rows[1].right.text == "fills the rest"
    assert sheet.list.height() > sheet.height() / 2


def test_alt_and_arrows_move_and_widen_the_column_that_is_chosen(sheet: ColumnsDialog, table: ListTable) -> None:
    told: list[None] = []
    table.layout_changed.connect(lambda: told.append(None))
    sheet.list.select("share")
    QTest.keyClick(sheet.list, Qt.Key.Key_Up, ALT)
    QTest.keyClick(sheet.list, Qt.Key.Key_Right, ALT)
    assert order(table) == ["mark", "share", "query"]
    assert (table.columnWidth(2), sheet.list.current_id()) == (96, "share")
    QTest.keyClick(sheet.list, Qt.Key.Key_Left, ALT)
    QTest.keyClick(sheet.list, Qt.Key.Key_Left, ALT)
    QTest.keyClick(sheet.list, Qt.Key.Key_Down, ALT)
    assert (order(table), table.columnWidth(2)) == (["mark", "query", "share"], 64)
    assert told


def test_space_leaves_a_column_out_and_shows_it_again(sheet: ColumnsDialog, table: ListTable) -> None:
    sheet.list.select("share")
    QTest.keyClick(sheet.list, Qt.Key.Key_Space)
    assert table.isColumnHidden(2)
    assert (sheet.toggle.text(), sheet.wider.isEnabled()) == ("Show", False)
    QTest.keyClick(sheet.list, Qt.Key.Key_Space)
    assert not table.isColumnHidden(2)
    assert table.columnWidth(2) == 80


def test_the_column_that_fills_the_rest_always_stays(sheet: ColumnsDialog, table: ListTable) -> None:
    sheet.list.select("query")
    QTest.keyClick(sheet.list, Qt.Key.Key_Space)
    assert not table.isColumnHidden(1)
    assert not sheet.toggle.isEnabled()
    assert not sheet.wider.isEnabled()


def test_buttons_do_the_same_and_end_where_there_is_no_further(sheet: ColumnsDialog, table: ListTable) -> None:
    sheet.list.select("mark")
    assert (sheet.up.isEnabled(), sheet.down.isEnabled()) == (False, True)
    sheet.down.click()
    sheet.down.click()
    assert order(table) == ["query", "share", "mark"]
    assert (sheet.up.isEnabled(), sheet.down.isEnabled()) == (True, False)


def test_all_columns_go_back_to_how_they_were_at_first(sheet: ColumnsDialog, table: ListTable) -> None:
    sheet.list.select("share")
    sheet.up.click()
    sheet.wider.click()
    sheet.toggle.click()
    next(made for made in sheet.findChildren(type(sheet.up)) if made.text() == "As at first").click()
    assert order(table) == ["mark", "query", "share"]
    assert (table.columnWidth(2), table.isColumnHidden(2)) == (80, False)


def test_a_click_of_the_other_button_on_a_title_offers_sorting_and_columns(table: ListTable) -> None:
    table.horizontalHeader().customContextMenuRequested.emit(QPoint(5, 5))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert [entry.text() for entry in menu.actions()] == ["Sort by", "Columns", "Arrange columns…"]
    menu.close()
