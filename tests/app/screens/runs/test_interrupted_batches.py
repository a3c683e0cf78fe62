"""Batches that were interrupted are offered at the next start."""

from PySide6.QtWidgets import QApplication, QPushButton

from app.core_link.session import Session
from app.core_link.settings import Settings
from app.core_link.targets import ResumeBatches
from app.shell.interrupted_batches import InterruptedBatches, interrupted_text
from app.widgets import Notice
from mcp_tef import BatchId, BatchRequest, BatchStatus
from tests.app.screens.runs.conftest import Desk, on_page
from tests.support.fake_engine import FakeEngine
from tests.support.run_factories import batch
from tests.support.windows import drive, session_for

LONG = BatchRequest(name="Long", repeats=10, concurrency=2)
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


def test_where_nothing_was_interrupted_nothing_is_said(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for() as (session, _):
            assert (await notice_at_the_start(session)).isHidden()

    drive(work())


def test_an_interrupted_batch_is_offered_until_it_is_dismissed(qapp: QApplication) -> None:
    async def work() -> None:
        fake, settings = FakeEngine(), Settings(None)
        await interrupted(fake)
        async with session_for(fake, settings) as (session, _):
            notice = await notice_at_the_start(session)
            assert notice.accessibleName().startswith("Long was interrupted: all 40 runs left.")
            press(notice, "Dismiss")
            assert notice.isHidden()
            assert (await notice_at_the_start(session)).isHidden()

    drive(work())


@on_page()
async def test_an_interrupted_batch_goes_on_to_its_end(desk: Desk) -> None:
    cut = await interrupted(desk.fake)
    notice = await notice_at_the_start(desk.session)
    press(notice, "Resume")
    assert desk.gone == [ResumeBatches((BatchId(cut),))]
    await desk.open(sample=False)
    desk.page.open_target(desk.gone[0])
    await desk.until(lambda: desk.said[-1:] == ["Long: 50 % correct."])
    assert notice.isHidden()
