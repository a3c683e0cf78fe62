"""Texts, charts and tables of the metrics screen."""

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from app.screens.metrics.charts import calibration_data, pass_all_data, trend_data
from app.screens.metrics.filters import Dimension
from app.screens.metrics.group_values import (
    ConfusionView,
    best_model,
    confusion_view,
    letters,
    model_rows,
    repeats_view,
    runs_title,
    server_rows,
    tools_table,
    worst_first,
)
from app.screens.metrics.metric_cells import SideMetricRow
from app.screens.metrics.metric_values import (
    headline_metrics,
    metrics_table,
    milliseconds,
    percent_points,
    share_text,
    shown,
    side_metrics,
)
from app.screens.metrics.page import MetricsPage
from app.text.data_tables import DataTable, csv_text
from app.widgets.accessibility import reading_order
from app.widgets.chart import ChartPanel
from app.widgets.line_chart import LineChart
from mcp_tef import (
    NO_TOOL_LABEL,
    Batch,
    Classification,
    MetricsOverview,
    ModelSettings,
    Rate,
    RunFilter,
    RunStatus,
    RunSummary,
)
from mcp_tef.statistics.run_history import history_of
from mcp_tef.workflows.metrics import overview_of
from tests.app.screens.metrics.conftest import Desk
from tests.support.run_factories import NOW, SMALL, failed_run, past_batch, past_runs
from tests.support.windows import until

DAY = past_batch(1)


def overview(*runs: RunSummary, batches: tuple[Batch, ...] = (DAY,)) -> MetricsOverview:
    """Return the core's overview of some runs."""
    return overview_of(history_of(runs, batches))


def small() -> MetricsOverview:
    """A past of 52 runs."""
    return overview(*past_runs(DAY, SMALL))


def view() -> ConfusionView:
    return confusion_view(small().confusions)


def test_four_figures_say_their_n_in_words() -> None:
    shown_figures = {figure.title: figure for figure in headline_metrics(small().metrics)}
    assert list(shown_figures) == ["Correct call", "Correct tool", "Precision", "Recall"]
    tool = shown_figures["Correct tool"]
    assert (tool.value, tool.bounds, tool.sentence) == ("77 %", "(64–86)", "40 of 52 judged runs")
    assert shown_figures["Correct call"].sentence == "36 of 52 judged runs"
    assert shown_figures["Precision"].sentence == "31 of 33 calls expected"
    assert shown_figures["Recall"].sentence == "31 of 41 expected tools selected"


def test_terms_are_explained_by_the_numbers_at_hand() -> None:
    recall = headline_metrics(small().metrics)[3]
    assert recall.help.startswith("Recall: of the 41 times a tool was expected, the share that selected it.")
    assert "95 % interval" in recall.help


def test_what_is_not_defined_is_a_dash_and_never_zero() -> None:
    nothing = headline_metrics(overview().metrics)
    assert {figure.value for figure in nothing} == {"–"}
    assert nothing[3].sentence == "No tool was expected"
    assert {side_metric.value for side_metric in side_metrics(overview().metrics)[3:7]} == {"–"}


def test_f1_is_among_the_quieter_figures_and_has_no_interval() -> None:
    (f1,) = [one for one in side_metrics(small().metrics) if one.label == "F1"]
    assert f1.value == "0.84"
    assert "resampled cases" in f1.help


def test_failures_and_confident_mistakes_ask_for_a_look() -> None:
    runs = [*past_runs(DAY, SMALL), failed_run(900, batch_id=DAY.id)]
    told = {side_metric.label: side_metric for side_metric in side_metrics(overview(*runs).metrics)}
    assert (told["Failed"].value, told["Failed"].bad) == ("1", True)
    assert (told["Sure and wrong"].value, told["Sure and wrong"].bad) == ("1", True)


