"""Bars of batches that run, wait or are paused."""

from app.screens.runs.batch_summaries import batch_activity, ended_text
from mcp_tef import BatchId, BatchProgressed, BatchRequest, BatchStatus, ModelSettings
from tests.app.screens.runs.conftest import Desk, batch_menu, on_page
from tests.support.fake_engine import NEVER
from tests.support.run_factories import batch


def test_the_bar_says_done_failed_cost_of_the_cap_and_time_left() -> None:
    made = batch(max_cost_usd=1.0)
    now = batch_activity(made, BatchProgressed(batch=made, done=142, tokens=9000, cost_usd=0.04, seconds_left=12))
    assert (now.fraction, now.progress_text) == (0.71, "142 of 200")
    assert now.details == ("Everyday", "3 failed", "$0.04 of $1.00", "12 s left")


def test_what_is_not_known_is_left_out() -> None:
    now = batch_activity(batch(counts={"pending": 200}), None)
    assert (now.fraction, now.progress_text, now.details) == (0.0, "0 of 200", ("Everyday",))


def test_a_cap_without_a_known_cost_says_so() -> None:
    assert batch_activity(batch(max_cost_usd=1.0), None).details == ("Everyday", "3 failed", "cost unknown, cap $1.00")


def test_the_baseline_spends_nothing_and_shows_no_cost() -> None:
    made = batch(models=(ModelSettings().label,), counts={}, cost_usd=0.0)
    assert batch_activity(made, None).details == ("Everyday",)


def test_a_paused_batch_says_paused_instead_of_a_time() -> None:
    made = batch(status=BatchStatus.PAUSED)
    now = batch_activity(made, BatchProgressed(batch=made, done=142, tokens=0, cost_usd=None, seconds_left=12))
    assert now.paused
    assert now.details == ("Everyday", "3 failed", "paused")


def test_the_end_is_told_with_its_result_or_why_it_stopped() -> None:
    assert ended_text(batch(), "81 % correct", None) == "Everyday: 81 % correct, 3 failed."
    assert ended_text(batch(), "", "The cost cap of $1 would be passed.") == (
        "Everyday stopped: The cost cap of $1 would be passed."
    )
    cancelled = ended_text(batch(status=BatchStatus.CANCELLED), "", None)
    assert cancelled == "Everyday was cancelled. Finished runs are kept."


LONG = BatchRequest(name="Long", repeats=10, concurrency=2)


def outcomes(desk: Desk) -> list[str]:
    """The column of what was selected."""
    pages = desk.page.run_list.table.pages
    return [pages.row(number).cells[2].text for number in range(pages.rowCount())]


@on_page(pace=NEVER)
async def test_a_batch_under_way_is_seen_in_the_activity_bar_and_can_be_cancelled(desk: Desk) -> None:
    await desk.open()
    batch = await desk.session.call(lambda core: core.runs.start(BatchRequest(name="Long", repeats=100)))
    bar = desk.page.activity_bars.bar(batch.id)
    await desk.until(lambda: not bar.isHidden())
    bar.cancel_wanted.emit()
    await desk.until(lambda: desk.said and bar.isHidden())
    assert desk.said == ["Long was cancelled. Finished runs are kept."]
    ended = desk.page.presenter.batches.get(batch.id)
    assert ended is not None
    assert ended.status is BatchStatus.CANCELLED


def paused(desk: Desk) -> list[BatchId]:
    return [batch.id for batch in desk.page.presenter.batches.active() if batch.status is BatchStatus.PAUSED]


