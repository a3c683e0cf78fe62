"""Dividers between panes are visible, and move by mouse and keyboard."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.theme import Contrast, Role, ThemeMode, theme
from app.widgets import ScrollPane, Split, install_accessible_roles
from app.widgets.accessibility import tab_order
from app.widgets.panes import Divider
from tests.support.displayed_text import contrast, pixels

LEAST = 100


@pytest.fixture
def panes(qapp: QApplication, qtbot: QtBot) -> Iterator[Split]:
    """Three panes in a window, each with a least width."""
    install_accessible_roles()
    made = split([200, 300, 300], stacked=False)
    made.resize(802, 400)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    yield made
    made.close()
    made.deleteLater()


def split(sizes: list[int], *, stacked: bool) -> Split:
    """Panes of these sizes."""
    parts = [QWidget() for _ in sizes]
    for part in parts:
        part.setMinimumSize(LEAST, LEAST)
    return Split(parts, "One, two and three", sizes, stacked=stacked)


def places(panes: Split) -> list[QRect]:
    """Where the panes are."""
    return [pane.geometry() for number in range(panes.count()) if (pane := panes.widget(number)) is not None]


def dividers(panes: Split) -> list[Divider]:
    """Those that are seen."""
    return [one for number in range(panes.count()) if isinstance(one := panes.handle(number), Divider) and number]


def test_a_divider_takes_a_pixel_between_panes_and_is_grasped_by_eight_with_a_cursor_that_says_so(panes: Split) -> None:
    where = places(panes)
    assert [right.left() - left.right() - 1 for left, right in pairwise(where)] == [1, 1]
    for one, left in zip(dividers(panes), where, strict=False):
        assert one.width() == 8
        assert one.cursor().shape() is Qt.CursorShape.SplitHCursor
        for beside in (left.right() - 1, left.right() + 6):
            assert panes.childAt(beside, 10) is one


def test_tab_comes_to_dividers_after_everything_else(panes: Split) -> None:
    edits = [QLineEdit(panes.widget(number)) for number in range(panes.count())]
    for edit in edits:
        edit.show()
    stops = tab_order(panes)
    assert stops[-2:] == dividers(panes)
    assert [one for one in stops if one in edits] == edits
    assert len(stops) > 4


def test_the_scroll_bar_before_a_divider_keeps_most_of_its_width(qapp: QApplication) -> None:
    made = Split([ScrollPane(QWidget(), "List"), QWidget()], "List and one")
    made.resize(600, 300)
    made.show()
    bar = places(made)[0].right() - 7
    taken = [x for x in range(bar, bar + 8) if isinstance(made.childAt(x, 20), Divider)]
    assert len(taken) <= 2
    made.close()
    made.deleteLater()


@pytest.mark.parametrize("mode", [ThemeMode.LIGHT, ThemeMode.DARK])
@pytest.mark.parametrize(("level", "least"), [(Contrast.NORMAL, 3.0), (Contrast.HIGH, 4.5)])
def test_the_grip_of_a_divider_is_seen_at_rest(panes: Split, mode: ThemeMode, level: Contrast, least: float) -> None:
    theme().install(mode, level)
    one, _ = dividers(panes)
    ground = theme().colour(Role.SURFACE).rgb() & 0xFFFFFF
    seen = pixels(panes.grab(one.geometry()).toImage())
    strong = sum(contrast(pixel, ground) >= least for row in seen.tolist() for pixel in row)
    assert strong >= 50


def test_arrow_keys_move_a_divider_until_a_pane_is_as_small_as_it_may_be(panes: Split, qtbot: QtBot) -> None:
    told: list[int] = []
    panes.splitterMoved.connect(lambda place, _: told.append(place))
    first, second = dividers(panes)
    first.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(first.hasFocus)
    QTest.keyClick(first, Qt.Key.Key_Right)
    assert panes.sizes() == [216, 284, 300]
    QTest.keyClick(first, Qt.Key.Key_Left)
    assert panes.sizes() == [200, 300, 300]
    QTest.keyClick(first, Qt.Key.Key_Down)
    assert panes.sizes() == [200, 300, 300]
    for _ in range(20):
        QTest.keyClick(first, Qt.Key.Key_Left)
    assert panes.sizes()[0] == LEAST
    QTest.keyClick(second, Qt.Key.Key_Right)
    assert panes.sizes()[2] == 284
    assert len(told) > 3


def test_a_divider_of_panes_above_each_other_moves_up_and_down(qapp: QApplication) -> None:
    made = split([200, 200], stacked=True)
    made.resize(400, 401)
    made.show()
    (one,) = dividers(made)
    assert one.height() == 8
    QTest.keyClick(one, Qt.Key.Key_Down)
    assert made.sizes() == [216, 184]
    QTest.keyClick(one, Qt.Key.Key_Right)
    assert made.sizes() == [216, 184]
    made.close()
    made.deleteLater()


def test_the_mouse_moves_a_divider_that_is_grasped_beside_the_line(panes: Split) -> None:
    one, _ = dividers(panes)
    start = QPoint(6, 200)
    QTest.mousePress(one, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(one, start + QPoint(40, 0))
    QTest.mouseRelease(one, Qt.MouseButton.LeftButton, pos=start)
    assert 236 <= panes.sizes()[0] <= 244


def test_screen_readers_hear_of_each_divider_and_how_it_is_moved(panes: Split) -> None:
    told = [QAccessible.queryAccessibleInterface(one) for one in dividers(panes)]
    assert [one.role() for one in told] == [QAccessible.Role.Splitter] * 2
    names = [one.text(QAccessible.Text.Name) for one in told]
    assert names == ["Divider 1: One, two and three", "Divider 2: One, two and three"]
    assert told[0].text(QAccessible.Text.Description) == "Arrow keys move it."