def test_runs_of_the_baseline_are_called_so() -> None:
    found = overview(*past_runs(DAY, SMALL), *past_runs(DAY, SMALL, model=ModelSettings().label))
    rows = model_rows(found.models)
    assert [(row.name, row.kind) for row in rows] == [("gpt-4.1-mini", "openai"), ("offline baseline", "baseline")]
    alone = overview(*past_runs(DAY, SMALL, model=ModelSettings().label)).models
    first = side_metrics(found.metrics, alone)[0]
    assert (first.label, first.value) == ("Selector", "offline baseline")


def test_of_several_models_the_best_one_is_shown_and_a_baseline_only_if_there_is_nothing_else() -> None:
    baseline = past_runs(DAY, SMALL, model=ModelSettings().label)
    wrong = [replace(run, classification=Classification.FN, model="a/worse") for run in past_runs(DAY, SMALL)]
    found = overview(*past_runs(DAY, SMALL), *wrong, *baseline)
    assert best_model(found.models) == "openai/gpt-4.1-mini"
    assert best_model(overview(*wrong, *baseline).models) == "a/worse"
    assert best_model(small().models) == ""
    first = side_metrics(found.metrics, found.models, "openai/gpt-4.1-mini")[0]
    assert (first.label, first.value) == ("Model", "gpt-4.1-mini, best of 3")


def test_precision_says_where_wrong_tools_count_and_sums_name_their_batches() -> None:
    precision = headline_metrics(small().metrics)[2]
    assert precision.note == "without wrong tools"
    assert side_metrics(small().metrics, batches=["Everyday, 14:05"]) == side_metrics(small().metrics)
    names = [f"Batch {number}" for number in range(14)]
    summed = side_metrics(small().metrics, batches=names)[0]
    assert (summed.label, summed.value) == ("Sum of", "14 batches")
    assert summed.help.splitlines()[1:] == [*names[:12], "and 2 more"]


@pytest.mark.parametrize("width", [1200, 500, 240])
def test_every_quieter_figure_is_shown_however_narrow_the_row(qapp: QApplication, width: int) -> None:
    row, asides = SideMetricRow(), side_metrics(small().metrics)
    row.resize(width, 200)
    row.show_side_metrics(asides)
    assert list(row.values()) == [one.label for one in asides]
    row.deleteLater()


def test_no_share_and_no_bound_is_rounded_to_a_whole() -> None:
    assert share_text(Rate(1999 / 2000, 0.9972, 0.99998, 2000)) == "99.9 % (99.7–99.9)"
    assert share_text(Rate(3 / 1000, 0.0001, 0.0088, 1000)) == "0.3 % (0.1–1)"
    assert share_text(Rate(1.0, 0.93, 1.0, 50)) == "100 % (93–100)"


def test_columns_of_the_matrix_have_letters() -> None:
    assert [letters(number) for number in (0, 25, 26, 27, 701, 702)] == ["a", "z", "aa", "ab", "zz", "aaa"]
    assert view().keys == ("a", "b", "c", "–")
    assert view().rows == ("search_files", "search_code", "read_file", "no tool")


def test_a_cell_says_both_names_and_its_count() -> None:
    assert view().cell_text(1, 0) == "Expected search_code, selected search_files: 7 of 20 runs"
    assert view().cell_text(1, 1) == "search_code: selected as expected in 12 of 20 runs"
    assert runs_title(view(), 1, 0) == "search_files selected where search_code was expected"
    assert runs_title(view(), 3, 3) == "no tool, selected as expected"


def test_a_cell_leads_to_exactly_its_runs() -> None:
    where = view().runs_of(RunFilter(suites=("Everyday",)), 1, 0)
    assert (where.suites, where.statuses) == (("Everyday",), (RunStatus.COMPLETED,))
    assert (where.expected and where.expected.tool, where.selected and where.selected.tool) == (
        "search_code",
        "search_files",
    )


def test_frequent_confusions_stand_out() -> None:
    assert view().frequent == {(1, 0)}


def test_tools_come_worst_first_by_the_bound_that_favours_them() -> None:
    found = worst_first(small().confusions)
    assert found[0].name == "search_code"
    assert [tool.recall.high for tool in found] == sorted(tool.recall.high or 0 for tool in found)