@on_page(pace=NEVER)
async def test_batches_under_way_at_once_are_paused_and_cancelled_each_by_itself(desk: Desk) -> None:
    await desk.open()
    runs = [await desk.session.call(lambda core: core.runs.start(LONG)) for _ in range(2)]
    first, second = (desk.page.activity_bars.bar(batch.id) for batch in runs)
    await desk.until(lambda: len(desk.session.activity.shown()) == 2)
    second.resume_wanted.emit()
    await desk.until(lambda: not desk.page.presenter.batches.queue.waiting)
    first.pause_wanted.emit()
    await desk.until(lambda: paused(desk) == [runs[0].id])
    second.cancel_wanted.emit()
    await desk.until(lambda: desk.session.activity.shown() == (first,))
    assert paused(desk) == [runs[0].id]
    first.cancel_wanted.emit()
    await desk.until(lambda: not desk.session.activity.shown() and len(desk.said) == 2)


@on_page(pace=1.0)
async def test_a_pause_holds_the_batch_until_it_goes_on(desk: Desk) -> None:
    await desk.open()
    bar = desk.page.activity_bars.bar((await desk.session.call(lambda core: core.runs.start(LONG))).id)
    await desk.until(lambda: not bar.isHidden())
    bar.pause_wanted.emit()
    live = desk.page.presenter.batches.newest_active
    await desk.until(lambda: (now := live()) and now.status is BatchStatus.PAUSED)
    desk.fake.selector.pace = 0
    bar.resume_wanted.emit()
    await desk.until(lambda: desk.said == ["Long: 50 % correct."])


@on_page(pace=NEVER)
async def test_a_cancelled_batch_can_be_resumed_to_its_end(desk: Desk) -> None:
    await desk.open()
    bar = desk.page.activity_bars.bar((await desk.session.call(lambda core: core.runs.start(LONG))).id)
    await desk.until(lambda: not bar.isHidden())
    bar.cancel_wanted.emit()
    await desk.until(lambda: desk.said)
    desk.fake.selector.pace = 0
    await desk.press("Resume")
    await desk.until(lambda: desk.said[-1] == "Long: 50 % correct.")
    await desk.until(lambda: "cancelled" not in outcomes(desk))


@on_page(pace=NEVER)
async def test_a_second_batch_waits_for_the_first_and_can_run_beside_it(desk: Desk) -> None:
    await desk.open()
    first, second, third = [await desk.session.call(lambda core: core.runs.start(LONG)) for _ in range(3)]
    bars, presenter = desk.page.activity_bars, desk.page.presenter
    await desk.until(lambda: list(presenter.batches.queue.waiting) == [second.id, third.id])
    await desk.until(lambda: desk.session.activity.shown() == tuple(map(bars.bar, (first.id, second.id, third.id))))
    assert [presenter.cards_of([one.id])[0].result for one in (second, third)] == [
        "waiting, next",
        "waiting, 2 ahead",
    ]
    assert bars.bar(second.id).pause_button.toolTip() == "Run now, in parallel"
    bars.bar(second.id).resume_wanted.emit()
    await desk.until(lambda: list(presenter.batches.queue.waiting) == [third.id])
    assert presenter.cards_of([third.id])[0].result == "waiting, next"
    for each in (first, second, third):
        bars.bar(each.id).cancel_wanted.emit()
    await desk.until(lambda: not desk.session.activity.shown())


@on_page(pace=NEVER)
async def test_a_waiting_batch_can_be_cancelled_from_its_card(desk: Desk) -> None:
    await desk.open()
    first, second = [await desk.session.call(lambda core: core.runs.start(LONG)) for _ in range(2)]
    await desk.until(lambda: desk.page.batch_list.rows.rowCount() == 2)
    offers = batch_menu(desk, second.id)
    assert list(offers)[:2] == ["Run now, in parallel", "Cancel batch"]
    offers["Cancel batch"].do()
    await desk.until(lambda: desk.said == ["Long was cancelled. Finished runs are kept."])
    ended = desk.page.presenter.batches.get(second.id)
    assert ended is not None
    assert (ended.status, ended.count("cancelled")) == (BatchStatus.CANCELLED, ended.total)
    desk.page.activity_bars.bar(first.id).cancel_wanted.emit()
    await desk.until(lambda: not desk.session.activity.shown())
