"""The runs page as users meet it."""

from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt

from app.core_link.targets import Screen, ShowBatch, ShowScreen, StartRuns
from app.screens.runs.dialogs import StartDialog
from app.screens.runs.start_presenter import StartField
from mcp_tef import (
    BatchId,
    BatchRequest,
    Classification,
    ModelError,
    ModelFault,
    ModelSettings,
    RunOrder,
    RunStatus,
    Secret,
)
from mcp_tef.ports import Question
from tests.app.screens.runs.conftest import Desk, on_page
from tests.support.fake_engine import SAMPLE_TOOLS


def visible_rows(desk: Desk) -> list[list[str]]:
    """The table as text."""
    pages = desk.page.run_list.table.pages
    return [[cell.text for cell in pages.row(number).cells] for number in range(pages.rowCount())]


@on_page()
async def test_without_cases_the_page_leads_to_them(desk: Desk) -> None:
    await desk.open(sample=False)
    await desk.press("Go to test cases")
    assert desk.gone == [ShowScreen(Screen.CASES)]
    assert not desk.page.header.buttons()[0].isEnabled()


@on_page()
async def test_the_sample_can_be_opened_from_the_empty_page(desk: Desk) -> None:
    await desk.open(sample=False)
    await desk.press("Open the sample")
    await desk.until(lambda: desk.page.header.buttons()[0].text() == "Run 4 cases")


@on_page()
async def test_one_click_runs_every_case_offline(desk: Desk) -> None:
    await desk.open()
    await desk.press("Run 4 cases offline")
    await desk.until_ended(1)
    assert desk.said == ["All cases: 50 % correct."]
    assert desk.page.run_list.summary_bar.value.text() == "50 %"
    assert desk.page.run_list.summary_bar.detail.text() == "(15–85) · 4 judged"
    assert "offline baseline" in desk.page.run_list.summary_bar.note.text()
    assert [row[2] for row in visible_rows(desk)] == ["search_bikes", "search_bikes", "book_repair", "search_parts"]


@on_page()
async def test_a_run_says_which_of_its_tools_changed_since(desk: Desk) -> None:
    await desk.open()
    await desk.run_offline()
    await desk.until(lambda: desk.page.detail.tabs.isVisible())
    desk.page.detail.tabs.tabs.choose(1)
    await desk.until(lambda: desk.page.detail.tools.caption.text() == "3 tools, as they were for this run")
    desk.fake.gateway.servers["Bike shop"] = (
        replace(SAMPLE_TOOLS[0], raw={"name": "search_bikes"}),
        SAMPLE_TOOLS[1],
    )
    (server,) = await desk.session.call(lambda core: core.servers.list())
    await desk.session.call(lambda core: core.servers.check(server.id))
    desk.page.request_refresh()
    await desk.until(lambda: desk.page.detail.tools.caption.text().endswith("; 2 changed since"))


@on_page()
async def test_the_first_run_of_a_batch_is_shown_in_full(desk: Desk) -> None:
    await desk.open()
    await desk.run_offline()
    head = desk.page.detail.verdict.head
    await desk.until(lambda: "search_bikes" in head.sentence.text())
    assert "offline baseline" in head.note.text()


@on_page()
async def test_moving_through_the_table_shows_each_run(desk: Desk) -> None:
    await desk.open()
    await desk.run_offline()
    desk.bot.keyClick(desk.page.run_list.table, Qt.Key.Key_Down)
    head = desk.page.detail.verdict.head
    await desk.until(lambda: "search_parts" in head.sentence.text())
    assert head.query.text() == "“I need a new chain for a mountain bike”"


@on_page()
async def test_who_moves_on_just_as_a_run_is_asked_for_stays_where_they_went(desk: Desk) -> None:
    await desk.open()
    await desk.run_offline()
    desk.page._load_detail()
    desk.bot.keyClick(desk.page.run_list.table, Qt.Key.Key_Down)
    await desk.until(lambda: "search_parts" in desk.page.detail.verdict.head.sentence.text())