def test_a_tool_knows_the_cell_of_what_it_is_taken_for() -> None:
    worst = worst_first(small().confusions)[0]
    assert view().place(worst.label, worst.taken_for) == (1, 0)
    assert view().place(worst.label, None) is None
    assert view().place(NO_TOOL_LABEL, worst.label) == (3, 1)


def test_an_empty_past_has_an_empty_matrix() -> None:
    nothing = confusion_view(overview().confusions)
    assert (nothing.n, dict(nothing.cells)) == (0, {})


def test_calibration_counts_each_level_and_says_its_share() -> None:
    data = calibration_data(small().calibration)
    assert sum(bar.n for bar in data.bars) == 52
    assert data.note == "self-reported · n 52"
    assert all(f"{point.rate.n} run" in point.text for point in data.points)


def test_calibration_names_every_source_of_confidence() -> None:
    runs = past_runs(DAY, SMALL)
    half = [replace(run, confidence_source="agreement") for run in runs[::2]]
    assert (
        calibration_data(overview(*half, *runs[1::2]).calibration).note == "self-reported, agreement of repeats · n 52"
    )


def test_without_any_confidence_that_is_the_result() -> None:
    runs = [replace(run, confidence=None, confidence_source=None) for run in past_runs(DAY, SMALL)]
    assert calibration_data(overview(*runs).calibration).message.startswith("No answer has a confidence")


def test_a_trend_needs_two_batches() -> None:
    one = trend_data(small().trend, NOW)
    assert one.message.endswith("A trend needs two.")
    older = past_batch(2)
    two = trend_data(overview(*past_runs(DAY), *past_runs(older), batches=(DAY, older)).trend, NOW)
    assert two.message == ""
    assert [point.id for point in two.points] == ["batch-2", "batch-1"]
    assert two.points[1].text.startswith("Everyday, Yesterday: 69 % (55–80) of 52 runs are correct calls")


def test_batches_of_one_day_are_told_apart_on_the_axis_by_their_time() -> None:
    first, second = past_batch(2), replace(past_batch(3), created_at=past_batch(2).created_at + timedelta(minutes=5))
    runs = (*past_runs(DAY), *past_runs(first), *past_runs(second))
    points = trend_data(overview(*runs, batches=(DAY, first, second)).trend, NOW).points
    assert len({point.name for point in points}) == 3
    assert [":" in point.name for point in points] == [False, True, False]


def test_a_partial_cost_in_the_trend_says_for_how_many_runs() -> None:
    runs = past_runs(DAY)
    partial = [replace(run, cost_usd=0.001 if number < 3 else None) for number, run in enumerate(runs)]
    (point,) = trend_data(overview(*partial).trend, NOW).points
    assert "$0.003 for 3 of 52 runs; 49 without a price" in point.text
    table = trend_data(overview(*partial).trend, NOW).table
    assert dict(zip(table.columns, table.rows[0], strict=True))["Without a price"] == 49
    (whole,) = trend_data(overview(*(replace(run, cost_usd=0.001) for run in runs)).trend, NOW).points
    assert "without a price" not in whole.text


def test_a_point_of_the_trend_says_that_another_model_answered() -> None:
    (point,) = small().trend
    (shown,) = trend_data([replace(point, note="The provider answered as a before, b after.")], NOW).points
    assert shown.text.endswith("\nThe provider answered as a before, b after.")


def test_repeats_tell_flaky_cases_from_sure_ones() -> None:
    runs = past_runs(DAY, {"search_code": {"search_code": 4, "search_files": 2}}, repeats=3)
    found = repeats_view(overview(*runs).repeats, {DAY.id: DAY})
    assert (found.always, found.flaky_count, found.never) == (1, 1, 0)
    assert found.figure.sentence == "4 of 6 repeated runs passed, 2 repeated cases"
    assert [point.name for point in found.power.points] == ["1", "2", "3"]
    assert found.power.points[0].text == "1 run all correct: 67 %, over 2 repeated cases"
    where = found.runs_of(0, RunFilter(statuses=(RunStatus.COMPLETED,)))
    assert (where.case_ids, where.batch_ids) == (("case-1",), ("batch-1",))


