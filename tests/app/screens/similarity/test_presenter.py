"""State of the similarity screen while tools, thresholds and keys change during requests."""

import asyncio
from dataclasses import replace

from app.screens.similarity.labels import MapKind
from app.screens.similarity.presenter import ComparisonRequest, SimilarityPresenter
from mcp_tef import OverlapWeights, Secret
from tests.support.fake_engine import FakeEngine
from tests.support.similarity_page import docs_and_desk
from tests.support.windows import HeldAsks


async def compared(wanted: ComparisonRequest | None = None) -> tuple[SimilarityPresenter, HeldAsks, FakeEngine]:
    """A presenter that has compared six tools."""
    fake = await docs_and_desk()
    asks = HeldAsks(fake.engine)
    presenter = SimilarityPresenter(asks, wanted)
    assert await presenter.load()
    return presenter, asks, fake


async def test_a_work_list_that_comes_late_never_replaces_a_later_one() -> None:
    presenter, asks, _ = await compared()
    asks.holding = True
    earlier = asyncio.create_task(presenter.load_work(0.0))
    await asks.held(1)
    later = asyncio.create_task(presenter.load_work(1.0))
    await asks.held(2)
    asks.waiting[1].set()
    shown = await later
    asks.waiting[0].set()
    assert await earlier is None
    assert presenter.work_list is shown
    assert len(presenter.work_list.items) < 15


async def test_a_work_list_of_tools_compared_before_is_dropped() -> None:
    presenter, asks, _ = await compared()
    asks.holding = True
    earlier = asyncio.create_task(presenter.load_work(0.0))
    await asks.held(1)
    asks.holding = False
    presenter.request = replace(presenter.request, servers=("docs",))
    assert await presenter.load()
    asks.waiting[0].set()
    assert await earlier is None
    assert presenter.work_list.items == ()


async def test_advice_on_tools_compared_before_is_not_taken_for_advice_on_those_compared_now() -> None:
    presenter, asks, _ = await compared()
    asks.holding = True
    advising = asyncio.create_task(presenter.advise([(0, 1)]))
    await asks.held(1)
    asks.holding = False
    presenter.request = replace(presenter.request, servers=("desk",))
    assert await presenter.load()
    asks.waiting[0].set()
    assert len(await advising) == 1
    assert presenter.advice == {}


async def test_tools_and_what_runs_say_of_them_change_together() -> None:
    presenter, asks, _ = await compared()
    before = presenter.analysis
    presenter.request = replace(presenter.request, servers=("desk",))
    asks.holding = True
    loading = asyncio.create_task(presenter.load())
    for number in range(1, 5):
        await asks.held(number)
        assert presenter.analysis is before
        asks.waiting[number - 1].set()
    assert await loading
    assert presenter.analysis is not None
    assert len(presenter.analysis.tools) == 2


async def test_a_pair_that_is_not_compared_any_more_has_no_detail() -> None:
    presenter, _, _ = await compared()
    presenter.request = replace(presenter.request, servers=("desk",))
    assert await presenter.load()
    assert await presenter.detail((2, 4), MapKind.SIMILARITY, OverlapWeights()) is None


async def test_another_key_for_the_same_embedder_is_tried_at_once() -> None:
    presenter, _, fake = await compared(ComparisonRequest(embedder="litellm:openai/some-model"))
    before = presenter.analysis
    presenter.key = Secret("sk-typed-right-this-time")
    assert await presenter.load()
    assert presenter.analysis is not before
    assert fake.embedders.keys[-2:] == [presenter.key, None]


async def test_an_embedder_that_was_stood_in_for_is_tried_again_only_when_somebody_asks() -> None:
    presenter, _, _ = await compared(ComparisonRequest(embedder="http://127.0.0.1:1/embed"))
    before = presenter.analysis
    assert await presenter.load()
    assert presenter.analysis is before
    presenter.retry_embedder()
    assert await presenter.load()
    assert presenter.analysis is not before
