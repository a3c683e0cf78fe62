"""Batches that run, wait or were interrupted: queue texts, and bars at the foot of the window."""

from functools import partial

import pytest
from PySide6.QtWidgets import QApplication, QPushButton

from app.core_link.session import Session
from app.core_link.settings import Settings
from app.core_link.targets import ResumeBatches
from app.screens.runs.batch_events import BatchQueue, KnownBatches
from app.screens.runs.batch_summaries import batch_activity, ended_text
from app.shell.work_questions import InterruptedBatches, interrupted_text
from app.widgets import Notice
from mcp_tef import (
    Batch,
    BatchEnded,
    BatchId,
    BatchProgressed,
    BatchQueued,
    BatchRequest,
    BatchStarted,
    BatchStatus,
    ModelSettings,
)
from tests.app.screens.runs.conftest import Desk, batch_menu
from tests.support.fake_engine import NEVER, FakeEngine
from tests.support.run_factories import batch
from tests.support.windows import session_for

GOING = batch(id=BatchId("going"))


def waiting(name: str) -> Batch:
    return batch(id=BatchId(name), status=BatchStatus.WAITING, counts={"pending": 200})


def queue(*seconds: float | None) -> BatchQueue:
    """A queue of "0", "1" and so on, that take so long."""
    made = BatchQueue()
    for number, each in enumerate(seconds):
        made.handle(BatchQueued(waiting(str(number)), each))
    return made


def test_the_next_one_starts_when_the_last_one_under_way_has_ended() -> None:
    words = queue(None).text(BatchId("0"), [GOING, GOING], [12.0, 30.0])
    assert words == "waiting, next, starts in about 30 s"


def test_those_before_it_in_the_queue_count_as_well() -> None:
    words = queue(50.0, 10.0, None).text(BatchId("2"), [GOING], [12.0])
    assert words == "waiting, 3 ahead, starts in about 1 min 12 s"


def test_no_start_is_told_where_it_cannot_be_known() -> None:
    assert queue(None).text(BatchId("0"), [GOING], [None]) == "waiting, next"
    assert queue(None, None).text(BatchId("1"), [GOING], [3.0]) == "waiting, 2 ahead"


def test_a_paused_batch_before_it_is_named() -> None:
    paused = batch(id=BatchId("going"), status=BatchStatus.PAUSED)
    assert queue(None).text(BatchId("0"), [paused], [3.0]) == "waiting, next, until Everyday continues"


def test_who_begins_or_is_cancelled_waits_no_longer_and_the_others_move_up() -> None:
    made = queue(None, None, None)
    made.handle(BatchStarted(waiting("0")))
    made.handle(BatchEnded(waiting("1")))
    assert [made.position_text(BatchId(name)) for name in "012"] == ["", "", "waiting, next"]


def test_who_waited_before_anybody_listened_stands_in_the_queue_as_well() -> None:
    made = queue(20.0)
    made.set_waiting([BatchId("0"), BatchId("unheard")])
    assert made.position_text(BatchId("unheard")) == "waiting, 2 ahead"
    assert made.text(BatchId("0"), [GOING], [5.0]) == "waiting, next, starts in about 5 s"
    made.handle(BatchStarted(waiting("0")))
    assert made.position_text(BatchId("unheard")) == "waiting, next"


def test_an_answer_read_before_an_event_does_not_undo_it() -> None:
    known, going, ended = KnownBatches(), waiting("0"), batch(id=BatchId("0"), status=BatchStatus.COMPLETED)
    since = known.taken
    known.take(BatchQueued(going, None))
    known.take(BatchEnded(ended))
    known.take(BatchQueued(waiting("1"), None))
    known.reset([going, waiting("2")], [going.id, BatchId("2")], since)
    known.add(going, since)
    assert [(one.id, one.status) for one in known.all()] == [
        ("1", BatchStatus.WAITING),
        ("0", BatchStatus.COMPLETED),
        ("2", BatchStatus.WAITING),
    ]
    assert list(known.queue.waiting) == ["2", "1"]
    known.reset([going], [], known.taken)
    assert [(one.id, one.status) for one in known.all()] == [("0", BatchStatus.WAITING)]


def test_the_bar_of_a_waiting_batch_offers_to_run_it_beside() -> None:
    now = batch_activity(waiting("0"), None, "waiting, next")
    assert (now.progress_text, now.details, now.paused, now.play_text) == (
        "0 of 200",
        ("Everyday", "waiting, next"),
        True,
        "Run now, in parallel",
    )


def test_the_bar_says_done_failed_cost_of_the_cap_and_time_left() -> None:
    for priced, beside in ((139, ""), (100, " for 100 of 139 runs; 39 without a price")):
        made = batch(max_cost_usd=1.0, tally={"priced": priced})
        now = batch_activity(made, BatchProgressed(batch=made, done=142, tokens=9000, cost_usd=0.04, seconds_left=12))
        assert (now.fraction, now.progress_text) == (0.71, "142 of 200")
        assert now.details == ("Everyday", "3 failed", f"$0.04 of $1.00{beside}", "12 s left")


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
    assert ended_text(batch(), None) == (
        "Everyday: Correct call 91/139 (65 %), correct tool 112/139 (81 %), 3 failed, 4 unreadable."
    )
    assert ended_text(batch(), "The cost cap of $1 would be passed.") == (
        "Everyday stopped: The cost cap of $1 would be passed."
    )
    cancelled = ended_text(batch(status=BatchStatus.CANCELLED), None)
    assert cancelled == "Everyday was cancelled. Finished runs are kept."


