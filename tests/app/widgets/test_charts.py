"""Charts as a user sees, walks through and saves them."""

from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication

from app.theme import Role, ThemeMode, theme
from app.widgets.bars import CountDots
from app.widgets.chart import ChartPanel, copy_picture, encoded_picture, picture
from app.widgets.line_chart import Bar, LineChart, Plot, PlotFrame, Point, free_place
from app.widgets.matrix import MatrixChart
from app.widgets.matrix_drawing import PRINTED, Matrix, ink_on, luminance, ramp, shade
from app.widgets.tokens_edit import ChipRow
from tests.support.widgets import placed, recorded

SMALL = Matrix(
    rows=("apple", "pear", "nothing"),
    row_keys=("a", "b", "–"),
    keys=("a", "b", "–"),
    cells={(0, 0): 8, (0, 1): 5, (1, 1): 7, (2, 2): 3},
    totals=(13, 7, 3),
    aside=frozenset({2}),
    frequent=frozenset({(0, 1)}),
    unit="things",
    cell_text=lambda row, column: f"{row} for {column}",
)
PLOT = Plot(
    points=(
        Point(x=0.2, y=0.3, low=0.1, high=0.6, tip="first", id="one"),
        Point(x=0.9, y=0.8, low=0.7, high=0.9, tip="second", id="two"),
    ),
    y_ticks=((0.0, "0 %"), (1.0, "100 %")),
    x_ticks=((0.0, "0"), (1.0, "1")),
    diagonal=True,
    bars=(Bar(start=0.0, end=0.5, height=3, tip="three"), Bar(start=0.5, end=1.0, height=0, tip="none")),
    corner="below",
    guide=0.7,
)


