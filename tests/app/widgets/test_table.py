"""Tables keep the selection, sort, copy, tick rows and stay quick."""

from collections.abc import Mapping
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from app.widgets import Action, Cell, CellKind, CheckableTable, Column, ListTable, Mark, Row
from app.widgets.paged import PagedTable
from app.widgets.table import RowsModel, spoken
from tests.support.widgets import placed, recorded

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


def table(qtbot: QtBot, count: int = 5) -> ListTable:
    """A shown table of some rows, its model watched for sins."""
    made = placed(qtbot, ListTable(COLUMNS, "Runs"))
    QAbstractItemModelTester(made.table_rows, QAbstractItemModelTester.FailureReportingMode.Fatal, made)
    made.set_rows([row(number, share=number / count) for number in range(count)])
    made.resize(600, 300)
    made.show()
    return made


@pytest.fixture
def made(qtbot: QtBot) -> ListTable:
    """A shown table of five rows."""
    return table(qtbot)


def test_what_is_selected_stays_selected_when_rows_come_anew_until_it_is_gone(made: ListTable) -> None:
    made.select("3")
    told = recorded(made.chosen)
    made.set_rows([row(9), row(3), row(1)])
    assert (made.current_id(), made.selected_ids(), told) == ("3", ("3",), [])
    made.set_rows([row(1)])
    assert told == [""]


def test_equal_rows_only_repaint(made: ListTable) -> None:
    resets: list[int] = []
    made.table_rows.modelReset.connect(lambda: resets.append(1))
    made.set_rows([row(number, query="changed") for number in range(5)])
    assert resets == []
    assert made.table_rows.data(made.table_rows.index(0, 1)) == "changed"


def test_many_changes_are_shown_together(made: ListTable, qtbot: QtBot) -> None:
    shown: list[tuple[int, int]] = []
    made.table_rows.dataChanged.connect(lambda first, last, _roles: shown.append((first.row(), last.row())))
    for number in range(5):
        made.upsert([row(number, query="live")])
    made.upsert([row(7)])
    with qtbot.waitSignal(made.rows.rows_changed):
        pass
    assert shown == [(0, 4)]
    assert made.rows.ids() == ["0", "1", "2", "3", "4", "7"]


def test_a_title_sorts_up_then_down_then_not(made: ListTable) -> None:
    made.sort_by_next(3)
    made.sort_by_next(3)
    assert made.rows.ids() == ["4", "3", "2", "1", "0"]
    made.select("4")
    made.sort_by_next(3)
    assert (made.rows.ids(), made.current_id()) == (["0", "1", "2", "3", "4"], "4")


def test_numbers_sort_as_numbers_and_before_words(made: ListTable) -> None:
    made.set_rows([row(1, share=10), row(2, share=9), Row("3", ("", "q", "t", "–"))])
    made.sort_by(3)
    assert made.rows.ids() == ["2", "1", "3"]


def test_columns_and_sorting_come_back_and_nonsense_is_ignored(made: ListTable, qtbot: QtBot) -> None:
    made.setColumnWidth(2, 222)
    made.sort_by(3, down=True)
    other = table(qtbot)
    other.restore_layout(made.layout_state())
    assert (other.columnWidth(2), other.sorted_by) == (222, (3, True))
    other.restore_layout({"widths": {"tool": "wide", "gone": 3}, "sort": [1, 2, 3]})
    other.restore_layout("nonsense")
    assert other.columnWidth(2) == 222


def test_keys_open_rename_remove_and_peek(made: ListTable) -> None:
    made.select("2")
    heard: list[object] = []
    for signal in (made.opened, made.rename_wanted, made.delete_wanted, made.peek_wanted):
        signal.connect(heard.append)
    for key in (Qt.Key.Key_Return, Qt.Key.Key_F2, Qt.Key.Key_Delete, Qt.Key.Key_Space):
        QTest.keyClick(made, key)
    assert heard == ["2", "2", ("2",), "2"]


def test_screen_readers_hear_whole_cells_and_marks_by_their_tip(qtbot: QtBot) -> None:
    assert spoken(Cell(lead="docs", text="search")) == "docs / search"
    assert spoken(Cell(marks=(Mark.CHECK, Mark.CROSS))) == "check cross"
    cells = [Cell(marks=(Mark.CROSS,), tip="wrong tool"), Cell(text="83 %", span=(0.83, 0.7, 0.9), tip="83 % (70–90)")]
    model = RowsModel([Column(key="mark", title="", kind=CellKind.MARK), Column(key="share", title="Right")])
    model.set_rows([Row("1", cells)])
    heard, said = Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.AccessibleDescriptionRole
    assert [model.index(0, place).data(heard) for place in range(2)] == ["wrong tool", "83 %"]
    assert model.index(0, 1).data(said) == "83 % (70–90)"


