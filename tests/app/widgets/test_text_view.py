"""Running text wraps, marks what it should, and never takes foreign text for markup."""

import gc
import weakref

from PySide6.QtCore import QEvent, QRect
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.theme import Role, ThemeMode, theme
from app.widgets import FlowText, Label, LineText, Span, TextArea, joined, marked
from tests.support.widgets import placed


def test_marked_ranges_count_characters_not_utf16_units() -> None:
    spans = marked("a😀bc", [(1, 2), (3, 4)], Role.MARK_DIFF)
    assert [(span.text, span.back) for span in spans] == [
        ("a", None),
        ("😀", Role.MARK_DIFF),
        ("b", None),
        ("c", Role.MARK_DIFF),
    ]
    assert joined(spans) == "a😀bc"


def test_text_is_as_high_as_its_lines(qtbot: QtBot) -> None:
    host = placed(qtbot, QWidget())
    column = QVBoxLayout(host)
    text = FlowText("word " * 40)
    column.addWidget(text)
    host.resize(600, 400)
    host.show()
    wide = text.height()
    host.resize(200, 400)
    qtbot.waitUntil(lambda: text.height() > wide)
    assert text.height() % 20 == 0


def test_lines_that_have_no_room_are_not_drawn_over_the_first(qtbot: QtBot) -> None:
    whole, cut = placed(qtbot, FlowText("word " * 40)), placed(qtbot, FlowText("word " * 40, max_lines=2))
    for text in (whole, cut):
        text.resize(200, text.heightForWidth(200))
    step = whole.heightForWidth(10_000)
    assert cut.height() == 2 * step
    first = QRect(0, 0, 200, step)
    assert cut.grab(first).toImage() == whole.grab(first).toImage()
    second = QRect(0, step, 200, step)
    assert cut.grab(second).toImage() != whole.grab(second).toImage()


def test_a_paragraph_shows_hidden_characters_and_keeps_lines(qtbot: QtBot) -> None:
    text = placed(qtbot, FlowText())
    text.set_spans([Span("one\n"), Span("two\u202e", mono=True)])
    assert text.text() == "one\ntwo⟨U+202E⟩"
    assert text.accessibleName() == text.text()


def test_markup_stays_text(qtbot: QtBot) -> None:
    label, line = Label("<b>bold</b>"), LineText("<img src=x>\nsecond")
    qtbot.addWidget(label)
    qtbot.addWidget(line)
    assert label.text() == "<b>bold</b>"
    assert line.text() == "<img src=x> second"
    assert "&lt;img" in line.toolTip()


def test_a_label_that_is_gone_hears_of_no_other_scheme(qtbot: QtBot) -> None:
    label = Label("here for a moment")
    watched = weakref.ref(label)
    label.deleteLater()
    del label
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()
    assert watched() is None
    theme().set_mode(ThemeMode.DARK)


def test_what_is_too_long_to_be_edited_is_shown_in_part_and_kept_whole(qtbot: QtBot) -> None:
    area = placed(qtbot, TextArea())
    huge = "A=b\n" * 100_000
    area.setPlainText(huge)
    area.insertPlainText("C=d")
    assert area.isReadOnly()
    assert area.text() == huge
    area.setPlainText("A=b")
    assert not area.isReadOnly()
    assert area.text() == "A=b"
