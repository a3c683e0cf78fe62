"""The heatmap under mouse and keyboard, and the scores that it shows."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QFocusEvent, QImage, QWheelEvent
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.theme import ThemeMode, theme
from app.widgets.chart import picture
from app.widgets.heatmap import Heatmap
from app.widgets.heatmap_drawing import cividis, ramp
from app.widgets.heatmap_layout import Heat, Join, Tree, as_bytes, closest, coarser, make_heat, tree_of
from tests.support.widgets import placed, recorded

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
    made = placed(qtbot, Heatmap("Map"))
    made.resize(640, 560)
    made.set_heat(some_heat() if heat is None else heat)
    made.show()
    opened = recorded(made.opened)
    return made, opened


def image_of(made: Heatmap) -> QImage:
    return made.grab().toImage()


def test_importing_the_widgets_loads_no_plotting_library() -> None:
    code = "import sys, app.widgets, app.widgets.heatmap, app.widgets.scale; sys.exit('pyqtgraph' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_colours_go_from_dark_blue_to_yellow() -> None:
    low, high = ramp(2)
    assert low.blue() > low.red()
    assert min(high.red(), high.green()) > high.blue()
    assert cividis().shape == (256, 3)


def test_a_click_opens_the_two_that_stand_there_and_the_diagonal_is_no_pair(qtbot: QtBot) -> None:
    made, opened = shown_map(qtbot)
    for pair in ((3, 3), (3, 7)):
        QTest.mouseClick(made, Qt.MouseButton.LeftButton, pos=made.place_of(pair).center())
    assert opened == [(3, 7)]


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
    made.focusInEvent(QFocusEvent(QEvent.Type.FocusIn, Qt.FocusReason.TabFocusReason))
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Return):
        QTest.keyClick(made, key)
    assert opened == [(18, 16)]
    assert made.accessibleName() == "Map: tool_18, tool_16, Similarity: 0.90"


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


def test_the_threshold_and_a_chosen_pair_are_drawn_until_they_are_taken_back(qtbot: QtBot) -> None:
    made, _ = shown_map(qtbot)
    made.set_threshold(2.0)
    plain = image_of(made)
    made.set_threshold(0.9)
    assert image_of(made) != plain
    made.set_threshold(2.0)
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


def square(n: int, seed: int = 7) -> NDArray[np.float32]:
    """Symmetric scores with a diagonal of 1."""
    scores = np.random.default_rng(seed).random((n, n), dtype=np.float32)
    made: NDArray[np.float32] = np.maximum(scores, scores.T)
    np.fill_diagonal(made, 1)
    return made


def heat(n: int = 5, order: tuple[int, ...] = (4, 2, 0, 1, 3)) -> Heat:
    names = [f"tool_{place}" for place in range(n)]
    titles = [f"shop/{name}" for name in names]
    return make_heat("Similarity", names, titles, square(n), outlined=square(n), order=order, tree=Tree())


def test_scores_become_bytes_in_the_order_given_and_unknown_ones_have_their_own() -> None:
    made = as_bytes(np.array([[1, 0.5], [np.nan, 0]], np.float32), np.array([1, 0]))
    assert made.tolist() == [[1, 0], [128, 255]]


@pytest.mark.filterwarnings("error")
@settings(max_examples=30, deadline=None)
@given(st.integers(257, 700))
def test_a_high_score_is_never_lost_among_thousands(n: int) -> None:
    scores = np.zeros((n, n), np.float32)
    scores[n - 1, 3] = 1.0
    levels = coarser(as_bytes(scores, np.arange(n)))
    assert len(levels[-1]) <= 256
    assert all(level.max() == 255 for level in levels)


def test_cells_at_the_threshold_are_outlined_and_the_diagonal_never_is() -> None:
    made = heat()
    exact = float(made.outlined[made.order[0], made.order[1]])
    found = made.outlines(range(5), range(5), exact)
    assert found[0, 1]
    assert found[1, 0]
    assert not found.diagonal().any()
    assert not made.outlines(range(1), range(1, 2), float(np.nextafter(np.float32(exact), np.float32(2)))).any()


def test_the_closest_neighbour_of_each_counts_without_itself_also_beyond_the_first_block() -> None:
    assert closest(np.array([[1, 0.25], [0.25, 1]], np.float32)).tolist() == [0.25, 0.25]
    assert closest(np.ones((1, 1), np.float32)).tolist() == [0.0]
    scores = np.eye(600, dtype=np.float32)
    scores[599, 300] = scores[300, 599] = 0.5
    assert np.flatnonzero(closest(scores)).tolist() == [300, 599]


def test_loud_rows_are_those_with_a_neighbour_at_the_threshold_closest_first() -> None:
    made = heat()
    flagged = made.flagged(range(5), 0.0)
    values = [float(made.nearest[made.order[place]]) for place in flagged]
    assert sorted(values, reverse=True) == values
    assert made.flagged(range(5), 1.1) == []
    assert set(made.flagged(range(2, 5), 0.0)) == {2, 3, 4}


def test_a_cell_says_both_whole_names_and_the_score_or_that_it_is_not_known() -> None:
    made = heat()
    assert made.cell_text(0, 1) == f"shop/tool_4\nshop/tool_2\nSimilarity: {float(made.scores[4, 2]):.2f}"
    made.scores[4, 2] = np.nan
    assert made.cell_text(0, 1).endswith("Similarity: not known")
