"""Widgets with little room: nothing is cut, and what opens over a window stays inside it."""

from dataclasses import dataclass

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.widgets import (
    Action,
    Button,
    Cell,
    CellKind,
    Column,
    Dialog,
    ListTable,
    Notice,
    PageHeader,
    PickItem,
    PickPopup,
    Row,
    Segmented,
    Tabs,
    show_menu_under,
)
from tests.support.accessibility_checks import cramped
from tests.support.displayed_text import drawn
from tests.support.widgets import placed, recorded

VIEWS = [("overview", "Overview"), ("models", "Models"), ("repeats", "Repeats"), ("compare", "Compare")]
AMPLE, LITTLE, LEAST = 1400, 700, 430


@dataclass(frozen=True)
class Made:
    """A header in a widget that holds it."""

    host: QWidget
    header: PageHeader
    views: Segmented


def header_of(qtbot: QtBot, width: int) -> Made:
    host, header, views = placed(qtbot, QWidget()), PageHeader("Metrics"), Segmented(VIEWS, "View")
    header.setParent(host)
    header.offer_help(lambda: None)
    header.place(views, beside_title=True)
    header.set_search("Find in the tables")
    header.set_filter(list)
    header.set_buttons([Action(text="Export", do=lambda: None, icon="export")])
    host.resize(AMPLE, 300)
    host.show()
    header.resize(AMPLE, header.height())
    header.resize(width, header.height())
    qtbot.waitUntil(lambda: not cramped(host))
    return Made(host, header, views)


def test_a_header_without_room_for_all_has_a_second_line_and_back_again(qtbot: QtBot) -> None:
    made = header_of(qtbot, AMPLE)
    header, views = made.header, made.views
    one_line = header.height()
    header.resize(LITTLE, one_line)
    qtbot.waitUntil(lambda: header.height() > one_line)
    assert [word for _, word in VIEWS if word not in drawn(header)] == []
    assert header.search is not None
    assert header.search.mapTo(header, QPoint()).y() > views.geometry().bottom()
    header.resize(AMPLE, header.height())
    qtbot.waitUntil(lambda: header.height() == one_line)


def test_nothing_of_a_header_is_cut_or_covered_at_any_width(qtbot: QtBot) -> None:
    made = header_of(qtbot, AMPLE)
    for width in range(330, 900, 10):
        made.header.resize(width, made.header.height())
        qtbot.waitUntil(lambda: not cramped(made.host))