def test_cells_are_made_when_first_seen() -> None:
    made: list[int] = []

    def cells() -> tuple[str, ...]:
        made.append(1)
        return ("a",)

    lazy = Row("1", cells)
    assert made == []
    assert (lazy.cells[0].text, lazy.cells[0].text, made) == ("a", "a", [1])


def test_of_a_hundred_thousand_rows_only_those_in_sight_are_made(qtbot: QtBot) -> None:
    asked: set[int] = set()

    def remembered(number: int) -> tuple[Cell, ...]:
        asked.add(number)
        return row(number).cells

    made = placed(qtbot, ListTable(COLUMNS, "Runs"), 600, 300)
    made.set_rows([Row(str(number), partial(remembered, number)) for number in range(100_000)])
    picture = QImage(made.size(), QImage.Format.Format_RGB32)
    for place in range(0, 100_000, 5_000):
        made.scrollTo(made.rows.index(place, 0))
        asked.clear()
        made.render(picture)
        assert place in asked
        assert len(asked) <= 2 * made.height() // made.rowHeight(place)


def test_a_column_that_is_left_out_stays_so_whatever_room_there_is(qtbot: QtBot) -> None:
    made, other = table(qtbot), table(qtbot)
    columns = next(action for action in made.own_actions() if action.text == "Columns")
    assert [action.text for action in columns.under] == ["Mark", "Tool", "Share"]
    columns.under[1].do()
    made.setColumnHidden(2, False)
    made.setColumnHidden(3, True)
    assert [made.isColumnHidden(place) for place in range(4)] == [False, False, True, True]
    other.restore_layout(made.layout_state())
    assert [other.isColumnHidden(place) for place in range(4)] == [False, False, True, False]
    assert (other.arrangement.last, made.arrangement.last) == (3, 1)


def test_columns_that_were_moved_stand_there_again(qtbot: QtBot) -> None:
    made, other = table(qtbot), table(qtbot)
    told: list[None] = []
    made.layout_changed.connect(lambda: told.append(None))
    made.horizontalHeader().moveSection(3, 1)
    assert told
    other.restore_layout(made.layout_state())
    assert [other.horizontalHeader().logicalIndex(place) for place in range(4)] == [0, 3, 1, 2]
    other.restore_layout({"order": ["share", "gone"], "hidden": ["query", 7]})
    assert [other.horizontalHeader().logicalIndex(place) for place in range(4)] == [0, 3, 1, 2]
    assert not other.isColumnHidden(1)


