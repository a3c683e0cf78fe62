"""Judge one run, selected runs or a batch again."""

from dataclasses import replace
from typing import Any

from app.screens.kit import NO_FILTERS, ViewState
from app.screens.runs.batch_summaries import judging_activity
from app.screens.runs.labels import VerdictMark
from app.screens.runs.presenter import RunsPresenter
from mcp_tef import Classification, Engine, Expectation, ExpectedCall, RejudgeProgressed, RunFilter, RunsChanged
from tests.app.screens.runs.conftest import Desk, on_page
from tests.support.run_factories import NOW, batch, run

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
    return desk.page.run_list.summary_bar.value.text()


def mark(desk: Desk) -> VerdictMark | None:
    row = desk.page.presenter.table.row(0)
    return row.mark if row else None


@on_page()
async def test_one_run_is_judged_again_and_its_earlier_verdict_can_be_read(desk: Desk) -> None:
    await with_other_expectations(desk)
    before = figure(desk)
    action, *_ = desk.page.run_commands.run_menu()
    assert action.text == "Judge again"
    action.do()
    await desk.until(lambda: desk.said)
    assert desk.said == ["Judged again: 1 run, 1 otherwise than before (1 now wrong)."]
    past = desk.page.detail.verdict.earlier_verdicts
    await desk.until(lambda: sentence(desk).startswith("Judged again on ") and past.isVisible())
    assert past.entries[0].expected.text().startswith("Expected then: Bike shop / search_bikes")
    await desk.until(lambda: figure(desk) != before)
    await desk.until(lambda: mark(desk) is VerdictMark.WRONG)


@on_page()
async def test_a_run_that_was_judged_once_says_nothing_of_it(desk: Desk) -> None:
    await desk.open()
    await desk.run_offline()
    await desk.until(lambda: desk.page.detail.verdict.head.sentence.text())
    assert not desk.page.detail.verdict.earlier_verdicts.isVisible()
    assert not desk.page.detail.verdict.head.again.isVisible()


@on_page()
async def test_a_selection_is_judged_again(desk: Desk) -> None:
    await with_other_expectations(desk)
    desk.page.run_list.table.selectAll()
    action, *_ = desk.page.run_commands.run_menu()
    assert action.text == "Judge 4 runs again"
    action.do()
    await desk.until(lambda: desk.said)
    assert desk.said[0].startswith("Judged again: 4 runs, 3 otherwise than before")


@on_page()
async def test_a_batch_is_judged_again_from_its_menu(desk: Desk) -> None:
    await with_other_expectations(desk)
    menu = {item.text: item for item in desk.page.run_commands.batch_menu()}
    before = figure(desk)
    menu["Judge again"].do()
    await desk.until(lambda: desk.said)
    assert desk.said[0].startswith("Judged again: 4 runs")
    await desk.until(lambda: figure(desk) != before)


@on_page()
async def test_a_filtered_table_is_read_again_when_verdicts_changed(desk: Desk) -> None:
    await with_other_expectations(desk)
    page = desk.page
    page.filter_controls.show_runs(ViewState(filters=NO_FILTERS.with_values("outcomes", "TP")))
    await desk.until(lambda: page.presenter.table.where.classifications)
    before = page.presenter.table.total
    assert before > 1
    page.batch_actions.judge_again(batch_id=page.presenter.current)
    await desk.until(lambda: page.presenter.table.total < before and desk.said)


@on_page()
async def test_the_bar_says_how_far_it_is_and_offers_no_pause(desk: Desk) -> None:
    await desk.open()
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
