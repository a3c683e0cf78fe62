"""Selected runs and whole batches are exported, copied, run again and judged again."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QItemSelection, QItemSelectionModel, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from app.core_link.targets import ShowRuns
from app.dialogs.export import ExportFormatDialog
from app.screens.kit import NO_FILTERS, ViewState
from app.screens.runs.batch_summaries import judging_activity
from app.screens.runs.commands import EXPORT
from app.screens.runs.labels import VerdictMark
from app.screens.runs.presenter import RunsPresenter
from mcp_tef import (
    BatchRequest,
    Classification,
    Engine,
    Expectation,
    ExpectedCall,
    RejudgeProgressed,
    RunFilter,
    RunsChanged,
)
from tests.app.screens.runs.conftest import Desk, batch_menu
from tests.support.run_factories import NOW, batch, run


def dialog(desk: Desk) -> QFileDialog:
    """The file dialog, which opens after the format was selected."""
    for asked in [one for one in desk.page.findChildren(ExportFormatDialog) if one.isVisible()]:
        asked.accept()
    (found,) = (one for one in desk.page.findChildren(QFileDialog) if one.isVisible())
    return found


def text_of(file: Path) -> str:
    """What was written."""
    return file.read_text("utf-8")


async def saved(desk: Desk, file: Path) -> str:
    """Answer the dialog with a file, wait until it is said to be there, and read it."""
    desk.said.clear()
    asked = dialog(desk)
    asked.fileSelected.emit(str(file))
    asked.reject()
    await desk.until(lambda: f"Saved {file.name}" in desk.said)
    return text_of(file)


async def test_nothing_can_be_exported_before_something_ran(desk: Desk) -> None:
    assert not desk.page.export.isEnabled()
    assert desk.page.batch_actions.export_scope() is None
    await desk.run_offline()
    await desk.until(desk.page.export.isEnabled)


async def test_the_button_exports_the_whole_batch_whatever_is_filtered(ran: Desk, tmp_path: Path) -> None:
    await ran.until(ran.page.export.isEnabled)
    ran.page.filter_controls.search_runs("chain")
    await ran.until(lambda: ran.page.presenter.table.total == 1)
    QTest.mouseClick(ran.page.export, Qt.MouseButton.LeftButton)
    assert dialog(ran).windowTitle() == "Export the results of All cases"
    assert Path(dialog(ran).selectedFiles()[0]).name == "all-cases.html"
    page = await saved(ran, tmp_path / "r.html")
    assert "<h1>All cases</h1>" in page
    assert "Thanks, that is all" in page


async def test_the_form_that_is_chosen_becomes_the_ending(ran: Desk) -> None:
    await ran.until(ran.page.export.isEnabled)
    ran.page.batch_actions.export()
    asked = dialog(ran)
    asked.selectNameFilter("JUnit XML, for build servers (*.xml)")
    asked.filterSelected.emit(asked.selectedNameFilter())
    assert Path(asked.selectedFiles()[0]).name == "all-cases.xml"
    assert asked.defaultSuffix() == "xml"
    asked.reject()


async def test_a_batch_of_the_rail_is_exported_from_its_menu(ran: Desk, tmp_path: Path) -> None:
    older = ran.page.presenter.current
    batch = await ran.session.call(lambda core: core.runs.start(BatchRequest(name="Second")))
    await ran.until(lambda: len(ran.said) == 2)
    menu = batch_menu(ran, batch.id)
    await ran.until(lambda: ran.page.presenter.current == batch.id)
    menu[EXPORT].do()
    document = json.loads(await saved(ran, tmp_path / "r.json"))
    assert document["batch"] is None or document["batch"] == batch.id
    assert {run["batch"] for run in document["runs"]} == {batch.id} != {older}


async def test_found_runs_of_all_batches_are_exported_under_their_title(ran: Desk, tmp_path: Path) -> None:
    ran.page.open_target(ShowRuns(RunFilter(classifications=(Classification.FN,)), "Missed"))
    await ran.until(lambda: ran.page.run_list.summary_bar.note.text() == "Missed" and ran.rests())
    command = next(one for one in ran.page.commands() if one.id == "runs.export")
    assert command.needs()
    command.do()
    text = await saved(ran, tmp_path / "r.csv")
    assert len(text.splitlines()) == 1 + ran.page.presenter.table.total


async def test_a_place_that_cannot_be_written_is_told_in_words(ran: Desk, tmp_path: Path) -> None:
    ran.page.batch_actions.export()
    asked = dialog(ran)
    asked.fileSelected.emit(str(tmp_path / "nowhere" / "r.csv"))
    asked.reject()
    await ran.until_failed("could not be written")


def choose(desk: Desk, first: int, last: int) -> None:
    """Choose rows by their places."""
    table = desk.page.run_list.table
    pages, flag = table.pages, QItemSelectionModel.SelectionFlag
    stretch = QItemSelection(pages.index(first, 0), pages.index(last, pages.columnCount() - 1))
    table.selectionModel().select(stretch, flag.ClearAndSelect)


def entry(desk: Desk, start: str) -> Any:
    """The entry of the context menu whose text starts so."""
    return next(one for one in desk.page.run_commands.run_menu() if one.text.startswith(start))


def clipboard() -> str:
    return QGuiApplication.clipboard().text()


async def test_only_the_chosen_runs_are_exported_in_the_shape_of_all(ran: Desk, tmp_path: Path) -> None:
    ids = [row.id for row in await ran.page.presenter.rows_at((1, 2))]
    ran.page.batch_actions.export()
    everything = await saved(ran, tmp_path / "all.csv")
    choose(ran, 1, 2)
    entry(ran, "Export 2 runs…").do()
    await ran.until(lambda: asked(ran))
    assert dialog(ran).windowTitle() == "Export the results of 2 runs of All cases"
    some = await saved(ran, tmp_path / "some.csv")
    assert some.splitlines()[0] == everything.splitlines()[0]
    assert set(some.splitlines()) < set(everything.splitlines())
    assert len(list(csv.reader(io.StringIO(some)))) == 1 + 2
    ran.page.selected_runs.export()
    await ran.until(lambda: asked(ran))
    document = json.loads(await saved(ran, tmp_path / "some.json"))
    assert sorted(run["id"] for run in document["runs"]) == sorted(ids)


def asked(desk: Desk) -> bool:
    """Whether a file is being asked for."""
    try:
        return dialog(desk).isVisible()
    except ValueError:
        return False


async def test_the_key_exports_what_is_chosen_and_needs_a_choice(desk: Desk) -> None:
    command = next(one for one in desk.page.commands() if one.id == "runs.export_selected")
    assert not command.needs()
    await desk.run_offline()
    await desk.until(command.needs)
    command.do()
    await desk.until(lambda: asked(desk))
    assert dialog(desk).windowTitle() == "Export the results of 1 run of All cases"
    dialog(desk).reject()


async def test_of_a_long_table_rows_that_were_never_looked_at_are_chosen_too(desk: Desk, tmp_path: Path) -> None:
    await desk.session.call(lambda core: core.runs.start(BatchRequest(repeats=150)))
    await desk.until(lambda: desk.said and desk.page.presenter.table.total == 600)
    desk.page.request_refresh()
    await desk.page.settled()
    table = desk.page.run_list.table
    table.setFocus()
    table.selectAll()
    assert desk.page.presenter.table.row(599) is None
    entry(desk, "Export 600 runs…").do()
    await desk.until(lambda: asked(desk))
    assert len(json.loads(await saved(desk, tmp_path / "r.json"))["runs"]) == 600


async def test_one_run_is_copied_in_full_and_several_as_results(ran: Desk) -> None:
    choose(ran, 0, 0)
    entry(ran, "Copy the run as Markdown").do()
    await ran.until(lambda: "Copied the run as Markdown" in ran.said)
    assert "search\\_bikes" in clipboard() or "search_bikes" in clipboard()
    choose(ran, 0, 1)
    entry(ran, "Copy the results of 2 runs").do()
    await ran.until(lambda: "Copied 2 runs as Markdown" in ran.said)
    assert "2 runs of All cases" in clipboard()


async def test_the_cases_of_the_chosen_runs_are_asked_again(ran: Desk) -> None:
    choose(ran, 1, 2)
    entry(ran, "Run their cases again…").do()
    sheet = await ran.start_dialog()
    assert len(sheet.panel.form().selected) == 2
    QTest.keyClick(sheet, Qt.Key.Key_Escape)
    await ran.until(lambda: ran.page.batch_actions.start_dialog is None)


WANTS_REPAIRS = Expectation(((ExpectedCall(tool="book_repair", server="Bike shop"),),))


async def expect_repairs(core: Engine) -> None:
    """Edit every case so that another tool is right."""
    for case in await core.cases.list():
        await core.cases.edit(case.id, replace(case.draft, expectation=WANTS_REPAIRS))


async def with_other_expectations(desk: Desk) -> None:
    await desk.open()
    await desk.run_offline()
    await desk.session.call(expect_repairs)
    desk.said.clear()


def sentence(desk: Desk) -> str:
    return desk.page.detail.verdict.head.again.text()


def figure(desk: Desk) -> str:
    return desk.page.run_list.summary_bar.shares[0].value.text()


def mark(desk: Desk) -> VerdictMark | None:
    row = desk.page.presenter.table.row(0)
    return row.mark if row else None


async def test_one_run_is_judged_again_and_its_earlier_verdict_can_be_read(new_desk: Desk) -> None:
    await with_other_expectations(new_desk)
    before = figure(new_desk)
    action, *_ = new_desk.page.run_commands.run_menu()
    assert action.text == "Judge again"
    action.do()
    await new_desk.until(lambda: new_desk.said)
    assert new_desk.said == ["Judged again: 1 run, 1 otherwise than before (1 now no correct call)."]
    past = new_desk.page.detail.verdict.earlier_verdicts
    await new_desk.until(lambda: sentence(new_desk).startswith("Judged again on ") and past.isVisible())
    assert past.entries[0].expected.text().startswith("Expected then: Bike shop / search_bikes")
    await new_desk.until(lambda: figure(new_desk) != before)
    await new_desk.until(lambda: mark(new_desk) is VerdictMark.WRONG)


async def test_a_run_that_was_judged_once_says_nothing_of_it(ran: Desk) -> None:
    await ran.until(lambda: ran.page.detail.verdict.head.sentence.text())
    assert not ran.page.detail.verdict.earlier_verdicts.isVisible()
    assert not ran.page.detail.verdict.head.again.isVisible()


async def test_a_selection_is_judged_again(new_desk: Desk) -> None:
    await with_other_expectations(new_desk)
    new_desk.page.run_list.table.selectAll()
    action, *_ = new_desk.page.run_commands.run_menu()
    assert action.text == "Judge 4 runs again"
    action.do()
    await new_desk.until(lambda: new_desk.said)
    assert new_desk.said[0].startswith("Judged again: 4 runs, 3 otherwise than before")


async def test_a_batch_is_judged_again_from_its_menu(new_desk: Desk) -> None:
    await with_other_expectations(new_desk)
    menu = {item.text: item for item in new_desk.page.run_commands.batch_menu()}
    before = figure(new_desk)
    menu["Judge again"].do()
    await new_desk.until(lambda: new_desk.said)
    assert new_desk.said[0].startswith("Judged again: 4 runs")
    await new_desk.until(lambda: figure(new_desk) != before)


async def test_a_filtered_table_is_read_again_when_verdicts_changed(new_desk: Desk) -> None:
    await with_other_expectations(new_desk)
    page = new_desk.page
    page.filter_controls.show_runs(ViewState(filters=NO_FILTERS.with_values("outcomes", "correct_call")))
    await new_desk.until(lambda: page.presenter.table.where.marks)
    before = page.presenter.table.total
    assert before
    page.batch_actions.judge_again(batch_id=page.presenter.current)
    await new_desk.until(lambda: page.presenter.table.total < before and new_desk.said)


async def test_the_bar_says_how_far_it_is_and_offers_no_pause(desk: Desk) -> None:
    bar = desk.page.activity_bars.bar(None)
    desk.fake.publish(RejudgeProgressed(100, 400))
    await desk.until(lambda: not bar.isHidden())
    assert bar.pause_button.isHidden()
    desk.fake.publish(RejudgeProgressed(400, 400))
    await desk.until(bar.isHidden)


def test_how_far_it_is_in_words() -> None:
    now = judging_activity(RejudgeProgressed(1200, 20_000))
    assert (now.progress_text, now.fraction, now.can_pause) == ("1,200 of 20,000", 0.06, False)


def presenter_of_one_run() -> RunsPresenter:
    async def nothing(_: object) -> Any:
        return None

    made = RunsPresenter(nothing, lambda: NOW)
    made.batches.add(batch(1))
    made.current = batch(1).id
    made.table.reset(RunFilter(batch_id=batch(1).id), 1)
    made.table.put_page(0, [run(1)])
    return made


def test_rows_are_mended_where_they_stand_and_none_is_added() -> None:
    presenter = presenter_of_one_run()
    judged = tuple(replace(run(number), classification=Classification.FN) for number in (1, 2))
    presenter.handle(RunsChanged(runs=judged))
    changes = presenter.take_changes()
    assert (changes.rows.changed, changes.rows.added, presenter.table.total) == ((0,), 0, 1)
    assert changes.judged == {batch(1).id}
    assert not changes.reload
