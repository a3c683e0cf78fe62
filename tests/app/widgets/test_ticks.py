"""Rows that can be ticked, with the mouse and with the keyboard."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.widgets import CheckableTable, Column
from tests.support.windows import drive, shown, until


def table() -> CheckableTable:
    made = CheckableTable([Column(key="name", title="Name")], "Names")
    made.show_cells({key: lambda key=key: [key] for key in "abc"}, {"a": True, "b": False})  # type: ignore[misc]
    return made


def click(made: CheckableTable, place: int) -> None:
    box = made.visualRect(made.rows.index(place, 0)).center()
    QTest.mouseClick(made.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(box))


def test_a_click_on_the_box_ticks_its_row_and_a_row_without_a_box_stays(qapp: QApplication) -> None:
    async def work() -> None:
        made, told = table(), list[tuple[str, ...]]()
        made.ticks_changed.connect(lambda: told.append(made.ticked()))
        shown(made, 400, 300)
        await until(lambda: made.visualRect(made.rows.index(2, 0)).isValid())
        for place in (1, 0, 2):
            click(made, place)
        assert told == [("a", "b"), ("b",)]
        assert [made.rows.row(place).cells[0].marks[0].value for place in range(3)] == ["not ticked", "ticked", "blank"]
        made.close()
        made.deleteLater()

    drive(work())


def test_what_a_search_hides_keeps_its_tick_and_what_it_shows_is_ticked_together(qapp: QApplication) -> None:
    made = CheckableTable([Column(key="name", title="Name")], "Names")
    cells = {"a": "apple", "b": "bread", "c": "berry"}
    made.show_cells({key: lambda text=text: [text] for key, text in cells.items()}, dict.fromkeys("abc", False))  # type: ignore[misc]
    made.find_rows("b e r")
    next(action for action in made.own_actions() if action.text == "Tick all that were found").do()
    assert made.ticked() == ("b", "c")
    assert made.rows.ids() == ["b", "c"]
    made.find_rows("")
    boxes = [made.rows.row(place).cells[0].marks[0].value for place in range(3)]
    assert boxes == ["not ticked", "ticked", "ticked"]
    made.deleteLater()


def test_space_ticks_all_that_are_selected_alike(qapp: QApplication) -> None:
    async def work() -> None:
        made = table()
        shown(made, 400, 300)
        made.select("b")
        made.selectAll()
        QTest.keyClick(made, Qt.Key.Key_Space)
        assert made.ticked() == ("a", "b")
        QTest.keyClick(made, Qt.Key.Key_Space)
        assert made.ticked() == ()
        next(action for action in made.own_actions() if action.text == "Tick all").do()
        assert made.ticked() == ("a", "b")
        made.close()
        made.deleteLater()

    drive(work())