LONG = BatchRequest(name="Long", repeats=10, concurrency=2)


def outcomes(desk: Desk) -> list[str]:
    """The column of what was selected."""
    pages = desk.page.run_list.table.pages
    return [pages.row(number).cells[3].text for number in range(pages.rowCount())]


@pytest.mark.parametrize("engine", [partial(FakeEngine, pace=NEVER)])
async def test_a_batch_under_way_is_seen_in_the_activity_bar_and_can_be_cancelled(desk: Desk) -> None:
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


@pytest.mark.parametrize("engine", [partial(FakeEngine, pace=NEVER)])
async def test_batches_under_way_at_once_are_paused_and_cancelled_each_by_itself(desk: Desk) -> None:
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


@pytest.mark.parametrize("engine", [partial(FakeEngine, pace=1.0)])
async def test_a_pause_holds_the_batch_until_it_goes_on(desk: Desk) -> None:
    bar = desk.page.activity_bars.bar((await desk.session.call(lambda core: core.runs.start(LONG))).id)
    await desk.until(lambda: not bar.isHidden())
    bar.pause_wanted.emit()
    live = desk.page.presenter.batches.newest_active
    await desk.until(lambda: (now := live()) and now.status is BatchStatus.PAUSED)
    desk.fake.selector.pace = 0
    bar.resume_wanted.emit()
    await desk.until(lambda: desk.said == ["Long: Correct call 10/40 (25 %), correct tool 20/40 (50 %)."])


@pytest.mark.parametrize("engine", [partial(FakeEngine, pace=NEVER)])
async def test_a_cancelled_batch_can_be_resumed_to_its_end(desk: Desk) -> None:
    bar = desk.page.activity_bars.bar((await desk.session.call(lambda core: core.runs.start(LONG))).id)
    await desk.until(lambda: not bar.isHidden())
    bar.cancel_wanted.emit()
    await desk.until(lambda: desk.said)
    desk.fake.selector.pace = 0
    await desk.press("Resume")
    await desk.until(lambda: desk.said[-1] == "Long: Correct call 10/40 (25 %), correct tool 20/40 (50 %).")
    await desk.until(lambda: "cancelled" not in outcomes(desk))


@pytest.mark.parametrize("engine", [partial(FakeEngine, pace=NEVER)])
async def test_a_second_batch_waits_for_the_first_and_can_run_beside_it(desk: Desk) -> None:
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


@pytest.mark.parametrize("engine", [partial(FakeEngine, pace=NEVER)])
async def test_a_waiting_batch_can_be_cancelled_from_its_card(desk: Desk) -> None:
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


COUNTS = {"TP": 10, "failed": 2, "pending": 8}


async def interrupted(fake: FakeEngine) -> str:
    """A batch that was cut off by closing; its id."""
    await fake.open_sample()
    fake.selector.pace = 5.0
    cut = await fake.runs.start(LONG)
    await fake.runs.close()
    fake.selector.pace = 0
    return cut.id


def press(notice: Notice, text: str) -> None:
    """Press a button of the notice."""
    next(one for one in notice.findChildren(QPushButton) if one.text() == text).click()


async def notice_at_the_start(session: Session) -> Notice:
    """What the window says when it opens."""
    notice = Notice("info")
    await InterruptedBatches(session).offer(notice)
    return notice


def test_what_is_left_is_said_in_one_sentence() -> None:
    cut = batch(total=20, counts=COUNTS, status=BatchStatus.INTERRUPTED)
    other = batch(name="Other", total=1, counts={"pending": 1}, status=BatchStatus.INTERRUPTED)
    assert interrupted_text([(cut, 8)]) == "Everyday was interrupted: 8 of 20 runs left."
    assert interrupted_text([(other, 1)]) == "Other was interrupted: all 1 run left."
    assert interrupted_text([(cut, 8), (other, 1)]) == (
        "2 batches were interrupted, with runs left: Everyday (8 of 20 runs) and Other (all 1 run)."
    )
    assert interrupted_text([(cut, 8)] * 6).endswith("Everyday (8 of 20 runs) and 2 more.")


async def test_where_nothing_was_interrupted_nothing_is_said(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        assert (await notice_at_the_start(session)).isHidden()


async def test_an_interrupted_batch_is_offered_until_it_is_dismissed(qapp: QApplication) -> None:
    fake, settings = FakeEngine(), Settings(None)
    await interrupted(fake)
    async with session_for(fake, settings) as (session, _):
        notice = await notice_at_the_start(session)
        assert notice.accessibleName().startswith("Long was interrupted: all 40 runs left.")
        press(notice, "Dismiss")
        assert notice.isHidden()
        assert (await notice_at_the_start(session)).isHidden()


async def test_an_interrupted_batch_goes_on_to_its_end(new_desk: Desk) -> None:
    cut = await interrupted(new_desk.fake)
    notice = await notice_at_the_start(new_desk.session)
    press(notice, "Resume")
    assert new_desk.gone == [ResumeBatches((BatchId(cut),))]
    await new_desk.open(sample=False)
    new_desk.page.open_target(new_desk.gone[0])
    await new_desk.until(lambda: new_desk.said[-1:] == ["Long: Correct call 10/40 (25 %), correct tool 20/40 (50 %)."])
    assert notice.isHidden()
