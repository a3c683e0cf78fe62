"""A field that grows with its text, and undo that goes beyond a field."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from app.widgets import GrowingEdit, LineEdit, undo_beyond
from tests.support.widgets import placed, recorded


def undo_key() -> QKeyEvent:
    return QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)


def test_a_field_is_as_high_as_its_lines_between_its_bounds(qtbot: QtBot) -> None:
    field = placed(qtbot, GrowingEdit("Notes", least=1, most=4), shown=True)
    heights = []
    for lines in (1, 3, 4, 40):
        field.set_text("\n".join(["word"] * lines))
        heights.append(field.height())
    assert heights[0] < heights[1] < heights[2] == heights[3]


def test_only_what_the_user_types_is_told(qtbot: QtBot) -> None:
    field = placed(qtbot, GrowingEdit("Notes"))
    told = recorded(field.edited)
    field.set_text("given")
    QTest.keyClicks(field, "a")
    assert told == ["agiven"]


def test_a_text_that_the_field_would_change_is_not_set_again_and_again(qtbot: QtBot) -> None:
    field = placed(qtbot, GrowingEdit("Notes"))
    field.set_text("one\r\ntwo")
    cursor = field.textCursor()
    cursor.setPosition(3)
    field.setTextCursor(cursor)
    field.set_text("one\r\ntwo")
    assert field.textCursor().position() == 3


def test_the_undo_key_is_left_to_the_window_once_the_field_has_nothing_to_undo(qtbot: QtBot) -> None:
    field = placed(qtbot, QLineEdit())
    undo_beyond(field)
    event = undo_key()
    QApplication.sendEvent(field, event)
    assert not event.isAccepted()
    QTest.keyClicks(field, "a")
    event = undo_key()
    QApplication.sendEvent(field, event)
    assert event.isAccepted()


def test_hidden_characters_are_shown_and_stay_what_they_are(qtbot: QtBot) -> None:
    edit = placed(qtbot, GrowingEdit("Notes"))
    told = recorded(edit.edited)
    edit.set_text("Pay \u202enow")
    assert edit.toPlainText() == "Pay ⟨U+202E⟩now"
    edit.insertPlainText("!")
    assert told == ["!Pay \u202enow"]


def test_a_text_that_is_too_long_is_shown_in_part_and_cannot_be_changed(qtbot: QtBot) -> None:
    edit = placed(qtbot, GrowingEdit("Notes"))
    edit.set_text("x" * 1_000_000)
    assert edit.isReadOnly()
    assert len(edit.toPlainText()) < 25_000
    edit.set_text("short")
    assert (edit.isReadOnly(), edit.toPlainText()) == (False, "short")


def test_a_line_shows_hidden_characters_and_tells_what_they_are(qtbot: QtBot) -> None:
    line = placed(qtbot, LineEdit())
    told = recorded(line.typed)
    line.setText("safe\u202egnp")
    assert line.displayText() == "safe⟨U+202E⟩gnp"
    QTest.keyClicks(line, "!")
    assert told == ["safe\u202egnp!"]
