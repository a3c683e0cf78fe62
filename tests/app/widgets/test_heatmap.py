"""The map under mouse and keyboard."""

import subprocess
import sys
from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QWheelEvent
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.theme import ThemeMode, theme
from app.widgets.chart import picture
from app.widgets.heatmap import Heatmap
from app.widgets.heatmap_data import Heat, make_heat
from app.widgets.heatmap_drawing import cividis, ramp
from app.widgets.heatmap_layout import Join, tree_of

N = 20


def some_heat(n: int = N, what: str = "Similarity") -> Heat:
    """Scores that fall with distance, in an order turned round."""
    away = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    scores = (1.0 - away / n).astype(np.float32)
    order = tuple(reversed(range(n)))
    joins = [Join(0, 1, 0.1), *(Join(n + place, place + 2, 0.1 + place / n) for place in range(n - 2))]
    names = [f"tool_{place}" for place in range(n)]
    return make_heat(what, names, names, scores, outlined=scores, order=order, tree=tree_of(order, joins))


def shown_map(qtbot: QtBot, heat: Heat | None = None) -> tuple[Heatmap, list[tuple[int, int]]]:
    made = Heatmap("Map")
    qtbot.addWidget(made)
    made.resize(640, 560)
    made.set_heat(some_heat() if heat is None else heat)
    made.show()
    opened: list[tuple[int, int]] = []
    made.opened.connect(lambda a, b: opened.append((a, b)))
    return made, opened


def image_of(made: Heatmap) -> QImage:
    image = QImage(made.size(), QImage.Format.Format_RGB32)
    image.fill(theme().colour(theme_role()))
    look: Any = made
    look.render(image)
    return image


def theme_role() -> Any:
    from app.theme import Role

    return Role.SURFACE


def test_importing_the_widgets_loads_no_plotting_library() -> None:
    code = "import sys, app.widgets, app.widgets.heatmap, app.widgets.scale; sys.exit('pyqtgraph' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_colours_go_from_dark_blue_to_yellow() -> None:
    low, high = ramp(2)
    assert low.blue() > low.red()
    assert min(high.red(), high.green()) > high.blue()
    assert cividis().shape == (256, 3)


def test_a_click_opens_the_two_that_stand_there(qtbot: QtBot) -> None:
    made, opened = shown_map(qtbot)
    QTest.mouseClick(made, Qt.MouseButton.LeftButton, pos=made.place_of((3, 7)).center())
    assert opened == [(3, 7)]


def test_the_diagonal_is_no_pair(qtbot: QtBot) -> None:
    made, opened = shown_map(qtbot)
    QTest.mouseClick(made, Qt.MouseButton.LeftButton, pos=made.place_of((3, 3)).center())
    assert opened == []