def test_choices_that_do_not_fit_show_the_chosen_one_and_open_a_menu(qtbot: QtBot) -> None:
    made = header_of(qtbot, LEAST)
    header, views = made.header, made.views
    assert "Overview" in drawn(header)
    assert "Compare" not in drawn(header)
    heard = recorded(views.changed)
    QTest.keyClick(views, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert [one.text() for one in menu.actions()] == [word for _, word in VIEWS]
    menu.actions()[3].trigger()
    menu.close()
    assert (heard, views.current()) == (["compare"], "compare")
    QTest.keyClick(views, Qt.Key.Key_Left)
    assert views.current() == "repeats"


def test_tabs_that_do_not_fit_are_whole_or_not_there_and_a_click_at_the_end_leads_on(qtbot: QtBot) -> None:
    tabs = placed(qtbot, Tabs([(str(n), f"Tab number {n}") for n in range(6)], "Tabs"))
    tabs.resize(260, tabs.height())
    tabs.show()
    seen: set[str] = set()
    for _ in range(6):
        assert not cramped(tabs), drawn(tabs)
        seen |= set(drawn(tabs).split("\n"))
        QTest.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=QPoint(tabs.width() - 2, tabs.height() // 2))
    assert seen == {f"Tab number {n}" for n in range(6)}
    for _ in range(6):
        QTest.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=QPoint(2, tabs.height() // 2))
    assert "Tab number 0" in drawn(tabs)


def test_a_sheet_that_holds_too_much_scrolls_between_its_title_and_its_buttons(qtbot: QtBot) -> None:
    host = placed(qtbot, QWidget(), 700, 400)
    sheet = Dialog("Much to read", host)
    for number in range(40):
        sheet.body.addWidget(Segmented([("one", f"One {number}"), ("two", "Two")], f"Which {number}"))
    (close,) = sheet.set_buttons([Action(text="Close", do=sheet.accept)])
    sheet.open()
    qtbot.waitUntil(lambda: close.visibleRegion().boundingRect() == close.rect())
    assert sheet.height() <= host.height()
    sheet.close()


MESSAGE = "No model is on this machine."
ACTIONS = (Action(text="Download", do=lambda: None, kind="link"),)


def on_screen(widget: QWidget) -> QRect:
    """Where a widget is, on the screen."""
    return QRect(widget.mapToGlobal(widget.rect().topLeft()), widget.size())


def window(qtbot: QtBot, width: int = 700, height: int = 500) -> QWidget:
    """A shown window."""
    made = placed(qtbot, QWidget())
    made.resize(width, height)
    made.show()
    return made


def test_a_sheet_that_grows_stays_within_its_window(qtbot: QtBot) -> None:
    below = window(qtbot)
    sheet = Dialog("Add a server", below, width=300)
    sheet.open()
    sheet.need(height=440)
    assert sheet.height() >= 440
    assert on_screen(below).contains(on_screen(sheet))
    sheet.reject()


def test_a_menu_under_the_last_button_of_a_window_stays_within_it(qtbot: QtBot) -> None:
    below = window(qtbot)
    opener = Button("Export", parent=below)
    opener.move(below.width() - 60, 10)
    opener.show()
    menu = show_menu_under([Action(text="Everything as a report to be sent", do=lambda: None)], opener)
    assert on_screen(below).contains(on_screen(menu))
    assert on_screen(menu).top() >= on_screen(opener).bottom()
    menu.close()


@pytest.mark.parametrize(
    ("width", "hint", "beside"), [(700, "", True), (700, "One is downloaded once.", False), (220, "", False)]
)
def test_the_action_of_a_notice_stands_beside_a_short_message_and_else_below(
    qtbot: QtBot, width: int, hint: str, beside: bool
) -> None:
    below = window(qtbot, width)
    notice = Notice("info", below)
    column = QVBoxLayout(below)
    column.addWidget(notice)
    column.addStretch(1)
    notice.show_message(MESSAGE, hint, ACTIONS)
    made = next(one for one in notice.findChildren(Button) if one.text() == "Download")
    if beside:
        qtbot.waitUntil(lambda: made.x() > notice.width() / 2 and made.y() < notice.height() / 2)
    else:
        qtbot.waitUntil(lambda: made.x() < 60 and made.y() > notice.height() / 2 > 20)


def painted(qtbot: QtBot, lead: str, width: int) -> QImage:
    """A table with one tool in it, as it is painted."""
    columns = (Column(key="tool", title="Tool", kind=CellKind.PAIR, stretch=True),)
    made = placed(qtbot, ListTable(columns, "Tools"))
    made.set_rows([Row("1", (Cell(text="reschedule_repair", lead=lead),))])
    made.resize(width, 120)
    made.show()
    return made.grab().toImage()


def test_a_tool_is_named_in_full_before_its_server_is(qtbot: QtBot) -> None:
    assert painted(qtbot, "Bike shop", 220) == painted(qtbot, "", 220)
    assert painted(qtbot, "Bike shop", 400) != painted(qtbot, "", 400)


def test_four_choices_fit_into_a_pane_with_every_word_whole(qtbot: QtBot) -> None:
    words = ("One call", "Several calls", "Any one of", "No call")
    made = placed(qtbot, Segmented([(word, word) for word in words], "What should happen"))
    made.resize(made.minimumSizeHint().width(), made.height())
    made.show()
    assert made.width() < made.sizeHint().width()
    assert [word for word in words if word not in drawn(made)] == []


def test_popups_have_no_corners_that_could_be_black(qtbot: QtBot) -> None:
    host = placed(qtbot, QWidget(), shown=True)
    picker = PickPopup("Tool", host)
    picker.open_over(host, [PickItem(id="one", title="one")], QPoint(0, 0), 340)
    opened = show_menu_under([Action(text="Copy"), Action(text="Open…", under=(Action(text="Below"),))], host)
    below = opened.actions()[1].menu()
    assert isinstance(below, QMenu)
    below.popup(QPoint(0, 0))
    for popup in (picker, opened, below):
        qtbot.waitUntil(popup.isVisible)
        shape = popup.mask()
        assert shape.contains(popup.rect().center())
        assert not any(shape.contains(corner) for corner in (popup.rect().topLeft(), popup.rect().bottomRight()))
        popup.close()