@on_page()
async def test_every_tab_of_a_run_is_filled_when_it_is_looked_at(desk: Desk) -> None:
    await desk.open()
    await desk.run_offline()
    detail = desk.page.detail
    await desk.until(lambda: detail.verdict.head.sentence.text())
    for place in (1, 2, 3):
        detail.tabs.tabs.choose(place)
    assert detail.tools.list.rows.rowCount() == 3
    assert detail.settings.values()["Cost"] == "none"
    assert detail.exchange.note.text().startswith("The offline baseline sends no request")


@on_page()
async def test_the_rail_shows_the_newest_batch_first_and_changes_the_table(desk: Desk) -> None:
    await desk.open()
    await desk.run_offline()
    await desk.session.call(lambda core: core.runs.start(BatchRequest(name="Second", repeats=2)))
    await desk.until_ended(2)
    rail = desk.page.batch_list
    assert [rail.rows.row(n).title for n in range(rail.rows.rowCount())] == ["Second", "All cases"]
    rail.select(rail.rows.row(0).id)
    await desk.until(lambda: desk.page.run_list.table.pages.rowCount() == 8)


def test_failed_runs_say_why_and_can_be_retried(use: Any) -> None:
    def refuses(_question: Question) -> ModelError:
        return ModelError(ModelFault.DOWN, "The model server is not running.", hint="Start it, then try again.")

    async def story(desk: Desk) -> None:
        await desk.open()
        await desk.run_offline()
        await desk.until(lambda: visible_rows(desk)[0][2] == "The model server is not running.")
        head = desk.page.detail.verdict.head
        await desk.until(lambda: head.hint.text() == "Start it, then try again.")
        assert head.retry.text() == "Retry 4 failed"
        desk.bot.mouseClick(head.retry, Qt.MouseButton.LeftButton)
        await desk.until(lambda: len(desk.said) == 2)

    use(story, script=refuses)


@on_page()
async def test_the_sizes_of_panes_are_kept_for_the_next_time(desk: Desk) -> None:
    await desk.open()
    await desk.run_offline()
    desk.page.run_list.table.setColumnWidth(2, 211)
    desk.session.closing.emit()
    assert desk.session.settings.get("runs.table", {})["widths"]["selected"] == 211
    assert len(desk.session.settings.get("runs.split", [])) == 3


def test_failed_runs_of_the_newest_batch_are_counted_in_the_navigation(use: Any) -> None:
    def refuses(_question: Question) -> ModelError:
        return ModelError(ModelFault.DOWN, "The model server is not running.")

    async def story(desk: Desk) -> None:
        await desk.open()
        await desk.run_offline()
        await desk.until(lambda: desk.page.badge == 4)

    use(story, script=refuses)


@on_page()
async def test_a_filter_a_search_and_an_order_are_asked_of_the_core(desk: Desk) -> None:
    await desk.open()
    await desk.run_offline()
    actions = {action.text: action for action in desk.page.header._filter_actions()}
    actions["Missed the expected tool"].do()
    await desk.until(lambda: desk.page.presenter.table.where.classifications == (Classification.FN,))
    await desk.until(lambda: len(visible_rows(desk)) == 1)
    assert desk.page.header.search is not None
    desk.page.header.search.setText("nothing like it")
    await desk.until(lambda: desk.page.run_list.no_match.isVisible())
    await desk.press("Show all runs")
    await desk.until(lambda: len(visible_rows(desk)) == 4)
    desk.page.run_list.table.sort_by(4, down=True)
    await desk.until(lambda: desk.page.presenter.table.where.order is RunOrder.CONFIDENCE)