def test_without_repeats_the_view_says_what_they_are_good_for() -> None:
    found = repeats_view(small().repeats, {})
    assert found.message.startswith("One correct run can be luck.")
    assert pass_all_data(()).points == ()


def test_servers_come_worst_first() -> None:
    assert [row.name for row in server_rows(small().metrics.by_server)] == ["docs"]


def test_tables_are_csv_that_a_spreadsheet_does_not_run() -> None:
    table = DataTable(name="A table, of sorts", columns=("a", "b"), rows=(("=1+1", None), ("x,y", 0.5), ("-2", 3)))
    rows = list(csv.reader(io.StringIO(csv_text(table))))
    assert rows == [["a", "b"], ["'=1+1", ""], ["x,y", "0.5"], ["'-2", "3"]]
    assert table.file_name == "a-table-of-sorts"


def test_every_figure_and_every_tool_is_in_its_table() -> None:
    names = [row[0] for row in metrics_table(small().metrics).rows]
    assert {"Accuracy", "F1", "Latency p95 in ms", "Cost in USD"} <= set(names)
    table = tools_table(small().confusions)
    assert len(table.columns) == len(table.rows[0])
    assert table.rows[0][0] == "search_code"


@pytest.mark.parametrize(("value", "text"), [(None, "–"), (1234, "1,234"), (0.5, "0.5"), (1 / 3, "0.333"), ("a", "a")])
def test_values_are_shown_short(value: float | str | None, text: str) -> None:
    assert shown(value) == text


def test_times_and_differences_have_units() -> None:
    assert [milliseconds(value) for value in (None, 840, 2400)] == ["–", "840 ms", "2.4 s"]
    assert percent_points(0.09, 0.02, 0.16) == "+9 points (+2 to +16)"
    assert percent_points(-0.08, -0.2, 0.05) == "−8 points (−20 to +5)"
    assert percent_points(None, None, None) == "difference unknown"


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
    """Return True if one row has all of these values, with numbers rounded."""
    return any(all(any(_is(cell, value) for cell in row) for value in values) for row in table)


def _is(cell: str, value: float | str | None) -> bool:
    if value is None or isinstance(value, str):
        return cell == (value or "–")
    return cell.replace(",", "").replace(".", "", 1).isdigit() and abs(float(cell.replace(",", "")) - value) < ROUNDED


async def test_every_count_and_total_of_the_matrix_stands_in_its_table(desk: Desk) -> None:
    view = desk.page.presenter.view
    assert view is not None
    drawn, columns = desk.page.overview.square.matrix(), view.confusion.column_names
    table = await read(desk, desk.page.overview.matrix)
    wanted = [[drawn.rows[r], columns[c], str(n), str(drawn.totals[r])] for (r, c), n in drawn.cells.items()]
    assert sorted(table) == sorted(wanted)
    assert {row[0] for row in table} == set(drawn.rows)


@pytest.mark.parametrize(
    "panel_of",
    [
        lambda page: page.overview.calibration,
        lambda page: page.overview.trend,
        lambda page: page.repeats.power,
    ],
    ids=["calibration", "trend", "repeats"],
)
async def test_every_point_and_bar_of_a_chart_stands_in_its_table_with_its_interval(
    desk: Desk, panel_of: PanelOf
) -> None:
    panel = panel_of(desk.page)
    if panel is desk.page.repeats.power:
        await desk.filter(Dimension.MODEL, ModelSettings().label)
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


@pytest.mark.parametrize(("value", "text"), [(0.0, "0"), (0.00042, "0.00042"), (0.04712, "0.047"), (12.5, "12.5")])
def test_a_small_cost_is_not_rounded_to_nothing(value: float, text: str) -> None:
    assert shown(value) == text


def test_the_table_of_calibration_names_the_source_that_the_chart_names() -> None:
    data = calibration_data(small().calibration)
    assert {row[0] for row in data.table.rows} == {"self-reported"}
