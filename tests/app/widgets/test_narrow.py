"""Where there is little room, words are gone without or wait in a menu; none is cut."""

from dataclasses import dataclass

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from app.widgets import Action, Dialog, PageHeader, Segmented, Tabs
from tests.support.accessibility_checks import cramped
from tests.support.displayed_text import drawn

VIEWS = [("overview", "Overview"), ("models", "Models"), ("repeats", "Repeats"), ("compare", "Compare")]
AMPLE, LITTLE, LEAST = 1400, 700, 430


@dataclass(frozen=True)
class Made:
    """A header in a widget that holds it."""

    host: QWidget
    header: PageHeader
    views: Segmented


def header_of(qtbot: QtBot, width: int) -> Made:
    host, header, views = QWidget(), PageHeader("Metrics"), Segmented(VIEWS, "View")
    qtbot.addWidget(host)
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
    heard: list[str] = []
    views.changed.connect(heard.append)
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
    tabs = Tabs([(str(n), f"Tab number {n}") for n in range(6)], "Tabs")
    qtbot.addWidget(tabs)
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
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(700, 400)
    host.show()
    sheet = Dialog("Much to read", host)
    for number in range(40):
        sheet.body.addWidget(Segmented([("one", f"One {number}"), ("two", "Two")], f"Which {number}"))
    (close,) = sheet.set_buttons([Action(text="Close", do=sheet.accept)])
    sheet.open()
    qtbot.waitUntil(lambda: close.visibleRegion().boundingRect() == close.rect())
    assert sheet.height() <= host.height()
    sheet.close()
