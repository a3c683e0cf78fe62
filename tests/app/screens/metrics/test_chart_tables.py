"""Every chart of the metrics screen can be read as a table, by the keyboard alone, and the table lacks nothing."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from app.screens.metrics.formatting import shown
from app.screens.metrics.page import MetricsPage
from app.widgets.accessibility import reading_order
from app.widgets.chart import ChartPanel
from app.widgets.line_chart import LineChart
from tests.app.screens.metrics.conftest import Desk, Tell
from tests.support.windows import until

ROUNDED = 0.0006
Table = list[list[str]]
PanelOf = Callable[[MetricsPage], ChartPanel]


async def read(desk: Desk, panel: ChartPanel) -> Table:
    """Come to a chart's menu with Tab, choose its table with the arrows, and read it."""
    page = desk.page
    page.activateWindow()
    await until(page.isActiveWindow)
    more = next(one for one in reading_order(page) if one.accessibleName() == f"More: {panel.title}")
    more.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(more, Qt.Key.Key_Space)
    await until(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    for _ in menu.actions():
        QTest.keyClick(menu, Qt.Key.Key_Down)
        if (active := menu.activeAction()) is not None and active.text() == "Show as table":
            break
    QTest.keyClick(menu, Qt.Key.Key_Return)
    await until(panel.shows_table)
    assert panel.table is not None
    assert panel.table.hasFocus()
    rows = panel.table.rows
    return [[cell.text for cell in rows.row(number).cells] for number in range(rows.rowCount())]


def holds(table: Table, *values: float | str | None) -> bool:
    """Whether one row has all of these, numbers as they are rounded there."""
    return any(all(any(_is(cell, value) for cell in row) for value in values) for row in table)


def _is(cell: str, value: float | str | None) -> bool:
    if value is None or isinstance(value, str):
        return cell == (value or "–")
    return cell.replace(",", "").replace(".", "", 1).isdigit() and abs(float(cell.replace(",", "")) - value) < ROUNDED


def test_every_count_and_total_of_the_matrix_stands_in_its_table(use: Tell) -> None:
    async def story(desk: Desk) -> None:
        view = desk.page.presenter.view
        assert view is not None
        drawn, columns = desk.page.overview.square.matrix(), view.confusion.column_names
        table = await read(desk, desk.page.overview.matrix)
        wanted = [[drawn.rows[r], columns[c], str(n), str(drawn.totals[r])] for (r, c), n in drawn.cells.items()]
        assert sorted(table) == sorted(wanted)
        assert {row[0] for row in table} == set(drawn.rows)

    use(story)


@pytest.mark.parametrize(
    "panel_of",
    [
        lambda page: page.overview.calibration,
        lambda page: page.overview.trend,
        lambda page: page.repeats.power,
    ],
    ids=["calibration", "trend", "repeats"],
)
def test_every_point_and_bar_of_a_chart_stands_in_its_table_with_its_interval(use: Tell, panel_of: PanelOf) -> None:
    async def story(desk: Desk) -> None:
        panel = panel_of(desk.page)
        desk.page.show_view("overview" if panel is not desk.page.repeats.power else "repeats")
        chart = panel.chart
        assert isinstance(chart, LineChart)
        plot = chart.plot()
        table = await read(desk, panel)
        assert plot.points
        for point in plot.points:
            across = () if panel is desk.page.overview.trend else (point.x,)
            assert holds(table, *across, point.y, point.low, point.high), point
        for bar in plot.bars:
            assert not bar.height or holds(table, bar.start, bar.end, bar.height), bar

    use(story)


@pytest.mark.parametrize(("value", "text"), [(0.0, "0"), (0.00042, "0.00042"), (0.04712, "0.047"), (12.5, "12.5")])
def test_a_small_cost_is_not_rounded_to_nothing(value: float, text: str) -> None:
    assert shown(value) == text
