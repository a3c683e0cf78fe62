"""The runs page as users meet it."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.core_link.targets import Screen, ShowBatch, ShowScreen, StartRuns
from app.screens.runs.dialogs import StartDialog
from app.screens.runs.start_form import StartField
from app.widgets import FlowText
from mcp_tef import (
    BatchId,
    BatchRequest,
    ModelError,
    ModelFault,
    ModelSettings,
    RunMark,
    RunOrder,
    RunStatus,
    Secret,
)
from mcp_tef.ports import Question
from tests.app.screens.runs.conftest import Desk
from tests.support.fake_engine import SAMPLE_TOOLS, FakeEngine


def visible_rows(desk: Desk) -> list[list[str]]:
    """The table as text."""
    pages = desk.page.run_list.table.pages
    return [[cell.text for cell in pages.row(number).cells] for number in range(pages.rowCount())]


async def test_without_cases_the_page_leads_to_them(new_desk: Desk) -> None:
    await new_desk.open(sample=False)
    await new_desk.press("Go to test cases")
    assert new_desk.gone == [ShowScreen(Screen.CASES)]
    assert not new_desk.page.header.buttons()[0].isEnabled()


async def test_the_sample_can_be_opened_from_the_empty_page(new_desk: Desk) -> None:
    await new_desk.open(sample=False)
    await new_desk.press("Open the sample")
    await new_desk.until(lambda: new_desk.page.header.buttons()[0].text() == "Run 4 cases…")


async def test_one_click_runs_every_case_offline(desk: Desk) -> None:
    await desk.press("Run 4 cases offline")
    await desk.until_ended(1)
    assert desk.said == ["All cases: Correct call 1/4 (25 %), correct tool 2/4 (50 %)."]
    assert desk.page.run_list.summary_bar.shares[0].value.text() == "25 %"
    await desk.until(lambda: desk.page.run_list.summary_bar.shares[0].detail.text() == "1/4 (3–78)")
    assert "offline baseline" in desk.page.run_list.summary_bar.note.text()
    assert [row[3] for row in visible_rows(desk)] == ["search_bikes", "search_bikes", "book_repair", "search_parts"]


async def test_a_run_says_which_of_its_tools_changed_since(ran: Desk) -> None:
    await ran.until(lambda: ran.page.detail.tabs.isVisible())
    ran.page.detail.tabs.tabs.choose(1)
    await ran.until(lambda: ran.page.detail.tools.caption.text() == "3 tools, as they were for this run")
    ran.fake.gateway.servers["Bike shop"] = (
        replace(SAMPLE_TOOLS[0], raw={"name": "search_bikes"}),
        SAMPLE_TOOLS[1],
    )
    (server,) = await ran.session.call(lambda core: core.servers.list())
    await ran.session.call(lambda core: core.servers.check(server.id))
    ran.page.request_refresh()
    await ran.until(lambda: ran.page.detail.tools.caption.text().endswith("; 2 changed since"))


async def test_the_first_run_is_shown_in_full_and_moving_through_the_table_shows_each(ran: Desk) -> None:
    head = ran.page.detail.verdict.head
    await ran.until(lambda: "search_bikes" in head.sentence.text())
    assert "offline baseline" in head.note.text()
    QTest.keyClick(ran.page.run_list.table, Qt.Key.Key_Down)
    await ran.until(lambda: "search_parts" in head.sentence.text())
    assert head.query.text() == "“I need a new chain for a mountain bike”"


async def test_who_moves_on_just_as_a_run_is_asked_for_stays_where_they_went(ran: Desk) -> None:
    ran.page._load_detail()
    QTest.keyClick(ran.page.run_list.table, Qt.Key.Key_Down)
    await ran.until(lambda: "search_parts" in ran.page.detail.verdict.head.sentence.text())


async def test_every_tab_of_a_run_is_filled_when_it_is_looked_at(ran: Desk) -> None:
    detail = ran.page.detail
    await ran.until(lambda: detail.verdict.head.sentence.text())
    for place in (1, 2, 3):
        detail.tabs.tabs.choose(place)
    assert detail.tools.list.rows.rowCount() == 3
    first = detail.tools.list.rows.row(0)
    assert {span.text for span in (first.sub_right,) if span} & {"expected", "selected", "expected, selected"}
    assert not detail.tools.definition.toPlainText().startswith("{")
    detail.tools.raw.setChecked(True)
    assert detail.tools.definition.toPlainText().startswith("{")
    assert detail.settings.values()["Cost"] == "none"
    assert detail.exchange.note.text().startswith("The offline baseline sends no request")


async def test_the_rail_shows_the_newest_batch_first_and_changes_the_table(ran: Desk) -> None:
    await ran.session.call(lambda core: core.runs.start(BatchRequest(name="Second", repeats=2)))
    await ran.until_ended(2)
    rail = ran.page.batch_list
    assert [rail.rows.row(n).title for n in range(rail.rows.rowCount())] == ["Second", "All cases"]
    rail.select(rail.rows.row(0).id)
    await ran.until(lambda: ran.page.run_list.table.pages.rowCount() == 8)


async def test_repeats_stand_below_their_case_with_how_many_were_correct(ran: Desk) -> None:
    await ran.session.call(lambda core: core.runs.start(BatchRequest(name="Thrice", repeats=3)))
    await ran.until_ended(2)
    ran.page.batch_list.select(ran.page.batch_list.rows.row(0).id)
    await ran.until(lambda: len(visible_rows(ran)) == 12 and all(visible_rows(ran)))
    first, second, third, fourth = (row for row in visible_rows(ran)[:4])
    assert (second[1], third[1]) == ("repeat 2", "repeat 3")
    assert {row[2] for row in (first, second, third)} == {first[2]}
    assert (first[5], second[5], fourth[1] != "repeat 4") == ("3 of 3", "", True)
    assert not ran.page.run_list.table.isColumnHidden(5)


def refuses(_question: Question) -> ModelError:
    return ModelError(ModelFault.DOWN, "The model server is not running.", hint="Start it, then try again.")


@pytest.mark.parametrize("engine", [partial(FakeEngine, script=refuses)])
async def test_failed_runs_say_why_are_counted_in_the_navigation_and_can_be_retried(ran: Desk) -> None:
    await ran.until(lambda: visible_rows(ran)[0][3] == "server not reachable")
    await ran.until(lambda: ran.page.badge == 4)
    head = ran.page.detail.verdict.head
    await ran.until(lambda: head.hint.text() == "Start it, then try again.")
    assert head.retry.text() == "Retry 4 failed"
    QTest.mouseClick(head.retry, Qt.MouseButton.LeftButton)
    await ran.until(lambda: len(ran.said) == 2)


async def test_the_sizes_of_panes_are_kept_for_the_next_time(ran: Desk) -> None:
    ran.page.run_list.table.setColumnWidth(3, 211)
    ran.session.closing.emit()
    assert ran.session.settings.get("runs.table", {})["widths"]["selected"] == 211
    assert len(ran.session.settings.get("runs.split", [])) == 3


async def test_a_filter_a_search_and_an_order_are_asked_of_the_core(ran: Desk) -> None:
    actions = {action.text: action for action in ran.page.header._filter_actions()}
    actions["Correct tool, wrong arguments"].do()
    await ran.until(lambda: ran.page.presenter.table.where.marks == (RunMark.WRONG_ARGUMENTS,))
    await ran.until(lambda: len(visible_rows(ran)) == 1)
    assert ran.page.header.search is not None
    ran.page.header.search.setText("nothing like it")
    await ran.until(lambda: ran.page.run_list.no_match.isVisible())
    await ran.press("Show all runs")
    await ran.until(lambda: len(visible_rows(ran)) == 4)
    ran.page.run_list.table.sort_by(6, down=True)
    await ran.until(lambda: ran.page.presenter.table.where.order is RunOrder.CONFIDENCE)


async def test_models_are_named_in_the_table_only_where_there_are_several(ran: Desk) -> None:
    assert ran.page.run_list.table.isColumnHidden(4)
    both = BatchRequest(models=(ModelSettings(), ModelSettings(provider="ollama", model="qwen3:8b")))
    batch = await ran.session.call(lambda core: core.runs.start(both))
    await ran.until(lambda: len(ran.said) == 2)
    ran.page.batch_list.select(batch.id)
    await ran.until(lambda: len(visible_rows(ran)) == 8 and all(visible_rows(ran)))
    assert not ran.page.run_list.table.isColumnHidden(4)
    assert {row[4] for row in visible_rows(ran)} == {"offline baseline", "qwen3:8b"}


async def test_below_1100_pixels_the_detail_comes_when_asked_for_and_goes_with_escape(ran: Desk) -> None:
    page = ran.page
    page.resize(900, 700)
    assert not page.detail.isVisible()
    QTest.keyClick(page.run_list.table, Qt.Key.Key_Return)
    assert page.detail.isVisible()
    assert not page.view.batch_pane.isVisible()
    QTest.keyClick(page.detail, Qt.Key.Key_Escape)
    assert not page.detail.isVisible()
    assert page.view.batch_pane.isVisible()


async def test_the_form_runs_what_was_chosen_elsewhere(desk: Desk) -> None:
    cases = await desk.session.call(lambda core: core.cases.list())
    desk.page.open_target(StartRuns((cases[0].id, cases[1].id)))
    sheet = await desk.start_dialog()
    await desk.until(lambda: sheet.estimate.text())
    assert sheet.panel.cases.text() == "2 selected cases"
    assert sheet.estimate.text().startswith("2 runs")
    assert sheet.run.text() == "Run 2 cases"
    QTest.mouseClick(sheet.run, Qt.MouseButton.LeftButton)
    await desk.until(lambda: desk.said and len(visible_rows(desk)) == 2)


async def test_the_form_says_what_is_wrong_and_starts_nothing(desk: Desk) -> None:
    desk.page.batch_actions.open_start_dialog()
    sheet = await desk.start_dialog()
    sheet.panel.selector.choose(1)
    sheet.panel.model.edit.setText("openai/gpt-4.1-mini")
    sheet.panel.numbers[StartField.TEMPERATURE].setText("3")
    sheet.panel.changed.emit()
    QTest.mouseClick(sheet.run, Qt.MouseButton.LeftButton)
    below = sheet.panel.fields[StartField.KEY].widget
    missing = "A key for openai is missing. Type one, or set OPENAI_API_KEY."
    await desk.until(lambda: below.accessibleDescription() == missing)
    wrong = sheet.panel.fields[StartField.TEMPERATURE].widget
    assert wrong.accessibleDescription() == "The temperature is 3, outside 0 to 2. Set it from 0 to 2."
    assert sheet.isVisible()
    sheet.reject()
    await desk.until(lambda: desk.page.batch_actions.start_dialog is None)
    assert await desk.session.call(lambda core: core.runs.batches()) == ()


async def test_an_own_server_lists_its_models_and_those_that_are_ticked_run(desk: Desk) -> None:
    desk.page.batch_actions.open_start_dialog()
    sheet = await desk.start_dialog()
    sheet.panel.selector.choose(2)
    own = sheet.panel.own
    own.address.setText("http://127.0.0.1:8080/v1")
    QTest.mouseClick(own.check, Qt.MouseButton.LeftButton)
    await desk.until(own.found.isVisible)
    first, second = own.found.rows.ids()[:2]
    own.found.tick([first, second], ticked=True)
    assert own.names.text() == f"{first}, {second}"
    QTest.mouseClick(sheet.run, Qt.MouseButton.LeftButton)
    await desk.until(lambda: desk.said)
    (batch,) = await desk.session.call(lambda core: core.runs.batches())
    assert batch.models == (f"openai/{first}", f"openai/{second}")
    assert {question.settings.base_url for question in desk.fake.selector.questions} == {"http://127.0.0.1:8080/v1"}


async def test_where_no_server_answers_the_form_says_how_to_get_one(desk: Desk) -> None:
    desk.fake.catalogue.infos.clear()
    desk.page.batch_actions.open_start_dialog()
    sheet = await desk.start_dialog()
    sheet.panel.selector.choose(2)
    QTest.mouseClick(sheet.panel.own.check, Qt.MouseButton.LeftButton)
    await desk.until(lambda: "ollama pull" in sheet.panel.own.status.text())
    sheet.panel.own.names.setText("qwen3:4b")
    QTest.mouseClick(sheet.run, Qt.MouseButton.LeftButton)
    await desk.until(sheet.panel.own.address.hasFocus)
    sheet.reject()
    await desk.until(lambda: desk.page.batch_actions.start_dialog is None)


async def test_a_mistyped_provider_is_named_with_the_nearest_instead_of_a_missing_key(desk: Desk) -> None:
    desk.page.batch_actions.open_start_dialog()
    sheet = await desk.start_dialog()
    sheet.panel.selector.choose(1)
    sheet.panel.model.edit.setText("opnai/gpt-4.1-mini")
    sheet.panel.changed.emit()
    QTest.mouseClick(sheet.run, Qt.MouseButton.LeftButton)
    await desk.until(lambda: sheet.notice.isVisible())
    shown = " ".join(part.text() for part in sheet.notice.findChildren(FlowText))
    assert "There is no provider called opnai. Did you mean openai?" in shown
    sheet.reject()
    await desk.until(lambda: desk.page.batch_actions.start_dialog is None)
    assert await desk.session.call(lambda core: core.runs.batches()) == ()


async def test_the_model_of_the_environment_stands_in_the_form_whoever_was_asked_last(desk: Desk) -> None:
    desk.session.settings.set("runs.form", {"model": "ollama/qwen3:8b", "offline": False, "repeats": "2"})
    usual = {"DEFAULT_LLM_PROVIDER": "openai", "DEFAULT_LLM_MODEL": "gpt-4.1-mini"}
    await desk.session.value(lambda core: core.configure(usual))
    desk.page.batch_actions.open_start_dialog()
    sheet = await desk.start_dialog()
    assert sheet.panel.model.edit.text() == "openai/gpt-4.1-mini"
    assert sheet.panel.numbers[StartField.REPEATS].text() == "2"
    sheet.reject()
    await desk.until(lambda: desk.page.batch_actions.start_dialog is None)


async def test_one_case_runs_at_once_with_the_last_settings_or_opens_the_form_if_these_are_incomplete(
    desk: Desk,
) -> None:
    (case, *_) = [one.id for one in await desk.session.call(lambda core: core.cases.list())]
    desk.page.open_target(StartRuns((case,), at_once=True))
    await desk.until_ended(1)
    assert [run.case_id for run in await _all_runs(desk)] == [case]
    assert desk.page.batch_actions.start_dialog is None
    desk.session.settings.set("runs.form", {"offline": False, "model": ""})
    desk.page.open_target(StartRuns((case,), at_once=True))
    form = await desk.start_dialog()
    assert form.run.text() == "Run 1 case"
    form.reject()
    await desk.until(lambda: desk.page.batch_actions.start_dialog is None)
    assert len(await _all_runs(desk)) == 1


async def test_at_the_smallest_window_the_form_shows_repeats_and_cap_for_an_own_server(desk: Desk) -> None:
    desk.page.window().resize(960, 640)
    desk.page.batch_actions.open_start_dialog()
    form = await desk.start_dialog()
    form.panel.selector.choose(2)
    form.panel.own.show_found([f"model-{number}" for number in range(5)])
    await desk.until(form.panel.own.found.isVisible)
    fields = [form.panel.fields[one] for one in (StartField.CASES, StartField.REPEATS, StartField.COST)]
    await desk.until(lambda: all(one.visibleRegion().boundingRect() == one.rect() for one in fields))
    form.reject()
    await desk.until(lambda: desk.page.batch_actions.start_dialog is None)


async def test_in_a_narrow_window_one_click_opens_a_run_and_a_button_leads_back(ran: Desk) -> None:
    view, table = ran.page.view, ran.page.run_list.table
    ran.page.window().resize(960, 640)
    await ran.until(lambda: not ran.page.detail.isVisible())
    where = table.visualRect(table.rows.index(1, 1)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=where)
    await ran.until(lambda: ran.page.detail.isVisible() and not view.batch_pane.isVisible())
    await ran.press("Back to the batches")
    assert (ran.page.detail.isVisible(), view.batch_pane.isVisible()) == (False, True)


async def test_a_typed_key_runs_the_model_and_is_not_remembered_on_disk(desk: Desk) -> None:
    desk.page.batch_actions.open_start_dialog()
    sheet = await desk.start_dialog()
    sheet.panel.selector.choose(1)
    sheet.panel.model.edit.setText("openai/gpt-4.1-mini")
    sheet.panel.changed.emit()
    await desk.until(lambda: sheet.panel.key.edit.isVisibleTo(sheet))
    sheet.panel.key.edit.setText("sk-secret")
    QTest.mouseClick(sheet.run, Qt.MouseButton.LeftButton)
    await desk.until(lambda: desk.said and desk.session.settings.get("runs.form", {}).get("model"))
    assert desk.fake.keys.typed("openai") == Secret("sk-secret")
    assert desk.fake.selector.questions[0].key == Secret("sk-secret")
    assert "sk-secret" not in str(desk.session.settings.get("runs.form", {}))
    assert desk.session.settings.get("runs.form", {})["model"] == "openai/gpt-4.1-mini"


async def test_a_thousand_runs_fill_the_table_as_it_is_looked_at(desk: Desk) -> None:
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


async def test_a_key_that_is_pressed_twice_opens_one_form(desk: Desk) -> None:
    desk.page.batch_actions.open_start_dialog()
    desk.page.batch_actions.open_start_dialog()
    await desk.until(lambda: [one for one in desk.page.findChildren(StartDialog) if one.isVisible()])
    await desk.session.call(lambda core: core.cases.list())
    await desk.until(lambda: desk.page.batch_actions.start_dialog is not None)
    assert len(desk.page.findChildren(StartDialog)) == 1
    desk.page.findChildren(StartDialog)[0].reject()


async def test_a_batch_that_is_gone_is_told_and_what_is_shown_stays(desk: Desk) -> None:
    await desk.press("Run 4 cases offline")
    await desk.until_ended(1)
    shown = desk.page.current_target()
    desk.page.open_target(ShowBatch(BatchId("deleted long ago")))
    await desk.until(lambda: "That batch no longer exists" in desk.said)
    assert desk.page.current_target() == shown


async def test_a_batch_that_began_just_now_is_shown_and_not_taken_for_gone(desk: Desk) -> None:
    await desk.press("Run 4 cases offline")
    await desk.until_ended(1)
    began = await desk.session.call(lambda core: core.runs.start(BatchRequest()))
    desk.page.open_target(ShowBatch(began.id))
    await desk.until(lambda: desk.page.presenter.current == began.id)
    await desk.session.call(lambda core: core.runs.wait(began.id))
    assert "That batch no longer exists" not in desk.said
