"""Lists keep what the user chose, sort as asked, and stay quick."""

import time
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QAbstractItemModelTester, QTest
from pytestqt.qtbot import QtBot

from app.widgets import Cell, CellKind, Column, ListTable, Mark, Row
from app.widgets.table import spoken

COLUMNS = (
    Column(key="mark", title="", kind=CellKind.MARK, width=40, sortable=False),
    Column(key="query", title="Query", stretch=True),
    Column(key="tool", title="Tool", kind=CellKind.PAIR),
    Column(key="share", title="Share", kind=CellKind.NUMBER, tip="How sure it was"),
)


def row(number: int, query: str = "", share: float = 0.5) -> Row:
    """A row with a mark, a query, a pair and a number."""
    cells = (
        Cell(marks=(Mark.CHECK,), text=""),
        query or f"query {number}",
        Cell(lead="docs", text="search"),
        Cell(text=f"{share:.2f}", sort=share),
    )
    return Row(str(number), cells)


def cells_of(number: int) -> tuple[Cell, ...]:
    """The cells of such a row."""
    return row(number).cells


def table(qtbot: QtBot, count: int = 5) -> ListTable:
    """A shown table of some rows, its model watched for sins."""
    made = ListTable(COLUMNS, "Runs")
    qtbot.addWidget(made)
    QAbstractItemModelTester(made.table_rows, QAbstractItemModelTester.FailureReportingMode.Fatal, made)
    made.set_rows([row(number, share=number / count) for number in range(count)])
    made.resize(600, 300)
    made.show()
    return made


def test_what_is_selected_stays_selected_when_rows_come_anew(qtbot: QtBot) -> None:
    made = table(qtbot)
    made.select("3")
    told: list[str] = []
    made.chosen.connect(told.append)
    made.set_rows([row(9), row(3), row(1)])
    assert (made.current_id(), made.selected_ids(), told) == ("3", ("3",), [])


def test_a_chosen_row_that_is_gone_is_told(qtbot: QtBot) -> None:
    made = table(qtbot)
    made.select("3")
    with qtbot.waitSignal(made.chosen) as told:
        made.set_rows([row(1)])
    assert told.args == [""]


def test_equal_rows_only_repaint(qtbot: QtBot) -> None:
    made = table(qtbot)
    resets: list[int] = []
    made.table_rows.modelReset.connect(lambda: resets.append(1))
    made.set_rows([row(number, query="changed") for number in range(5)])
    assert resets == []
    assert made.table_rows.data(made.table_rows.index(0, 1)) == "changed"


def test_many_changes_are_shown_together(qtbot: QtBot) -> None:
    made = table(qtbot)
    shown: list[tuple[int, int]] = []
    made.table_rows.dataChanged.connect(lambda first, last, _roles: shown.append((first.row(), last.row())))
    for number in range(5):
        made.upsert([row(number, query="live")])
    made.upsert([row(7)])
    with qtbot.waitSignal(made.rows.rows_changed):
        pass
    assert shown == [(0, 4)]
    assert made.rows.ids() == ["0", "1", "2", "3", "4", "7"]


def test_a_title_sorts_up_then_down_then_not(qtbot: QtBot) -> None:
    made = table(qtbot)
    made.sort_by_next(3)
    made.sort_by_next(3)
    assert made.rows.ids() == ["4", "3", "2", "1", "0"]
    made.select("4")
    made.sort_by_next(3)
    assert (made.rows.ids(), made.current_id()) == (["0", "1", "2", "3", "4"], "4")


def test_numbers_sort_as_numbers_and_before_words(qtbot: QtBot) -> None:
    made = table(qtbot)
    made.set_rows([row(1, share=10), row(2, share=9), Row("3", ("", "q", "t", "–"))])
    made.sort_by(3)
    assert made.rows.ids() == ["2", "1", "3"]


def test_columns_and_sorting_come_back_and_nonsense_is_ignored(qtbot: QtBot) -> None:
    made = table(qtbot)
    made.setColumnWidth(2, 222)
    made.sort_by(3, down=True)
    other = table(qtbot)
    other.restore_layout(made.layout_state())
    assert (other.columnWidth(2), other.sorted_by) == (222, (3, True))
    other.restore_layout({"widths": {"tool": "wide", "gone": 3}, "sort": [1, 2, 3]})
    other.restore_layout("nonsense")
    assert other.columnWidth(2) == 222


def test_keys_open_rename_remove_and_peek(qtbot: QtBot) -> None:
    made = table(qtbot)
    made.select("2")
    heard: list[object] = []
    for signal in (made.opened, made.rename_wanted, made.delete_wanted, made.peek_wanted):
        signal.connect(heard.append)
    for key in (Qt.Key.Key_Return, Qt.Key.Key_F2, Qt.Key.Key_Delete, Qt.Key.Key_Space):
        QTest.keyClick(made, key)
    assert heard == ["2", "2", ("2",), "2"]


def test_screen_readers_hear_whole_cells() -> None:
    assert spoken(Cell(lead="docs", text="search")) == "docs / search"
    assert spoken(Cell(marks=(Mark.CHECK, Mark.CROSS))) == "check cross"


def test_cells_are_made_when_first_seen() -> None:
    made: list[int] = []

    def cells() -> tuple[str, ...]:
        made.append(1)
        return ("a",)

    lazy = Row("1", cells)
    assert made == []
    assert (lazy.cells[0].text, lazy.cells[0].text, made) == ("a", "a", [1])


def test_a_hundred_thousand_rows_are_shown_and_jumped_through_quickly(qtbot: QtBot) -> None:
    made = ListTable(COLUMNS, "Runs")
    qtbot.addWidget(made)
    made.resize(600, 300)
    made.show()
    made.set_rows([Row(str(number), partial(cells_of, number)) for number in range(100_000)])
    picture = QImage(made.size(), QImage.Format.Format_RGB32)
    spent: list[float] = []
    for place in range(0, 100_000, 5_000):
        made.scrollTo(made.rows.index(place, 0))
        began = time.perf_counter()
        made.render(picture)
        spent.append(time.perf_counter() - began)
    assert sorted(spent)[len(spent) // 2] < 0.05
