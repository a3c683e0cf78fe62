"""Batches that wait in order, cost caps, and the estimate of the time left."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_tef.errors import InputError, NotFoundError
from mcp_tef.events import BatchEnded, BatchesChanged, BatchQueued, BatchStarted
from mcp_tef.model.answers import Answer
from mcp_tef.model.model_catalogue import ModelInfo
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import Batch, BatchStatus, ModelSettings, RunSummary
from mcp_tef.model.verdicts import Classification
from mcp_tef.ports import Question, Store
from mcp_tef.storage.store import open_store
from mcp_tef.workflows.batch_results import BatchCounts
from tests.support.fake_ports import FakeCatalogue, picks, tool
from tests.support.run_factories import batch, run
from tests.support.workflow_bench import Bench, bench, draft, request, write
from tests.support.workspace_files import change, rows


@pytest.fixture
async def made(tmp_path: Path) -> AsyncIterator[Bench]:
    """A case to run, and a model that answers nothing until its gate opens."""
    store = await open_store(tmp_path / "workspace.db")
    desk = bench(store, {"desk": [tool("find")]}, lambda _: picks("find"))
    await desk.register("desk")
    await write(desk, draft("one"))
    desk.selector.gate.clear()
    yield desk
    desk.selector.gate.set()
    await desk.runs.close()
    await store.close()


async def start(made: Bench, *names: str) -> list[Batch]:
    return [await made.runs.start(request(name=name)) for name in names]


def told(made: Bench, kind: type[BatchStarted] | type[BatchEnded]) -> list[str]:
    return [event.batch.name for event in made.said if isinstance(event, kind)]


async def test_batches_started_while_one_is_under_way_wait_for_it_in_order(made: Bench) -> None:
    first, second, third = await start(made, "first", "second", "third")
    assert [one.status for one in (first, second, third)] == [BatchStatus.RUNNING, *[BatchStatus.WAITING] * 2]
    assert made.runs.waiting() == (second.id, third.id)
    assert (await made.runs.batch(third.id)).status is BatchStatus.WAITING
    made.selector.gate.set()
    assert (await made.runs.wait(third.id)).status is BatchStatus.COMPLETED
    assert told(made, BatchStarted) == told(made, BatchEnded) == ["first", "second", "third"]
    assert [event.batch.name for event in made.said if isinstance(event, BatchQueued)] == ["second", "third"]


async def test_the_next_batch_begins_only_when_the_one_before_has_ended(made: Bench) -> None:
    *_, last = await start(made, "first", "second")
    made.selector.gate.set()
    await made.runs.wait(last.id)
    life = [(type(event), event.batch.name) for event in made.said if isinstance(event, BatchStarted | BatchEnded)]
    assert life.index((BatchEnded, "first")) < life.index((BatchStarted, "second"))


async def test_a_waiting_batch_can_run_beside_and_those_after_it_wait_for_both(made: Bench) -> None:
    first, second, third = await start(made, "first", "second", "third")
    made.runs.run_beside(second.id)
    assert (await made.runs.batch(second.id)).status is BatchStatus.RUNNING
    await made.runs.cancel(first.id)
    assert made.runs.waiting() == (third.id,)
    made.selector.gate.set()
    await made.runs.wait(third.id)
    assert told(made, BatchEnded) == ["first", "second", "third"]
    with pytest.raises(NotFoundError):
        made.runs.run_beside(third.id)


async def test_a_waiting_batch_that_is_cancelled_never_begins_and_holds_up_nobody(made: Bench) -> None:
    first, second, third = await start(made, "first", "second", "third")
    await made.runs.cancel(second.id)
    cancelled = await made.runs.batch(second.id)
    assert (cancelled.status, cancelled.count("cancelled")) == (BatchStatus.CANCELLED, 1)
    assert made.runs.active() == (first.id, third.id)
    made.selector.gate.set()
    await made.runs.wait(third.id)
    assert told(made, BatchStarted) == ["first", "third"]


async def test_a_paused_batch_keeps_its_place_before_those_that_wait(made: Bench) -> None:
    first, second = await start(made, "first", "second")
    made.runs.pause(first.id)
    made.selector.gate.set()
    assert made.runs.waiting() == (second.id,)
    made.runs.proceed(first.id)
    await made.runs.wait(second.id)
    assert told(made, BatchStarted) == ["first", "second"]


async def test_closing_interrupts_what_waits_so_that_it_can_be_resumed(made: Bench) -> None:
    _, second = await start(made, "first", "second")
    await made.runs.close()
    closed = await made.runs.batch(second.id)
    assert (closed.status, closed.count("cancelled")) == (BatchStatus.INTERRUPTED, 1)
    assert told(made, BatchStarted) == ["first"]
    made.selector.gate.set()
    await made.runs.resume(second.id)
    assert (await made.runs.wait(second.id)).count("TP") == 1


async def test_what_is_resumed_while_another_is_under_way_waits_as_well(made: Bench) -> None:
    (first,) = await start(made, "first")
    await made.runs.cancel(first.id)
    (second,) = await start(made, "second")
    assert (await made.runs.resume(first.id)).status is BatchStatus.WAITING
    with pytest.raises(InputError):
        await made.runs.remove_batches([first.id])
    made.selector.gate.set()
    assert (await made.runs.wait(first.id)).count("TP") == 1
    assert told(made, BatchEnded)[-2:] == [second.name, first.name]


async def test_how_long_a_waiting_batch_will_take_is_told_from_past_runs(made: Bench) -> None:
    made.selector.gate.set()
    (before,) = await start(made, "before")
    await made.runs.wait(before.id)
    made.selector.gate.clear()
    await start(made, "first", "second")
    (queued,) = [event for event in made.said if isinstance(event, BatchQueued)]
    assert queued.seconds is not None
    assert queued.seconds > 0


async def test_a_batch_that_is_deleted_elsewhere_ends_with_a_word_and_holds_up_nobody(
    made: Bench, tmp_path: Path
) -> None:
    first, second = await start(made, "first", "second")
    change(tmp_path / "workspace.db", f"UPDATE batches SET removed_at = created_at WHERE id = '{first.id}'")
    made.selector.gate.set()
    assert (await made.runs.wait(second.id)).status is BatchStatus.COMPLETED
    ended = {event.batch.name: event.reason for event in made.said if isinstance(event, BatchEnded)}
    assert ended == {"first": "It was deleted in another window or command.", "second": None}
    assert [event.ids for event in made.said if isinstance(event, BatchesChanged)] == [(first.id,)]
    assert [one.name for one in await made.runs.batches()] == ["second"]
    await made.runs.restore_batches([first.id])
    back = await made.runs.batch(first.id)
    assert (back.status, back.counts) == (BatchStatus.COMPLETED, {"TP": 1})


DESK = {"desk": [tool("find"), tool("book")]}
LOCAL = ModelSettings(provider="local", model="small", max_tokens=10)
BY_ANSWER = ModelInfo(provider="local", model="small", input_price=0.0, output_price=0.003)
"""Prices at which a run of LOCAL costs at most three cents."""


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "workspace.db")
    yield opened
    await opened.close()


def finds(_: Question) -> Answer:
    return picks("find")


async def done(made: Bench, **changes: object) -> BatchEnded:
    batch = await made.runs.start(request(**changes))
    await made.runs.wait(batch.id)
    ended = made.said[-1]
    assert isinstance(ended, BatchEnded)
    return ended


async def test_a_cost_cap_is_never_passed(store: Store) -> None:
    paid = Answer(calls=picks("find").calls, cost_usd=0.03)
    made = bench(store, DESK, lambda _: paid, catalogue=FakeCatalogue({LOCAL.label: BY_ANSWER}))
    await made.register("desk")
    await write(made, *(draft(str(number)) for number in range(10)))
    ended = await done(made, models=(LOCAL,), max_cost_usd=0.1)
    assert ended.batch.status is BatchStatus.CANCELLED
    assert ended.reason
    assert "$0.1" in ended.reason
    assert ended.batch.cost_usd
    assert ended.batch.cost_usd <= 0.1
    assert ended.batch.count("TP") >= 1


async def test_a_run_of_unknown_cost_counts_as_the_dearest(store: Store) -> None:
    made = bench(store, DESK, finds, catalogue=FakeCatalogue({LOCAL.label: BY_ANSWER}))
    await made.register("desk")
    await write(made, *(draft(str(number)) for number in range(10)))
    ended = await done(made, models=(LOCAL,), max_cost_usd=0.14, concurrency=1)
    assert ended.batch.status is BatchStatus.CANCELLED
    assert ended.batch.count("TP") == 4


async def test_a_batch_whose_cap_is_used_up_goes_on_once_the_cap_is_raised(store: Store) -> None:
    paid = Answer(calls=picks("find").calls, cost_usd=0.03)
    made = bench(store, DESK, lambda _: paid, catalogue=FakeCatalogue({LOCAL.label: BY_ANSWER}))
    await made.register("desk")
    await write(made, *(draft(str(number)) for number in range(10)))
    ended = await done(made, models=(LOCAL,), max_cost_usd=0.1, concurrency=1)
    finished = await made.runs.list(RunFilter(batch_id=ended.batch.id, classifications=(Classification.TP,)))
    with pytest.raises(InputError) as caught:
        await made.runs.resume(ended.batch.id)
    assert caught.value.code == "cost_cap_used_up"
    assert "The cost cap of $0.1 is used up: $0." in caught.value.message
    assert (await made.runs.batch(ended.batch.id)).status is BatchStatus.CANCELLED
    await made.runs.resume(ended.batch.id, max_cost_usd=5.0)
    after = await made.runs.wait(ended.batch.id)
    assert (after.status, after.count("TP"), after.max_cost_usd) == (BatchStatus.COMPLETED, 10, 5.0)
    assert after.cost_usd == pytest.approx(0.3)
    assert set(finished) <= set(await made.runs.list(RunFilter(batch_id=ended.batch.id)))


async def test_a_model_that_is_too_dear_leaves_what_the_cap_has_room_for_to_the_cheaper_one(store: Store) -> None:
    dear, cheap = (ModelSettings(provider="local", model=name) for name in ("dear", "cheap"))
    prices = {
        one.label: ModelInfo(provider="local", model=one.model, input_price=price, output_price=price)
        for one, price in ((dear, 1.0), (cheap, 1e-7))
    }
    made = bench(store, DESK, finds, catalogue=FakeCatalogue(prices))
    await made.register("desk")
    await write(made, *(draft(str(number)) for number in range(5)))
    for concurrency in (1, 3):
        ended = await done(made, models=(dear, cheap), max_cost_usd=0.1, concurrency=concurrency)
        assert ended.batch.status is BatchStatus.CANCELLED
        assert ended.reason == "The cost cap of $0.1 would be passed."
        judged = await made.runs.list(RunFilter(batch_id=ended.batch.id, classifications=(Classification.TP,)))
        assert [run.model for run in judged] == [cheap.label] * 5


@pytest.mark.parametrize("at_once", [1, 4, 16, 64])
async def test_prompts_that_are_longer_than_estimated_do_not_break_a_cap(store: Store, at_once: int) -> None:
    price = ModelInfo(provider="local", model="small", input_price=1e-5, output_price=1e-5)
    paid = Answer(calls=picks("find").calls, cost_usd=0.0101, tokens_in=1_000, tokens_out=10)
    made = bench(store, DESK, lambda _: paid, catalogue=FakeCatalogue({LOCAL.label: price}))
    await made.register("desk")
    await write(made, *(draft(str(number)) for number in range(70)))
    ended = await done(made, models=(LOCAL,), max_cost_usd=0.05, concurrency=at_once)
    assert ended.batch.cost_usd == pytest.approx(4 * 0.0101)


async def test_a_cap_that_has_no_room_for_one_run_is_refused_before_the_start(store: Store) -> None:
    made = bench(store, DESK, finds, catalogue=FakeCatalogue({LOCAL.label: BY_ANSWER}))
    await made.register("desk")
    await write(made, draft("one"))
    with pytest.raises(InputError, match=r"Not even one run fits under the cost cap of \$0.02: one may cost \$0.03"):
        await made.runs.start(request(models=(LOCAL,), max_cost_usd=0.02))
    assert (await made.runs.batches(), made.selector.questions) == ((), [])


async def test_with_a_cap_an_answer_limit_is_sent(store: Store) -> None:
    info = replace(BY_ANSWER, output_price=1e-6, extra={"output_tokens": 512})
    other = replace(info, model="other", extra={"output_tokens": 64_000})
    made = bench(store, DESK, finds, catalogue=FakeCatalogue({one.label: one for one in (info, other)}))
    await made.register("desk")
    await write(made, draft("one"))
    models = tuple(replace(LOCAL, model=name, max_tokens=None) for name in ("small", "other"))
    await done(made, models=models, max_cost_usd=1.0)
    await done(made, models=models)
    assert [question.settings.max_tokens for question in made.selector.questions] == [512, 1024, None, None]


async def test_an_answer_that_was_cut_off_is_a_failed_run_with_its_cost(store: Store) -> None:
    cut = Answer(calls=picks("other").calls, cost_usd=0.03, answer_limit=10, cut_off=True)
    made = bench(store, DESK, lambda _: cut, catalogue=FakeCatalogue({LOCAL.label: BY_ANSWER}))
    await made.register("desk")
    await write(made, draft("one"))
    ended = await done(made, models=(LOCAL,), repeats=2, max_cost_usd=0.07, concurrency=1)
    (run, _) = await made.runs.list(RunFilter(batch_id=ended.batch.id))
    assert run.failure is not None
    assert run.failure.message == "The answer was cut off by the limit of 10 tokens, so it was not judged."
    batch = ended.batch
    assert (batch.judged, batch.count("failed"), batch.cut_off, batch.cost_usd) == (0, 2, 2, 0.06)
    with pytest.raises(InputError, match="is used up"):
        await made.runs.retry_failed(batch.id)


@pytest.mark.parametrize("cap", [0.0, -1.0, float("nan"), float("inf")])
async def test_a_cap_that_is_no_amount_of_money_is_refused(store: Store, cap: float) -> None:
    made = bench(store, DESK, finds)
    with pytest.raises(InputError, match="is no amount of money"):
        await made.runs.start(request(max_cost_usd=cap))


async def test_a_cost_cap_on_a_model_of_unknown_price_is_refused_before_the_start(store: Store) -> None:
    made = bench(store, DESK, finds)
    await made.register("desk")
    await write(made, draft("one"))
    with pytest.raises(InputError, match="price of local/small is not known"):
        await made.runs.start(request(models=(LOCAL,), max_cost_usd=1.0))
    assert await made.runs.batches() == ()


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


async def test_a_kill_costs_only_what_is_in_flight(store: Store, tmp_path: Path) -> None:
    at_risk: list[int] = []
    asked: list[Question] = []

    def answer(question: Question) -> Answer:
        asked.append(question)
        stored = rows(tmp_path / "workspace.db", "SELECT count(*) FROM test_runs WHERE status = 'completed'")[0][0]
        at_risk.append(len(asked) - stored)
        return picks("find")

    made = bench(store, DESK, answer)
    await made.register("desk")
    await write(made, *(draft(str(number)) for number in range(20)))
    ended = await done(made, models=(LOCAL,), concurrency=3)
    assert ended.batch.count("TP") == len(at_risk) == 20
    assert max(at_risk) == 3
