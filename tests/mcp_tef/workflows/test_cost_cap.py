"""The most that a batch may cost: never passed, made use of, and raised when it is used up."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mcp_tef.errors import InputError
from mcp_tef.events import BatchEnded
from mcp_tef.model.answers import Answer
from mcp_tef.model.runs import BatchStatus, ModelInfo, ModelSettings, RunFilter
from mcp_tef.model.verdicts import Classification
from mcp_tef.ports import Question, Store
from mcp_tef.storage.store import open_store
from tests.support.fake_ports import FakeCatalogue, picks, tool
from tests.support.workflow_bench import Bench, bench, draft, request, write

DESK = {"desk": [tool("find"), tool("book")]}
LOCAL = ModelSettings(provider="local", model="small")


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
    info = ModelInfo(provider="local", model="small", input_price=0.0001, output_price=0.0001)
    paid = Answer(calls=picks("find").calls, cost_usd=0.03)
    made = bench(store, DESK, lambda _: paid, catalogue=FakeCatalogue({LOCAL.label: info}))
    await made.register("desk")
    await write(made, *(draft(str(number)) for number in range(10)))
    ended = await done(made, models=(LOCAL,), max_cost_usd=0.1)
    assert ended.batch.status is BatchStatus.CANCELLED
    assert ended.reason
    assert "$0.1" in ended.reason
    assert ended.batch.cost_usd
    assert ended.batch.cost_usd <= 0.1
    assert ended.batch.count("TP") >= 1


async def test_a_run_of_unknown_cost_counts_as_it_was_estimated(store: Store) -> None:
    info = ModelInfo(provider="local", model="small", input_price=0.0001, output_price=0.0001)
    made = bench(store, DESK, finds, catalogue=FakeCatalogue({LOCAL.label: info}))
    await made.register("desk")
    await write(made, *(draft(str(number)) for number in range(10)))
    estimate = await made.runs.estimate(request(models=(LOCAL,)))
    assert estimate.cost_usd
    ended = await done(made, models=(LOCAL,), max_cost_usd=estimate.cost_usd * 0.45, concurrency=1)
    assert ended.batch.status is BatchStatus.CANCELLED
    assert ended.batch.count("TP") == 4


async def test_a_batch_whose_cap_is_used_up_goes_on_once_the_cap_is_raised(store: Store) -> None:
    info = ModelInfo(provider="local", model="small", input_price=0.0001, output_price=0.0001)
    paid = Answer(calls=picks("find").calls, cost_usd=0.03)
    made = bench(store, DESK, lambda _: paid, catalogue=FakeCatalogue({LOCAL.label: info}))
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