@pytest.mark.parametrize(
    ("points", "place"),
    [
        (((0.2, 0.9),), "lower right"),
        (((0.9, 0.1),), "lower middle"),
        (((0.4, 0.1), (0.9, 0.1)), "upper left"),
        (((0.05, 0.95), (0.1, 0.05), (0.9, 0.05), (0.95, 0.95)), "nowhere"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_label_in_a_chart_covers_neither_points_nor_lines(
    points: tuple[tuple[float, float], ...], place: str
) -> None:
    plot = Plot(points=tuple(Point(x=x, y=y) for x, y in points), corner="below the line")
    frame = PlotFrame(QRectF(0, 0, 400, 300), plot)
    free = free_place(plot, frame, 100)
    if free is None:
        assert place == "nowhere"
        return
    across = ("left", "middle", "right")[int(3 * (free.center().x() - frame.box.left()) / frame.box.width())]
    assert place == f"{'upper' if free.center().y() < frame.box.center().y() else 'lower'} {across}"
    assert not any(free.contains(frame.at(point)) for point in plot.points)


def square(size: int) -> Matrix:
    """As many rows and columns, with counts on the diagonal."""
    names = tuple(f"name_{number}" for number in range(size))
    return Matrix(
        rows=names, row_keys=names, keys=names, cells={(n, n): n + 1 for n in range(size)}, totals=(1,) * size
    )


@pytest.fixture
def chart(qtbot: Any) -> MatrixChart:
    made = placed(qtbot, MatrixChart("Fruit"))
    made.resize(400, 260)
    made.set_matrix(SMALL)
    made.show()
    return made


def test_a_click_on_a_cell_with_a_count_opens_it(chart: MatrixChart, qtbot: Any) -> None:
    opened = recorded(chart.opened)
    for cell in ((0, 1), (2, 0)):
        qtbot.mouseClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=chart.place_of(*cell).center())
    assert opened == [(0, 1)]


def test_sixty_rows_are_in_view_in_the_smallest_window(chart: MatrixChart) -> None:
    chart.resize(560, 290)
    chart.set_matrix(square(61))
    assert chart.cut_text() == ""
    assert chart.verticalScrollBar().maximum() == 0


def test_arrow_keys_walk_through_the_cells_and_say_them(chart: MatrixChart, qtbot: Any) -> None:
    opened = recorded(chart.opened)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Return):
        qtbot.keyClick(chart, key)
    assert chart.accessibleName() == "Fruit: 0 for 1"
    assert opened == [(0, 1)]


def test_a_matrix_is_seen_whole_when_it_opens_and_scrolls_only_where_cells_would_be_too_small(
    chart: MatrixChart,
) -> None:
    assert chart.side() > PRINTED
    chart.set_matrix(square(30))
    assert (chart.cut_text(), chart.side() < PRINTED) == ("", True)
    assert chart.verticalScrollBar().maximum() == chart.horizontalScrollBar().maximum() == 0
    chart.set_matrix(square(200))
    assert chart.verticalScrollBar().maximum() > 0
    assert chart.horizontalScrollBar().maximum() > 0


def test_a_matrix_that_does_not_fit_says_how_much_of_it_is_in_view(chart: MatrixChart) -> None:
    assert chart.cut_text() == ""
    chart.set_matrix(square(200))
    high = sum(chart.place_of(row, 0).bottom() < chart.viewport().height() - 26 for row in range(200))
    wide = sum(chart.place_of(0, column).right() < chart.viewport().width() for column in range(200))
    assert 0 < high < 200
    assert chart.cut_text().startswith(f"{high} of 200 rows")
    assert (f"{wide} of 200 columns" in chart.cut_text()) == (wide < 200)


def test_zooming_out_shows_more_and_back_in_less(chart: MatrixChart, qtbot: Any) -> None:
    chart.set_matrix(square(30))
    chart.zoom(9)
    assert chart.side() > PRINTED
    before = chart.verticalScrollBar().maximum()
    qtbot.keyClick(chart, Qt.Key.Key_Minus)
    assert chart.verticalScrollBar().maximum() < before


def test_walking_scrolls_the_cell_into_view(chart: MatrixChart, qtbot: Any) -> None:
    chart.set_matrix(square(200))
    for _ in range(40):
        qtbot.keyClick(chart, Qt.Key.Key_Down)
    assert chart.viewport().rect().contains(chart.place_of(39, 0))


def test_a_marked_cell_is_scrolled_to_only_on_wish(chart: MatrixChart) -> None:
    chart.set_matrix(square(200))
    chart.mark((150, 150), reveal=False)
    assert chart.verticalScrollBar().value() == 0
    chart.mark((150, 150))
    assert chart.viewport().rect().contains(chart.place_of(150, 150))


def test_a_picture_has_all_of_a_matrix_also_what_is_scrolled_away(chart: MatrixChart) -> None:
    chart.set_matrix(square(60))
    image = picture(chart, scale=1.0)
    assert image.height() >= 60 * PRINTED
    last = image.pixelColor(chart.whole().width() - 60, 60 * PRINTED + 8)
    assert last != theme().colour(Role.SURFACE)


@pytest.mark.parametrize("mode", [ThemeMode.LIGHT, ThemeMode.DARK])
def test_every_count_can_be_read_on_its_cell(qapp: QApplication, mode: ThemeMode) -> None:
    theme().install(mode)
    low, high = ramp()
    for step in range(1, 101):
        ground = shade(low, high, step / 100)
        light, dark = sorted((luminance(ground), luminance(ink_on(ground))), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


@pytest.fixture
def line(qtbot: Any) -> LineChart:
    made = placed(qtbot, LineChart("Trend"))
    made.resize(420, 260)
    made.set_plot(PLOT)
    made.show()
    return made


def test_a_click_near_a_point_chooses_it(line: LineChart, qtbot: Any) -> None:
    chosen = recorded(line.chosen)
    spot = line.spot(1).toPoint()
    qtbot.mouseClick(line, Qt.MouseButton.LeftButton, pos=spot + QPoint(5, 3))
    qtbot.mouseClick(line, Qt.MouseButton.LeftButton, pos=spot - QPoint(60, 0))
    assert chosen == ["two"]


def test_points_are_walked_through_with_the_keyboard(line: LineChart, qtbot: Any) -> None:
    chosen = recorded(line.chosen)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Return):
        qtbot.keyClick(line, key)
    assert chosen == ["two"]
    assert line.accessibleName() == "Trend: second"


def test_a_result_that_arrives_while_somebody_walks_keeps_the_point(line: LineChart, qtbot: Any) -> None:
    chosen = recorded(line.chosen)
    qtbot.keyClick(line, Qt.Key.Key_Right)
    qtbot.keyClick(line, Qt.Key.Key_Right)
    first, second, *rest = PLOT.points
    line.set_plot(replace(PLOT, points=(replace(first, y=0.1), replace(second, y=0.2, tip="second, newer"), *rest)))
    assert line.accessibleName() == "Trend: second, newer"
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert chosen == ["two"]
    line.set_plot(replace(PLOT, points=(first,)))
    assert line.accessibleName() == "Trend"


def test_hovering_says_points_and_bars_in_words(line: LineChart) -> None:
    assert line._text_at(line.spot(0)) == "first"
    assert line._text_at(QPointF(line.spot(0).x(), 225)) == "three"


@pytest.mark.parametrize("plot", [Plot(), Plot(points=PLOT.points[:1]), Plot(points=PLOT.points, band=True)])
def test_any_number_of_points_can_be_drawn(line: LineChart, plot: Plot) -> None:
    line.set_plot(plot)
    assert not picture(line).isNull()


def test_charts_are_saved_as_png(line: LineChart) -> None:
    saved = QImage.fromData(encoded_picture(line, ".PNG", "Trend"))
    assert saved.width() == line.whole().width() * 2


@pytest.mark.parametrize("which", ["matrix", "line"])
def test_charts_are_saved_as_svg_that_others_can_read(which: str, chart: MatrixChart, line: LineChart) -> None:
    root = ElementTree.fromstring(encoded_picture(chart if which == "matrix" else line, ".svg", "Fruit <&>"))
    texts = "".join(root.itertext())
    assert root.tag.endswith("svg")
    assert "Fruit <&>" in texts
    assert ("apple" if which == "matrix" else "100 %") in texts


def test_a_copied_picture_is_on_the_clipboard(line: LineChart) -> None:
    copy_picture(line)
    assert not QApplication.clipboard().image().isNull()


@pytest.fixture
def panel(line: LineChart, qtbot: Any) -> ChartPanel:
    made = placed(qtbot, ChartPanel("Trend", line))
    made.set_values(("Day", "Share"), lambda: [["Mon", "0.5"], ["Tue", "0.75"]])
    made.resize(420, 300)
    made.show()
    return made


def test_a_chart_can_be_read_as_a_table(panel: ChartPanel) -> None:
    panel.toggle_table()
    assert panel.table is not None
    assert panel.shows_table()
    assert [[cell.text for cell in panel.table.rows.row(n).cells] for n in range(2)] == [
        ["Mon", "0.5"],
        ["Tue", "0.75"],
    ]
    panel.set_values(("Day", "Share"), lambda: [["Wed", "1"]])
    assert panel.table.rows.rowCount() == 1
    panel.toggle_table()
    assert not panel.shows_table()


def test_the_menu_of_a_chart_saves_copies_and_enlarges(panel: ChartPanel) -> None:
    saved = recorded(panel.save_wanted)
    for action in panel.menu():
        if action.text.startswith("Save"):
            action.do()
    assert saved == ["png", "svg", "csv"]
    next(action for action in panel.menu() if action.text == "Copy data").do()
    assert QApplication.clipboard().text() == "Day\tShare\nMon\t0.5\nTue\t0.75"


def test_a_message_stands_in_place_of_a_chart_that_has_nothing_to_show(panel: ChartPanel) -> None:
    panel.set_message("Nothing yet.")
    assert not panel.chart.isVisible()
    panel.set_message("")
    assert panel.chart.isVisible()


def test_chips_are_taken_away_one_by_one_or_all(qtbot: Any) -> None:
    row = placed(qtbot, ChipRow("Filter"))
    row.resize(300, 30)
    removed = recorded(row.removed)
    row.set_chips([("a", "Suite: Everyday"), ("b", "Model: small")])
    assert not row.isHidden()
    assert [chip.accessibleName() for chip in row.chips()] == ["Filter Suite: Everyday", "Filter Model: small"]
    qtbot.keyClick(row.chips()[1], Qt.Key.Key_Delete)
    assert removed == ["b"]
    with qtbot.waitSignal(row.cleared):
        row._clear.click()
    row.set_chips([])
    assert row.isHidden()


def test_chips_wrap_where_they_do_not_fit(qtbot: Any) -> None:
    row = placed(qtbot, ChipRow("Filter"), 220, 30)
    row.set_chips([(str(n), f"Suite: number {n}") for n in range(4)])
    assert row.chips()[-1].y() > row.chips()[0].y()
    assert row.height() > row.chips()[-1].geometry().bottom()


def test_pips_say_their_count(qtbot: Any) -> None:
    dots = placed(qtbot, CountDots("Fixed", Role.GOOD_FILL))
    dots.resize(80, 20)
    dots.set_count(4_000)
    assert dots.accessibleName() == "Fixed: 4000"
    assert dots.grab().toImage().pixelColor(3, 10) != QColor(0, 0, 0)