def test_the_chosen_rows_are_copied_as_they_stand(made: ListTable) -> None:
    made.setColumnHidden(0, True)
    made.sort_by(3, down=True)
    made.selectRow(0)
    QTest.keyClick(made, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(made, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "query 4\tdocs / search\t0.80\nquery 3\tdocs / search\t0.60"


def test_of_a_long_table_all_rows_are_chosen_and_copied_and_only_those_in_sight_are_asked_for(qtbot: QtBot) -> None:
    made = placed(qtbot, PagedTable(COLUMNS, "Runs"), 600, 300)
    asked: list[int] = []
    made.pages.wanted.connect(lambda _, last: asked.append(last))
    made.set_reader(lambda places, do: do([row(place) for place in places]))
    made.pages.show_total(100_000, [row(number) for number in range(20)])
    made.selectAll()
    assert len(made.selected_ids()) == 20
    assert made.own_actions()[0].text == "Copy 100,000 rows"
    made.pages.row(25)
    qtbot.waitUntil(lambda: bool(asked))
    assert asked == [25]
    made.pages.show_total(700, [row(number) for number in range(20)])
    made.selectAll()
    made.copy()
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text().count("\n") == 699)
    assert QGuiApplication.clipboard().text().endswith("query 699\tdocs / search\t0.50")


def test_the_menu_opens_by_keyboard_at_the_chosen_row(made: ListTable) -> None:
    made.select("2")
    made.set_menu(lambda ids: [Action(text=f"Open {', '.join(ids)}", do=list)])
    QTest.keyClick(made, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert [entry.text() for entry in menu.actions() if entry.text()][:2] == ["Open 2", "Copy row"]
    menu.close()


def test_chosen_rows_are_copied_as_csv_in_which_nothing_runs(made: ListTable) -> None:
    made.set_rows([row(1, query='=1+1, "really"'), row(2)])
    made.selectAll()
    next(one for one in made.own_actions() if one.text == "Copy 2 rows as CSV").do()
    assert QGuiApplication.clipboard().text().splitlines() == [
        ",Query,Tool,Share",
        'check,"\'=1+1, ""really""",docs / search,0.50',
        "check,query 2,docs / search,0.50",
    ]


def test_of_one_row_the_cell_that_the_menu_is_opened_at_is_copied_alone(made: ListTable, qtbot: QtBot) -> None:
    made.set_rows([row(1), row(2)])
    made.show()
    qtbot.waitUntil(lambda: made.visualRect(made.rows.index(1, 2)).isValid(), timeout=30_000)
    cell = made.visualRect(made.rows.index(1, 2)).center()
    QTest.mouseClick(made.viewport(), Qt.MouseButton.RightButton, pos=cell)
    next(one for one in made.own_actions() if one.text == "Copy cell: Tool").do()
    assert QGuiApplication.clipboard().text() == "docs / search"
    made.selectAll()
    assert [one.text for one in made.own_actions() if one.text.startswith("Copy cell")] == []


def test_the_column_that_stretches_stays_readable_however_wide_another_is_dragged(made: ListTable) -> None:
    query, tool = 1, 2
    made.setColumnWidth(tool, 400)
    assert made.columnWidth(query) >= 96
    made.setColumnWidth(tool, 100)
    assert made.columnWidth(query) > 200


def test_rows_are_found_by_all_words_in_the_order_that_was_chosen(made: ListTable) -> None:
    made.sort_by(3, down=True)
    made.select("3")
    made.find_rows("query DOCS")
    assert made.rows.ids() == ["4", "3", "2", "1", "0"]
    made.find_rows("3 query")
    assert (made.rows.ids(), made.current_id()) == (["3"], "3")
    made.set_rows([row(3), row(13), row(2)])
    assert made.rows.ids() == ["3", "13"]
    made.find_rows("")
    assert made.rows.ids() == ["3", "13", "2"]


def checkable(qtbot: QtBot, cells: Mapping[str, str], ticks: Mapping[str, bool]) -> CheckableTable:
    """A shown table whose rows can be ticked."""
    made = placed(qtbot, CheckableTable([Column(key="name", title="Name")], "Names"), 400, 300)
    made.show_cells({key: partial(list, [text]) for key, text in cells.items()}, ticks)
    return made


def boxes(made: CheckableTable) -> list[str]:
    return [made.rows.row(place).cells[0].marks[0].value for place in range(3)]


def act(made: CheckableTable, text: str) -> None:
    next(action for action in made.own_actions() if action.text == text).do()


def test_a_click_on_the_box_ticks_its_row_and_a_row_without_a_box_stays(qtbot: QtBot) -> None:
    made = checkable(qtbot, {"a": "a", "b": "b", "c": "c"}, {"a": True, "b": False})
    told: list[tuple[str, ...]] = []
    made.ticks_changed.connect(lambda: told.append(made.ticked()))
    qtbot.waitUntil(lambda: made.visualRect(made.rows.index(2, 0)).isValid())
    for place in (1, 0, 2):
        box = made.visualRect(made.rows.index(place, 0)).center()
        QTest.mouseClick(made.viewport(), Qt.MouseButton.LeftButton, pos=box)
    assert told == [("a", "b"), ("b",)]
    assert boxes(made) == ["not ticked", "ticked", "blank"]


def test_what_a_search_hides_keeps_its_tick_and_what_it_shows_is_ticked_together(qtbot: QtBot) -> None:
    made = checkable(qtbot, {"a": "apple", "b": "bread", "c": "berry"}, dict.fromkeys("abc", False))
    made.find_rows("b e r")
    act(made, "Tick all that were found")
    assert (made.ticked(), made.rows.ids()) == (("b", "c"), ["b", "c"])
    made.find_rows("")
    assert boxes(made) == ["not ticked", "ticked", "ticked"]


def test_space_ticks_all_that_are_selected_alike(qtbot: QtBot) -> None:
    made = checkable(qtbot, {"a": "a", "b": "b", "c": "c"}, {"a": True, "b": False})
    made.select("b")
    made.selectAll()
    QTest.keyClick(made, Qt.Key.Key_Space)
    assert made.ticked() == ("a", "b")
    QTest.keyClick(made, Qt.Key.Key_Space)
    assert made.ticked() == ()
    act(made, "Tick all")
    assert made.ticked() == ("a", "b")