@on_page()
async def test_models_are_named_in_the_table_only_where_there_are_several(desk: Desk) -> None:
    await desk.open()
    await desk.run_offline()
    assert desk.page.run_list.table.isColumnHidden(3)
    both = BatchRequest(models=(ModelSettings(), ModelSettings(provider="ollama", model="qwen3:8b")))
    batch = await desk.session.call(lambda core: core.runs.start(both))
    await desk.until(lambda: len(desk.said) == 2)
    desk.page.batch_list.select(batch.id)
    await desk.until(lambda: len(visible_rows(desk)) == 8 and all(visible_rows(desk)))
    assert not desk.page.run_list.table.isColumnHidden(3)
    assert {row[3] for row in visible_rows(desk)} == {"offline baseline", "qwen3:8b"}


@on_page()
async def test_below_1100_pixels_the_detail_comes_when_asked_for_and_goes_with_escape(desk: Desk) -> None:
    await desk.open()
    await desk.run_offline()
    page = desk.page
    page.resize(900, 700)
    assert not page.detail.isVisible()
    desk.bot.keyClick(page.run_list.table, Qt.Key.Key_Return)
    assert page.detail.isVisible()
    assert not page.view.batch_pane.isVisible()
    desk.bot.keyClick(page.detail, Qt.Key.Key_Escape)
    assert not page.detail.isVisible()
    assert page.view.batch_pane.isVisible()


@on_page()
async def test_the_form_runs_what_was_chosen_elsewhere(desk: Desk) -> None:
    await desk.open()
    cases = await desk.session.call(lambda core: core.cases.list())
    desk.page.open_target(StartRuns((cases[0].id, cases[1].id)))
    await desk.until(lambda: desk.page.batch_actions.start_dialog)
    sheet = desk.page.batch_actions.start_dialog
    assert sheet is not None
    await desk.until(lambda: sheet.estimate.text())
    assert sheet.panel.cases.text() == "2 selected cases"
    assert sheet.estimate.text().startswith("2 runs")
    assert sheet.run.text() == "Run 2 cases"
    desk.bot.mouseClick(sheet.run, Qt.MouseButton.LeftButton)
    await desk.until(lambda: desk.said and len(visible_rows(desk)) == 2)


@on_page()
async def test_the_form_says_what_is_wrong_and_starts_nothing(desk: Desk) -> None:
    await desk.open()
    desk.page.batch_actions.open_start_dialog()
    await desk.until(lambda: desk.page.batch_actions.start_dialog)
    sheet = desk.page.batch_actions.start_dialog
    assert sheet is not None
    sheet.panel.selector.choose(1)
    sheet.panel.model.edit.setText("openai/gpt-4.1-mini")
    sheet.panel.numbers[StartField.TEMPERATURE].setText("3")
    sheet.panel.changed.emit()
    desk.bot.mouseClick(sheet.run, Qt.MouseButton.LeftButton)
    below = sheet.panel.fields[StartField.KEY].widget
    missing = "A key for openai is missing. Type one, or set OPENAI_API_KEY."
    await desk.until(lambda: below.accessibleDescription() == missing)
    wrong = sheet.panel.fields[StartField.TEMPERATURE].widget
    assert wrong.accessibleDescription() == "The temperature is 3, outside 0 to 2. Set it from 0 to 2."
    assert sheet.isVisible()
    sheet.reject()
    await desk.until(lambda: desk.page.batch_actions.start_dialog is None)
    assert await desk.session.call(lambda core: core.runs.batches()) == ()


@on_page()
async def test_the_model_of_the_environment_stands_in_the_form_whoever_was_asked_last(desk: Desk) -> None:
    await desk.open()
    desk.session.settings.set("runs.form", {"model": "ollama/qwen3:8b", "offline": False, "repeats": "2"})
    usual = {"DEFAULT_LLM_PROVIDER": "openai", "DEFAULT_LLM_MODEL": "gpt-4.1-mini"}
    await desk.session.value(lambda core: core.configure(usual))
    desk.page.batch_actions.open_start_dialog()
    await desk.until(lambda: desk.page.batch_actions.start_dialog)
    sheet = desk.page.batch_actions.start_dialog
    assert sheet is not None
    assert sheet.panel.model.edit.text() == "openai/gpt-4.1-mini"
    assert sheet.panel.numbers[StartField.REPEATS].text() == "2"
    sheet.reject()
    await desk.until(lambda: desk.page.batch_actions.start_dialog is None)


