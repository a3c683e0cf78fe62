"""The metrics screen as a user meets it, on a qasync loop over an engine in memory."""

from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.core_link.refresh import Refresh
from app.core_link.settings import Settings
from app.core_link.targets import ChangeTool, CompareBatches, ShowBatch, ShowBatchMetrics, ShowPair, ShowRuns, StartRuns
from app.screens.kit import NO_FILTERS
from app.screens.metrics.batch_comparison import PairGroup
from app.screens.metrics.filters import Dimension
from app.widgets import Label
from mcp_tef import BatchId, BatchRequest, BatchStarted, ModelSettings, PairChange, RunStatus
from tests.app.screens.metrics.conftest import Desk, metrics_page
from tests.support.run_factories import GPT, past_batch
from tests.support.windows import until


def click(qtbot: QtBot, widget: Any) -> None:
    bot: Any = qtbot
    bot.mouseClick(widget, Qt.MouseButton.LeftButton)


async def test_before_anything_ran_the_page_leads_to_the_first_run(qtbot: QtBot) -> None:
    async with metrics_page(empty=True) as desk:
        click(qtbot, desk.button("Run…"))
        assert desk.gone == [StartRuns()]
        assert not desk.page.export_actions()[0].enabled


async def test_figures_matrix_and_tools_are_shown_at_once(desk: Desk) -> None:
    share = desk.page.overview.strip.cells[0]
    assert (share.title.text(), share.value.text(), share.sentence.text()) == (
        "Correct call",
        "72 %",
        "75 of 104 judged runs",
    )
    assert desk.page.overview.square.matrix().rows == ("search_files", "search_code", "read_file", "no tool")
    assert desk.tools()[0][0] == "search_code"
    assert desk.page.overview.side_metrics.values()["Model"] == "gpt-4.1-mini, best of 2"


async def test_generated_cases_are_told_apart_above_the_charts_unless_one_has_all_the_room(desk: Desk) -> None:
    overview = desk.page.overview
    assert not overview.origins.isVisible()
    assert desk.page.presenter.view is not None
    overview.show_view(replace(desk.page.presenter.view, origins="12 of 40 cases were generated"))
    assert overview.origins.isVisible()
    overview.enlarge(overview.matrix)
    assert not overview.origins.isVisible()
    overview.enlarge(None)
    assert overview.origins.text() == "12 of 40 cases were generated"
    assert overview.origins.isVisible()


async def test_a_narrow_window_shows_every_further_figure_in_full(desk: Desk) -> None:
    row = desk.page.overview.side_metrics
    wide = row.values()
    for width in (1240, 900):
        row.resize(width, row.height())
        QApplication.processEvents()
        assert row.values() == wide
        shown = [label for label in row.findChildren(Label) if label.isVisible()]
        assert all(label.width() >= label.sizeHint().width() for label in shown), width
        assert all(row.rect().contains(label.geometry()) for label in shown), width


async def test_a_click_on_a_cell_leads_to_exactly_its_runs(desk: Desk, qtbot: QtBot) -> None:
    square, bot = desk.page.overview.square, qtbot
    place = square.place_of(1, 0).center()
    bot.mouseClick(square.viewport(), Qt.MouseButton.LeftButton, pos=place)  # type: ignore[no-untyped-call]
    (target,) = desk.gone
    assert isinstance(target, ShowRuns)
    assert target.title == "search_files selected where search_code was expected"
    assert await desk.session.call(lambda core: core.runs.count(target.where)) == 11


async def test_the_worst_confusion_of_the_chosen_tool_is_ringed_and_its_runs_open_with_enter(desk: Desk) -> None:
    assert desk.page.overview.square._marked == (1, 0)
    desk.page.overview.tools.opened.emit("0")
    (target,) = desk.gone
    assert isinstance(target, ShowRuns)
    assert target.where.expected is not None
    assert target.where.expected.tool == "search_code"
    assert target.where.statuses == (RunStatus.COMPLETED,)


async def test_a_cell_leads_to_the_two_tools_side_by_side(desk: Desk) -> None:
    panel = desk.page.overview.matrix
    assert [action.text for action in panel.menu()[:2]] == ["Show runs", "Compare the two tools"]
    panel.menu()[1].do()
    command = next(one for one in desk.page.commands() if one.id == "metrics.pair")
    assert command.needs()
    command.do()
    pair = desk.page.overview.pair()
    assert pair is not None
    assert [label.tool for label in pair] == ["search_code", "search_files"]
    assert desk.gone == [ShowPair(*pair)] * 2


