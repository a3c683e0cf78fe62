"""Order and start time of waiting batches."""

from app.screens.runs.batch_events import BatchQueue
from app.screens.runs.batch_summaries import batch_activity
from mcp_tef import Batch, BatchEnded, BatchId, BatchQueued, BatchStarted, BatchStatus
from tests.support.run_factories import batch

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


def test_the_bar_of_a_waiting_batch_offers_to_run_it_beside() -> None:
    now = batch_activity(waiting("0"), None, "waiting, next")
    assert (now.progress_text, now.details, now.paused, now.play_text) == (
        "0 of 200",
        ("Everyday", "waiting, next"),
        True,
        "Run now, in parallel",
    )