@on_page()
async def test_a_typed_key_runs_the_model_and_is_not_remembered_on_disk(desk: Desk) -> None:
    await desk.open()
    desk.page.batch_actions.open_start_dialog()
    await desk.until(lambda: desk.page.batch_actions.start_dialog)
    sheet = desk.page.batch_actions.start_dialog
    assert sheet is not None
    sheet.panel.selector.choose(1)
    sheet.panel.model.edit.setText("openai/gpt-4.1-mini")
    sheet.panel.changed.emit()
    await desk.until(lambda: sheet.panel.key.edit.isVisibleTo(sheet))
    sheet.panel.key.edit.setText("sk-secret")
    desk.bot.mouseClick(sheet.run, Qt.MouseButton.LeftButton)
    await desk.until(lambda: desk.said and desk.session.settings.get("runs.form", {}).get("model"))
    assert desk.fake.keys.typed("openai") == Secret("sk-secret")
    assert desk.fake.selector.questions[0].key == Secret("sk-secret")
    assert "sk-secret" not in str(desk.session.settings.get("runs.form", {}))
    assert desk.session.settings.get("runs.form", {})["model"] == "openai/gpt-4.1-mini"


@on_page()
async def test_a_thousand_runs_fill_the_table_as_it_is_looked_at(desk: Desk) -> None:
    await desk.open()
    await desk.session.call(lambda core: core.runs.start(BatchRequest(name="Many", repeats=250, concurrency=64)))
    await desk.until(lambda: desk.said)
    table = desk.page.run_list.table
    await desk.until(lambda: table.pages.rowCount() == 1000)
    assert table.pages.row(900).id == ""
    table.scrollToBottom()
    await desk.until(lambda: table.pages.row(999).id)
    assert all(run.status is not RunStatus.PENDING for run in await _all_runs(desk))


async def _all_runs(desk: Desk) -> Any:
    where = replace(desk.page.presenter.table.where, text="")
    return await desk.session.call(lambda core: core.runs.list(where))


@on_page()
async def test_a_key_that_is_pressed_twice_opens_one_form(desk: Desk) -> None:
    await desk.open()
    desk.page.batch_actions.open_start_dialog()
    desk.page.batch_actions.open_start_dialog()
    await desk.until(lambda: [one for one in desk.page.findChildren(StartDialog) if one.isVisible()])
    await desk.session.call(lambda core: core.cases.list())
    await desk.until(lambda: desk.page.batch_actions.start_dialog is not None)
    assert len(desk.page.findChildren(StartDialog)) == 1
    desk.page.findChildren(StartDialog)[0].reject()


@on_page()
async def test_a_batch_that_is_gone_is_told_and_what_is_shown_stays(desk: Desk) -> None:
    await desk.open()
    await desk.press("Run 4 cases offline")
    await desk.until_ended(1)
    shown = desk.page.current_target()
    desk.page.open_target(ShowBatch(BatchId("deleted long ago")))
    await desk.until(lambda: "That batch no longer exists" in desk.said)
    assert desk.page.current_target() == shown


@on_page()
async def test_a_batch_that_began_just_now_is_shown_and_not_taken_for_gone(desk: Desk) -> None:
    await desk.open()
    await desk.press("Run 4 cases offline")
    await desk.until_ended(1)
    began = await desk.session.call(lambda core: core.runs.start(BatchRequest()))
    desk.page.open_target(ShowBatch(began.id))
    await desk.until(lambda: desk.page.presenter.current == began.id)
    await desk.session.call(lambda core: core.runs.wait(began.id))
    assert "That batch no longer exists" not in desk.said