async def test_a_cell_leads_to_the_workshop_with_its_reason(desk: Desk) -> None:
    desk.page.overview.matrix.menu()[2].do()
    (target,) = desk.gone
    assert isinstance(target, ChangeTool)
    assert target.tool.tool == "search_code"
    assert "search_files" in target.reason


async def test_filters_narrow_everything_and_are_chips_that_go_with_a_click(desk: Desk, qtbot: QtBot) -> None:
    await desk.filter(Dimension.MODEL, ModelSettings().label)
    assert desk.page.overview.strip.cells[0].sentence.text() == "36 of 52 judged runs"
    assert [chip.accessibleName() for chip in desk.page.filters.chips()] == ["Filter Model: offline baseline"]
    assert desk.page.filters.quick[Dimension.MODEL].text() == "Model: offline baseline"
    bot: Any = qtbot
    bot.keyClick(desk.page.filters.chips()[0], Qt.Key.Key_Delete)
    await desk.page.settled()
    assert desk.page.overview.strip.cells[0].sentence.text() == "75 of 104 judged runs"
    assert desk.page.filters.isHidden()


async def test_filters_stay_until_the_next_start(qapp: QApplication) -> None:
    settings = Settings(None)

    async with metrics_page(settings) as desk:
        await desk.filter(Dimension.MODEL, GPT)
        desk.page.show_view("models")

    async with metrics_page(settings) as desk:
        assert desk.page.presenter.filters == NO_FILTERS.with_values(Dimension.MODEL, GPT)
        assert desk.page.views.current() == "models"
        assert desk.page.models.models.rows.rowCount() == 1


async def test_filters_that_nothing_fits_can_be_taken_away(desk: Desk, qtbot: QtBot) -> None:
    await desk.filter(Dimension.MODEL, "nobody/nothing")
    click(qtbot, desk.button("Clear all filters"))
    await desk.page.settled()
    assert desk.page.overview.isVisible()


async def test_models_are_compared_and_the_baseline_is_called_one(desk: Desk) -> None:
    desk.page.show_view("models")
    rows = desk.page.models.models.rows
    assert [rows.row(number).cells[0].text for number in range(2)] == ["gpt-4.1-mini", "offline baseline"]
    assert "not a model" in desk.page.models.note.text()
    desk.page.models.models.opened.emit(GPT)
    assert [target.title for target in desk.gone if isinstance(target, ShowRuns)] == ["gpt-4.1-mini"]


async def test_repeats_list_flaky_cases_that_lead_to_their_runs(desk: Desk) -> None:
    desk.page.show_view("repeats")
    assert not desk.page.repeats.flaky.isVisible(), "only a baseline was repeated, and models were asked as well"
    await desk.filter(Dimension.MODEL, ModelSettings().label)
    assert desk.page.repeats.flaky.rows.rowCount() >= 1
    assert "always pass" in desk.page.repeats.split.text()
    desk.page.repeats.flaky.opened.emit("0")
    (target,) = desk.gone
    assert isinstance(target, ShowRuns)
    assert await desk.session.call(lambda core: core.runs.count(target.where)) == 2


async def test_the_overview_says_what_the_newest_batch_did_and_leads_to_the_comparison(
    desk: Desk, qtbot: QtBot
) -> None:
    against = desk.page.overview.against
    await until(lambda: against.reading.text() == "Cannot tell yet on these cases")
    assert against.sentence.text().startswith("3 cases fixed, 0 regressed, 49 unchanged.")
    click(qtbot, against.link)
    compare = desk.page.compare
    await until(lambda: compare.table.rows.rowCount() == 52)
    assert compare.sentences[0].text().startswith("Cannot tell yet on these cases: 3 wins")
    assert [label for _, label in compare.groups._choices][:3] == ["All 52 cases", "Regressed 0", "Fixed 3"]


async def test_pairs_can_be_narrowed_to_what_was_fixed(desk: Desk) -> None:
    desk.page.show_view("compare")
    compare = desk.page.compare
    await until(lambda: compare.table.rows.rowCount() == 52)
    compare.show_group(PairGroup.FIXED)
    await until(lambda: compare.table.rows.rowCount() == 3 and compare.table.rows.row(0).id)
    assert [cell.text for cell in compare.table.rows.row(0).cells][2:] == ["search_files", "search_code"]
    compare.show_group(PairGroup.NEW)
    assert compare.pair.sentence.text() == "No cases here. Select another tab."


