"""How long a batch still takes, told while it runs."""

from dataclasses import replace

from mcp_tef.model.runs import RunSummary
from mcp_tef.workflows.batch_results import BatchCounts
from tests.support.run_factories import batch, run


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def tally(total: int, clock: Clock, concurrency: int = 1) -> BatchCounts:
    """The counts of a batch of which nothing was done yet."""
    return BatchCounts(batch(total=total, counts={"pending": total}, concurrency=concurrency), clock)


def ended(*numbers: int) -> list[RunSummary]:
    """Runs that ended."""
    return [run(number) for number in numbers]


def work(counted: BatchCounts, clock: Clock, number: int, seconds: float) -> None:
    """One run that takes so long."""
    counted.enter()
    clock.now += seconds
    counted.leave()
    counted.count(ended(number))


def test_very_few_runs_tell_no_time() -> None:
    clock = Clock()
    counted = tally(40, clock)
    told = []
    for number in range(3):
        work(counted, clock, number, 2.0)
        told.append(counted.progress().seconds_left)
    assert told == [None, None, 74.0]


def test_of_two_runs_the_first_tells_how_long_the_other_takes() -> None:
    clock = Clock()
    counted = tally(2, clock)
    work(counted, clock, 1, 5.0)
    assert counted.progress().seconds_left == 5.0


def test_where_many_go_at_a_time_a_first_wave_of_them_has_to_end() -> None:
    clock = Clock()
    counted = tally(100, clock, concurrency=8)
    for _ in range(8):
        counted.enter()
    clock.now += 4.0
    counted.count(ended(*range(7)))
    assert counted.progress().seconds_left is None
    counted.count(ended(7))
    assert counted.progress().seconds_left == 92 * 4.0 / 8


def test_a_pause_takes_none_of_the_time_that_runs_take() -> None:
    clock = Clock()
    counted = tally(10, clock)
    for number in range(3):
        work(counted, clock, number, 2.0)
    clock.now += 3_600
    assert counted.progress().seconds_left == 14.0
    work(counted, clock, 3, 2.0)
    assert counted.progress().seconds_left == 12.0


def test_runs_that_end_while_paused_took_their_time() -> None:
    clock = Clock()
    counted = tally(8, clock, concurrency=4)
    for _ in range(4):
        counted.enter()
    clock.now += 10.0
    for _ in range(4):
        counted.leave()
    counted.count(ended(*range(4)))
    clock.now += 3_600
    assert counted.progress().seconds_left == 10.0


def test_costs_of_before_and_now_are_told_together() -> None:
    clock = Clock()
    counted = BatchCounts(batch(total=3, counts={"TP": 1, "pending": 2}, cost_usd=0.5), clock)
    counted.count([replace(one, cost_usd=0.25) for one in ended(1)])
    assert counted.progress().cost_usd == 0.75
