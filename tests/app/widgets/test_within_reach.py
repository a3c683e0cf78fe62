"""What opens over a window stays where one can reach it, and what is short of room keeps what matters."""

from PySide6.QtCore import QRect
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QVBoxLayout, QWidget
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
    Row,
    Segmented,
    show_menu_under,
)
from tests.support.displayed_text import drawn as drawn_words

MESSAGE = "No model is on this machine."
ACTIONS = (Action(text="Download", do=lambda: None, kind="link"),)


def on_screen(widget: QWidget) -> QRect:
    """Where a widget is, on the screen."""
    return QRect(widget.mapToGlobal(widget.rect().topLeft()), widget.size())


def window(qtbot: QtBot, width: int = 700, height: int = 500) -> QWidget:
    """A shown window."""
    made = QWidget()
    qtbot.addWidget(made)
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


def offered(below: QWidget, hint: str = "") -> tuple[Notice, Button]:
    """A notice at the top of a window, and the button in it."""
    notice = Notice("info", below)
    column = QVBoxLayout(below)
    column.addWidget(notice)
    column.addStretch(1)
    notice.show_message(MESSAGE, hint, ACTIONS)
    return notice, next(one for one in notice.findChildren(Button) if one.text() == "Download")


def test_what_a_short_notice_offers_stands_at_the_end_of_its_line(qtbot: QtBot) -> None:
    below = window(qtbot, 700)
    notice, made = offered(below)
    qtbot.waitUntil(lambda: made.x() > notice.width() / 2 and made.y() < notice.height() / 2 < made.geometry().bottom())


def test_what_a_notice_offers_stands_below_a_hint(qtbot: QtBot) -> None:
    below = window(qtbot, 700)
    notice, made = offered(below, "One is downloaded once.")
    qtbot.waitUntil(lambda: made.x() < 60 and made.y() > notice.height() / 2 > 20)


def test_what_a_notice_offers_stands_below_where_its_line_is_full(qtbot: QtBot) -> None:
    below = window(qtbot, 220)
    notice, made = offered(below)
    qtbot.waitUntil(lambda: made.x() < 60 and made.y() > notice.height() / 2 > 20)


def drawn(qtbot: QtBot, lead: str, width: int) -> QImage:
    """A table with one tool in it, as it is painted."""
    columns = (Column(key="tool", title="Tool", kind=CellKind.PAIR, stretch=True),)
    made = ListTable(columns, "Tools")
    qtbot.addWidget(made)
    made.set_rows([Row("1", (Cell(text="reschedule_repair", lead=lead),))])
    made.resize(width, 120)
    made.show()
    return made.grab().toImage()


def test_a_tool_is_named_in_full_before_its_server_is(qtbot: QtBot) -> None:
    assert drawn(qtbot, "Bike shop", 220) == drawn(qtbot, "", 220)
    assert drawn(qtbot, "Bike shop", 400) != drawn(qtbot, "", 400)


def test_four_choices_fit_into_a_pane_with_every_word_whole(qtbot: QtBot) -> None:
    words = ("One call", "Several calls", "Any one of", "No call")
    made = Segmented([(word, word) for word in words], "What should happen")
    qtbot.addWidget(made)
    made.resize(made.minimumSizeHint().width(), made.height())
    made.show()
    assert made.width() < made.sizeHint().width()
    assert [word for word in words if word not in drawn_words(made)] == []