def test_dragging_pans_and_opens_nothing(qtbot: QtBot) -> None:
    made, opened = shown_map(qtbot)
    made.zoom(4.0)
    before, start = made.port(), made.rect().center()
    QTest.mousePress(made, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(made, start - QPoint(30, 50))
    QTest.mouseRelease(made, Qt.MouseButton.LeftButton, pos=start - QPoint(30, 50))
    assert (made.port().x - before.x, made.port().y - before.y) == (30, 50)
    assert opened == []


def test_the_wheel_zooms_at_the_pointer(qtbot: QtBot) -> None:
    made, _ = shown_map(qtbot)
    spot = QPointF(made.place_of((3, 7)).center())
    turn = QWheelEvent(
        spot, made.mapToGlobal(spot), QPoint(), QPoint(0, 240), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    side = made.port().side
    made.wheelEvent(turn)
    assert made.port().side > side
    assert made.place_of((3, 7)).contains(spot.toPoint())


def test_arrows_walk_enter_opens_and_a_screen_reader_hears_the_cell(qtbot: QtBot) -> None:
    made, opened = shown_map(qtbot)
    made.setFocus(Qt.FocusReason.TabFocusReason)
    made.focusInEvent(focus(Qt.FocusReason.TabFocusReason))
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Return):
        QTest.keyClick(made, key)
    assert opened == [(18, 16)]
    assert made.accessibleName() == "Map: tool_18, tool_16, Similarity: 0.90"


def focus(reason: Qt.FocusReason) -> Any:
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QFocusEvent

    return QFocusEvent(QEvent.Type.FocusIn, reason)


def test_walking_never_leaves_the_map_and_keeps_the_cell_in_view(qtbot: QtBot) -> None:
    made, opened = shown_map(qtbot)
    made.zoom(6.0)
    for _ in range(N + 5):
        QTest.keyClick(made, Qt.Key.Key_Down)
    QTest.keyClick(made, Qt.Key.Key_Return)
    assert opened[0][0] == 0
    assert made.rect().contains(made.place_of(opened[0]))


def test_keys_zoom_show_everything_and_pan(qtbot: QtBot) -> None:
    made, _ = shown_map(qtbot)
    whole = made.port()
    for _ in range(6):
        QTest.keyClick(made, Qt.Key.Key_Plus)
    assert made.port().side > whole.side
    QTest.keyClick(made, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    moved = made.port()
    QTest.keyClick(made, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert made.port().x < moved.x
    QTest.keyClick(made, Qt.Key.Key_Minus)
    assert made.port().side < moved.side
    QTest.keyClick(made, Qt.Key.Key_0)
    assert made.port() == whole


def test_brighter_cells_are_more_alike(qtbot: QtBot) -> None:
    made, _ = shown_map(qtbot)
    image = image_of(made)
    near, far = (image.pixelColor(made.place_of(pair).center()).lightness() for pair in ((3, 4), (0, 19)))
    assert near > far


def test_the_threshold_draws_outlines(qtbot: QtBot) -> None:
    made, _ = shown_map(qtbot)
    made.set_threshold(2.0)
    without = image_of(made)
    made.set_threshold(0.9)
    assert image_of(made) != without


def test_a_chosen_pair_is_marked_and_named_until_it_is_let_go(qtbot: QtBot) -> None:
    made, _ = shown_map(qtbot)
    plain = image_of(made)
    made.choose((2, 9))
    assert image_of(made) != plain
    made.choose(None)
    assert image_of(made) == plain


def test_what_was_searched_for_is_brought_out_and_scrolled_to(qtbot: QtBot) -> None:
    made, _ = shown_map(qtbot)
    made.zoom(6.0)
    made.bring_out((0,))
    assert made.rect().contains(made.place_of((0, 0)))
    made.bring_out(())


def test_a_group_fills_the_map(qtbot: QtBot) -> None:
    made, _ = shown_map(qtbot)
    side = made.port().side
    made.focus_on((10, 11, 12))
    assert made.port().side > side
    assert all(made.rect().contains(made.place_of((one, one))) for one in (10, 11, 12))


def test_another_matrix_of_the_same_tools_keeps_place_and_choice(qtbot: QtBot) -> None:
    made, _ = shown_map(qtbot)
    made.choose((2, 9))
    made.zoom(3.0)
    port = made.port()
    made.set_heat(some_heat(what="Wording"))
    assert made.port() == port
    made.set_heat(some_heat(N + 1))
    assert made.port().fitted


def test_the_picture_holds_everything_whatever_is_zoomed(qtbot: QtBot) -> None:
    made, _ = shown_map(qtbot)
    whole = picture(made, "Similarity").size()
    made.zoom(8.0)
    assert picture(made, "Similarity").size() == whole


def test_both_schemes_can_be_drawn_and_what_is_not_known_looks_empty(qtbot: QtBot) -> None:
    blank = np.full((4, 4), np.nan, np.float32)
    names = list("abcd")
    heat = make_heat(
        "Confused", names, names, blank, outlined=np.eye(4, dtype=np.float32), order=range(4), tree=tree_of((), [])
    )
    made, _ = shown_map(qtbot, heat)
    light = image_of(made).pixelColor(made.place_of((0, 2)).center()).lightness()
    theme().set_mode(ThemeMode.DARK)
    dark = image_of(made).pixelColor(made.place_of((0, 2)).center()).lightness()
    assert light > 180 > dark


def test_an_empty_map_can_be_shown_and_walked_without_harm(qtbot: QtBot) -> None:
    made, opened = shown_map(qtbot, Heat())
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Return, Qt.Key.Key_Plus, Qt.Key.Key_0):
        QTest.keyClick(made, key)
    image_of(made)
    assert opened == []


def test_thousands_are_drawn_from_coarser_bytes(qtbot: QtBot) -> None:
    made, _ = shown_map(qtbot, some_heat(900))
    assert made.port().side < 1
    image_of(made)
    made.zoom(1_000.0)
    image_of(made)
    assert made.port().side == 64