async def test_the_chosen_pair_stays_chosen_when_the_comparison_is_read_anew_and_among_fewer(desk: Desk) -> None:
    desk.page.show_view("compare")
    compare = desk.page.compare
    await desk.page.settled()
    await until(lambda: compare.table.current_id() == "0")
    place = [pair.change for pair in compare._pairs].index(PairChange.FIXED) + 1
    (chosen,) = compare._pairs[place : place + 1]
    compare.table.select(str(place))
    await compare.refresh()
    await until(compare.table.current_id)
    assert compare.selected_pairs() == (chosen,)
    compare.show_group(PairGroup.FIXED)
    await until(compare.table.current_id)
    assert compare.selected_pairs() == (chosen,)


async def test_other_batches_can_be_chosen_and_swapped(desk: Desk) -> None:
    desk.page.open_target(CompareBatches(BatchId("batch-3"), BatchId("batch-1")))
    compare = desk.page.compare
    await until(lambda: compare.chosen() == ("batch-3", "batch-1"))
    compare.swap.click()
    await until(lambda: compare.chosen() == ("batch-1", "batch-3"))
    compare.before.picked.emit("batch-2")
    await until(lambda: compare.chosen() == ("batch-2", "batch-3"))


async def _ran(desk: Desk) -> BatchId:
    """The sample, run to its end."""
    batch = await desk.session.call(lambda core: core.runs.start(BatchRequest(name="Sample")))
    await desk.session.call(lambda core: core.runs.wait(batch.id))
    return batch.id


async def test_one_pair_is_shown_down_to_the_answer(desk: Desk) -> None:
    await desk.session.call(lambda core: core.open_sample())
    older, newer = await _ran(desk), await _ran(desk)
    desk.page.open_target(CompareBatches(older, newer))
    pair = desk.page.compare.pair
    await until(lambda: pair.query.text())
    assert pair.before.choice.text() == pair.after.choice.text()
    await until(lambda: pair.query.isVisible())


async def test_a_chart_can_have_all_the_room_and_goes_back_with_escape(desk: Desk, qtbot: QtBot) -> None:
    overview = desk.page.overview
    overview.matrix.enlarge_wanted.emit()
    assert not overview.strip.isVisible()
    assert overview.matrix.isVisible()
    assert not overview.tools.isVisible()
    bot: Any = qtbot
    bot.keyClick(overview.square, Qt.Key.Key_Escape)
    assert overview.strip.isVisible()
    assert overview.tools.isVisible()


def judged(desk: Desk) -> int:
    """Judged runs of all models."""
    return sum(row.n for row in desk.page.presenter.view.models) if desk.page.presenter.view else 0


async def test_runs_that_come_in_are_counted_after_a_while_and_ended_batches_at_once(desk: Desk) -> None:
    await desk.filter(Dimension.MODEL, ModelSettings().label)
    assert desk.page.handle(BatchStarted(past_batch(0))) is Refresh.LATER
    before = judged(desk)
    await desk.session.call(lambda core: core.open_sample())
    started = await desk.session.call(lambda core: core.runs.start(BatchRequest()))
    await desk.session.call(lambda core: core.runs.wait(started.id))
    await until(lambda: judged(desk) == before + 4)


async def test_a_point_of_the_trend_leads_to_its_batch(desk: Desk) -> None:
    desk.page.overview.batch_opened.emit("batch-2")
    assert desk.gone == [ShowBatch(BatchId("batch-2"))]


async def test_the_screen_can_be_asked_for_one_batch(desk: Desk) -> None:
    desk.page.open_target(ShowBatchMetrics(BatchId("batch-2")))
    await desk.page.settled()
    assert desk.page.overview.strip.cells[0].sentence.text() == "36 of 52 judged runs"


async def test_the_header_makes_room_where_there_is_little(desk: Desk) -> None:
    desk.page.resize(900, 640)
    await until(lambda: not desk.page.filters.quick[Dimension.SUITE].isVisible())
    assert desk.page.header.filter is not None
    assert desk.page.header.filter.isVisible()


async def test_no_filter_is_offered_where_none_narrows_what_is_shown(desk: Desk) -> None:
    await desk.filter(Dimension.MODEL, GPT)
    desk.page.show_view("compare")
    assert not desk.page.filters.isVisible()
    assert not desk.page.filters.quick[Dimension.MODEL].isVisible()
    desk.page.show_view("overview")
    assert desk.page.filters.isVisible()
